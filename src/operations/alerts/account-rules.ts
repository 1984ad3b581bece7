/**
 * The conditions of accounts and keys, from their balance, limits and spend. Pure. A request is refused
 * while its hold does not fit, which is before the last pico-dollar is spent; so "used up" means that the
 * rest does not pay for a request of average cost, or that the gateway refuses requests while it pays for
 * few. A refusal alone says nothing: one large request does not fit into a large balance either. A
 * condition that fires ends by a wider margin than it began, so that it does not flicker.
 *
 *     spend of 24 h = today's + yesterday's × the share of 24 h that lay in yesterday
 */
import { dayMs, hourMs } from '../../base/clock.ts'
import type { KeyLimits } from '../../base/key-limits.ts'
import {
  formatUsd,
  maxPicos,
  parseUsd,
  picos,
  usdNumber,
  zeroPicos,
  type Picos,
} from '../../base/money.ts'
import type { WatchedAccount } from '../../ledger/account-conditions.ts'
import { availablePicos } from '../../ledger/account-store.ts'
import { keyBudgets, noKeyUsage, type KeyBudget, type KeyUsage } from '../../ledger/key-usage.ts'
import type { UsagePeriod } from '../../ledger/ledger.ts'
import { limits, spendingCode } from '../../ledger/limits.ts'
import type { KeySpend } from '../../ledger/usage.ts'
import { keyOf, type AlertKind, type Finding } from './alert-kind.ts'

/** Conditions of accounts and keys. */
export const accountKinds = [
  'account.balance_low',
  'account.running_out',
  'account.exhausted',
  'account.daily_limit_reached',
  'account.monthly_limit_reached',
  'key.limit_reached',
] as const satisfies readonly AlertKind[]

/** Account holders get these too. */
export const holderKinds = [...accountKinds, 'account.limit_used'] as const

export type HolderKind = (typeof holderKinds)[number]

export function isHolderKind(kind: AlertKind): kind is HolderKind {
  return holderKinds.some((each) => each === kind)
}

interface LimitedKey {
  readonly id: string
  readonly accountId: string | undefined
  readonly name: string
  readonly head: string
  readonly limits: Pick<KeyLimits, 'dailyPicos' | 'monthlyPicos' | 'totalPicos'>
}

export interface AccountSituation {
  readonly account: WatchedAccount
  /** Of today and yesterday. */
  readonly spend: readonly KeySpend[]
  /** Keys with a limit. */
  readonly keys: readonly LimitedKey[]
  /** What keys have used, by their id. */
  readonly usage: ReadonlyMap<string, KeyUsage>
  /** Codes with which requests of the account were refused lately, alone and behind the id of their key. */
  readonly refused: ReadonlySet<string>
  /** Conditions that alerts have, by their key. */
  readonly known: ReadonlyMap<string, Finding>
}

export interface RuleMoment {
  readonly nowMs: number
  /** UTC days. */
  readonly today: string
  /** Accounts whose balance lasts shorter raise an alert; 0 = none. */
  readonly runOutWithinMs: number
}

/** A projection that is over must last this much longer than the one that fired. */
const runOutMargin = 1.2

export interface Spending {
  /** Charges of the last 24 h. */
  readonly dayPicos: Picos
  readonly todayPicos: Picos
  /** The average cost of a request; zero without any. */
  readonly averagePicos: Picos
}

export function spendingOf(
  spend: readonly KeySpend[],
  { today, nowMs }: Pick<RuleMoment, 'today' | 'nowMs'>,
): Spending {
  let todayPicos = 0n
  let yesterdayPicos = 0n
  let requests = 0
  for (const { day, costPicos, requests: count } of spend) {
    if (day === today) todayPicos += costPicos
    else yesterdayPicos += costPicos
    requests += count
  }
  const restMs = BigInt(dayMs - (nowMs % dayMs))
  const averagePicos = requests === 0 ? 0n : (todayPicos + yesterdayPicos) / BigInt(requests)
  return {
    dayPicos: picos(todayPicos + (yesterdayPicos * restMs) / BigInt(dayMs)),
    todayPicos: picos(todayPicos),
    averagePicos: picos(averagePicos),
  }
}

export function findAccountConditions(
  situation: AccountSituation,
  moment: RuleMoment,
): readonly Finding[] {
  const { account, spend, keys } = situation
  if (account.status !== 'active') return []
  const spending = spendingOf(spend, moment)
  return [
    balanceLow(account),
    runningOut(situation, spending, moment),
    exhausted(situation, spending),
    ...limitsOf(situation, spending, moment).map((limit) =>
      limitReached(situation, spending, limit),
    ),
    ...keys.flatMap((key) => keyLimitsReached(situation, key, moment)),
  ].filter((finding) => finding !== undefined)
}

