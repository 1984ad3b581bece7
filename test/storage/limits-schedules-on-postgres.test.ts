/** Two nodes on one PostgreSQL decide as the model does, under random schedules. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { findDifferences } from './ledger-harness.ts'
import { chooseSeeds, runSchedules } from './limits-schedules.ts'
import { openPostgresHarness, testLeaseMs } from './postgres-harness.ts'

const seeds = chooseSeeds(15)

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

test(`limits and refunds on two nodes under ${seeds.length} seeded schedules`, async (context) => {
  const harness = await openPostgresHarness(await server.createDatabase())
  context.after(() => harness.close())
  const nodes = [harness.ledger, await harness.openNode()]
  const counts = await runSchedules(seeds, {
    harness,
    ledgers: nodes,
    async pass(durationMs) {
      // No lease ends while a hold is open: longer times pass only without one.
      assert.ok(durationMs < testLeaseMs / 2 || nodes[0]?.openHolds().count === 0)
      harness.clock.advance(durationMs)
      // After a jump of the clock all leases have expired: each node renews before one looks for dead nodes.
      await Promise.all(nodes.map((node) => node.renew()))
      await Promise.all(nodes.map((node) => node.tick()))
    },
  })
  context.diagnostic(JSON.stringify([...counts.decisions]))
  assert.deepEqual(await findDifferences(harness.database), [])
})
