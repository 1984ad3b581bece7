/** The ledger on PostgreSQL keeps the contract of every ledger, and commits seldom. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { describeAnswerStates } from './answer-states.ts'
import { describeSums } from './sums-conformance.ts'
import { describeLedger } from './ledger-conformance.ts'
import { describeLimitOrder } from './limit-order-conformance.ts'
import { describeLimits } from './limits-conformance.ts'
import { holdRequest, makeAccount, mustPlace, recordOf } from './ledger-harness.ts'
import { openPostgresHarness } from './postgres-harness.ts'
import { describeWaivers } from './waivers-conformance.ts'

let server: PostgresServer
let url: string
before(async () => {
  // Autovacuum commits at times of its own.
  server = await startPostgres({ settings: { autovacuum: 'off' } })
  url = await server.createDatabase()
})
after(() => server.close())

describeLedger('the ledger on PostgreSQL', () => openPostgresHarness(url))
describeLimits('limits of the ledger on PostgreSQL', () => openPostgresHarness(url))
describeLimitOrder('order of limits in the ledger on PostgreSQL', () => openPostgresHarness(url))
describeSums('figures of the ledger on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)
describeAnswerStates('state of answers in the ledger on PostgreSQL', () => openPostgresHarness(url))
describeWaivers('requests that came to nothing, with the ledger on PostgreSQL', () =>
  openPostgresHarness(url),
)

test('holds and charges that wait at the same time share one commit', async (t) => {
  const harness = await openPostgresHarness(url)
  t.after(() => harness.close())
  const accountIds = await Promise.all(
    Array.from({ length: 3 }, () => makeAccount(harness, { balancePicos: 100n })),
  )
  const place = (accountId: string) =>
    mustPlace(harness.ledger, holdRequest(harness, accountId, 40n))
  const holds = await Promise.all(accountIds.map(place))
  const before = await countCommits()
  await Promise.all([
    ...holds.map((hold) =>
      harness.ledger.settle(hold, recordOf(hold, 7n, { endedAtMs: harness.clock.now() })),
    ),
    ...accountIds.map(place),
  ])
  assert.equal((await countCommits()) - before, 1)
})

/** Of transactions that have written something; only differences mean anything. */
async function countCommits(): Promise<number> {
  return Number(await server.run('SELECT pg_snapshot_xmax(pg_current_snapshot())'))
}
