/**
 * How much failing over into a channel is still allowed: a bucket per channel that failures empty
 * and successes fill. Pure. A dead main route can so hand over its whole traffic at once, and a
 * reserve that fails as well is not hammered with what others could not serve either.
 */
import type { Outcome } from './health-event.ts'

export interface Tokens {
  readonly count: number
  /** Of a full bucket; moving into the channel is allowed above half of it. */
  readonly max: number
  /** Monotonic time to which the refill is counted. */
  readonly at: number
}

export const defaultTokensMax = 100
const perSuccess = 0.1
const perFailure = 1
/**
 * Without a refill a channel that only ever serves as a reserve could never show that it works
 * again, since nothing would be sent to it: one failover in five seconds finds out.
 */
const refillPerMs = 0.2 / 1_000

export function fullTokens(max: number): Tokens {
  return { count: max, max, at: 0 }
}

export function mayFailOverInto(tokens: Tokens, now: number): boolean {
  return countAt(tokens, now) > tokens.max / 2
}

export function spendTokens(tokens: Tokens, outcome: Outcome, now: number): Tokens {
  const change = changeOf(outcome)
  const { max } = tokens
  if (change === 0 || (change > 0 && tokens.count >= max)) return tokens
  const count = Math.min(max, Math.max(0, countAt(tokens, now) + change))
  return { count, max, at: now }
}

/** Refills no further than a little above the threshold: trust beyond that has to be earned. */
function countAt({ count, max, at }: Tokens, now: number): number {
  const refilledMax = max / 2 + perFailure
  return count >= refilledMax ? count : Math.min(refilledMax, count + (now - at) * refillPerMs)
}

function changeOf(outcome: Outcome): number {
  switch (outcome) {
    case 'ok':
      return perSuccess
    case 'hard':
    case 'broken':
    case 'config':
    case 'model_missing':
    case 'suspect':
      return -perFailure
    case 'client':
    case 'nobody':
    case 'throttle':
      return 0
  }
}