function creditCommand(account: string): string {
  return `turnpike account credit ${account} USD --reference REF`
}

function balanceLow(account: WatchedAccount): Finding | undefined {
  const { balancePicos, alertBelowPicos, name } = account
  if (alertBelowPicos === zeroPicos || balancePicos >= alertBelowPicos) return undefined
  return {
    ...about('account.balance_low', account),
    title: `Balance of ${name} is low: ${formatUsd(balancePicos)} USD`,
    text:
      `The balance of the account ${name} is below ${formatUsd(alertBelowPicos)} USD. Book a ` +
      'credit.',
    command: creditCommand(name),
    facts: {
      account: name,
      balance_usd: formatUsd(balancePicos),
      alert_below_usd: formatUsd(alertBelowPicos),
    },
  }
}

function runningOut(
  { account, known }: AccountSituation,
  { dayPicos }: Spending,
  { runOutWithinMs }: RuleMoment,
): Finding | undefined {
  const { name } = account
  const leftPicos = availablePicos(account, zeroPicos)
  if (runOutWithinMs === 0 || dayPicos <= 0n || leftPicos <= 0n) return undefined
  const lastsMs = (usdNumber(leftPicos) / usdNumber(dayPicos)) * dayMs
  const isFiring = known.has(keyOf({ kind: 'account.running_out', subject: account.id }))
  if (lastsMs >= runOutWithinMs * (isFiring ? runOutMargin : 1)) return undefined
  const hours = Math.max(1, Math.round(lastsMs / hourMs))
  return {
    ...about('account.running_out', account),
    title: `Balance of ${name} lasts about ${hours} h`,
    text:
      `The account ${name} has spent ${formatUsd(dayPicos)} USD in the last 24 hours. At that rate its ` +
      `${moneyOf(account)} is used up in about ${hours} hours. Book a credit.`,
    command: creditCommand(name),
    facts: {
      account: name,
      balance_usd: formatUsd(account.balancePicos),
      credit_line_usd: formatUsd(account.creditLinePicos),
      spend_24h_usd: formatUsd(dayPicos),
      hours_left: hours,
    },
  }
}

function exhausted(
  { account, refused, known }: AccountSituation,
  { averagePicos }: Spending,
): Finding | undefined {
  const { name } = account
  const leftPicos = availablePicos(account, zeroPicos)
  const before = known.get(keyOf({ kind: 'account.exhausted', subject: account.id }))
  const isRefused = refused.has('ledger.insufficient_balance') && isFew(leftPicos, averagePicos)
  const needed = maxPicos(
    isRefused ? picos(maxPicos(leftPicos, zeroPicos) + 1n) : averagePicos,
    amountIn(before, 'needed_usd'),
  )
  // An account that was never used lacks nothing.
  const isEmpty = leftPicos < needed || (leftPicos <= 0n && needed > 0n)
  if (!isEmpty) return undefined
  return {
    ...about('account.exhausted', account),
    title: `Balance of ${name} is used up`,
    text:
      `The ${moneyOf(account)} of the account ${name} does not pay for its ` +
      'requests. They get 402. Book a credit.',
    command: creditCommand(name),
    facts: {
      account: name,
      balance_usd: formatUsd(account.balancePicos),
      credit_line_usd: formatUsd(account.creditLinePicos),
      needed_usd: formatUsd(needed),
    },
  }
}

function moneyOf({ balancePicos, creditLinePicos }: WatchedAccount): string {
  const balance = `balance of ${formatUsd(balancePicos)} USD`
  return creditLinePicos === 0n
    ? balance
    : `${balance} with its credit line of ${formatUsd(creditLinePicos)} USD`
}

/** A limit of an account, and its used part. */
export interface AccountLimit {
  readonly kind: 'account.daily_limit_reached' | 'account.monthly_limit_reached'
  readonly name: 'day' | 'month'
  readonly limit: Picos
  readonly used: Picos
  readonly period: string
  /** Of `turnpike account limits`. */
  readonly option: string
}

export function limitsOf(
  { account }: Pick<AccountSituation, 'account'>,
  { todayPicos }: Spending,
  { today }: Pick<RuleMoment, 'today'>,
): readonly AccountLimit[] {
  return [
    {
      kind: 'account.daily_limit_reached',
      name: 'day',
      limit: account.dailyLimitPicos,
      used: todayPicos,
      period: today,
      option: '--daily',
    },
    {
      kind: 'account.monthly_limit_reached',
      name: 'month',
      limit: account.monthlyLimitPicos,
      used: account.monthPicos,
      period: currentOf('month', today),
      option: '--monthly',
    },
  ]
}

