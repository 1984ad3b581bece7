/**
 * Explains a recorded request in words: what each attempt came to and whom that blames, and why the account
 * paid what it paid. Pure. The facts are those that the relay has recorded; nothing is judged again.
 */
import type { RecordedCharge, RecordedExchange } from '../../ledger/exchange-store.ts'
import type { FreeEnding } from '../../ledger/free-exchange-store.ts'
import type { AttemptRecord } from '../../ledger/ledger.ts'

type Blame = 'channel' | 'client' | 'none'

interface AttemptText {
  readonly meaning: string
  /** Null where the attempt did not fail. */
  readonly blame: Blame | null
  /** What followed; null after the last attempt. */
  readonly next: 'retry' | 'failover' | null
}

/** By class, as `relay/attempt-records.ts` names them. */
const attemptTexts: Readonly<Record<string, readonly [meaning: string, blame: Blame | null]>> = {
  answered: ['The vendor answered.', null],
  cut: ['The vendor broke off after the answer had begun.', 'channel'],
  client_left: ['The client left while the gateway waited for the vendor.', 'client'],
  client: ['The vendor refused this request; no other channel would take it.', 'client'],
  model_dependent: [
    'The model did not take the request, for instance because of its length.',
    'client',
  ],
  throttle: ['The vendor limits requests or is overloaded. The channel rests.', 'none'],
  config: ['The vendor refused the credential or the account of the channel.', 'channel'],
  no_credit: ['The credit or the spend limit of the channel at its vendor is used up.', 'channel'],
  model_missing: ['The vendor does not have this model.', 'channel'],
  not_offered: ['The vendor does not offer this operation.', 'none'],
  lone_500: ['The vendor failed with status 500.', 'channel'],
  conflict: ['The vendor reported a conflict or a timeout (409, 408).', 'client'],
  hard: ['The vendor failed.', 'channel'],
  connect: ['The gateway could not connect to the vendor.', 'channel'],
  tls: ["The gateway could not trust the vendor's certificate.", 'channel'],
  reset: ['The connection to the vendor was lost before an answer.', 'channel'],
  protocol: ["The vendor's answer was not valid HTTP.", 'channel'],
  timeout: ['The vendor did not answer in time.', 'channel'],
  not_the_format: ["The answer did not have the vendor's format.", 'channel'],
  too_large: ['The answer was larger than `answer_max_bytes`.', 'none'],
  deadline: ['The request reached `request_deadline` while the gateway waited.', 'none'],
  shutdown: ['The gateway stopped while it waited for the vendor.', 'none'],
}

/** Causes of attempts without an answer, of which a kept-alive connection may be the reason. */
const lostConnections: ReadonlySet<string> = new Set(['connect', 'reset', 'protocol'])
/** A free operation proves nothing about the answers of a channel, but these classes do. */
const blamedOnFreeOperations: ReadonlySet<string> = new Set(['connect', 'tls'])

export function explainAttempts({
  attempts,
  charge,
}: Pick<RecordedExchange, 'attempts' | 'charge'>): readonly AttemptText[] {
  return attempts.map((attempt, index) =>
    explainAttempt(attempt, attempts[index + 1], charge === undefined),
  )
}

function explainAttempt(
  attempt: AttemptRecord,
  following: AttemptRecord | undefined,
  isFree: boolean,
): AttemptText {
  const [meaning, usual] = attemptTexts[attempt.class] ?? [`It ended as ${attempt.class}.`, null]
  if (following === undefined)
    return { meaning, blame: blameOf(attempt, usual, isFree), next: null }
  if (following.channel !== attempt.channel)
    return { meaning, blame: blameOf(attempt, usual, isFree), next: 'failover' }
  // Only a connection that the vendor had closed before is tried again on the same channel.
  if (lostConnections.has(attempt.class))
    return {
      meaning: 'The vendor had closed a kept-alive connection; the request went out again.',
      blame: 'none',
      next: 'retry',
    }
  return { meaning, blame: blameOf(attempt, usual, isFree), next: 'retry' }
}

function blameOf(attempt: AttemptRecord, usual: Blame | null, isFree: boolean): Blame | null {
  const isBlamed = blamedOnFreeOperations.has(attempt.class) || attempt.status === 401
  return isFree && usual !== null && !isBlamed ? 'none' : usual
}

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
  over_hold: 'The charge is above the hold: the input had been underestimated.',
  unpriced_model:
    'The answer names a model without a price; the price of the requested model counts.',
  default_price: 'The catalogue has no price for a class, tier, speed or region; a default counts.',
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
