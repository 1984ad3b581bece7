/**
 * What answers have shown about the counts of channels: fields that do not limit the output there, counts of
 * input that run away from the text, and streams that must not be asked for their usage. It is forgotten
 * where the catalogue changes the channel, and in memory only: after a restart the next answers show it
 * again. It says nothing about a channel's health.
 */
import { hourMs, type Clock } from '../base/clock.ts'
import type { LimitField } from '../formats/format.ts'
import type { Channel } from './channel.ts'
import { isSameUpstream } from './reach.ts'

/** What operators see of it, for one model on a channel. */
export interface CountFacts {
  /** Fields that the channel is said to keep and does not. Absent = none. */
  readonly ignoredLimits?: readonly LimitField[]
  /** How many times the estimates of plain text the channel's counts are, where that is too much. */
  readonly countRatio?: number
  /** Its streams are not asked for their usage now, because it refuses the field. Absent = they are. */
  readonly isUsageRefused?: true
}

/** The input of an exchange whose prompt was text and nothing else. */
export interface PlainInput {
  readonly countedTokens: number
  readonly estimatedTokens: number
}

/** The number of exchanges that a ratio needs; older ones are forgotten. */
const plainCount = 20
/** Below it templates and hidden prompts of the vendor weigh too much. */
const plainTokensMin = 1_000
const countRatioMax = 2

/** Of one channel as the catalogue had it. */
interface Evidence {
  /** The latest of those that are the same. */
  channel: Channel
  readonly ignoredByModel: Map<string, Set<LimitField>>
  /** Of all models, oldest first. */
  readonly inputs: PlainInput[]
  /** Monotonic. */
  usageRefusedUntilMs: number
}

/** How long a channel is not asked for the usage of streams after it has refused the field. */
const usageRefusedMs = 24 * hourMs

export class CountBook {
  readonly #clock: Clock
  readonly #byChannel = new Map<string, Evidence>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * The channel refused a stream for the field that asks for its usage, and answered the same request without
   * it. Only both together count: a refusal alone may quote the client.
   */
  noteUsageRefused(channel: Channel): void {
    this.#evidenceOf(channel).usageRefusedUntilMs = this.#clock.monotonic() + usageRefusedMs
  }

  asksUsage(channel: Channel): boolean {
    return channel.streamUsage === 'ask' && !this.#isUsageRefused(this.#find(channel))
  }

  /** An answer was longer than these fields of its request allow. */
  noteIgnored(channel: Channel, model: string, fields: readonly LimitField[]): void {
    const { ignoredByModel } = this.#evidenceOf(channel)
    const ignored = ignoredByModel.get(model) ?? new Set()
    for (const field of fields) ignored.add(field)
    ignoredByModel.set(model, ignored)
  }

  isIgnored(channel: Channel, model: string, field: LimitField): boolean {
    return this.#find(channel)?.ignoredByModel.get(model)?.has(field) === true
  }

  notePlain(channel: Channel, input: PlainInput): void {
    if (input.estimatedTokens < plainTokensMin) return
    const { inputs } = this.#evidenceOf(channel)
    inputs.push(input)
    if (inputs.length > plainCount) inputs.shift()
  }

  describe(channel: Channel, model: string): CountFacts {
    const evidence = this.#find(channel)
    if (evidence === undefined) return {}
    const ignoredLimits = [...(evidence.ignoredByModel.get(model) ?? [])].sort()
    const ratio = ratioOf(evidence.inputs)
    return {
      ...(ignoredLimits.length > 0 && { ignoredLimits }),
      ...(this.#isUsageRefused(evidence) && { isUsageRefused: true as const }),
      ...(ratio > countRatioMax && { countRatio: Math.round(ratio * 10) / 10 }),
    }
  }

  #isUsageRefused(evidence: Evidence | undefined): boolean {
    return evidence !== undefined && evidence.usageRefusedUntilMs > this.#clock.monotonic()
  }

  #find(channel: Channel): Evidence | undefined {
    const evidence = this.#byChannel.get(channel.name)
    if (evidence === undefined || !isSame(evidence.channel, channel)) return undefined
    evidence.channel = channel
    return evidence
  }

  #evidenceOf(channel: Channel): Evidence {
    const known = this.#find(channel)
    if (known !== undefined) return known
    const evidence: Evidence = {
      channel,
      ignoredByModel: new Map(),
      inputs: [],
      usageRefusedUntilMs: 0,
    }
    this.#byChannel.set(channel.name, evidence)
    return evidence
  }
}

/** Every load of the catalogue makes new channels. */
function isSame(one: Channel, other: Channel): boolean {
  if (one === other) return true
  return isSameUpstream(one, other) && limitsText(one) === limitsText(other)
}

function limitsText({ outputLimit }: Channel): string | undefined {
  return outputLimit && [...outputLimit].sort().join()
}

/** Zero where too little is known. */
function ratioOf(inputs: readonly PlainInput[]): number {
  if (inputs.length < plainCount) return 0
  let counted = 0
  let estimated = 0
  for (const { countedTokens, estimatedTokens } of inputs) {
    counted += countedTokens
    estimated += estimatedTokens
  }
  return counted / estimated
}
