/**
 * How fast models write, hidden reasoning included, learned from complete streams: by these rates a vendor
 * may bill an answer that was ended before its count. In memory only: the next answers show it again.
 */
import type { OpenAttempt } from './health/health-place.ts'

type Asked = Pick<OpenAttempt, 'model' | 'asksReasoning'>

/** While nothing is known of the model. */
const unknownPerSecond = 50
/** The weight of the latest answer. */
const latestShare = 0.1
/** The time of shorter answers is mostly overhead. */
const tokensMin = 16

export class OutputRates {
  readonly #perSecond = new Map<string, number>()

  /** Notes an answer: its tokens, and the time that they took after the head. */
  note(asked: Asked, outputTokens: number, durationMs: number): void {
    if (outputTokens < tokensMin || durationMs <= 0) return
    const rate = (outputTokens * 1_000) / durationMs
    const before = this.#perSecond.get(keyOf(asked)) ?? rate
    this.#perSecond.set(keyOf(asked), before + latestShare * (rate - before))
  }

  find(asked: Asked): number {
    return this.#perSecond.get(keyOf(asked)) ?? unknownPerSecond
  }
}

function keyOf({ model, asksReasoning }: Asked): string {
  return `${asksReasoning ? 'reasoning' : 'plain'} ${model}`
}
