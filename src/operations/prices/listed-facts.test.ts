/** What an entry of the community's list tells besides prices, with fields as its entries have them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UsageFormat } from '../../metering/rates.ts'
import { readPriceList } from './community-list.ts'
import { factsOf, type ListedFacts } from './listed-facts.ts'

/** Which company the list says serves the model. */
const vendorField = 'litellm_provider'

const price = {
  [vendorField]: 'someone',
  input_cost_per_token: 3e-6,
  output_cost_per_token: 1.5e-5,
}

type Entry = Readonly<Record<string, unknown>>

/** The facts of the model `m`; `others` are further entries of the list. */
function facts(
  entry: Entry,
  {
    format = 'chat',
    others = {},
  }: { format?: UsageFormat; others?: Readonly<Record<string, Entry>> } = {},
): ListedFacts {
  const list = readPriceList(JSON.stringify({ m: { ...price, ...entry }, ...others }))
  assert.ok(typeof list !== 'string')
  const model = list.get('m')
  assert.ok(model !== undefined)
  return factsOf(model, list, format)
}

describe('the limits of a listed model', () => {
  it('are whole numbers of tokens, and unknown otherwise', () => {
    const { maxInputTokens, maxOutputTokens } = facts({
      max_input_tokens: 272_000,
      max_output_tokens: 1.28e5,
    })
    assert.deepEqual([maxInputTokens, maxOutputTokens], [272_000, 128_000])
    for (const wrong of [0, -1, 0.5, 1e12, '4096', null]) {
      const given = facts({ max_input_tokens: wrong, max_output_tokens: wrong, max_tokens: 9 })
      assert.deepEqual([given.maxInputTokens, given.maxOutputTokens], [undefined, undefined])
    }
  })
})

describe('the input of a listed model that makes embeddings', () => {
  it('has no limit: the list has that of one text, and a request has many', () => {
    const { maxInputTokens } = facts({ mode: 'embedding', max_input_tokens: 8191 })
    assert.equal(maxInputTokens, undefined)
  })
})

describe('a listed model thinks', () => {
  const reasons = { supports_reasoning: true }
  it('where it does so without being asked', () => {
    for (const format of ['chat', 'messages'] as const)
      for (const field of ['thinking_always_on', 'thinking_on_by_default']) {
        assert.equal(facts({ ...reasons, [field]: true }, { format }).thinks, true)
        assert.equal(facts({ [field]: false }, { format }).thinks, undefined)
      }
  })

  it('in the chat format where it can, unless its usual effort is none', () => {
    assert.equal(facts(reasons).thinks, true)
    assert.equal(facts({ ...reasons, default_reasoning_effort: 'medium' }).thinks, true)
    assert.equal(facts({ ...reasons, default_reasoning_effort: 'none' }).thinks, undefined)
    assert.equal(facts({ supports_reasoning: false }).thinks, undefined)
    assert.equal(facts({}).thinks, undefined)
  })

  it('in the messages format only by itself: there a request asks for it', () => {
    assert.equal(facts(reasons, { format: 'messages' }).thinks, undefined)
  })
})

describe('a listed model is dated', () => {
  const dated = (others: Readonly<Record<string, Entry>>): true | undefined =>
    facts({}, { others }).dated

  it('where no edition of it has another price', () => {
    assert.equal(dated({}), true)
    assert.equal(dated({ 'm-20251001': price, 'm-2026-01-15': price }), true)
    assert.equal(dated({ 'm-mini': { ...price, input_cost_per_token: 1e-6 } }), true)
  })

  it('not where one edition costs more, costs less or has no price that could be taken', () => {
    for (const other of [
      { ...price, input_cost_per_token: 5e-6 },
      { ...price, cache_read_input_token_cost: 1e-6 },
      { ...price, input_cost_per_token_flex: 1e-6 },
      { mode: 'realtime' },
    ])
      for (const edition of ['m-20240513', 'm-2024-05-13'])
        assert.equal(dated({ 'm-20251001': price, [edition]: other }), undefined)
  })

  it('not where the entry has prices only', () => {
    assert.equal(facts({ [vendorField]: undefined }).dated, undefined)
  })

  it('not where its name has a date already', () => {
    const list = readPriceList(JSON.stringify({ 'm-20251001': price }))
    assert.ok(typeof list !== 'string')
    const [edition] = list.values()
    assert.ok(edition !== undefined)
    assert.equal(factsOf(edition, list, 'chat').dated, undefined)
  })
})
