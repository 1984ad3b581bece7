/**
 * What the counts of answers have shown about channels: fields that do not limit the output there, and counts
 * of input that run away from the text. In memory: after a restart the next answers show it again. It says
 * nothing about a channel's health.
 */
import { dayMs, type Clock } from '../base/clock.ts'
import { limitFields, type LimitField } from '../formats/format.ts'
import type { Channel } from './channel.ts'
import type { HealthPlace } from './health/health-place.ts'

/** What operators see of it, for one model on a channel. */
export interface CountFacts {
  /** Fields that the channel is said to keep and does not. Absent = none. */
  readonly ignoredLimits?: readonly LimitField[]
  /** How many times the estimates of plain text the channel's counts are, where that is too much. */
  readonly countRatio?: number
}

/** The input of an exchange whose prompt was text and nothing else. */
export interface PlainInput {
  readonly countedTokens: number
  readonly estimatedTokens: number
}

const rememberedMs = dayMs
/** A ratio needs so many exchanges; older ones are forgotten. */
const plainCount = 20
/** Below it templates and hidden prompts of the vendor weigh too much. */
const plainTokensMin = 1_000
const countRatioMax = 2

export class CountBook {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** Monotonic times. */
  readonly #ignoredUntil = new Map<string, number>()
  /** By channel, oldest first. */
  readonly #plain = new Map<string, PlainInput[]>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** An answer was longer than these fields allow. It counts for a day. */
  noteIgnored(place: HealthPlace, fields: readonly LimitField[]): void {
    const untilMs = this.#clock.monotonic() + rememberedMs
    for (const field of fields) this.#ignoredUntil.set(keyOf(place, field), untilMs)
  }

  isIgnored(place: HealthPlace, field: LimitField): boolean {
    // Nearly always empty: the usual request builds no key.
    if (this.#ignoredUntil.size === 0) return false
    return (this.#ignoredUntil.get(keyOf(place, field)) ?? 0) > this.#clock.monotonic()
  }

  notePlain(channel: string, input: PlainInput): void {
    if (input.estimatedTokens < plainTokensMin) return
    const inputs = this.#plain.get(channel) ?? []
    inputs.push(input)
    if (inputs.length > plainCount) inputs.shift()
    this.#plain.set(channel, inputs)
  }

  describe(
    { name, outputLimit }: Pick<Channel, 'name' | 'outputLimit'>,
    model: string,
  ): CountFacts {
    const place = { channel: name, model }
    const ignored = limitFields.filter(
      (field) => outputLimit?.has(field) !== false && this.isIgnored(place, field),
    )
    const ratio = this.#countRatio(name)
    return {
      ...(ignored.length > 0 && { ignoredLimits: ignored }),
      ...(ratio > countRatioMax && { countRatio: Math.round(ratio * 10) / 10 }),
    }
  }

  /** Zero where too little is known. */
  #countRatio(channel: string): number {
    const inputs = this.#plain.get(channel) ?? []
    if (inputs.length < plainCount) return 0
    let counted = 0
    let estimated = 0
    for (const { countedTokens, estimatedTokens } of inputs) {
      counted += countedTokens
      estimated += estimatedTokens
    }
    return counted / estimated
  }
}

function keyOf({ channel, model }: HealthPlace, field: LimitField): string {
  return `${channel}\n${model}\n${field}`
}
