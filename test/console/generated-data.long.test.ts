/**
 * The generated data that the tests and the benchmark of the console use is right: the audit of the books
 * finds no difference, and it has each state that a page shows.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { Secret } from '../../src/base/secret.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { readReport } from '../../src/operations/reports/report.ts'
import { noCheck } from '../../src/operations/channels/run-check.ts'
import { auditLedger } from '../../src/operations/store/audit.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { fillLargeStore, largeShape } from '../support/console/large-store.ts'
import { fillSmallStore } from '../support/console/small-store.ts'
import { listAccounts, listRequests } from '../support/operations.ts'
import { openNewStore } from '../support/test-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'turnpike-data-'))
after(() => rmSync(folder, { recursive: true }))

/** Each call of `fill` gets an empty store. */
async function withStore(
  name: string,
  work: (context: OperationContext) => Promise<void>,
): Promise<void> {
  const database = await openNewStore(mkdtempSync(join(folder, name)))
  try {
    await migrate(database)
    await work({
      database,
      clock: systemClock,
      actor: 'test',
      masterKey: () => new Secret('0'.repeat(64)),
      environment: () => undefined,
      runCheck: noCheck,
    })
  } finally {
    await database.close()
  }
}

async function assertRight(
  context: OperationContext,
  { requests, chargedShare }: { readonly requests: number; readonly chargedShare: number },
): Promise<void> {
  const audit = await auditLedger(context)
  assert.deepEqual(audit.differences, [])
  assert.equal(audit.counts.exchanges, requests)
  assert.ok(audit.counts.charges > requests * chargedShare, `${audit.counts.charges} charges`)
}

describe('generated data', () => {
  test('of a large business is right, and has the asked number of everything', async () => {
    await withStore('large', async (context) => {
      const shape = { requests: 1_200, accounts: 30, channels: 12, models: 8, days: 9 }
      await fillLargeStore(context, { ...largeShape, ...shape })
      await assertRight(context, { requests: shape.requests, chargedShare: 0.9 })
      assert.equal((await listAccounts(context, { limit: 100 })).items.length, shape.accounts)
      const report = valueOf(await readReport(context, { by: 'day', limit: 100 }))
      assert.equal(report.items.length, shape.days + 1)
      const refunded = report.items.filter(({ refunded_usd }) => refunded_usd !== '0')
      assert.ok(refunded.length > 0, 'nothing was refunded')
    })
  })

  test('of a small business has the same requests at any hour', async () => {
    const found: string[][] = []
    for (const hours of [0, 7, 31])
      await withStore('hours', async (context) => {
        const clock = { ...context.clock, now: () => context.clock.now() - hours * 3_600_000 }
        const small = { vendorUrl: 'http://127.0.0.1:9', requests: 400 }
        await fillSmallStore({ ...context, clock }, small)
        const { items } = await listRequests(context, { limit: 1_000 })
        found.push(
          items
            .map((one) => `${one.account} ${one.model} ${one.status} ${one.attempt_count}`)
            .sort(),
        )
      })
    assert.deepEqual(found[1], found[0])
    assert.deepEqual(found[2], found[0])
  })

  test('of a small business is right, and has every ending, accounts in each state, refunds', async () => {
    await withStore('small', async (context) => {
      const { holder } = await fillSmallStore(context, { vendorUrl: 'http://127.0.0.1:9' })
      // An account with seven requests in a hundred pays nothing.
      await assertRight(context, { requests: 1_500, chargedShare: 0.85 })
      const accounts = (await listAccounts(context, { limit: 100 })).items
      const statuses = new Set(accounts.map(({ status }) => status))
      assert.deepEqual([...statuses].toSorted(), ['active', 'closed', 'suspended'])
      const balances = new Map(accounts.map(({ name, balance_usd }) => [name, balance_usd]))
      assert.equal(balances.get('juniper-studio'), '1.84')
      assert.equal(balances.get('orbit-games'), '0')
      const requests = (await listRequests(context, { limit: 1_000 })).items
      const endings = new Set(requests.map(({ outcome }) => outcome))
      assert.deepEqual([...endings].toSorted(), [
        'client_left',
        'completed',
        'failed',
        'not_admitted',
        'refused',
        'upstream_cut',
      ])
      assert.ok(requests.some(({ account_id }) => account_id === holder.id))
    })
  })
})
