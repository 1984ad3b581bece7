/** Sums over all active accounts for the metrics: how many there are, their balances and their spend. */
import { addPicos, usdNumber, zeroPicos, type Picos } from '../../base/money.ts'
import type { WatchedAccount } from '../../ledger/account-conditions.ts'
import type { KeySpend } from '../../ledger/usage.ts'
import { spendingOf, type RuleMoment } from './account-rules.ts'

export interface BalanceMetrics {
  readonly accountCount: number
  readonly balanceUsd: number
  readonly spendDayUsd: number
}

export const noBalances: BalanceMetrics = { accountCount: 0, balanceUsd: 0, spendDayUsd: 0 }

export class BalanceSums {
  #accountCount = 0
  #balancePicos: Picos = zeroPicos
  #spendPicos: Picos = zeroPicos

  /** `spend`: of the account, today and yesterday. */
  add(
    { status, balancePicos }: WatchedAccount,
    spend: readonly KeySpend[],
    moment: RuleMoment,
  ): void {
    if (status !== 'active') return
    this.#accountCount++
    this.#balancePicos = addPicos(this.#balancePicos, balancePicos)
    this.#spendPicos = addPicos(this.#spendPicos, spendingOf(spend, moment).dayPicos)
  }

  metrics(): BalanceMetrics {
    return {
      accountCount: this.#accountCount,
      balanceUsd: usdNumber(this.#balancePicos),
      spendDayUsd: usdNumber(this.#spendPicos),
    }
  }
}
