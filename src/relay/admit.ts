/**
 * Decides whether an exchange may start. Before its body is read, only facts count that no body could
 * change: an allowance that is used up, no money. Then the hold, placed before anything is sent: the ledger
 * checks the highest plausible cost against balance and limits, and holds it, in one step. No hold, no
 * upstream call: only a free operation has none. It has a separate allowance, and is not charged.
 */
import { nextUtcMidnight, nextUtcMonth } from '../base/clock.ts'
import { refuse, type Refusal } from '../base/errors.ts'
import { addPicos, formatUsd, picos, subtractPicos, zeroPicos } from '../base/money.ts'
import type { VendorOperation } from '../formats/format.ts'
import type {
  CountRequest,
  Hold,
  HoldRefusal,
  HoldRequest,
  Ledger,
  UsagePeriod,
} from '../ledger/ledger.ts'
import { spendingCode } from '../ledger/limits.ts'
import { affordableOutputTokens, quote, type QuoteFacts } from '../metering/charge.ts'
import { pricesAt } from '../metering/prices.ts'
import { accountLimitHeaders } from './own-replies.ts'
import { inputTokensHeld, likelyFacts, mostFacts, neededFacts } from './request-costs.ts'
import { findLoweringField, outputTokensMax } from './output-limits.ts'
import {
  fill,
  type Admitted,
  type Identified,
  type Prepared,
  type RelayServices,
} from './stages.ts'
import { mayUse } from './served-models.ts'

/** How exchanges of one kind of operation are admitted. */
interface Admission {
  /**
   * Refuses a request that no body could make admissible. A small body that has arrived is parsed first,
   * because that costs less than to ask: `admit`, or `countRefused`, then decides in the same order.
   */
  preadmit(
    identified: Identified,
    services: LedgerServices,
  ): undefined | Promise<Refusal | undefined>
  /**
   * Counts a request whose body is refused, as if it had been admitted. Returns the refusal that comes
   * before any that its body can cause.
   */
  countRefused(identified: Identified, services: LedgerServices): Promise<Refusal | undefined>
  admit(prepared: Prepared, services: AdmitServices): MaybeAdmitted | Promise<MaybeAdmitted>
}

type MaybeAdmitted = Admitted | Refusal

export function admissionOf({ isFree }: VendorOperation): Admission {
  return isFree ? free : charged
}

const charged: Admission = {
  preadmit(identified, services) {
    return identified.request.body.isComplete ? undefined : checkLeast(identified, services)
  },
  async countRefused(identified, services) {
    return (
      (await checkLeast(identified, services)) ?? (await count(identified, 'requests', services))
    )
  },
  admit(prepared, services) {
    if (prepared.holdsMost && prepared.facts.extras.serverTools?.isLimited === false)
      return unlimitedToolsRefused
    const { ledger, onTracePoint } = services
    const needed = neededFacts(prepared)
    const costs = { amountPicos: quote(mostFacts(prepared)), likelyPicos: quote(needed) }
    // The body may have taken until after midnight: the day on which the hold is placed counts.
    const request = holdRequest(prepared, costs, services)
    const read = { prepared, needed }
    const refused = { identified: prepared, read, request, allowance: 'requests', ledger } as const
    const use = (placed: Hold | HoldRefusal): MaybeAdmitted => {
      if (placed.kind !== 'hold') return explain(placed, refused)
      onTracePoint?.('hold_placed', request.exchangeId)
      return fill(prepared, { hold: placed })
    }
    onTracePoint?.('hold_requested', request.exchangeId)
    const placing = ledger.place(request)
    return placing instanceof Promise ? placing.then(use) : use(placing)
  },
}

const unlimitedToolsRefused = refuse(
  'relay.request_invalid',
  'This account is charged no more than it has, so tools that the vendor runs need a limit: give each ' +
    '`max_uses` (or the request `max_tool_calls`), or leave them out.',
)

/** It is counted before its body is read, and holds nothing. */
const free: Admission = {
  preadmit: (identified, services) => count(identified, 'free_requests', services),
  countRefused: () => Promise.resolve(undefined),
  admit: (prepared) => fill(prepared, { hold: undefined }),
}

type LedgerServices = Pick<RelayServices, 'ledger' | 'clock'>
type AdmitServices = LedgerServices & Pick<RelayServices, 'onTracePoint'>

