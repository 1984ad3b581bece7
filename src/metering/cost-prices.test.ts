/** What an answer costs the operator on a channel: the vendor's counts × cost prices, exactly. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { picos } from '../base/money.ts'
import { costSchema, decodeCost, encodeCost } from './cost-form.ts'
import { ownCost, type CostPrices } from './cost-prices.ts'
import { parsePrices } from './price-form.ts'
import type { Usage, UsagePart } from './usage.ts'

const list = parsePrices({ input: 3, output: 15, request: 0.0001 })
const smallList = parsePrices({ input: 1, output: 2 })

function part(model: string | undefined, input: number, output: number): UsagePart {
  const named = model === undefined ? {} : { model }
  return { ...named, counts: { input, output }, promptTokens: input }
}

function usage(...parts: UsagePart[]): Usage {
  return { parts, reported: { inputTokens: 0, outputTokens: 0, cacheTokens: 0 } }
}

function cost(form: unknown): CostPrices {
  return costSchema.parse(form)
}

function costOf(costs: CostPrices | undefined, counted: Usage, atMs = 0) {
  return ownCost({
    cost: costs,
    atMs,
    usage: counted,
    format: 'messages',
    requestedModel: 'large-1',
    prices: list,
    pricesFor: (model) => (model === 'small-1' ? smallList : undefined),
  })
}

const answer = usage(part('large-1-20261021', 1_000, 10))

test('prices counts at the cost prices of the model', () => {
  const prices = cost({ 'large-1': { input: 2, output: 8, request: 0.00001 } })
  assert.deepEqual(costOf(prices, answer), {
    amountPicos: picos(1_000n * 2_000_000n + 10n * 8_000_000n + 10_000_000n),
    isKnown: true,
  })
})

test('multiplies the whole list price by a factor, and rounds up once', () => {
  const whole = 1_000n * 3_000_000n + 10n * 15_000_000n + 100_000_000n
  assert.deepEqual(costOf(cost({ factor: 0.8 }), answer), {
    amountPicos: picos((whole * 8n) / 10n),
    isKnown: true,
  })
  const third = costOf(cost({ factor: '0.333333' }), usage(part(undefined, 1, 0)))
  assert.equal(third.amountPicos, (103_000_000n * 333_333n + 999_999n) / 1_000_000n)
})

test('prices each part at its own model, by cost price or factor', () => {
  const both = usage(part('large-1', 10, 1), { ...part('small-1', 100, 5), isOtherModel: true })
  const prices = cost({ factor: 0.5, 'large-1': { input: 2, output: 8 } })
  assert.deepEqual(costOf(prices, both), {
    amountPicos: picos(10n * 2_000_000n + 8_000_000n + (100n * 1_000_000n + 5n * 2_000_000n) / 2n),
    isKnown: true,
  })
})

test('estimates at list price where the channel has no cost price', () => {
  const atList = 1_000n * 3_000_000n + 10n * 15_000_000n + 100_000_000n
  const estimate = { amountPicos: picos(atList), isKnown: false }
  assert.deepEqual(costOf(undefined, answer), estimate)
  assert.deepEqual(costOf(cost({ 'small-1': { input: 1, output: 1 } }), answer), estimate)
})

test('is an estimate where a part names a model without a price', () => {
  const strange = usage({ ...part('strange', 1, 0), isOtherModel: true })
  assert.equal(costOf(cost({ 'large-1': { input: 2, output: 8 } }), strange).isKnown, false)
})

test('is an estimate where a part is of a model whose cost is not known', () => {
  const other = usage(part('large-1', 1, 0), { ...part('small-1', 1, 0), isOtherModel: true })
  const prices = cost({ 'large-1': { input: 2, output: 8 } })
  const expected = { amountPicos: picos(2_000_000n + 1_000_000n), isKnown: false }
  assert.deepEqual(costOf(prices, other), expected)
})

test('contains the fee of the requested model also where another one has answered', () => {
  const other = usage({ ...part('small-1', 10, 0), isOtherModel: true })
  const prices = cost({ factor: 0.5, 'large-1': { input: 2, output: 8, request: 0.00001 } })
  const expected = { amountPicos: picos(10_000_000n + (10n * 1_000_000n) / 2n), isKnown: true }
  assert.deepEqual(costOf(prices, other), expected)
})

test('uses the version in force when the exchange began', () => {
  const prices = cost({
    'large-1': [
      { input: 2, output: 8 },
      { input: 1, output: 4, valid_from: '2027-01-01' },
    ],
  })
  const one = usage(part(undefined, 1, 0))
  assert.equal(costOf(prices, one, Date.parse('2026-12-31T23:59:59Z')).amountPicos, 2_000_000n)
  assert.equal(costOf(prices, one, Date.parse('2027-01-01')).amountPicos, 1_000_000n)
})

test('keeps cost prices exactly in the store', () => {
  for (const form of [
    { factor: 0.8 },
    { factor: 0 },
    { factor: 0.000001, 'large-1': { input: 2.4, output: 12, cache_read: 0.24 } },
    { factor: { input: 1, output: 1 } },
    { m: [{ input: 1 }, { input: 2, valid_from: '2027-01-01' }] },
  ]) {
    const parsed = cost(form)
    assert.deepEqual(decodeCost(encodeCost(parsed)), parsed)
    assert.deepEqual(JSON.parse(encodeCost(parsed)), form)
  }
})

test('refuses what is no cost, and names the key', () => {
  const refusalOf = (form: unknown): string => {
    const { error } = costSchema.safeParse(form)
    return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`).join()
  }
  const rule = /^: must be \{ factor: 0\.8 \} for a factor on list prices, or a mapping of models/
  for (const form of [null, 0.8, [], {}, 'cheap']) assert.match(refusalOf(form), rule)
  for (const factor of [-1, '0.0000001', null, true, 'half'])
    assert.match(
      refusalOf({ factor }),
      /^factor: must be a factor from 0, with at most 6 decimals$/,
    )
  assert.match(
    refusalOf({ m: { input: -1, output: 1 } }),
    /^m\.input: input must be USD per million/,
  )
  assert.match(refusalOf({ m: 3 }), /^m: price must be a mapping with input and output/)
})
