/** The embedded ledger decides as the model does, under random schedules. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openEmbedded } from './embedded-harness.ts'
import { findDifferences } from './ledger-harness.ts'
import { chooseSeeds, runSchedules } from './limits-schedules.ts'

const seeds = chooseSeeds(30)

test(`limits and refunds under ${seeds.length} seeded schedules`, async (context) => {
  const harness = await openEmbedded()
  context.after(() => harness.close())
  const counts = await runSchedules(seeds, {
    harness,
    ledgers: [harness.ledger],
    pass: async (durationMs) => harness.clock.advance(durationMs),
  })
  context.diagnostic(JSON.stringify([...counts.decisions]))
  assert.deepEqual(await findDifferences(harness.database), [])
})
