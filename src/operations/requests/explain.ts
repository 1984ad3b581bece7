/**
 * Explains a recorded request in words: the outcome of each attempt and whom it blames, and the reasons of
 * the charge. Pure. The facts are those that the relay has recorded; nothing is judged again.
 */
import { outcomeFacts, type Blamed } from '../../channels/health/health-event.ts'
import {
  failureInPlaceOf,
  healthOf,
  isOutcomeClass,
  outcomes,
  type OutcomeClass,
} from '../../channels/outcomes.ts'
import type { RecordedCharge, RecordedExchange } from '../../ledger/exchange-store.ts'
import type { FreeEnding } from '../../ledger/free-exchange-store.ts'
import type { AttemptRecord } from '../../ledger/ledger.ts'

interface AttemptText {
  readonly meaning: string
  /** Null where the attempt did not fail. */
  readonly blame: Blamed | null
  /** What followed; null after the last attempt. */
  readonly next: 'retry' | 'failover' | null
}

export function explainAttempts({
  attempts,
  charge,
}: Pick<RecordedExchange, 'attempts' | 'charge'>): readonly AttemptText[] {
  const classed = attempts.map((attempt, index) => classAttempt(attempt, attempts[index + 1]))
  return classed.map((attempt, index) =>
    explainAttempt(attempt, classed.slice(0, index), charge === undefined),
  )
}

interface ClassedAttempt extends Pick<AttemptText, 'next'> {
  readonly channel: string
  /** Undefined for one of another release. */
  readonly class: OutcomeClass | undefined
  readonly recorded: AttemptRecord
}

function classAttempt(
  recorded: AttemptRecord,
  following: AttemptRecord | undefined,
): ClassedAttempt {
  const { channel, class: name } = recorded
  const isRetried = following?.channel === channel
  const next = following === undefined ? null : isRetried ? 'retry' : 'failover'
  if (!isOutcomeClass(name)) return { channel, class: undefined, next, recorded }
  // A class that means failover is retried on the same channel only after a stale connection.
  const isStale = isRetried && outcomes[name].next === 'failover'
  return { channel, class: isStale ? 'stale' : name, next, recorded }
}

function explainAttempt(
  { channel, class: name, next, recorded }: ClassedAttempt,
  earlier: readonly ClassedAttempt[],
  isFree: boolean,
): AttemptText {
  if (name === undefined) return { meaning: `It ended as ${recorded.class}.`, blame: null, next }
  const { meaning, health } = outcomes[name]
  if (failureInPlaceOf({ channel, class: name }, earlier) !== undefined)
    return { meaning: doubtful, blame: 'none', next }
  const blamed = health === 'ok' ? health : healthOf(name, { isFree, status: recorded.status })
  return { meaning, blame: outcomeFacts[blamed].blames, next }
}

const doubtful =
  'The vendor refused this request, which the channel that failed first may take: the client got the first failure, and can try again.'

const uncharged: Readonly<Record<FreeEnding, string>> = {
  completed: 'Nothing is charged: the answer is empty, or a refusal before any output.',
  client_left: 'Nothing is charged: the client left before it got output.',
  upstream_cut: 'Nothing is charged: the vendor broke off.',
  gateway_cut: 'Nothing is charged: the gateway ended the answer before its first output.',
  refused: 'Nothing is charged for an error of the vendor.',
  failed: 'Nothing is charged: the client got no answer.',
  not_admitted: 'Nothing is charged: the gateway sent nothing to a vendor.',
}

const charged: Readonly<Record<FreeEnding, string>> = {
  completed: 'The account paid for the whole answer.',
  client_left: 'The account paid for the tokens delivered or counted until the client left.',
  upstream_cut: 'The account paid for the tokens delivered until the vendor broke off.',
  gateway_cut: 'The account paid for the tokens delivered until the gateway ended the answer.',
  refused: 'The account paid.',
  failed: 'The account paid.',
  not_admitted: 'The account paid.',
}

/** Marks of a charge, as `metering/usage.ts` has them. */
const markTexts: Readonly<Record<string, string>> = {
  estimated: 'The vendor gave no usable count, so the gateway estimated the tokens.',
  implausible:
    "The vendor's counts were impossible for this request, so the hold limits the charge.",
  not_free:
    'Such a request is free while the likely costs of those that the account left before the first byte, or that had an empty answer, stay within 0.50 USD in 24 hours, or 2 % of its charges where that is more. With this one they do not.',
  uncovered:
    'The request was admitted by its likely cost; what was left did not cover the most that it could cost.',
  over_hold:
    'The charge is above the hold: more input was counted, or more output delivered, than was held.',
  unpriced_model:
    'The answer names a model without a price; the price of the requested model counts.',
  default_price: 'The catalogue has no price for a class, tier, speed or region; a default counts.',
  lost_estimated:
    'An attempt was cut before the vendor had counted: what it may have cost you is estimated from the time since its head.',
  hold_expired:
    'Nothing is charged: the hold expired while the gateway was paused, and the balance no longer covered the charge. The client did not get the end of the answer, and you bear the cost.',
}

export function explainCharge({
  ending,
  charge,
}: Pick<RecordedExchange, 'ending' | 'charge'>): string {
  if (charge === undefined && ending === 'completed')
    return 'Nothing is charged: the operation is free.'
  if (charge === undefined) return uncharged[ending]
  const notes = charge.marks.flatMap((mark) => markTexts[mark] ?? [])
  return charge.marks.includes('hold_expired')
    ? notes.join(' ')
    : [explainAmount(ending, charge), ...notes].join(' ')
}

function explainAmount(
  ending: FreeEnding,
  { amountPicos, priceLines }: Pick<RecordedCharge, 'amountPicos' | 'priceLines'>,
): string {
  if (amountPicos > 0n) return charged[ending]
  if (priceLines === '') return uncharged[ending]
  return 'The charge is zero: prices, or the price multiplier of the account, are zero.'
}
