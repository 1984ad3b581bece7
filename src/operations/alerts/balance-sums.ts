/**
 * Figures of balances for the metrics, with a bounded number of accounts: the sums of all, and the accounts
 * whose balance lasts shortest at the spend of the last 24 h.
 */
import { picos, usdNumber, type Picos } from '../../base/money.ts'
import type { WatchedAccount } from '../../ledger/account-store.ts'
import type { KeySpend } from '../../ledger/usage.ts'
import { spendingOf, type RuleMoment } from './account-rules.ts'

/** Accounts that have series of their own in the metrics. */
const shownAccountsMax = 100

interface ShownBalance {
  readonly account: string
  readonly balanceUsd: number
  readonly spendDayUsd: number
  /** The share of the daily limit that is used; undefined without a limit. */
  readonly limitUsedShare: number | undefined
}

export interface BalanceFigures {
  readonly accountCount: number
  readonly balanceUsd: number
  readonly spendDayUsd: number
  /** At most `shownAccountsMax`. */
  readonly shown: readonly ShownBalance[]
}

export const noFigures: BalanceFigures = {
  accountCount: 0,
  balanceUsd: 0,
  spendDayUsd: 0,
  shown: [],
}

interface Ranked extends ShownBalance {
  /** Days for which the balance lasts. */
  readonly days: number
}

export class BalanceSums {
  #accountCount = 0
  #balancePicos: Picos = picos(0n)
  #spendPicos: Picos = picos(0n)
  #shown: Ranked[] = []

  add(account: WatchedAccount, spend: readonly KeySpend[], moment: RuleMoment): void {
    const { id, status, balancePicos, dailyLimitPicos } = account
    if (status !== 'active') return
    const { dayPicos, todayPicos } = spendingOf(spend, moment)
    this.#accountCount++
    this.#balancePicos = picos(this.#balancePicos + balancePicos)
    this.#spendPicos = picos(this.#spendPicos + dayPicos)
    if (dayPicos <= 0n) return
    const balanceUsd = usdNumber(balancePicos)
    const spendDayUsd = usdNumber(dayPicos)
    const limitUsd = usdNumber(dailyLimitPicos)
    this.#shown.push({
      account: id,
      balanceUsd,
      spendDayUsd,
      limitUsedShare: limitUsd === 0 ? undefined : usdNumber(todayPicos) / limitUsd,
      days: balanceUsd / spendDayUsd,
    })
    if (this.#shown.length > 2 * shownAccountsMax) this.#trim()
  }

  figures(): BalanceFigures {
    this.#trim()
    return {
      accountCount: this.#accountCount,
      balanceUsd: usdNumber(this.#balancePicos),
      spendDayUsd: usdNumber(this.#spendPicos),
      shown: this.#shown,
    }
  }

  #trim(): void {
    this.#shown.sort((left, right) => left.days - right.days)
    this.#shown.length = Math.min(this.#shown.length, shownAccountsMax)
  }
}
