/**
 * Figures of balances and limits for the metrics, with a bounded number of series: the sums of all accounts,
 * the accounts whose balance lasts shortest at the spend of the last 24 h, and the limits of accounts and
 * keys that are used most.
 */
import { picos, usdNumber, zeroPicos, type Picos } from '../../base/money.ts'
import type { WatchedAccount } from '../../ledger/account-store.ts'
import { keyBudgets, noKeyUsage, type KeyBudget, type KeyUsage } from '../../ledger/key-usage.ts'
import type { UsagePeriod } from '../../ledger/ledger.ts'
import type { KeySpend } from '../../ledger/usage.ts'
import { spendingOf, type LimitedKey, type RuleMoment } from './account-rules.ts'

/** Of each list below. */
const shownMax = 100

interface ShownBalance {
  readonly account: string
  readonly balanceUsd: number
  readonly spendDayUsd: number
}

interface ShownLimit {
  readonly account: string
  /** Of the daily limit. */
  readonly usedShare: number
}

interface ShownKeyLimit {
  readonly key: string
  readonly period: UsagePeriod
  readonly usedShare: number
}

/** The lists have at most `shownMax` lines each. */
export interface BalanceFigures {
  readonly accountCount: number
  readonly balanceUsd: number
  readonly spendDayUsd: number
  readonly balances: readonly ShownBalance[]
  readonly limits: readonly ShownLimit[]
  readonly keyLimits: readonly ShownKeyLimit[]
}

export const noFigures: BalanceFigures = {
  accountCount: 0,
  balanceUsd: 0,
  spendDayUsd: 0,
  balances: [],
  limits: [],
  keyLimits: [],
}

/** The keys of an account that have limits, and what they have used. */
interface KeysOfAccount {
  readonly keys: readonly LimitedKey[]
  readonly usage: ReadonlyMap<string, KeyUsage>
}

export class BalanceSums {
  #accountCount = 0
  #balancePicos: Picos = zeroPicos
  #spendPicos: Picos = zeroPicos
  readonly #balances = new Least<ShownBalance>()
  readonly #limits = new Least<ShownLimit>()
  readonly #keyLimits = new Least<ShownKeyLimit>()

  /** `spend`: of the account, today and yesterday. */
  add(
    account: WatchedAccount,
    spend: readonly KeySpend[],
    { keys, usage }: KeysOfAccount,
    moment: RuleMoment,
  ): void {
    const { id, status, balancePicos, dailyLimitPicos } = account
    if (status !== 'active') return
    const { dayPicos, todayPicos } = spendingOf(spend, moment)
    this.#accountCount++
    this.#balancePicos = picos(this.#balancePicos + balancePicos)
    this.#spendPicos = picos(this.#spendPicos + dayPicos)
    if (dayPicos > 0n) {
      const balanceUsd = usdNumber(balancePicos)
      const spendDayUsd = usdNumber(dayPicos)
      this.#balances.add({ account: id, balanceUsd, spendDayUsd }, balanceUsd / spendDayUsd)
    }
    const usedShare = shareOf(todayPicos, dailyLimitPicos)
    if (usedShare > 0) this.#limits.add({ account: id, usedShare }, -usedShare)
    for (const key of keys)
      this.#addKey(key, keyBudgets(key.limits, usage.get(key.id) ?? noKeyUsage))
  }

  figures(): BalanceFigures {
    return {
      accountCount: this.#accountCount,
      balanceUsd: usdNumber(this.#balancePicos),
      spendDayUsd: usdNumber(this.#spendPicos),
      balances: this.#balances.items(),
      limits: this.#limits.items(),
      keyLimits: this.#keyLimits.items(),
    }
  }

  #addKey({ id }: LimitedKey, budgets: readonly KeyBudget[]): void {
    for (const { period, usedPicos, limitPicos } of budgets) {
      const usedShare = shareOf(usedPicos, limitPicos)
      if (usedShare > 0) this.#keyLimits.add({ key: id, period, usedShare }, -usedShare)
    }
  }
}

/** Zero without a limit. */
function shareOf(used: Picos, limit: Picos): number {
  return limit === zeroPicos ? 0 : usdNumber(used) / usdNumber(limit)
}

/** Keeps the `shownMax` items with the smallest ranks, whatever the number of items. */
class Least<Item> {
  #kept: { readonly item: Item; readonly rank: number }[] = []

  add(item: Item, rank: number): void {
    this.#kept.push({ item, rank })
    if (this.#kept.length > 2 * shownMax) this.#trim()
  }

  items(): readonly Item[] {
    this.#trim()
    return this.#kept.map(({ item }) => item)
  }

  #trim(): void {
    this.#kept.sort((left, right) => left.rank - right.rank)
    this.#kept.length = Math.min(this.#kept.length, shownMax)
  }
}