function limitReached(
  { account, refused, known }: AccountSituation,
  { averagePicos: average }: Spending,
  { kind, name: periodName, limit, used, period, option }: AccountLimit,
): Finding | undefined {
  const isRefused = refused.has(spendingCode(periodName))
  const before = known.get(keyOf({ kind, subject: account.id }))
  if (!isUsedUp({ used, average, limit, period, isRefused }, before)) return undefined
  const { name } = account
  return {
    ...about(kind, account),
    title: `${periodName === 'day' ? 'Daily' : 'Monthly'} limit of ${name} is reached`,
    text:
      `The account ${name} has spent ${formatUsd(used)} of ${formatUsd(limit)} USD (${periodName}). Its ` +
      `requests get 429 ${untilWords[periodName]}. Raise the limit, or wait.`,
    command: `turnpike account limits ${name} ${option} USD`,
    facts: {
      account: name,
      limit_usd: formatUsd(limit),
      used_usd: formatUsd(used),
      period,
    },
  }
}

function keyLimitsReached(
  situation: AccountSituation,
  key: LimitedKey,
  moment: RuleMoment,
): readonly Finding[] {
  const spend = situation.spend.filter(({ keyId }) => keyId === key.id)
  const { averagePicos } = spendingOf(spend, moment)
  const usage = situation.usage.get(key.id) ?? noKeyUsage
  return keyBudgets(key.limits, usage).flatMap(
    (budget) =>
      keyLimitReached(situation, key, budget, { today: moment.today, averagePicos }) ?? [],
  )
}

export const untilWords = {
  day: 'until 00:00 UTC',
  month: 'until the next month (UTC) begins',
  total: 'until the limit is raised',
} as const

/** Returns the UTC day or month, or `total`. */
function currentOf(period: UsagePeriod, today: string): string {
  return period === 'day' ? today : period === 'month' ? today.slice(0, 7) : 'total'
}

function keyLimitReached(
  { account, refused, known }: AccountSituation,
  key: LimitedKey,
  { period: periodName, limitPicos: limit, usedPicos: used }: KeyBudget,
  { today, averagePicos: average }: { readonly today: string; readonly averagePicos: Picos },
): Finding | undefined {
  const subject = `${key.id} ${periodName}`
  const before = known.get(keyOf({ kind: 'key.limit_reached', subject }))
  const isRefused = refused.has(`${key.id} ${spendingCode(periodName)}`)
  const period = currentOf(periodName, today)
  if (!isUsedUp({ used, average, limit, period, isRefused }, before)) return undefined
  const name = key.name === '' ? key.head : key.name
  return {
    ...about('key.limit_reached', account),
    subject,
    title: `Limit of the key ${name} of ${account.name} is reached (${periodName})`,
    text:
      `The key ${name} (${key.id}) of the account ${account.name} has spent ${formatUsd(used)} of ` +
      `${formatUsd(limit)} USD (${periodName}). Its requests get 429 ${untilWords[periodName]}.`,
    facts: {
      account: account.name,
      key_id: key.id,
      key_name: key.name,
      key_head: key.head,
      limit_usd: formatUsd(limit),
      used_usd: formatUsd(used),
      period,
    },
  }
}

/** A reached limit stays so until its period ends, it is raised, or a refund lowers the used part. */
function isUsedUp(
  now: {
    readonly used: Picos
    readonly average: Picos
    readonly limit: Picos
    /** A UTC day or month, or `total`. */
    readonly period: string
    /** Requests were refused for a limit of this period. */
    readonly isRefused: boolean
  },
  before: Finding | undefined,
): boolean {
  if (now.limit === zeroPicos) return false
  if (now.used >= now.limit) return true
  const wasReached =
    before !== undefined &&
    before.facts['period'] === now.period &&
    before.facts['limit_usd'] === formatUsd(now.limit) &&
    now.used >= amountIn(before, 'used_usd')
  const rest = picos(now.limit - now.used)
  if (now.isRefused && isFew(rest, now.average)) return true
  return wasReached || (now.used > 0n && rest < now.average)
}

/** Refusals that say that money is used up. */
export const usedUpCodes: readonly string[] = [
  ...new Set(
    limits
      .filter(({ refuses }) => refuses === 'insufficient_balance' || refuses === 'spending_limit')
      .map(({ code }) => code),
  ),
]

const fewRequests = 20n

/** Whether an amount pays for few requests of average cost; without any request it is unknown. */
function isFew(amount: Picos, average: Picos): boolean {
  return average === zeroPicos || amount < average * fewRequests
}

function about(
  kind: AlertKind,
  { id }: WatchedAccount,
): Pick<Finding, 'kind' | 'subject'> & { readonly accountId: string } {
  return { kind, subject: id, accountId: id }
}

/** The amount that a condition has as a fact; zero without one. */
function amountIn(before: Finding | undefined, fact: string): Picos {
  const text = before?.facts[fact]
  if (typeof text !== 'string') return zeroPicos
  return parseUsd(text) ?? zeroPicos
}
