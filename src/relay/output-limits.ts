/**
 * The output limit of a request. A field of the request counts on a channel only where that channel's vendor
 * keeps it for all output that it bills, by the catalogue and by its answers so far; elsewhere the model's
 * own limit counts. The hold covers every channel that may serve the request.
 */
import type { Channel, Model } from '../channels/channel.ts'
import type { CountBook } from '../channels/count-book.ts'
import { unknownLimits } from '../channels/model-limits.ts'
import type { LimitField, RequestFacts, VendorOperation } from '../formats/format.ts'
import type { ChannelLimit, Prepared } from './stages.ts'

interface Asked {
  readonly facts: RequestFacts
  readonly model: Model
  readonly operation: VendorOperation
}

/** Returns the limits of these channels by name; a channel that an operator has disabled does not serve. */
export function findLimits(
  asked: Asked,
  channels: readonly Channel[],
  counts: Pick<CountBook, 'isIgnored'>,
): ReadonlyMap<string, ChannelLimit> {
  const limits = new Map<string, ChannelLimit>()
  for (const channel of channels) {
    if (channel.override === 'disabled') continue
    const kept = keptFields(asked.operation, channel)
    const isIgnored = (field: LimitField): boolean =>
      counts.isIgnored(channel, asked.model.id, field)
    const fields = kept.some(isIgnored) ? kept.filter((field) => !isIgnored(field)) : kept
    limits.set(channel.name, { fields, tokens: tokensMax(asked, fields) })
  }
  return limits
}

/** Returns the most tokens that one choice of the answer may have, on any channel that may serve it. */
export function outputTokensMax(prepared: Prepared): number {
  const serving = servingLimits(prepared)
  if (serving.length === 0) return tokensMax(prepared, allFields(prepared.operation))
  let most = 0
  for (const { tokens } of serving) most = Math.max(most, tokens)
  return most
}

/** The same on the channel that has answered. */
export function outputTokensMaxOn(prepared: Prepared, channel: Channel | undefined): number {
  const limit = channel && prepared.outputLimits.get(channel.name)
  return limit?.tokens ?? outputTokensMax(prepared)
}

/** Returns the fields of the request that should have limited the output of a channel. */
export function givenLimits(
  { facts, operation }: Pick<Prepared, 'facts' | 'operation'>,
  channel: Channel,
): readonly LimitField[] {
  return keptFields(operation, channel).filter((field) => facts.outputLimits[field] !== undefined)
}

/** Returns the field by which a client can lower the hold; undefined where there is none. */
export function findLoweringField(prepared: Prepared): LimitField | undefined {
  const serving = servingLimits(prepared)
  const fields = allFields(prepared.operation).filter((field) =>
    serving.every((limit) => limit.fields.includes(field)),
  )
  return fields.find((field) => prepared.facts.outputLimits[field] !== undefined) ?? fields[0]
}

function servingLimits({ outputLimits, pinnedTo }: Prepared): readonly ChannelLimit[] {
  const pinned = pinnedTo && outputLimits.get(pinnedTo.name)
  return pinned === undefined ? [...outputLimits.values()] : [pinned]
}

function allFields({ outputLimitFields }: VendorOperation): readonly LimitField[] {
  return outputLimitFields ?? []
}

function keptFields(operation: VendorOperation, { outputLimit }: Channel): readonly LimitField[] {
  const fields = allFields(operation)
  return outputLimit === undefined ? fields : fields.filter((field) => outputLimit.has(field))
}

/** Vendors differ in which of two fields they prefer, so the larger one counts. */
function tokensMax({ facts, model, operation }: Asked, fields: readonly LimitField[]): number {
  if (operation.outputLimitFields === undefined) return 0
  let most: number | undefined
  for (const field of fields) {
    const given = facts.outputLimits[field]
    if (given !== undefined) most = Math.max(most ?? 0, given)
  }
  return most ?? model.maxOutputTokens ?? unknownLimits.outputTokens
}
