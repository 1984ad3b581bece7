/**
 * Notes what an answer shows about the counts of its channel: output beyond a limit that the channel should
 * keep, and how much input was counted for a prompt of plain text.
 */
import type { ChargeDecision } from '../metering/settlement.ts'
import { promptTokensOf } from '../metering/usage.ts'
import type { Delivered } from './deliver.ts'
import { givenLimits } from './output-limits.ts'
import type { Admitted, RelayServices } from './stages.ts'

export function noteCounts(
  admitted: Admitted,
  { channel, reading }: Pick<Delivered, 'channel' | 'reading'>,
  { isBeyondLimit = false }: Pick<ChargeDecision, 'isBeyondLimit'>,
  { counts }: Pick<RelayServices, 'counts'>,
): void {
  if (channel === undefined) return
  const { facts, model } = admitted
  if (isBeyondLimit) counts.noteIgnored(channel, model.id, givenLimits(admitted, channel))
  const [part, ...others] = reading?.usage?.parts ?? []
  // Each of several parts has read the prompt.
  if (!facts.isPlainText || reading?.isFinal !== true || part === undefined || others.length > 0)
    return
  counts.notePlain(channel, {
    countedTokens: promptTokensOf(part),
    estimatedTokens: facts.prompt.likely,
  })
}
