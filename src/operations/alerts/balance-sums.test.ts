/** The metrics of balances and limits have a bounded number of series, and show those that matter most. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseUsd, picos, type Picos } from '../../base/money.ts'
import type { WatchedAccount } from '../../ledger/account-store.ts'
import { BalanceSums } from './balance-sums.ts'

const moment = { nowMs: Date.parse('2026-11-21T12:00:00Z'), today: '2026-11-21', runOutWithinMs: 0 }

function usd(text: string): Picos {
  return parseUsd(text) ?? picos(0n)
}

/** An account that has spent a dollar today with one key, and whose limits are all of this many dollars. */
function addAccount(sums: BalanceSums, index: number, status: 'active' | 'suspended'): void {
  const id = `acc_${index}`
  const limit = usd(String(index + 1))
  const account: WatchedAccount = {
    id,
    name: id,
    status,
    balancePicos: usd(String(index)),
    alertBelowPicos: picos(0n),
    dailyLimitPicos: limit,
  }
  const keyId = `key_${index}`
  const spend = { accountId: id, keyId, day: moment.today, costPicos: usd('1'), requests: 1 }
  const limits = { dailyPicos: limit, monthlyPicos: picos(0n), totalPicos: limit }
  const key = { id: keyId, accountId: id, name: '', head: 'cr_ab', limits }
  const used = { dayPicos: usd('1'), monthPicos: usd('1'), totalPicos: usd('0.5') }
  const usage = new Map([[keyId, used]])
  sums.add(account, [spend], { keys: [key], usage }, moment)
}

test('shows at most a hundred of each, whatever the number of accounts and keys', () => {
  const sums = new BalanceSums()
  const order = Array.from({ length: 1_000 }, (_, index) => (index * 7) % 1_000)
  for (const index of order) addAccount(sums, index, 'active')
  addAccount(sums, 0, 'suspended')
  const { accountCount, balanceUsd, spendDayUsd, ...shown } = sums.figures()
  assert.deepEqual([accountCount, balanceUsd, spendDayUsd], [1_000, 499_500, 1_000])
  const first = Array.from({ length: 100 }, (_, index) => `acc_${index}`)
  assert.deepEqual(
    shown.balances.map(({ account }) => account),
    first,
  )
  assert.deepEqual(
    shown.limits.map(({ account }) => account),
    first,
  )
  assert.equal(shown.keyLimits.length, 100)
  assert.deepEqual(shown.keyLimits[0], { key: 'key_0', period: 'day', usedShare: 1 })
  assert.ok(
    shown.keyLimits.some(({ period, usedShare }) => period === 'total' && usedShare === 0.5),
  )
  assert.ok(
    shown.keyLimits.every(({ period }) => period !== 'month'),
    'no limit, no line',
  )
})

test('leaves out accounts and limits without any use', () => {
  const sums = new BalanceSums()
  const account: WatchedAccount = {
    id: 'acc_1',
    name: 'idle',
    status: 'active',
    balancePicos: usd('5'),
    alertBelowPicos: picos(0n),
    dailyLimitPicos: usd('1'),
  }
  sums.add(account, [], { keys: [], usage: new Map() }, moment)
  assert.deepEqual(sums.figures(), {
    accountCount: 1,
    balanceUsd: 5,
    spendDayUsd: 0,
    balances: [],
    limits: [],
    keyLimits: [],
  })
})
