/** The credential that a channel had before its present one, as operators see it. */
import { z } from 'zod'
import { findFormerCredential, keptMs } from '../../channels/former-credential-store.ts'
import { moment, type Answer } from '../answer-forms.ts'
import { describeCredential } from '../catalogue/credentials.ts'
import { timeText, type OperationContext } from '../operation.ts'

export const formerForm = z
  .strictObject({
    credential: z.string().meta({ description: '`env:NAME`, `file:/path` or `sealed`.' }),
    replaced_at: moment,
    /** Until when it can be taken back. */
    until: moment,
  })
  .meta({ description: 'The one before the present one. Null = none, or no longer kept.' })

export async function showFormer(
  { database, clock }: OperationContext,
  channel: string,
): Promise<Answer<typeof formerForm> | null> {
  const former = await findFormerCredential(database, { channel, nowMs: clock.now() })
  if (former === undefined) return null
  return {
    credential: describeCredential(former.credential),
    replaced_at: timeText(former.replacedAtMs),
    until: timeText(former.replacedAtMs + keptMs),
  }
}
