/**
 * Relay and ledger under random schedules of requests, leaving clients, failing vendors, a failing
 * disk and kills of the process, each schedule decided by its seed. TURNPIKE_TEST_SEEDS sets how many
 * (`npm run test:sim -- --money` runs many), TURNPIKE_TEST_SEED=7 repeats one and tells its story.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSeed, type SeedRun } from './run-seed.ts'
import { volume } from '../../support/variants.ts'

const only = process.env['TURNPIKE_TEST_SEED']
const seedCount = Number(process.env['TURNPIKE_TEST_SEEDS'] ?? volume({ few: 60, all: 200 }))
const seeds =
  only === undefined ? Array.from({ length: seedCount }, (_, index) => index) : [Number(only)]

const countNames = [
  'steps',
  'requests',
  'ends',
  'continuations',
  'charges',
  'refunds',
  'crashes',
  'limited',
  'uncovered',
] as const

test(`money under ${seeds.length} seeded schedules`, async (context) => {
  const sum: SeedRun = {
    steps: 0,
    requests: 0,
    ends: 0,
    continuations: 0,
    charges: 0,
    refunds: 0,
    crashes: 0,
    limited: 0,
    uncovered: 0,
    story: [],
  }
  for (const seed of seeds) {
    const run = await runSeed(seed)
    for (const name of countNames) sum[name] += run[name]
    if (only !== undefined) context.diagnostic(run.story.join('\n'))
  }
  const { story, ...counts } = sum
  context.diagnostic(JSON.stringify(counts))
  if (only !== undefined) return
  // A world in which nothing happens proves nothing.
  assert.equal(story.length, 0)
  assert.ok(sum.ends > 10 * seeds.length && sum.charges > sum.ends, JSON.stringify(counts))
  assert.ok(sum.continuations > seeds.length / 4, JSON.stringify(counts))
  assert.ok(sum.refunds > seeds.length / 4, JSON.stringify(counts))
  assert.ok(sum.limited > seeds.length / 4, JSON.stringify(counts))
  assert.ok(sum.uncovered > seeds.length, JSON.stringify(counts))
  assert.ok(sum.crashes > seeds.length / 2, JSON.stringify(counts))
})

test('the same seed gives the same run', async () => {
  const [one, other] = [await runSeed(3), await runSeed(3)]
  assert.deepEqual(one, other)
})
