/**
 * How SQLite finds an account's sums of a day: by the index of the account, never by reading the day of
 * all accounts. Asks for the plan of each statement that the readers run.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { openEmbedded, type EmbeddedHarness } from './embedded-harness.ts'
import { listAccounts } from '../../src/ledger/account-store.ts'
import { readKeyUsage } from '../../src/ledger/key-usage.ts'
import { readDays, readSpend, readSpendByDay, readUsage } from '../../src/ledger/usage.ts'
import type { Queryable } from '../../src/storage/database.ts'
import { makeAccount } from './ledger-harness.ts'

const period = { from: '2026-11-20', to: '2026-11-21' } as const
const accountIds = Array.from({ length: 60 }, (_, index) => `acc_${index}`)

describe('sums of a day are found by their account', () => {
  let harness: EmbeddedHarness
  let accountId: string
  beforeEach(async () => {
    harness = await openEmbedded()
    accountId = await makeAccount(harness)
  })
  afterEach(() => harness.close())

  const readers: Readonly<Record<string, (database: Queryable) => Promise<unknown>>> = {
    'usage of a day': (database) =>
      readUsage(database, { accountId, period: 'day', atMs: harness.clock.now() }),
    'days of a period': (database) =>
      readDays(database, { accountIds: [accountId], ...period, by: undefined }),
    'days by key': (database) =>
      readDays(database, { accountIds: [accountId], ...period, by: 'key' }),
    'spend of many accounts': (database) => readSpend(database, { accountIds, ...period }),
    'spend by day of many accounts': (database) =>
      readSpendByDay(database, { accountIds, ...period }),
    'use of the keys of many accounts': (database) => {
      const keys = accountIds.map((id) => ({ id: `key_${id}`, accountId: id }))
      return readKeyUsage(database, { keys, atMs: harness.clock.now() })
    },
    'accounts by spend': (database) => {
      const spendPeriod = { fromDay: period.from, toDay: period.to }
      return listAccounts(database, { sort: 'spend', spendPeriod })
    },
  }
  for (const [title, read] of Object.entries(readers))
    it(title, async () => {
      const plans: string[] = []
      await read({
        async query(sql, parameters) {
          for (const row of await harness.database.query(`EXPLAIN QUERY PLAN ${sql}`, parameters))
            plans.push(String(row['detail']))
          return harness.database.query(sql, parameters)
        },
      })
      const ofDays = plans.filter((plan) => plan.includes('report_day'))
      assert.ok(ofDays.length > 0, plans.join('\n'))
      for (const plan of ofDays)
        assert.match(
          plan,
          /^SEARCH report_day USING INDEX report_day_by_account \(account_id=\? AND day/,
        )
    })
})
