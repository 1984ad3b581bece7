/** The price of one token or use, for every class and every way in which an answer can be served. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parsePrices } from './price-form.ts'
import { isPricedUse, rateOf, selectRates, type RateCard, type Served } from './rates.ts'
import type { UsageClass } from './usage.ts'

const plain = parsePrices({ input: 3, output: 15 })
const listed: Served = { promptTokens: 10 }

function shown(card: RateCard, usageClass: UsageClass): readonly [bigint, boolean] {
  const { pricePicos, isDefault } = rateOf(card, usageClass)
  return [pricePicos, isDefault]
}

describe('a class without a price', () => {
  const card = selectRates(plain, listed, 'chat')
  const expected: readonly [UsageClass, bigint, boolean][] = [
    ['input', 3_000_000n, false],
    ['output', 15_000_000n, false],
    ['cache_read', 3_000_000n, true],
    ['cache_write_5m', 3_750_000n, true],
    ['cache_write_1h', 6_000_000n, true],
    ['input_audio', 48_000_000n, true],
    ['cache_read_audio', 48_000_000n, true],
    ['output_audio', 120_000_000n, true],
    ['web_search', 10_000_000_000n, true],
    ['file_search', 2_500_000_000n, true],
    ['code_interpreter', 30_000_000_000n, true],
    ['image_generation', 250_000_000_000n, true],
  ]
  for (const [usageClass, price, isDefault] of expected)
    test(`costs as the table says: ${usageClass}`, () =>
      assert.deepEqual(shown(card, usageClass), [price, isDefault]))

  test('has the price of the class that it belongs to', () => {
    const audio = selectRates(parsePrices({ input: 3, input_audio: 7 }), listed, 'chat')
    assert.deepEqual(shown(audio, 'cache_read_audio'), [7_000_000n, true])
    assert.deepEqual(shown(audio, 'output'), [3_000_000n, true])
    assert.deepEqual(shown(audio, 'output_audio'), [24_000_000n, true])
  })
})

describe('an answer at the list price', () => {
  test('has one card for each model, whatever vendors call the list price', () => {
    const card = selectRates(plain, listed, 'messages')
    assert.deepEqual(card, {
      prices: plain,
      isLongContext: false,
      modifiers: [],
      replacements: [],
      isDefault: false,
    })
    const names = ['', 'standard', 'standard_only', 'default', 'auto', 'global', 'not_available']
    for (const name of names)
      for (const kind of ['tier', 'speed', 'geo'] as const)
        assert.equal(selectRates(plain, { ...listed, [kind]: name }, 'messages'), card, name)
  })

  test('has the change that the catalogue gives to such a name', () => {
    const prices = parsePrices({ input: 3, output: 15, tiers: { default: { multiplier: 0.5 } } })
    const { modifiers, isDefault } = selectRates(prices, { ...listed, tier: 'default' }, 'chat')
    assert.deepEqual(modifiers, [{ kind: 'tier', name: 'default', ppm: 500_000 }])
    assert.equal(isDefault, false)
  })

  test('keeps such a name without a mark where another property has a price', () => {
    const prices = parsePrices({ input: 3, output: 15, speeds: { fast: { multiplier: 2 } } })
    const served = { ...listed, tier: 'standard', speed: 'fast', geo: 'global' }
    const { modifiers, isDefault } = selectRates(prices, served, 'messages')
    assert.deepEqual(modifiers, [{ kind: 'speed', name: 'fast', ppm: 2_000_000 }])
    assert.equal(isDefault, false)
  })
})

test('a name without a price has the factor of its vendor, or none, and is marked', () => {
  const served = { ...listed, tier: 'batch', speed: 'fast', geo: 'us' }
  const factors = (format: 'messages' | 'chat') =>
    selectRates(plain, served, format).modifiers.map(({ ppm }) => ppm)
  assert.deepEqual(factors('messages'), [500_000, 2_000_000, 1_100_000])
  assert.deepEqual(factors('chat'), [500_000, 1_000_000, 1_000_000])
  const odd = selectRates(plain, { ...listed, tier: 'priority' }, 'messages')
  assert.deepEqual(odd.modifiers, [{ kind: 'tier', name: 'priority', ppm: 1_000_000 }])
  assert.equal(odd.isDefault, true)
})

describe('a long prompt', () => {
  const long = parsePrices({
    input: 3,
    output: 15,
    web_search: 20,
    long_context: { above: 200, input: 6, output: 22 },
    tiers: {
      flex: { input: 1, output: 5, long_context: { input: 2, output: 7 } },
      batch: { multiplier: 0.5 },
    },
  })
  const at = (promptTokens: number, tier?: string) =>
    selectRates(long, { promptTokens, tier }, 'chat')

  test('has its own prices from the first token above the limit on', () => {
    assert.deepEqual(shown(at(200), 'input'), [3_000_000n, false])
    assert.equal(at(200).isLongContext, false)
    assert.deepEqual(shown(at(201), 'input'), [6_000_000n, false])
    assert.deepEqual(shown(at(201), 'output'), [22_000_000n, false])
    assert.equal(at(201).isLongContext, true)
  })

  test('has the long prices of its tier, and its factor on the long prices of the model', () => {
    assert.deepEqual(shown(at(200, 'flex'), 'input'), [1_000_000n, false])
    assert.deepEqual(shown(at(201, 'flex'), 'input'), [2_000_000n, false])
    assert.deepEqual(shown(at(201, 'batch'), 'input'), [6_000_000n, false])
    assert.deepEqual(shown(at(200, 'batch'), 'input'), [3_000_000n, false])
    assert.deepEqual(at(201, 'batch').modifiers, [{ kind: 'tier', name: 'batch', ppm: 500_000 }])
  })

  test('does not change the price of a tool', () =>
    assert.deepEqual(shown(at(201), 'web_search'), [20_000_000_000n, false]))
})

describe('a tier with prices of its own', () => {
  const prices = parsePrices({
    input: 4,
    output: 10,
    cache_read: 1,
    output_audio: 30,
    tiers: { flex: { input: 2, output: 6 } },
    speeds: { fast: { input: 8, output: 5, cache_read: 1.5 } },
  })

  test('keeps the ratio of a class that it does not name', () => {
    const card = selectRates(prices, { ...listed, tier: 'flex' }, 'chat')
    assert.deepEqual(shown(card, 'cache_read'), [500_000n, false])
    assert.deepEqual(shown(card, 'output_audio'), [18_000_000n, false])
    assert.deepEqual(shown(card, 'cache_write_1h'), [4_000_000n, true])
  })

  test('together with a speed has the higher price of each class', () => {
    const card = selectRates(prices, { ...listed, tier: 'flex', speed: 'fast' }, 'chat')
    assert.deepEqual(shown(card, 'input'), [8_000_000n, false])
    assert.deepEqual(shown(card, 'output'), [6_000_000n, false])
    assert.deepEqual(shown(card, 'cache_read'), [1_500_000n, false])
    assert.deepEqual(shown(card, 'cache_write_1h'), [16_000_000n, true])
  })

  test('marks a price as a default where one of two sets has only a default', () => {
    const partly = parsePrices({
      input: 4,
      tiers: { flex: { input: 2, cache_read: 1 } },
      speeds: { fast: { input: 8 } },
    })
    const card = selectRates(partly, { ...listed, tier: 'flex', speed: 'fast' }, 'chat')
    assert.deepEqual(shown(card, 'cache_read'), [8_000_000n, true])
  })

  test('has its own defaults where the model is free or has no such price', () => {
    const free = parsePrices({ input: 0, output: 0, tiers: { paid: { input: 2, output: 6 } } })
    const card = selectRates(free, { ...listed, tier: 'paid' }, 'chat')
    assert.deepEqual(shown(card, 'cache_write_1h'), [4_000_000n, true])
    assert.deepEqual(shown(card, 'output_audio'), [48_000_000n, true])
  })
})

test('a request may use searches always, and another tool only where it has a price', () => {
  const prices = parsePrices({ input: 3, file_search: 2.5 })
  assert.equal(isPricedUse(prices, 'web_search'), true)
  assert.equal(isPricedUse(prices, 'file_search'), true)
  assert.equal(isPricedUse(prices, 'code_interpreter'), false)
})
