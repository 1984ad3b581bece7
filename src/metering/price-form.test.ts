import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { picos } from '../base/money.ts'
import {
  decodePrices,
  encodePrices,
  parseModelPrices,
  parsePrices,
  priceSchema,
  printModelPrices,
  printPrices,
  type PriceForm,
} from './price-form.ts'
import { pricesAt, type Prices } from './prices.ts'
import { usageClasses } from './usage.ts'

const model = z.strictObject({ price: priceSchema })

/** The issues of a price as an operator would see them. */
function issuesOf(price: unknown): readonly string[] {
  const parsed = model.safeParse({ price })
  return (parsed.error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`)
}

function onlyIssueOf(price: unknown): string {
  const [issue, ...others] = issuesOf(price)
  assert.deepEqual(others, [])
  return issue ?? 'none'
}

function pricesOf(yaml: string): Prices {
  return parsePrices(priceSchema.parse(parseYaml(yaml)) as PriceForm)
}

describe('a price in the catalogue', () => {
  test('is USD per million tokens, exact in pico-dollars per token', () => {
    const prices = pricesOf(
      '{ input: 3.00, output: 15.00, cache_read: 0.30, cache_write_5m: 3.75, cache_write_1h: 6.00 }',
    )
    assert.deepEqual(prices, {
      classes: {
        input: 3_000_000n,
        output: 15_000_000n,
        cache_read: 300_000n,
        cache_write_5m: 3_750_000n,
        cache_write_1h: 6_000_000n,
      },
      requestFeePicos: 0n,
      tiers: new Map(),
      speeds: new Map(),
      geos: new Map(),
    })
  })

  test('may be a number or a text with up to six decimals', () => {
    const { classes } = pricesOf('{ input: "0.000001", output: 0.000003, cache_read: 12.345678 }')
    assert.deepEqual(classes, { input: 1n, output: 3n, cache_read: 12_345_678n })
  })

  test('accepts web searches per thousand uses and a fee per exchange', () => {
    const prices = pricesOf('{ input: 1, output: 2, web_search: 10, request: 0.0025 }')
    assert.equal(prices.classes.web_search, 10_000_000_000n)
    assert.equal(prices.requestFeePicos, 2_500_000_000n)
  })

  test('accepts long context, tiers, speeds and regions', () => {
    const prices = pricesOf(`
      input: 3
      output: 15
      long_context: { above: 200000, input: 6, output: 22.50 }
      tiers: { flex: { multiplier: 0.5 } }
      speeds: { fast: { input: 30, output: 150, long_context: { input: 60, output: 225 } } }
      geos: { us: { multiplier: 1.1 } }`)
    assert.deepEqual(prices.longContext, {
      aboveTokens: 200_000,
      classes: { input: 6_000_000n, output: 22_500_000n },
    })
    assert.deepEqual(prices.tiers.get('flex'), { kind: 'multiplier', ppm: 500_000 })
    assert.deepEqual(prices.geos.get('us'), { kind: 'multiplier', ppm: 1_100_000 })
    assert.deepEqual(prices.speeds.get('fast'), {
      kind: 'prices',
      classes: { input: 30_000_000n, output: 150_000_000n },
      longContext: { input: 60_000_000n, output: 225_000_000n },
    })
  })

  test('without input is refused by name', () => {
    assert.match(
      onlyIssueOf({ cache_read: 1 }),
      /^price\.input: input is missing: .*USD per million tokens/,
    )
  })

  test('has no price for output where the model makes none, and then in no set either', () => {
    const form = '{ input: 0.02, tiers: { batch: { input: 0.01 } } }'
    assert.deepEqual(pricesOf(form).classes, { input: 20_000n })
    assert.deepEqual(printPrices(pricesOf(form)), {
      input: 0.02,
      tiers: { batch: { input: 0.01 } },
    })
    const needs = 'output needs the output price of the model itself'
    const long = { above: 10, input: 2 }
    for (const [price, issue] of [
      [
        { input: 1, tiers: { batch: { input: 1, output: 1 } } },
        `price.tiers.batch.output: ${needs}`,
      ],
      [{ input: 1, long_context: { ...long, output: 1 } }, `price.long_context.output: ${needs}`],
      [
        { input: 1, output: 2, long_context: long },
        'price.long_context.output: output is missing: the model has an output price, so this set needs one too',
      ],
    ] as const)
      assert.equal(onlyIssueOf(price), issue)
  })

  test('that is missing is refused', () => {
    const parsed = model.safeParse({})
    assert.match(
      parsed.error?.issues[0]?.message ?? '',
      /price must be a mapping with input and output/,
    )
  })

  test('with an unknown key is refused, and the key is named', () => {
    assert.match(onlyIssueOf({ input: 1, output: 2, ouput: 2 }), /"ouput"/)
  })

  test('is refused where it is not a plain decimal in range', () => {
    for (const input of [-1, 1e-7, 1e21, 1_000_001, '1,5', '1e3', '+1', ' 1', '', null, NaN, true])
      assert.match(
        onlyIssueOf({ input, output: 2 }),
        /^price\.input: input must be USD per million/,
      )
    assert.match(onlyIssueOf({ input: 0.1 + 0.2, output: 2 }), /at most 6 decimals/)
  })

  test('is exact where JavaScript would print it with an exponent', () => {
    for (const [request, amountPicos] of [
      [0.000000000001, 1n],
      [0.00000025, 250_000n],
      [0.000000999999, 999_999n],
    ] as const) {
      const form = { input: 1, output: 2, request }
      assert.equal(priceSchema.safeParse(form).success, true, String(request))
      assert.equal(parsePrices(form).requestFeePicos, amountPicos)
    }
    for (const request of [0.0000000000001, 0.0000000000015, -0.000000000001])
      assert.match(onlyIssueOf({ input: 1, output: 2, request }), /at most 12 decimals/)
  })

  test('names the place of a mistake inside a tier', () => {
    const base = { input: 1, output: 2 }
    assert.match(
      onlyIssueOf({ ...base, tiers: { flex: { multiplier: 0.5, input: 1 } } }),
      /^price\.tiers\.flex: multiplier cannot be combined with other keys: remove it or input/,
    )
    assert.match(
      onlyIssueOf({ ...base, speeds: { fast: { input: 1 } } }),
      /^price\.speeds\.fast: give either multiplier, or input and output/,
    )
    for (const fast of [{}, { cache_read: 1 }, { output: 1 }])
      assert.match(
        onlyIssueOf({ ...base, speeds: { fast } }),
        /^price\.speeds\.fast: give either multiplier, or input and output/,
      )
    assert.match(
      onlyIssueOf({ ...base, long_context: { above: 0, input: 1, output: 1 } }),
      /^price\.long_context\.above: above must be a whole number/,
    )
  })

  test('with long context requires it for every tier with its own prices, and only then', () => {
    const own = { input: 2, output: 4 }
    const long = { above: 10, input: 2, output: 4 }
    assert.match(
      onlyIssueOf({ input: 1, output: 2, long_context: long, tiers: { priority: own } }),
      /^price\.tiers\.priority\.long_context: long_context is missing/,
    )
    assert.match(
      onlyIssueOf({
        input: 1,
        output: 2,
        long_context: long,
        tiers: { priority: { ...own, long_context: { input: 1 } } },
      }),
      /^price\.tiers\.priority\.long_context\.output: output is missing/,
    )
    assert.match(
      onlyIssueOf({ input: 1, output: 2, tiers: { priority: { ...own, long_context: own } } }),
      /^price\.tiers\.priority\.long_context: long_context needs the long_context of the model/,
    )
  })
})

describe('versions of a price', () => {
  const versions = parseModelPrices([
    { input: 2, output: 4, valid_from: '2026-12-01' },
    { input: 1, output: 2 },
    { input: 3, output: 6, valid_from: '2027-01-01T06:30:00Z' },
  ])
  const inputAt = (text: string) => pricesAt(versions, Date.parse(text))?.classes.input

  test('are in force from their date on, in any order in the file', () => {
    assert.equal(inputAt('1999-01-01T00:00:00Z'), 1_000_000n)
    assert.equal(inputAt('2026-11-30T23:59:59.999Z'), 1_000_000n)
    assert.equal(inputAt('2026-12-01T00:00:00Z'), 2_000_000n)
    assert.equal(inputAt('2027-01-01T06:29:59Z'), 2_000_000n)
    assert.equal(inputAt('2030-01-01T00:00:00Z'), 3_000_000n)
  })

  test('give a model no price before the first of them', () => {
    const later = parseModelPrices({ input: 1, output: 2, valid_from: '2026-12-01' })
    assert.equal(pricesAt(later, Date.parse('2026-11-30T00:00:00Z')), undefined)
    assert.equal(pricesAt([], 0), undefined)
  })

  test('are printed as they were written', () => {
    assert.deepEqual(printModelPrices(versions), [
      { input: 1, output: 2 },
      { input: 2, output: 4, valid_from: '2026-12-01' },
      { input: 3, output: 6, valid_from: '2027-01-01T06:30:00.000Z' },
    ])
    assert.deepEqual(parseModelPrices(printModelPrices(versions)), versions)
    assert.deepEqual(printModelPrices(parseModelPrices([{ input: 1, output: 2 }])), {
      input: 1,
      output: 2,
    })
  })

  test('are refused where two have the same date, or a date does not exist', () => {
    const version = { input: 1, output: 2 }
    assert.match(onlyIssueOf([version, version]), /^price\.1\.valid_from: valid_from must differ/)
    for (const valid_from of ['2026-02-30', '01.12.2026', '2026-12-01T00:00:00+01:00', 5])
      assert.match(onlyIssueOf({ ...version, valid_from }), /^price\.valid_from: .*2026-12-01/)
    assert.match(onlyIssueOf([]), /at least one/)
  })
})

const decimal = fc
  .tuple(fc.nat(1_000_000), fc.nat(999_999))
  .map(([whole, millionths]) => `${whole}.${String(millionths).padStart(6, '0')}`)
  .filter((text) => Number(text) <= 1_000_000)

const classForm = fc.record(
  Object.fromEntries(usageClasses.map((usageClass) => [usageClass, decimal])) as Record<
    (typeof usageClasses)[number],
    typeof decimal
  >,
  { requiredKeys: ['input', 'output'] },
)

const changeForm = fc.oneof(fc.record({ multiplier: decimal }), classForm)

const plainForm = fc.record(
  {
    classes: classForm,
    request: fc.oneof(decimal, fc.constant('0.000000000001')),
    tiers: fc.dictionary(fc.constantFrom('flex', 'priority', 'toString'), changeForm),
    speeds: fc.dictionary(fc.constantFrom('fast'), changeForm),
    geos: fc.dictionary(fc.constantFrom('us', 'eu'), changeForm),
  },
  { requiredKeys: ['classes'] },
)

describe('prices', () => {
  test('are the same after printing and after storing', () => {
    fc.assert(
      fc.property(plainForm, ({ classes, ...others }) => {
        const prices = parsePrices(priceSchema.parse({ ...classes, ...others }) as PriceForm)
        assert.deepEqual(parsePrices(priceSchema.parse(printPrices(prices)) as PriceForm), prices)
        assert.deepEqual(decodePrices(encodePrices(prices)), prices)
      }),
    )
  })

  test('without a price for output are the same too', () => {
    const text =
      '{"input":1,"long_context":{"above":5,"input":2},"tiers":{"batch":{"input":3,"long_context":{"input":4}}}}'
    assert.equal(encodePrices(decodePrices(text)), text)
  })

  test('with long context are the same too', () => {
    const text =
      '{"input":1,"output":2,"long_context":{"above":5,"input":2,"output":3},' +
      '"tiers":{"fine":{"input":3,"output":4,"long_context":{"input":5,"output":6}}}}'
    assert.equal(encodePrices(decodePrices(text)), text)
    assert.equal(decodePrices(text).longContext?.classes.output, picos(3_000_000n))
  })
})
