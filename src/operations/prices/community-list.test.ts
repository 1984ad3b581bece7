/** The list's shape with invented models: which digits become which prices, and what is refused. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { formatUsd, picos } from '../../base/money.ts'
import type { UsageFormat } from '../../metering/rates.ts'
import { exactPicos, pricesOf, readPriceList, type ListedPrices } from './community-list.ts'

function priced(fields: string, format: UsageFormat = 'messages'): ListedPrices {
  const list = readPriceList(`{"sample_spec": {"mode": "chat"}, "m": {${fields}}}`)
  assert.ok(typeof list !== 'string')
  assert.deepEqual([...list.keys()], ['m'])
  const listed = list.get('m')
  assert.ok(listed !== undefined)
  return pricesOf(listed, format)
}

const plain = '"input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05'

describe('digits', () => {
  it('are exact whatever way they are written', () => {
    for (const text of ['3e-06', '3.0E-6', '0.000003', '0.30e-5', '3000e-9'])
      assert.equal(exactPicos(text), 3_000_000n, text)
    // As binary floats these come to 7.499999999999999 and 30000000000000004.
    assert.equal(exactPicos('7.5e-06'), 7_500_000n)
    assert.equal(exactPicos('1.1e-12'), undefined)
    for (const text of ['', 'NaN', '1e', '.5', '0x1', '1_0', '1e-9999'])
      assert.equal(exactPicos(text), undefined, text)
  })

  it('are what any decimal of pico-dollars says, and nothing else', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n), fc.integer({ min: -6, max: 6 }), (amount, shift) => {
        const scaled = formatUsd(picos(amount * 10n ** BigInt(6 + shift)))
        assert.equal(exactPicos(`${scaled}e${-6 - shift}`), amount)
      }),
    )
  })
})

describe('a listed model', () => {
  it('has all classes, the long context and the tiers', () => {
    const read = priced(`${plain},
      "cache_creation_input_token_cost": 3.75e-06,
      "cache_creation_input_token_cost_above_1hr": 6e-06,
      "cache_read_input_token_cost": 3e-07,
      "input_cost_per_token_above_200k_tokens": 6e-06,
      "output_cost_per_token_above_200k_tokens": 2.25e-05,
      "cache_read_input_token_cost_above_200k_tokens": 6e-07,
      "input_cost_per_token_priority": 4e-06,
      "output_cost_per_token_priority": 2e-05,
      "input_cost_per_token_above_200k_tokens_priority": 8e-06,
      "output_cost_per_token_above_200k_tokens_priority": 3e-05,
      "input_cost_per_token_ultrafast": 1.8e-05,
      "output_cost_per_token_ultrafast": 9e-05,
      "input_cost_per_token_above_200k_tokens_ultrafast": 3.6e-05,
      "output_cost_per_token_above_200k_tokens_ultrafast": 1.35e-04,
      "input_cost_per_audio_token": 1e-05,
      "input_cost_per_request": 0.0025,
      "search_context_cost_per_query": {"search_context_size_low": 0.01, "search_context_size_high": 0.01},
      "output_cost_per_reasoning_token": 1.5e-05,
      "file_search_cost_per_1k_calls": 0.0,
      "litellm_provider": "someone", "mode": "chat", "max_output_tokens": 8192, "supports_vision": true`)
    assert.deepEqual(read, {
      kind: 'prices',
      unpriced: [],
      form: {
        input: '3',
        output: '15',
        cache_write_5m: '3.75',
        cache_write_1h: '6',
        cache_read: '0.3',
        input_audio: '10',
        web_search: '10',
        request: '0.0025',
        long_context: { above: 200_000, input: '6', output: '22.5', cache_read: '0.6' },
        tiers: {
          priority: {
            input: '4',
            output: '20',
            long_context: { input: '8', output: '30' },
          },
          ultrafast: {
            input: '18',
            output: '90',
            long_context: { input: '36', output: '135' },
          },
        },
      },
    })
  })

  it('names what costs money and has no class here', () => {
    const read = priced(`${plain}, "input_cost_per_image": 0.004,
      "output_cost_per_reasoning_token": 2e-05, "input_cost_per_token_above_128k_tokens": 6e-06,
      "input_cost_per_token_above_256k_tokens": 9e-06, "input_cost_per_token_flex": 1e-06,
      "search_context_cost_per_query": {"low": 0.01, "high": 0.02},
      "tiered_pricing": [{"range": [0, 1]}]`)
    assert.ok(read.kind === 'prices')
    assert.deepEqual(
      read.unpriced.map(({ field }) => field),
      [
        'input_cost_per_image',
        'output_cost_per_reasoning_token',
        'search_context_cost_per_query',
        'tiered_pricing',
        'prices above 256000 tokens',
        'tier flex',
      ],
    )
    assert.equal(read.unpriced[0]?.value, '0.004')
  })

  it('has the factors of speed and region that answers of the messages format tell', () => {
    const read = priced(`${plain}, "provider_specific_entry": {"us": 1.1, "fast": 6.0}`)
    assert.ok(read.kind === 'prices')
    assert.deepEqual(read.unpriced, [])
    assert.deepEqual(
      [read.form.speeds, read.form.geos],
      [{ fast: { multiplier: '6' } }, { us: { multiplier: '1.1' } }],
    )
  })

  it('names factors whose meaning no answer tells, and not those that change nothing', () => {
    const shown = (fields: string, format?: UsageFormat): readonly string[] => {
      const read = priced(`${plain}, ${fields}`, format)
      assert.ok(read.kind === 'prices')
      assert.deepEqual([read.form.speeds, read.form.geos], [undefined, undefined])
      return read.unpriced.map(({ field, value }) => `${field} ${value}`)
    }
    assert.deepEqual(shown('"provider_specific_entry": {"us": 1.1, "fast": 6}', 'chat'), [
      'provider_specific_entry.us 1.1',
      'provider_specific_entry.fast 6',
    ])
    assert.deepEqual(
      shown('"provider_specific_entry": {"eu": 1.2, "constructor": 2, "fast": "6", "us": null}'),
      [
        'provider_specific_entry.eu 1.2',
        'provider_specific_entry.constructor 2',
        'provider_specific_entry.fast "6"',
      ],
    )
    assert.deepEqual(shown('"provider_specific_entry": "dear"'), ['provider_specific_entry "dear"'])
    assert.deepEqual(shown('"provider_specific_entry": null'), [])
    assert.deepEqual(
      shown(`"regional_processing_uplift_multiplier_eu": 1.1,
        "regional_processing_uplift_multiplier_us": 1.0,
        "regional_endpoint_uplift_multiplier": 1.2`),
      ['regional_processing_uplift_multiplier_eu 1.1', 'regional_endpoint_uplift_multiplier 1.2'],
    )
  })

  it('that makes embeddings has a price for input and none for output', () => {
    const listed = '"input_cost_per_token": 2e-08, "mode": "embedding", "output_vector_size": 1536'
    const tier = '"input_cost_per_token_batches": 1e-08, "output_cost_per_token_batches": 0.0'
    assert.deepEqual(priced(`${listed}, "output_cost_per_token": 0.0, ${tier}`, 'chat'), {
      kind: 'prices',
      unpriced: [],
      form: { input: '0.02', tiers: { batch: { input: '0.01' } } },
    })
    const dear = priced(`${listed}, "output_cost_per_token": 1e-06`, 'chat')
    assert.ok(dear.kind === 'prices')
    assert.deepEqual(dear.form, { input: '0.02' })
    assert.deepEqual(dear.unpriced, [{ field: 'output of a model without output', value: '1' }])
    const none = priced('"output_cost_per_token": 0, "mode": "embedding"', 'chat')
    assert.deepEqual(none, { kind: 'mistakes', list: ['input_cost_per_token is missing'] })
  })

  it('is refused with the field that is wrong', () => {
    const refusals: readonly [fields: string, message: RegExp][] = [
      ['"output_cost_per_token": 1e-06', /^input_cost_per_token is missing$/],
      [`${plain}, "cache_read_input_token_cost": 2.5e-13`, /cache_read_.* 2\.5e-13 is not a whole/],
      [`${plain}, "input_cost_per_token_flex": -1e-06`, /_flex -1e-06 is below zero/],
      [
        `${plain}, "provider_specific_entry": {"fast": 0}`,
        /_entry\.fast 0 must be a factor above 0/,
      ],
      [`${plain}, "provider_specific_entry": {"us": -1.1}`, /_entry\.us -1\.1 must be a factor/],
      [`${plain}, "provider_specific_entry": {"us": 1.1000001}`, /at most six decimals/],
      [`${plain}, "mode": "image_generation"`, /mode image_generation is not billed by tokens/],
      [`${plain}, "mode": "embedding"`, /the mode embedding is not one of the messages format/],
      ['"input_cost_per_token": 2, "output_cost_per_token": 1e-06', /from 0 to 1000000/],
    ]
    for (const [fields, message] of refusals) {
      const read = priced(fields)
      assert.ok(read.kind === 'mistakes', fields)
      assert.match(read.list.join('; '), message)
    }
  })
})

describe('a list', () => {
  it('that is no list is reported as such', () => {
    for (const [text, message] of [
      ['{', /not JSON/],
      ['[]', /one entry per model/],
    ] as const) {
      const read = readPriceList(text)
      assert.ok(typeof read === 'string')
      assert.match(read, message)
    }
  })
})
