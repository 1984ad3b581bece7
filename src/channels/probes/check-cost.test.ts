/** What a check cost, by the vendor's counts and the prices in force; nonsense costs nothing known. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeChannel, makeModel, makeSnapshot } from '../../../test/support/snapshots.ts'
import { picos } from '../../base/money.ts'
import { costSchema } from '../../metering/cost-form.ts'
import type { Usage } from '../../metering/usage.ts'
import type { Model, Snapshot } from '../channel.ts'
import { countsOf, priceCheck } from './check-cost.ts'

function model(prices: Model['prices']): Snapshot {
  return makeSnapshot([], [makeModel('large-1', { prices })])
}

const none = { tiers: new Map(), speeds: new Map(), geos: new Map() }
const snapshot = model([
  {
    validFromMs: 0,
    prices: {
      classes: { input: picos(3_000_000n), output: picos(15_000_000n) },
      requestFeePicos: picos(7n),
      ...none,
    },
  },
  {
    validFromMs: 1_000,
    prices: {
      classes: { input: picos(1n), output: picos(2n) },
      requestFeePicos: picos(0n),
      ...none,
    },
  },
])
const place = { channel: 'alpha-main', model: 'large-1' }

function usage(input: number, output: number): Usage {
  return {
    parts: [{ model: 'canary-of-the-vendor', counts: { input, output }, promptTokens: input }],
    reported: { inputTokens: input, outputTokens: output, cacheTokens: 0 },
  }
}

test('counts times the prices of the moment, with the fee', () => {
  const at = (nowMs: number) => priceCheck(place, usage(8, 1), { snapshot, nowMs })
  assert.deepEqual(at(999), { amountPicos: 39_000_007n, isKnown: false })
  assert.deepEqual(at(1_000), { amountPicos: 10n, isKnown: false })
})

test('the channel’s own cost prices are exact', () => {
  const models = new Map([['large-1', undefined]])
  const channel = makeChannel('alpha-main', { models, cost: costSchema.parse({ factor: 0.5 }) })
  const counts = usage(8, 1)
  const own = { ...counts, parts: counts.parts.map((part) => ({ ...part, model: 'large-1' })) }
  const withCost = makeSnapshot([channel], [...snapshot.models.values()])
  assert.deepEqual(priceCheck(place, own, { snapshot: withCost, nowMs: 1_000 }), {
    amountPicos: 5n,
    isKnown: true,
  })
})

test('nothing is known without a price, or from counts that cannot be', () => {
  assert.equal(
    priceCheck({ ...place, model: 'other' }, usage(8, 1), { snapshot, nowMs: 0 }),
    undefined,
  )
  assert.equal(priceCheck(place, usage(8, 1), { snapshot: model([]), nowMs: 0 }), undefined)
  for (const [input, output] of [
    [-1, 1],
    [0.5, 1],
    [1_000_000, 1],
    [8, 100_000],
  ] as const)
    assert.equal(priceCheck(place, usage(input, output), { snapshot, nowMs: 0 }), undefined)
})

test('what is kept of a check are counts, and no word of the vendor', () => {
  const [part] = usage(8, 1).parts
  assert.ok(part !== undefined)
  const several: Usage = { ...usage(8, 1), parts: [part, { ...part, tier: 'canary' }] }
  assert.deepEqual(countsOf(several), { input: 16, output: 2 })
})
