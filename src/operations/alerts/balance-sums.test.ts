/** The metrics of balances are sums over active accounts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseUsd, picos, type Picos } from '../../base/money.ts'
import type { WatchedAccount } from '../../ledger/account-conditions.ts'
import { BalanceSums } from './balance-sums.ts'

const moment = { nowMs: Date.parse('2026-11-21T12:00:00Z'), today: '2026-11-21', runOutWithinMs: 0 }

function usd(text: string): Picos {
  return parseUsd(text) ?? picos(0n)
}

/** An account that has spent a dollar today, and whose balance is so many dollars. */
function addAccount(sums: BalanceSums, index: number, status: 'active' | 'suspended'): void {
  const id = `acc_${index}`
  const account: WatchedAccount = {
    id,
    name: id,
    status,
    balancePicos: usd(String(index)),
    alertBelowPicos: picos(0n),
    creditLinePicos: picos(0n),
    monthlyLimitPicos: picos(0n),
    monthPicos: picos(0n),
    dailyLimitPicos: picos(0n),
  }
  const spend = {
    accountId: id,
    keyId: `key_${index}`,
    day: moment.today,
    costPicos: usd('1'),
    requests: 1,
  }
  sums.add(account, [spend], moment)
}

test('adds up balances and spend of active accounts', () => {
  const sums = new BalanceSums()
  for (let index = 0; index < 1_000; index++) addAccount(sums, index, 'active')
  addAccount(sums, 7, 'suspended')
  assert.deepEqual(sums.metrics(), {
    accountCount: 1_000,
    balanceUsd: 499_500,
    spendDayUsd: 1_000,
  })
})
