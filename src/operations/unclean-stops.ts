/** Gateways that ended uncleanly, as answers name them: their last requests are not recorded. */
import { z } from 'zod'
import type { Queryable } from '../storage/database.ts'
import { listUncleanStops } from '../storage/node-store.ts'
import { moment, type Answer } from './answer-forms.ts'
import { timeOrNull, timeText } from './operation.ts'

export const uncleanStopForm = z.strictObject({
  node: z.string(),
  /** Its last heartbeat. */
  from: moment,
  /** Null: it is missing, and no other gateway has looked for it. */
  to: moment.nullable(),
})

export type UncleanStopView = Answer<typeof uncleanStopForm>

/** Reads the stops that may have been within a period, oldest first. */
export async function readUncleanStops(
  queryable: Queryable,
  period: { readonly fromMs: number; readonly toMs: number; readonly nowMs: number },
): Promise<readonly UncleanStopView[]> {
  const stops = await listUncleanStops(queryable, period)
  return stops.map(({ name, fromMs, toMs }) => ({
    node: name,
    from: timeText(fromMs),
    to: timeOrNull(toMs),
  }))
}
