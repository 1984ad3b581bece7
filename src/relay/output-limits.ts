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

/** Returns the limits of these channels; a channel that an operator has disabled does not serve. */
export function findLimits(
  asked: Asked,
  channels: readonly Channel[],
  counts: Pick<CountBook, 'isIgnored'>,
): readonly ChannelLimit[] {
  const limits: ChannelLimit[] = []
  for (const channel of channels) {
    if (channel.override === 'disabled') continue
    const kept = keptFields(asked.operation, channel)
    const isIgnored = (field: LimitField): boolean =>
      counts.isIgnored(channel, asked.model.id, field)
    const fields = kept.some(isIgnored) ? kept.filter((field) => !isIgnored(field)) : kept
    limits.push({ channel: channel.name, fields, tokens: tokensMax(asked, fields) })
  }
  return limits
}

/** Returns the most tokens that one choice of the answer may have, on any channel that may serve it. */
export function outputTokensMax(prepared: Prepared): number {
  const limits = servingLimits(prepared)
  if (limits.length === 0) return tokensMax(prepared, allFields(prepared.operation))
  let most = 0
  for (const { tokens } of limits) most = Math.max(most, tokens)
  return most
}

/** The same on the channel that has answered. */
export function outputTokensMaxOn(prepared: Prepared, channel: Channel | undefined): number {
  const limit = channel && limitOf(prepared, channel)
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

function servingLimits(prepared: Prepared): readonly ChannelLimit[] {
  const pinned = prepared.pinnedTo && limitOf(prepared, prepared.pinnedTo)
  return pinned === undefined ? prepared.outputLimits : [pinned]
}

function limitOf({ outputLimits }: Prepared, { name }: Channel): ChannelLimit | undefined {
  return outputLimits.find(({ channel }) => channel === name)
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
  let given: number | undefined
  for (const field of fields) {
    const limit = facts.outputLimits[field]
    if (limit !== undefined) given = Math.max(given ?? 0, limit)
  }
  return given ?? model.maxOutputTokens ?? unknownLimits.outputTokens
}
