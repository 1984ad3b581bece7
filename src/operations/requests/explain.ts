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

/** Of a refusal that may be the channel's own. */
const doubtful =
  'The vendor refused this request, which the channel that failed first may take: the client got the first failure, and can try again.'

interface AttemptText {
  readonly meaning: string
  /** The code of the meaning; for one of another release its class. */
  readonly code: string
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
  if (name === undefined)
    return { meaning: `It ended as ${recorded.class}.`, code: recorded.class, blame: null, next }
  if (failureInPlaceOf({ channel, class: name }, earlier) !== undefined)
    return { meaning: doubtful, code: 'doubtful', blame: 'none', next }
  const { meaning, health } = outcomes[name]
  const blamed = health === 'ok' ? health : healthOf(name, { isFree, status: recorded.status })
  return { meaning, code: name, blame: outcomeFacts[blamed].blames, next }
}

/** Why the account paid, or why not, by code; the last ones are the marks of `metering/usage.ts`. */
export const chargeReasons = {
  free: 'Nothing is charged: the operation is free.',
  zero: 'The charge is zero: prices, or the price multiplier of the account, are zero.',
  unpaid_completed: 'Nothing is charged: the answer is empty, or a refusal before any output.',
  unpaid_client_left: 'Nothing is charged: the client left before it got output.',
  unpaid_upstream_cut: 'Nothing is charged: the vendor broke off.',
  unpaid_gateway_cut: 'Nothing is charged: the gateway ended the answer before its first output.',
  unpaid_refused: 'Nothing is charged for an error of the vendor.',
  unpaid_failed: 'Nothing is charged: the client got no answer.',
  unpaid_not_admitted: 'Nothing is charged: the gateway sent nothing to a vendor.',
  paid: 'The account paid.',
  paid_completed: 'The account paid for the whole answer.',
  paid_client_left: 'The account paid for the tokens delivered or counted until the client left.',
  paid_upstream_cut: 'The account paid for the tokens delivered until the vendor broke off.',
  paid_gateway_cut: 'The account paid for the tokens delivered until the gateway ended the answer.',
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
} as const
export type ChargeReason = keyof typeof chargeReasons

const paid: Readonly<Record<FreeEnding, ChargeReason>> = {
  completed: 'paid_completed',
  client_left: 'paid_client_left',
  upstream_cut: 'paid_upstream_cut',
  gateway_cut: 'paid_gateway_cut',
  refused: 'paid',
  failed: 'paid',
  not_admitted: 'paid',
}

export function explainCharge({
  ending,
  charge,
}: Pick<RecordedExchange, 'ending' | 'charge'>): readonly ChargeReason[] {
  if (charge === undefined) return [ending === 'completed' ? 'free' : `unpaid_${ending}`]
  const notes = charge.marks.filter(isChargeReason)
  return notes.includes('hold_expired') ? notes : [explainAmount(ending, charge), ...notes]
}

/** Another release may have other marks. */
function isChargeReason(mark: string): mark is ChargeReason {
  return Object.hasOwn(chargeReasons, mark)
}

function explainAmount(
  ending: FreeEnding,
  { amountPicos, priceLines }: Pick<RecordedCharge, 'amountPicos' | 'priceLines'>,
): ChargeReason {
  if (amountPicos > 0n) return paid[ending]
  return priceLines === '' ? `unpaid_${ending}` : 'zero'
}
