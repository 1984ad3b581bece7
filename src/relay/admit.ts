/**
 * Sets money aside before anything is sent: the highest plausible cost of the exchange, held against
 * balance and limits in one step by the ledger. No hold, no upstream call. A free operation counts
 * toward requests per minute and gets an empty hold, so that there is one path for both.
 */
import { refuse, type Refusal } from '../base/errors.ts'
import { formatUsd, picos, subtractPicos, zeroPicos, type Picos } from '../base/money.ts'
import { nextUtcMidnight } from '../base/clock.ts'
import type { Hold, HoldRefusal, Ledger } from '../ledger/ledger.ts'
import { affordableOutputTokens, quote, type QuoteFacts } from '../metering/charge.ts'
import type { Telemetry } from '../telemetry/events.ts'
import { ownLimitHeaders } from './own-limits.ts'
import type { Admitted, Prepared } from './stages.ts'

export interface AdmitParts {
  readonly ledger: Ledger
  readonly telemetry: Telemetry
  readonly now: () => number
}

/** At once where the ledger decides at once. */
export function admit(
  prepared: Prepared,
  parts: AdmitParts,
): Admitted | Refusal | Promise<Admitted | Refusal> {
  if (prepared.operation === 'messages.count_tokens') return admitFree(prepared, parts)
  const request = quoteFacts(prepared)
  const amountPicos = quote(request)
  // A body may have taken its time over midnight: what counts is the day on which money is set aside.
  const atMs = parts.now()
  parts.telemetry.milestone('hold_wanted', prepared.exchangeId)
  const held = parts.ledger.place({
    exchangeId: prepared.exchangeId,
    accountId: prepared.principal.accountId,
    keyId: prepared.principal.keyId,
    amountPicos,
    keyDailyLimitPicos: prepared.principal.keyDailyLimitPicos,
    atMs,
  })
  const conclude = (placed: Hold | HoldRefusal): Admitted | Refusal =>
    concluded(placed, { prepared, request, amountPicos, atMs }, parts)
  return held instanceof Promise ? held.then(conclude) : conclude(held)
}

function concluded(
  held: Hold | HoldRefusal,
  wanted: Omit<Wanted, 'ledger'>,
  parts: AdmitParts,
): Admitted | Refusal {
  const { prepared } = wanted
  if (held.kind !== 'hold') return explain(held, { ...wanted, ledger: parts.ledger })
  parts.telemetry.milestone('hold_placed', prepared.exchangeId)
  return { ...prepared, hold: held }
}

async function admitFree(prepared: Prepared, parts: AdmitParts): Promise<Admitted | Refusal> {
  const { accountId, keyId } = prepared.principal
  const atMs = parts.now()
  const refusal = await parts.ledger.admitUnmetered({ accountId, atMs })
  if (refusal !== undefined)
    return explain(refusal, {
      prepared,
      request: quoteFacts(prepared),
      amountPicos: zeroPicos,
      atMs,
      ledger: parts.ledger,
    })
  const hold: Hold = {
    kind: 'hold',
    exchangeId: prepared.exchangeId,
    accountId,
    keyId,
    amountPicos: zeroPicos,
  }
  return { ...prepared, hold }
}

/** What the prompt alone costs by estimate: what an attempt without an answer may have cost. */
export function promptCostPicos(admitted: Admitted): Picos {
  if (isFree(admitted)) return zeroPicos
  return quote({ ...quoteFacts(admitted), maxOutputTokens: 0 })
}

/** True where the exchange has nothing to settle. */
export function isFree(admitted: Admitted): boolean {
  return admitted.operation === 'messages.count_tokens'
}

function quoteFacts(prepared: Prepared): QuoteFacts {
  const { facts, prices, otherPrices, principal, format } = prepared
  const { audioTokens, asksAudioOutput, webSearchesMax } = facts.extras
  return {
    prices,
    otherPrices,
    audioTokens,
    asksAudioOutput,
    webSearchesMax,
    format: format.name,
    inputTokens: facts.inputTokensEstimate,
    maxOutputTokens: outputTokensMax(prepared),
    choiceCount: facts.choiceCount,
    multiplierPpm: principal.priceMultiplierPpm,
    asksOneHourCache: facts.asksOneHourCache,
    ...(facts.asked === undefined ? {} : { asked: facts.asked }),
  }
}