function holdRequest(
  { exchangeId, principal }: Identified,
  costs: Pick<HoldRequest, 'amountPicos' | 'likelyPicos'>,
  { clock }: LedgerServices,
): HoldRequest {
  const { accountId, keyId, keyLimits } = principal
  return { exchangeId, accountId, keyId, keyLimits, ...costs, atMs: clock.now() }
}

/** Asks whether the least that a request of this caller can cost would be admitted. */
async function checkLeast(
  identified: Identified,
  services: LedgerServices,
): Promise<Refusal | undefined> {
  const leastPicos = canCostNothing(identified) ? zeroPicos : picos(1n)
  const least = { amountPicos: leastPicos, likelyPicos: leastPicos }
  const request = holdRequest(identified, least, services)
  const { ledger } = services
  const refusal = await ledger.check(request)
  return refusal && explain(refusal, { identified, request, allowance: 'requests', ledger })
}

/** Whether this caller can use a model without a price, or pays for none. */
function canCostNothing({ snapshot, vendor, principal, format, startedAtMs }: Identified): boolean {
  const { priceMultiplierPpm: multiplierPpm } = principal
  const least = { inputTokens: 1, maxOutputTokens: 1, choiceCount: 1 }
  for (const model of snapshot.models.values()) {
    const prices = model.vendor === vendor.name ? pricesAt(model.prices, startedAtMs) : undefined
    if (prices === undefined || !mayUse(principal, model.id)) continue
    if (quote({ ...least, prices, format: format.name, multiplierPpm }) === 0n) return true
  }
  return false
}

async function count(
  identified: Identified,
  allowance: CountRequest['allowance'],
  { ledger, clock }: LedgerServices,
): Promise<Refusal | undefined> {
  const nothing = { amountPicos: zeroPicos, likelyPicos: zeroPicos }
  const request = holdRequest(identified, nothing, { ledger, clock })
  const { accountId, keyId, keyLimits, atMs } = request
  const refusal = await ledger.count({ accountId, keyId, keyLimits, allowance, atMs })
  return refusal && explain(refusal, { identified, request, allowance, ledger })
}

/** A request that the ledger has refused. */
interface Refused {
  readonly identified: Identified
  /** Undefined where the body was not read. */
  readonly read?: {
    readonly prepared: Prepared
    /** The amount that must be left. */
    readonly needed: QuoteFacts
  }
  readonly request: HoldRequest
  readonly allowance: CountRequest['allowance']
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
    case 'token_limited':
      return tokenLimited(refusal, refused)
    case 'spending_limit':
      return spendingLimit(refusal, refused)
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
  { identified, request, allowance, ledger }: Refused,
): Refusal {
  const seconds = retryAfterSeconds(refusal)
  const count = refusal.rpm * refusal.windowMinutes
  const window = refusal.windowMinutes === 1 ? 'minute' : `${refusal.windowMinutes} minutes`
  const requests = allowance === 'free_requests' ? 'requests that are free' : 'requests'
  return refuse(
    'access.rate_limited',
    `This ${refusal.scope} may send ${count} ${requests} per ${window} and has sent them. Try again in ${seconds} s.`,
    { 'retry-after': String(seconds), ...accountLimitHeaders(identified, ledger, request.atMs) },
  )
}

function tokenLimited(
  refusal: Extract<HoldRefusal, { kind: 'token_limited' }>,
  { identified, request, ledger }: Refused,
): Refusal {
  const seconds = retryAfterSeconds(refusal)
  return refuse(
    'access.tokens_limited',
    `The requests of this ${refusal.scope} that ended in the last minute have used its limit of ` +
      `${refusal.tpm} tokens per minute. Try again in ${seconds} s.`,
    { 'retry-after': String(seconds), ...accountLimitHeaders(identified, ledger, request.atMs) },
  )
}

function retryAfterSeconds({ retryAfterMs }: { readonly retryAfterMs: number }): number {
  return Math.min(Math.max(Math.ceil(retryAfterMs / 1_000), 1), retryAfterSecondsMax)
}

