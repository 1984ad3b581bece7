/** The ledger on PostgreSQL keeps the contract of every ledger, and commits seldom. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { describeAnswerStates } from './answer-states.ts'
import { describeFigures } from './figures-conformance.ts'
import { describeLedger } from './ledger-conformance.ts'
import { describeLimits } from './limits-conformance.ts'
import { findDifferences, holdRequest, makeAccount, mustPlace, recordOf } from './ledger-harness.ts'
import { openPostgresHarness } from './postgres-harness.ts'

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
describeFigures('figures of the ledger on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)
describeAnswerStates('state of answers in the ledger on PostgreSQL', () => openPostgresHarness(url))

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

test('what a gateway of an earlier version settles counts in the new figures too', async (t) => {
  const harness = await openPostgresHarness(await server.createDatabase())
  t.after(() => harness.close())
  const accountId = await makeAccount(harness, { balancePicos: 100n })
  const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 40n))
  const counts = { input: 10, output: 20, cache_read: 1, cache_write_5m: 4 }
  const record = {
    account_id: accountId,
    exchange_id: hold.exchangeId,
    key_id: hold.keyId,
    vendor: 'alpha',
    model: 'large-1',
    operation: 'messages.create',
    is_stream: 1,
    channel: 'alpha-main',
    started_at_ms: harness.clock.now(),
    ended_at_ms: harness.clock.now(),
    ending: 'completed',
    status: 200,
    attempt_count: 2,
    amount_picos: '7',
    usage: JSON.stringify({
      parts: [{ counts, promptTokens: 15 }],
      reported: { inputTokens: 10, outputTokens: 20, cacheTokens: 5 },
    }),
    marks: '',
    price_lines: '7',
    vendor_request_id: null,
    operator_cost_picos: '0',
    day: '2026-11-21',
    input_tokens: 10,
    output_tokens: 20,
    cache_tokens: 5,
  }
  await harness.database.query('SELECT settle_holds($1, $2) AS withheld', [
    JSON.stringify([accountId]).replace('[', '{').replace(']', '}'),
    JSON.stringify([record]),
  ])
  const differences = await findDifferences(harness.database)
  // The test's own price lines know no cache writes.
  assert.deepEqual(
    differences.filter((difference) => !difference.startsWith('counts:')),
    [],
  )
  const [report] = await harness.database.query('SELECT * FROM report_day')
  assert.equal(report?.['cache_write_tokens'], 4n)
  assert.equal(report?.['failovers'], 1n)
})
