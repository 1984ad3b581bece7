/**
 * The limits that refuse a request, in the order in which they do: the first one that it would pass refuses
 * it. Both engines keep this order, and the conformance suite holds them to it for any two reached at once.
 *
 *     refuses                compares
 *     rate_limited           requests admitted in the window                  with the requests per minute
 *     token_limited          tokens of requests that ended within a minute    with the tokens per minute
 *     insufficient_balance   likely + open holds                              with balance + credit line
 *     spending_limit         likely + open holds + charges of the period      with the limit in USD
 *
 * An open hold counts with the most that its exchange can cost, so the last two can be passed by one hold
 * alone. Then nothing is left, and any further request that costs something is refused.
 */
import type { ErrorCode } from '../base/errors.ts'
import { maxPicos, minPicos, picos, type Picos } from '../base/money.ts'
import type { HoldRequest, UsagePeriod } from './ledger.ts'

export type Limit = {
  /** As the functions of PostgreSQL name it. */
  readonly name: string
  /** Whose limit it is, and whose requests it counts. */
  readonly scope: 'account' | 'key'
  /** With which an exchange is refused. */
  readonly code: ErrorCode
} & (
  | { readonly refuses: 'rate_limited' | 'token_limited' | 'insufficient_balance' }
  | SpendingLimit
)

export type SpendingLimit = { readonly refuses: 'spending_limit' } & (
  | { readonly scope: 'account'; readonly period: Exclude<UsagePeriod, 'total'> }
  | { readonly scope: 'key'; readonly period: UsagePeriod }
)

const requests = { refuses: 'rate_limited', code: 'access.rate_limited' } as const
const tokens = { refuses: 'token_limited', code: 'access.tokens_limited' } as const
const balance = { refuses: 'insufficient_balance', code: 'ledger.insufficient_balance' } as const
const day = spending('day', 'ledger.daily_limit_reached')
const month = spending('month', 'ledger.monthly_limit_reached')
const total = spending('total', 'ledger.total_limit_reached')

function spending<Period extends UsagePeriod>(period: Period, code: ErrorCode) {
  return { refuses: 'spending_limit', period, code } as const
}

/** A limit of zero is none, but for the balance. */
export const limits: readonly Limit[] = [
  { name: 'account_rpm', scope: 'account', ...requests },
  { name: 'key_rpm', scope: 'key', ...requests },
  { name: 'account_tpm', scope: 'account', ...tokens },
  { name: 'key_tpm', scope: 'key', ...tokens },
  { name: 'balance', scope: 'account', ...balance },
  { name: 'account_day', scope: 'account', ...day },
  { name: 'account_month', scope: 'account', ...month },
  { name: 'key_day', scope: 'key', ...day },
  { name: 'key_month', scope: 'key', ...month },
  { name: 'key_total', scope: 'key', ...total },
]

/** Returns the amounts that must be left in each limit in USD, and of balance and credit line. */
export function leastLeftPicos({
  amountPicos,
  likelyPicos,
}: Pick<HoldRequest, 'amountPicos' | 'likelyPicos'>): Picos {
  return maxPicos(likelyPicos, minPicos(amountPicos, picos(1n)))
}

/** Returns the code with which a limit in USD refuses. */
export function spendingCode(period: UsagePeriod): ErrorCode {
  return { day, month, total }[period].code
}