function insufficientBalance(
  refusal: Extract<HoldRefusal, { kind: 'insufficient_balance' }>,
  { read, request }: Refused,
): Refusal {
  const { balancePicos, creditLinePicos, heldPicos, isHeldOnly } = refusal
  const spendablePicos = addPicos(balancePicos, creditLinePicos)
  const availablePicos = subtractPicos(spendablePicos, heldPicos)
  const line =
    creditLinePicos === 0n ? '' : ` and a credit line of ${formatUsd(creditLinePicos)} USD`
  const amounts =
    `balance ${formatUsd(balancePicos)} USD${line}, ` +
    `of which ${formatUsd(heldPicos)} USD is held for running requests`
  if (read === undefined)
    return isHeldOnly
      ? refuse('ledger.balance_held', `All of the balance is held: ${amounts}.`, retrySoon)
      : refuse(
          'ledger.insufficient_balance',
          `The balance is used up: ${amounts}; it does not cover any request. Top up the account.`,
          neverRetry,
        )
  const { prepared, needed } = read
  const affordable = affordableOutputTokens({ ...needed, availablePicos })
  const field = findLoweringField(prepared)
  const lastly = isHeldOnly ? 'Wait for running requests to end' : 'Top up the account'
  const advice =
    field === undefined
      ? adviceWithoutLimit(prepared)
      : affordable >= 1
        ? `The largest ${field} that the balance covers for this request is ${affordable}.`
        : `It does not cover this request with any ${field}. ${lastly}.`
  const reading =
    prepared.facts.prompt.most < Infinity
      ? ''
      : `, because documents, ids and tools of the vendor can add up to ${inputTokensHeld(prepared)} tokens`
  const message =
    `The balance is too low for this request: ${amounts}; ` +
    `${costsOf(request, prepared)}${reading}. ${advice}`
  return isHeldOnly
    ? refuse('ledger.balance_held', message, retrySoon)
    : refuse('ledger.insufficient_balance', message, neverRetry)
}

/** Output that no field of the request limits on every channel. */
function adviceWithoutLimit(prepared: Prepared): string {
  const isUnlimited = outputTokensMax(prepared) > 0
  const reason = isUnlimited ? 'No field of the request limits its output on every channel. ' : ''
  return `${reason}Send less, or top up the account.`
}

/** For example: this request is likely to cost 0.1 USD and could cost up to 2 USD, with 9 tokens. */
function costsOf(needed: HoldRequest, prepared: Prepared): string {
  const likelyPicos = quote(likelyFacts(prepared))
  const tokens = outputTokensMax(prepared) * prepared.facts.choiceCount
  const output = tokens === 0 ? '' : `, with ${tokens} tokens of output`
  const needsMost = needed.likelyPicos > likelyPicos ? ', all of which has to be left' : ''
  return (
    `this request is likely to cost ${formatUsd(likelyPicos)} USD ` +
    `and could cost up to ${formatUsd(needed.amountPicos)} USD${output}${needsMost}`
  )
}

type SpendingLimit = Extract<HoldRefusal, { kind: 'spending_limit' }>

function spendingLimit(refusal: SpendingLimit, { read, request }: Refused): Refusal {
  const { limitName, within, end } = periods[refusal.period]
  const owner = refusal.scope === 'account' ? "account's" : "key's"
  const committed = formatUsd(picos(refusal.usedPicos + refusal.heldPicos))
  const limit = `The ${owner} ${limitName} of ${formatUsd(refusal.limitPicos)} USD`
  const spent = `${committed} USD is spent or held${within}`
  const state =
    read === undefined
      ? `${limit} is exhausted: ${spent}.`
      : `${limit} would be exceeded: ${spent} and ${costsOf(request, read.prepared)}.`
  return refuse(spendingCode(refusal.period), `${state} ${end(request.atMs)}`, neverRetry)
}

interface PeriodText {
  readonly limitName: string
  readonly within: string
  /** Says what to do. */
  readonly end: (atMs: number) => string
}

const periods: Readonly<Record<UsagePeriod, PeriodText>> = {
  day: {
    limitName: 'daily limit',
    within: ' today',
    end: (atMs) => resetsAt(nextUtcMidnight(atMs)),
  },
  month: {
    limitName: 'monthly limit',
    within: ' this month',
    end: (atMs) => resetsAt(nextUtcMonth(atMs)),
  },
  total: {
    limitName: 'total limit',
    within: '',
    end: () => 'This limit does not reset. Ask the operator of this gateway to raise it.',
  },
}

/** Qwen Code asks again for ten minutes, unless a text says that a quota is exceeded and will reset. */
function resetsAt(atMs: number): string {
  return `The quota will reset at ${new Date(atMs).toISOString()}.`
}
