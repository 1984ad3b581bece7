/** Whose prices a part of an answer takes, by the name that the vendor gives to its model. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseModelPrices, parsePrices } from './price-form.ts'
import { findPrices, isRequested, pricesAt, undated } from './prices.ts'

const asked = parsePrices({ input: 1, output: 1 })
const other = parsePrices({ input: 2, output: 2 })

describe('findPrices', () => {
  const find = (
    names: {
      readonly requestedModel: string
      readonly upstreamModel?: string
      readonly priced?: readonly string[]
    },
    part: { readonly model?: string; readonly isOtherModel?: boolean },
  ) => {
    const { requestedModel, upstreamModel, priced = [] } = names
    const pricesFor = (model: string) => (priced.includes(model) ? other : undefined)
    const found = findPrices({ requestedModel, upstreamModel, prices: asked, pricesFor }, part)
    return [found.model, found.prices === asked ? 'asked' : 'own', found.isPriced]
  }

  test('takes the requested model’s where the answer names it, by either name, or no model', () => {
    const names = { requestedModel: 'm', upstreamModel: 'm-vendor', priced: ['m', 'm-vendor'] }
    for (const isOtherModel of [false, true]) {
      assert.deepEqual(find(names, { model: 'm', isOtherModel }), ['m', 'asked', true])
      assert.deepEqual(find(names, { model: 'm-vendor', isOtherModel }), ['m', 'asked', true])
    }
    assert.deepEqual(find(names, {}), ['m', 'asked', true])
  })

  test('takes the requested model’s for a snapshot of it', () => {
    const names = { requestedModel: 'm', upstreamModel: 'm-vendor', priced: ['m-20260115'] }
    assert.deepEqual(find(names, { model: 'm-20260115' }), ['m', 'asked', true])
    assert.deepEqual(find(names, { model: 'm-vendor-latest' }), ['m', 'asked', true])
  })

  test('takes the own ones of another model and of another edition than the requested one', () => {
    const priced = ['m-20260115', 'm-20250101', 'm']
    const alias = { requestedModel: 'm', priced }
    const edition = { requestedModel: 'm-20260115', priced }
    const fallback = { model: 'm-20260115', isOtherModel: true }
    assert.deepEqual(find(alias, fallback), ['m-20260115', 'own', true])
    assert.deepEqual(find(edition, { model: 'm-20250101' }), ['m-20250101', 'own', true])
    assert.deepEqual(find(edition, { model: 'm' }), ['m-20260115', 'asked', true])
  })

  test('takes those of any other name, exactly so or without its date', () => {
    const names = { requestedModel: 'm', priced: ['n', 'o', 'o-20260115'] }
    assert.deepEqual(find(names, { model: 'n' }), ['n', 'own', true])
    assert.deepEqual(find(names, { model: 'n-2026-01-15' }), ['n', 'own', true])
    assert.deepEqual(find(names, { model: 'o-20260115' }), ['o-20260115', 'own', true])
  })

  test('takes the requested model’s for a name without a price, and says so', () =>
    assert.deepEqual(find({ requestedModel: 'm' }, { model: 'n' }), ['m', 'asked', false]))
})

test('a name means the requested model by its own name or the channel’s, with any date', () => {
  const models = { requestedModel: 'm-20260115', upstreamModel: 'v' }
  for (const name of ['m-20260115', 'm', 'm-latest', 'v', 'v@20260115'])
    assert.equal(isRequested(models, name), true, name)
  assert.equal(isRequested(models, 'n'), false)
  assert.equal(isRequested({ requestedModel: 'm' }, 'm-latest'), true)
})

test('a date is the edition of a name only at its end', () => {
  for (const name of ['m-20260115', 'm@20260115', 'm-2026-01-15', 'm-latest'])
    assert.equal(undated(name), 'm')
  for (const name of ['m-2026011', 'm-20260115-mini', 'm-latest-mini', 'm-2026-01-1', 'm'])
    assert.equal(undated(name), name)
})

test('prices are those of the latest version that is in force', () => {
  const versions = parseModelPrices([
    { input: 1, output: 1, valid_from: '2026-01-01' },
    { input: 2, output: 2, valid_from: '2026-02-01' },
  ])
  const at = (day: string) => pricesAt(versions, Date.parse(day))
  assert.equal(at('2025-12-31'), undefined)
  assert.equal(at('2026-01-01'), versions[0]?.prices)
  assert.equal(at('2026-01-31'), versions[0]?.prices)
  assert.equal(at('2026-02-01'), versions[1]?.prices)
  assert.equal(pricesAt([], 0), undefined)
})
