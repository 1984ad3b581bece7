/**
 * The rules of admission over the state in memory, in the order of `limits`. Pure, apart from windows that
 * forget requests that have left them. On PostgreSQL the function decide_requests has the same rules.
 */
import { minuteMs } from '../../base/clock.ts'
import { addPicos, subtractPicos, zeroPicos, type Picos } from '../../base/money.ts'
import { keyBudget, noKeyUsage } from '../key-usage.ts'
import type { CountRequest, HoldRefusal, HoldRequest } from '../ledger.ts'
import { leastLeftPicos, limits, type Limit, type SpendingLimit } from '../limits.ts'
import type { Account, KeyState } from './account-state.ts'
import type { RequestWindow } from './request-window.ts'

/** Who asks, and when. The amounts of the key that its limits need have been loaded. */
interface Asking<Request> {
  readonly account: Account
  readonly key: KeyState
  readonly request: Request
  readonly nowMs: number
}

export function refuseHold(asking: Asking<HoldRequest>): HoldRefusal | undefined {
  for (const limit of limits) {
    const refusal = refuseBy(limit, asking)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** Whether less is left than the most that the request can cost: of the balance, or in a limit in USD. */
export function isUncovered(asking: Asking<HoldRequest>): boolean {
  return limits.some((limit) => {
    const left = leftIn(limit, asking)
    return left !== undefined && left < asking.request.amountPicos
  })
}

const rateLimits = limits.filter(({ refuses }) => refuses === 'rate_limited')

/** Requests per minute alone. */
export function refuseRequest(asking: Asking<CountRequest>): HoldRefusal | undefined {
  for (const { scope } of rateLimits) {
    const refusal = refuseByRate(scope, asking)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

function refuseBy(limit: Limit, asking: Asking<HoldRequest>): HoldRefusal | undefined {
  switch (limit.refuses) {
    case 'rate_limited':
      return refuseByRate(limit.scope, asking)
    case 'token_limited':
      return refuseByTokens(limit.scope, asking)
    case 'insufficient_balance':
      return refuseByBalance(asking)
    case 'spending_limit':
      return refuseBySpending(limit, asking)
  }
}

/** Undefined where there is no such limit, or it is none of money. */
function leftIn(limit: Limit, asking: Asking<HoldRequest>): Picos | undefined {
  if (limit.refuses === 'insufficient_balance') return leftOfBalance(asking.account)
  return limit.refuses === 'spending_limit' ? leftOf(spendingOf(limit, asking)) : undefined
}

type Scope = Limit['scope']

function refuseByRate(
  scope: Scope,
  { account, key, request, nowMs }: Asking<HoldRequest | CountRequest>,
): HoldRefusal | undefined {
  if (scope === 'key') {
    const { rpm } = request.keyLimits
    return refuseRate(key.requests, { scope, rpm, windowMinutes: 1, nowMs })
  }
  const { rpm, windowMinutes } = account.facts
  return refuseRate(account.window, { scope, rpm, windowMinutes, nowMs })
}

interface RateLimit {
  readonly scope: 'account' | 'key'
  readonly rpm: number
  readonly windowMinutes: number
  readonly nowMs: number
}

export function refuseRate(
  window: RequestWindow | undefined,
  { scope, rpm, windowMinutes, nowMs }: RateLimit,
): HoldRefusal | undefined {
  if (rpm === 0 || window === undefined) return undefined
  const windowMs = windowMinutes * minuteMs
  const counted = window.dropUntil(nowMs - windowMs)
  const excess = counted - rpm * windowMinutes
  if (excess < 0) return undefined
  // After a limit was lowered, more than the oldest request has to leave the window.
  const retryAfterMs = window.at(excess) + windowMs - nowMs
  return { kind: 'rate_limited', scope, retryAfterMs, rpm, windowMinutes }
}

function refuseByTokens(
  scope: Scope,
  { account, key, request, nowMs }: Asking<HoldRequest>,
): HoldRefusal | undefined {
  const { tokens: window } = scope === 'account' ? account : key
  const { tpm } = scope === 'account' ? account.facts : request.keyLimits
  if (tpm === 0 || window === undefined || window.countAt(nowMs) < tpm) return undefined
  return { kind: 'token_limited', scope, tpm, retryAfterMs: window.waitMs(tpm, nowMs) }
}

function leftOfBalance({ heldPicos, facts: { balancePicos, creditLinePicos } }: Account): Picos {
  return subtractPicos(addPicos(balancePicos, creditLinePicos), heldPicos)
}

function refuseByBalance({ account, request }: Asking<HoldRequest>): HoldRefusal | undefined {
  const leastPicos = leastLeftPicos(request)
  if (leftOfBalance(account) >= leastPicos) return undefined
  const { heldPicos } = account
  const { balancePicos, creditLinePicos } = account.facts
  const isHeldOnly = balancePicos + creditLinePicos >= leastPicos
  return { kind: 'insufficient_balance', balancePicos, creditLinePicos, heldPicos, isHeldOnly }
}

function refuseBySpending(
  limit: SpendingLimit,
  asking: Asking<HoldRequest>,
): HoldRefusal | undefined {
  const spending = spendingOf(limit, asking)
  const left = leftOf(spending)
  if (left === undefined || left >= leastLeftPicos(asking.request)) return undefined
  const { scope, period } = limit
  return { kind: 'spending_limit', scope, period, ...spending }
}

/** Undefined where there is no limit. */
function leftOf({ limitPicos, usedPicos, heldPicos }: Spending): Picos | undefined {
  return limitPicos === 0n ? undefined : subtractPicos(limitPicos, addPicos(usedPicos, heldPicos))
}

interface Spending {
  /** Zero = no limit. */
  readonly limitPicos: Picos
  readonly usedPicos: Picos
  readonly heldPicos: Picos
}

function spendingOf(
  { scope, period }: SpendingLimit,
  { account, key, request }: Asking<HoldRequest>,
): Spending {
  if (scope === 'key') {
    const { limitPicos, usedPicos } = keyBudget(period, request.keyLimits, key.used ?? noKeyUsage)
    return { limitPicos, usedPicos, heldPicos: key.heldPicos }
  }
  const { facts, used, heldPicos } = account
  return period === 'day'
    ? { limitPicos: facts.dailyLimitPicos, usedPicos: used.dayPicos, heldPicos }
    : { limitPicos: facts.monthlyLimitPicos, usedPicos: used.monthPicos ?? zeroPicos, heldPicos }
}
