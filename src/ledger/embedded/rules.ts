/**
 * The rules of admission over figures in memory, in their order: requests per minute of the account, of
 * the key; tokens per minute of the account, of the key; balance; the account's day; the key's day, month
 * and total. Pure, apart from windows that forget what has left them. On PostgreSQL the function
 * decide_requests has the same rules.
 */
import { minuteMs } from '../../base/clock.ts'
import type { Picos } from '../../base/money.ts'
import type { HoldRefusal, HoldRequest } from '../ledger.ts'
import type { Account, KeyFigures } from './figures.ts'
import type { RequestWindow } from './request-window.ts'
import type { TokenWindow } from './token-window.ts'

/** The key's figures that its limits need have been loaded. */
export function refuseHold(
  account: Account,
  key: KeyFigures,
  { request, nowMs }: { readonly request: HoldRequest; readonly nowMs: number },
): HoldRefusal | undefined {
  const { keyLimits } = request
  return (
    refuseRequest(account, key, { keyRpm: keyLimits.rpm, nowMs }) ??
    refuseTokens(account.tokens, { scope: 'account', tpm: account.facts.tpm, nowMs }) ??
    refuseTokens(key.tokens, { scope: 'key', tpm: keyLimits.tpm, nowMs }) ??
    refuseBalance(account, request.amountPicos) ??
    refuseSpending(account, key, request)
  )
}

/** Requests per minute alone, of the account and of the key. */
export function refuseRequest(
  { window, facts }: Account,
  key: KeyFigures,
  { keyRpm, nowMs }: { readonly keyRpm: number; readonly nowMs: number },
): HoldRefusal | undefined {
  const { rpm, windowMinutes } = facts
  return (
    refuseRate(window, { scope: 'account', rpm, windowMinutes, nowMs }) ??
    refuseRate(key.requests, { scope: 'key', rpm: keyRpm, windowMinutes: 1, nowMs })
  )
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

function refuseTokens(
  window: TokenWindow | undefined,
  {
    scope,
    tpm,
    nowMs,
  }: { readonly scope: 'account' | 'key'; readonly tpm: number; readonly nowMs: number },
): HoldRefusal | undefined {
  if (tpm === 0 || window === undefined || window.countAt(nowMs) < tpm) return undefined
  return { kind: 'token_limited', scope, tpm, retryAfterMs: window.waitMs(tpm, nowMs) }
}

function refuseBalance(account: Account, amountPicos: Picos): HoldRefusal | undefined {
  const { heldPicos, facts } = account
  const { balancePicos } = facts
  if (balancePicos - heldPicos >= amountPicos) return undefined
  const isHeldOnly = balancePicos >= amountPicos
  return { kind: 'insufficient_balance', balancePicos, heldPicos, isHeldOnly }
}

function refuseSpending(
  { facts, usedPicos, heldPicos }: Account,
  key: KeyFigures,
  { amountPicos, keyLimits }: HoldRequest,
): HoldRefusal | undefined {
  const limitPicos = facts.dailyLimitPicos
  if (isOver({ limitPicos, usedPicos, heldPicos }, amountPicos))
    return {
      kind: 'spending_limit',
      scope: 'account',
      period: 'day',
      limitPicos,
      usedPicos,
      heldPicos,
    }
  const { used } = key
  if (used === undefined) return undefined
  const { dailyPicos, monthlyPicos, totalPicos } = keyLimits
  const periods = [
    ['day', dailyPicos, used.dayPicos],
    ['month', monthlyPicos, used.monthPicos],
    ['total', totalPicos, used.totalPicos],
  ] as const
  for (const [period, limit, usedOfPeriod] of periods) {
    const figures = { limitPicos: limit, usedPicos: usedOfPeriod, heldPicos: key.heldPicos }
    if (isOver(figures, amountPicos))
      return { kind: 'spending_limit', scope: 'key', period, ...figures }
  }
  return undefined
}

interface SpendingFigures {
  readonly limitPicos: Picos
  readonly usedPicos: Picos
  readonly heldPicos: Picos
}

function isOver(
  { limitPicos, usedPicos, heldPicos }: SpendingFigures,
  amountPicos: Picos,
): boolean {
  return limitPicos > 0n && usedPicos + heldPicos + amountPicos > limitPicos
}
