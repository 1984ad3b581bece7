/**
 * Places the hold before anything is sent: the ledger checks the highest plausible cost of the exchange
 * against balance and limits, and holds it, in one step. No hold, no upstream call. A free operation
 * counts toward requests per minute and gets an empty hold, so that there is one path for both.
 */
import { nextUtcMidnight } from '../base/clock.ts'
import { refuse, type Refusal } from '../base/errors.ts'
import { formatUsd, picos, subtractPicos, zeroPicos, type Picos } from '../base/money.ts'
import type { Hold, HoldRefusal, HoldRequest, Ledger } from '../ledger/ledger.ts'
import { affordableOutputTokens, quote, type QuoteFacts } from '../metering/charge.ts'
import { accountLimitHeaders } from './own-replies.ts'
import type { Admitted, Prepared, RelayServices } from './stages.ts'

export async function admit(
  prepared: Prepared,
  services: HoldServices & Pick<RelayServices, 'clock'>,
): Promise<Admitted | Refusal> {
  const { exchangeId, principal, operation } = prepared
  const { accountId, keyId, keyDailyLimitPicos } = principal
  const amountPicos = operation.isFree ? zeroPicos : quote(holdFacts(prepared))
  // The body may have taken until after midnight: the day on which the hold is placed counts.
  const atMs = services.clock.now()
  const request = { exchangeId, accountId, keyId, amountPicos, keyDailyLimitPicos, atMs }
  const placed = await (operation.isFree ? placeNothing : place)(request, services)
  if (placed.kind !== 'hold')
    return explain(placed, { prepared, amountPicos, atMs, ledger: services.ledger })
  return { ...prepared, hold: placed }
}

type HoldServices = Pick<RelayServices, 'ledger' | 'onTracePoint'>

async function place(
  request: HoldRequest,
  { ledger, onTracePoint }: HoldServices,
): Promise<Hold | HoldRefusal> {
  onTracePoint?.('hold_requested', request.exchangeId)
  const placed = await ledger.place(request)
  if (placed.kind === 'hold') onTracePoint?.('hold_placed', request.exchangeId)
  return placed
}

/** Counts the request toward requests per minute alone. */
async function placeNothing(
  request: HoldRequest,
  { ledger }: HoldServices,
): Promise<Hold | HoldRefusal> {
  const { exchangeId, accountId, keyId, amountPicos, atMs } = request
  const refusal = await ledger.admitUnmetered({ accountId, atMs })
  return refusal ?? { kind: 'hold', exchangeId, accountId, keyId, amountPicos }
}

/** Estimates what the prompt alone costs: an attempt without an answer may have cost that much. */
export function promptCostPicos(admitted: Admitted): Picos {
  if (admitted.operation.isFree) return zeroPicos
  return quote({ ...quoteFacts(admitted), maxOutputTokens: 0 })
}

function quoteFacts(prepared: Prepared): QuoteFacts {
  const { facts, prices, otherPrices, principal, format } = prepared
  return {
    ...facts.extras,
    prices,
    otherPrices,
    format: format.name,
    inputTokens: facts.inputTokensEstimate,
    maxOutputTokens: outputTokensMax(prepared),
    choiceCount: facts.choiceCount,
    multiplierPpm: principal.priceMultiplierPpm,
    asksOneHourCache: facts.asksOneHourCache,
    ...(facts.service === undefined ? {} : { requested: facts.service }),
  }
}

/**
 * A vendor's own tools, and documents by address, put before the model what no body shows: the hold covers
 * the most that a model of the request reads.
 */
function holdFacts(prepared: Prepared): QuoteFacts {
  const facts = quoteFacts(prepared)
  if (!hasAddedInput(prepared)) return facts
  return {
    ...facts,
    inputTokens: Math.max(facts.inputTokens, inputTokensMax(prepared)),
    hasAddedInput: true,
  }
}

function hasAddedInput({ facts: { extras } }: Prepared): boolean {
  return extras.hasServerTools || extras.hasRemoteDocuments
}

/** Used where the catalogue does not say how much a model reads. */
const defaultInputTokens = 200_000

function inputTokensMax({ facts, model, snapshot }: Prepared): number {
  const others = facts.extras.otherModels.map((id) => snapshot.models.get(id))
  return Math.max(...[model, ...others].map((one) => one?.maxInputTokens ?? defaultInputTokens))
}