/** The most tokens one choice of the answer may have. */
export function outputTokensMax({ facts, model }: Prepared): number {
  return facts.maxOutputTokens ?? model.maxOutputTokens ?? defaultOutputTokens
}

/** Where neither request nor catalogue bounds the answer: the most that current models give. */
const defaultOutputTokens = 128_000

interface Wanted {
  readonly request: QuoteFacts
  readonly amountPicos: Picos
  /** Wall time of the decision. */
  readonly atMs: number
  readonly prepared: Prepared
  readonly ledger: Ledger
}

const neverRetry = { 'x-should-retry': 'false' }
const retrySoon = { 'x-should-retry': 'true', 'retry-after': '2' }
const retryAfterSecondsMax = 60

/** A ledger's refusal in the words of the product. Amounts are the account's own. */
function explain(refusal: HoldRefusal, wanted: Wanted): Refusal {
  switch (refusal.kind) {
    case 'rate_limited':
      return rateLimited(refusal, wanted)
    case 'insufficient_balance':
      return insufficientBalance(refusal, wanted)
    case 'daily_limit':
      return dailyLimit(refusal, wanted)
    case 'unknown_account':
      return refuse('access.account_suspended', 'This account does not exist any more.')
    case 'unavailable':
      return refuse(
        'ledger.unavailable',
        'The gateway cannot book charges right now, so it takes no requests. Try again shortly.',
        { 'retry-after': '5' },
      )
  }
}

function rateLimited(
  refusal: Extract<HoldRefusal, { kind: 'rate_limited' }>,
  { prepared, ledger, atMs }: Wanted,
): Refusal {
  const seconds = Math.min(
    Math.max(Math.ceil(refusal.retryAfterMs / 1_000), 1),
    retryAfterSecondsMax,
  )
  const count = refusal.rpm * refusal.windowMinutes
  const window = refusal.windowMinutes === 1 ? 'minute' : `${refusal.windowMinutes} minutes`
  return refuse(
    'access.rate_limited',
    `This account may send ${count} requests per ${window} and has done so. Try again in ${seconds} s.`,
    { 'retry-after': String(seconds), ...ownLimitHeaders(prepared, ledger, atMs) },
  )
}

function insufficientBalance(
  refusal: Extract<HoldRefusal, { kind: 'insufficient_balance' }>,
  { request, amountPicos }: Wanted,
): Refusal {
  const { balancePicos, heldPicos, isHeldOnly } = refusal
  const affordable = affordableOutputTokens({
    ...request,
    availablePicos: subtractPicos(balancePicos, heldPicos),
  })
  const advice =
    affordable >= 1
      ? `The largest max_tokens it affords for this request is ${affordable}.`
      : 'It does not afford this request with any max_tokens; top up the account.'
  const message =
    `The balance is too low for this request: balance ${formatUsd(balancePicos)} USD, ` +
    `of which ${formatUsd(heldPicos)} USD is held for running requests; ` +
    `this request could cost up to ${formatUsd(amountPicos)} USD. ${advice}`
  return isHeldOnly
    ? refuse('ledger.balance_held', message, retrySoon)
    : refuse('ledger.insufficient_balance', message, neverRetry)
}

function dailyLimit(
  refusal: Extract<HoldRefusal, { kind: 'daily_limit' }>,
  { amountPicos, atMs }: Wanted,
): Refusal {
  const resetAt = new Date(nextUtcMidnight(atMs)).toISOString()
  const owner = refusal.scope === 'account' ? "account's" : "key's"
  const committed = picos(refusal.usedPicos + refusal.heldPicos)
  return refuse(
    'ledger.daily_limit_reached',
    `The ${owner} daily limit of ${formatUsd(refusal.limitPicos)} USD would be passed: ` +
      `${formatUsd(committed)} USD is spent or held today and this request could cost up to ` +
      `${formatUsd(amountPicos)} USD. The limit starts anew at ${resetAt}.`,
    neverRetry,
  )
}