/** Returns the most tokens that one choice of the answer may have. */
export function outputTokensMax({ facts, model }: Prepared): number {
  return facts.maxOutputTokens ?? model.maxOutputTokens ?? defaultOutputTokens
}

/** Used where neither request nor catalogue bounds the answer: the most that current models give. */
const defaultOutputTokens = 128_000

/** A request for a hold that the ledger has refused. */
interface Refused {
  readonly prepared: Prepared
  readonly amountPicos: Picos
  /** Wall time of the decision. */
  readonly atMs: number
  readonly ledger: Ledger
}

const neverRetry = { 'x-should-retry': 'false' }
const retrySoon = { 'x-should-retry': 'true', 'retry-after': '2' }
const retryAfterSecondsMax = 60

/** Turns the ledger's refusal into a message for the client. Amounts are the account's own. */
function explain(refusal: HoldRefusal, refused: Refused): Refusal {
  switch (refusal.kind) {
    case 'rate_limited':
      return rateLimited(refusal, refused)
    case 'insufficient_balance':
      return insufficientBalance(refusal, refused)
    case 'daily_limit':
      return dailyLimit(refusal, refused)
    case 'unknown_account':
      return refuse('access.account_suspended', 'This account no longer exists.')
    case 'unavailable':
      return refuse(
        'ledger.unavailable',
        'The gateway cannot record charges right now, so it accepts no requests. Try again shortly.',
        { 'retry-after': '5' },
      )
  }
}

function rateLimited(
  refusal: Extract<HoldRefusal, { kind: 'rate_limited' }>,
  { prepared, ledger, atMs }: Refused,
): Refusal {
  const seconds = Math.min(
    Math.max(Math.ceil(refusal.retryAfterMs / 1_000), 1),
    retryAfterSecondsMax,
  )
  const count = refusal.rpm * refusal.windowMinutes
  const window = refusal.windowMinutes === 1 ? 'minute' : `${refusal.windowMinutes} minutes`
  return refuse(
    'access.rate_limited',
    `This account may send ${count} requests per ${window} and has sent them. Try again in ${seconds} s.`,
    { 'retry-after': String(seconds), ...accountLimitHeaders(prepared, ledger, atMs) },
  )
}

function insufficientBalance(
  refusal: Extract<HoldRefusal, { kind: 'insufficient_balance' }>,
  { prepared, amountPicos }: Refused,
): Refusal {
  const { balancePicos, heldPicos, isHeldOnly } = refusal
  const affordable = affordableOutputTokens({
    ...holdFacts(prepared),
    availablePicos: subtractPicos(balancePicos, heldPicos),
  })
  const advice =
    affordable >= 1
      ? `The largest max_tokens that the balance covers for this request is ${affordable}.`
      : 'It does not cover this request with any max_tokens. Top up the account.'
  const reading = hasAddedInput(prepared)
    ? `, because tools of the vendor or documents by address can add up to ${inputTokensMax(prepared)} tokens`
    : ''
  const message =
    `The balance is too low for this request: balance ${formatUsd(balancePicos)} USD, ` +
    `of which ${formatUsd(heldPicos)} USD is held for running requests; ` +
    `this request could cost up to ${formatUsd(amountPicos)} USD${reading}. ${advice}`
  return isHeldOnly
    ? refuse('ledger.balance_held', message, retrySoon)
    : refuse('ledger.insufficient_balance', message, neverRetry)
}

function dailyLimit(
  refusal: Extract<HoldRefusal, { kind: 'daily_limit' }>,
  { amountPicos, atMs }: Refused,
): Refusal {
  const resetAt = new Date(nextUtcMidnight(atMs)).toISOString()
  const owner = refusal.scope === 'account' ? "account's" : "key's"
  const committed = picos(refusal.usedPicos + refusal.heldPicos)
  return refuse(
    'ledger.daily_limit_reached',
    `The ${owner} daily limit of ${formatUsd(refusal.limitPicos)} USD would be exceeded: ` +
      `${formatUsd(committed)} USD is spent or held today and this request could cost up to ` +
      `${formatUsd(amountPicos)} USD. The limit resets at ${resetAt}.`,
    neverRetry,
  )
}
