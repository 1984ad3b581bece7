import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { picos, zeroPicos, type Picos } from '../base/money.ts'
import { affordableOutputTokens, capToHold, charge, quote, type QuoteFacts } from './charge.ts'
import { decodePrices, parsePrices } from './price-form.ts'
import type { ClassPrices, PriceChange, Prices } from './prices.ts'
import { formatPriceLines, parsePriceLines, recompute } from './price-lines.ts'
import { usageClasses, type Usage, type UsageCounts, type UsagePart } from './usage.ts'

const price = fc.bigInt({ min: 0n, max: 100_000_000n }).map(picos)
const count = fc.integer({ min: 0, max: 3_000_000 })

const classPrices: fc.Arbitrary<ClassPrices> = fc.record(
  {
    input: price,
    output: price,
    cache_read: price,
    cache_write_5m: price,
    cache_write_1h: price,
    input_audio: price,
    output_audio: price,
    cache_read_audio: price,
    web_search: price,
  },
  { requiredKeys: ['input', 'output'] },
)

const change: fc.Arbitrary<PriceChange> = fc.oneof(
  fc.record({ kind: fc.constant('multiplier' as const), ppm: fc.nat(5_000_000) }),
  fc.record({
    kind: fc.constant('prices' as const),
    classes: classPrices,
    longContext: classPrices,
  }),
)
const changes = (...names: string[]) =>
  fc
    .array(fc.tuple(fc.constantFrom(...names), change), { maxLength: 2 })
    .map((entries): ReadonlyMap<string, PriceChange> => new Map(entries))

const prices: fc.Arbitrary<Prices> = fc.record(
  {
    classes: classPrices,
    requestFeePicos: price,
    longContext: fc.record({
      aboveTokens: fc.integer({ min: 1, max: 2_000_000 }),
      classes: classPrices,
    }),
    tiers: changes('flex', 'priority'),
    speeds: changes('fast'),
    geos: changes('us'),
  },
  { requiredKeys: ['classes', 'requestFeePicos', 'tiers', 'speeds', 'geos'] },
)

const counts: fc.Arbitrary<UsageCounts> = fc.record(
  {
    input: count,
    output: count,
    cache_read: count,
    cache_write_5m: count,
    cache_write_1h: count,
    input_audio: count,
    output_audio: count,
    cache_read_audio: count,
    web_search: fc.nat(100),
  },
  { requiredKeys: [] },
)

const part: fc.Arbitrary<UsagePart> = fc.record(
  {
    counts,
    promptTokens: count,
    tier: fc.constantFrom('flex', 'priority', 'default', 'scale', '__proto__'),
    speed: fc.constantFrom('fast', 'standard'),
    geo: fc.constantFrom('us', 'global'),
  },
  { requiredKeys: ['counts', 'promptTokens'] },
)

const multiplierPpm = fc.integer({ min: 0, max: 3_000_000 })
const reported = { inputTokens: 0, outputTokens: 0, cacheTokens: 0 }

function chargeOf(parts: readonly UsagePart[], of: Prices, ppm = 1_000_000) {
  const usage: Usage = { parts, reported }
  return charge(usage, {
    format: 'chat',
    requestedModel: 'm',
    prices: of,
    pricesFor: () => undefined,
    multiplierPpm: ppm,
  })
}

describe('charge', () => {
  test('is never negative, and its bill adds up to it before and after storing', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), prices, multiplierPpm, (parts, of, ppm) => {
        const made = chargeOf(parts, of, ppm)
        assert.ok(made.amountPicos >= 0n)
        const text = formatPriceLines(made.bill)
        assert.deepEqual(parsePriceLines(text), made.bill)
        assert.equal(recompute(parsePriceLines(text)), made.amountPicos)
        assert.equal(formatPriceLines(parsePriceLines(text)), text)
      }),
    )
  })

  test('of several parts is the sum of the parts, plus one fee and one rounding', () => {
    fc.assert(
      fc.property(part, part, prices, (left, right, of) => {
        const free = { ...of, requestFeePicos: zeroPicos }
        const apart = chargeOf([left], free).amountPicos + chargeOf([right], free).amountPicos
        const together = chargeOf([left, right], free).amountPicos
        assert.ok(together <= apart && together >= apart - 1n)
      }),
    )
  })

  test('grows with every count', () => {
    fc.assert(
      fc.property(
        part,
        prices,
        fc.constantFrom(...usageClasses),
        fc.integer({ min: 1, max: 1_000 }),
        (one, of, usageClass, more) => {
          const grown = { ...one.counts, [usageClass]: (one.counts[usageClass] ?? 0) + more }
          const before = chargeOf([one], of).amountPicos
          assert.ok(chargeOf([{ ...one, counts: grown }], of).amountPicos >= before)
        },
      ),
    )
  })

  test('with whole prices and no factor is exact count × price', () => {
    fc.assert(
      fc.property(count, count, classPrices, (input, output, classes) => {
        const of = {
          classes,
          requestFeePicos: zeroPicos,
          tiers: new Map(),
          speeds: new Map(),
          geos: new Map(),
        }
        const made = chargeOf([{ promptTokens: input, counts: { input, output } }], of)
        const expected = BigInt(input) * classes.input + BigInt(output) * (classes.output ?? 0n)
        assert.equal(made.amountPicos, expected)
      }),
    )
  })

  test('of a tier without a price has the factor that its vendor publishes', () => {
    const prices = parsePrices({ input: 3, output: 15 })
    const counts = { input: 10, output: 10 }
    const of = (tier: string) => chargeOf([{ promptTokens: 10, tier, counts }], prices)
    const list = of('default').amountPicos
    assert.equal(of('flex').amountPicos * 2n, list)
    assert.equal(of('priority').amountPicos, list * 2n)
    assert.equal(of('ultrafast').amountPicos, list * 6n)
    assert.deepEqual(of('ultrafast').marks, ['default_price'])
  })

  test('is marked once, and only where something was counted', () => {
    const prices = parsePrices({ input: 3, output: 15 })
    const odd = (count: number) => ({ promptTokens: 0, tier: 'odd', counts: { input: count } })
    assert.deepEqual(chargeOf([odd(1), odd(2)], prices).marks, ['default_price'])
    assert.deepEqual(chargeOf([odd(0)], prices).marks, [])
  })

  test('limited to a hold is never above it, and its bill shows the limit', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 2 }), prices, price, (parts, of, holdPicos) => {
        const capped = capToHold(chargeOf(parts, of), holdPicos)
        assert.ok(capped.amountPicos <= holdPicos)
        assert.equal(recompute(parsePriceLines(formatPriceLines(capped.bill))), capped.amountPicos)
      }),
    )
  })
})

interface QuoteCase extends QuoteFacts {
  readonly usedInput: number
  readonly usedOutput: number
}

const quoteCase: fc.Arbitrary<QuoteCase> = fc
  .record({
    prices,
    format: fc.constant('chat' as const),
    inputTokens: count,
    maxOutputTokens: fc.integer({ min: 1, max: 200_000 }),
    choiceCount: fc.integer({ min: 1, max: 8 }),
    multiplierPpm,
    cacheWrite: fc.constantFrom(undefined, 'long' as const),
    inputShare: fc.double({ min: 0, max: 1, noNaN: true }),
    outputShare: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ inputShare, outputShare, ...request }) => ({
    ...request,
    usedInput: Math.floor(request.inputTokens * inputShare),
    usedOutput: Math.floor(request.maxOutputTokens * request.choiceCount * outputShare),
  }))

const plainRequest = {
  format: 'chat',
  maxOutputTokens: 0,
  choiceCount: 1,
  multiplierPpm: 1_000_000,
} as const

describe('quote', () => {
  test('covers every charge within the estimate and the output limit', () => {
    fc.assert(
      fc.property(quoteCase, ({ usedInput, usedOutput, ...request }) => {
        const used = { promptTokens: usedInput, counts: { input: usedInput, output: usedOutput } }
        const made = chargeOf([used], request.prices, request.multiplierPpm)
        assert.ok(quote(request) >= made.amountPicos)
      }),
    )
  })

  test('covers a one-hour cache write where one is requested', () => {
    fc.assert(
      fc.property(quoteCase, ({ usedInput, usedOutput, ...request }) => {
        const written = { cache_write_1h: usedInput, output: usedOutput }
        const used = { promptTokens: usedInput, counts: written }
        const made = chargeOf([used], request.prices, request.multiplierPpm)
        assert.ok(quote({ ...request, cacheWrite: 'long' }) >= made.amountPicos)
      }),
    )
  })

  test('covers the requested tier, speed and region, each of them served or not', () => {
    const requested = { tier: 'priority', speed: 'fast', geo: 'us' } as const
    const served = fc.record(
      { tier: fc.constant('priority'), speed: fc.constant('fast'), geo: fc.constant('us') },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(quoteCase, served, ({ usedInput, usedOutput, ...facts }, way) => {
        const counts = { input: usedInput, output: usedOutput }
        const made = chargeOf(
          [{ ...way, promptTokens: usedInput, counts }],
          facts.prices,
          facts.multiplierPpm,
        )
        assert.ok(quote({ ...facts, requested }) >= made.amountPicos)
      }),
    )
  })

  test('covers audio, uses of tools and other models where they are requested', () => {
    const extras = fc.record({
      otherPrices: fc.array(prices, { minLength: 1, maxLength: 2 }),
      audioShare: fc.double({ min: 0, max: 1, noNaN: true }),
      webSearchesMax: fc.nat({ max: 200 }),
      vendorTools: fc.record(
        {
          file_search: fc.nat({ max: 200 }),
          code_interpreter: fc.nat({ max: 200 }),
          image_generation: fc.nat({ max: 200 }),
        },
        { requiredKeys: [] },
      ),
    })
    fc.assert(
      fc.property(quoteCase, extras, ({ usedInput, usedOutput, ...request }, requested) => {
        const { otherPrices, audioShare, webSearchesMax, vendorTools } = requested
        const audioTokens = Math.floor(request.inputTokens * audioShare)
        const audioInput = Math.min(usedInput, audioTokens)
        const counts = {
          input: usedInput - audioInput,
          input_audio: audioInput,
          output_audio: usedOutput,
          web_search: webSearchesMax,
          ...vendorTools,
        }
        const byName = new Map(otherPrices.map((one, index) => [`other-${index}`, one]))
        const parts = ['own', ...byName.keys()].map((model) => ({
          model,
          promptTokens: usedInput,
          counts,
        }))
        const made = charge(
          { parts, reported },
          {
            format: request.format,
            multiplierPpm: request.multiplierPpm,
            requestedModel: 'own',
            prices: request.prices,
            pricesFor: (model) => byName.get(model),
          },
        )
        const asked = { asksAudioOutput: true, webSearchesMax, vendorTools, otherPrices }
        assert.ok(quote({ ...request, ...asked, audioTokens }) >= made.amountPicos)
      }),
    )
  })

  test('is input estimate × input + limit × choices × output + fee for a plain model', () => {
    const plain: Prices = {
      classes: { input: picos(3_000_000n), output: picos(15_000_000n) },
      requestFeePicos: picos(7n),
      tiers: new Map(),
      speeds: new Map(),
      geos: new Map(),
    }
    const request = {
      prices: plain,
      format: 'chat' as const,
      inputTokens: 100,
      maxOutputTokens: 50,
      choiceCount: 2,
    }
    const amount = quote({ ...request, multiplierPpm: 1_000_000 })
    assert.equal(amount, 100n * 3_000_000n + 100n * 15_000_000n + 7n)
    const written = quote({ ...request, cacheWrite: 'short', multiplierPpm: 1_000_000 })
    assert.equal(written, 100n * 3_750_000n + 100n * 15_000_000n + 7n)
  })

  test('has the long-context prices from the first token above the limit on', () => {
    const long = { above: 100, input: 6, output: 30 }
    const prices = parsePrices({ input: 3, output: 15, long_context: long })
    const of = (inputTokens: number) =>
      quote({ ...plainRequest, prices, inputTokens, maxOutputTokens: 10 })
    assert.equal(of(100), 100n * 3_000_000n + 10n * 15_000_000n)
    assert.equal(of(101), 101n * 6_000_000n + 10n * 30_000_000n)
  })

  test('has audio at the higher of both prices, and the rest of the prompt as text', () => {
    const of = (input_audio: number, audioTokens?: number) =>
      quote({
        ...plainRequest,
        prices: parsePrices({ input: 3, input_audio }),
        inputTokens: 100,
        maxOutputTokens: 0,
        audioTokens,
      })
    assert.equal(of(40, 30), 70n * 3_000_000n + 30n * 40_000_000n)
    assert.equal(of(1, 30), 100n * 3_000_000n)
    assert.equal(of(40), 100n * 3_000_000n)
  })

  test('has searches at their price, with and without other tools', () => {
    const of = (uses: object) =>
      quote({ ...plainRequest, prices: parsePrices({ input: 3 }), inputTokens: 0, ...uses })
    assert.equal(of({ webSearchesMax: 4 }), 4n * 10_000_000_000n)
    assert.equal(of({ webSearchesMax: 0, vendorTools: undefined }), 0n)
    assert.equal(of({ webSearchesMax: 1, vendorTools: { file_search: 2 } }), 15_000_000_000n)
  })

  test('has uses of tools at their prices, and needs no price for output that is not made', () => {
    const prices = decodePrices('{"input":1,"file_search":2.5,"code_interpreter":30}')
    const amount = quote({
      prices,
      format: 'chat',
      inputTokens: 100,
      maxOutputTokens: 0,
      choiceCount: 1,
      multiplierPpm: 1_000_000,
      vendorTools: { file_search: 3, code_interpreter: 1 },
    })
    assert.equal(amount, 100n * 1_000_000n + 3n * 2_500_000_000n + 30_000_000_000n)
  })
})

describe('affordableOutputTokens', () => {
  test('is nothing without money for the prompt, and unlimited where output is free', () => {
    const of = (output: number, availablePicos: bigint, multiplierPpm = 1_000_000) =>
      affordableOutputTokens({
        ...plainRequest,
        prices: parsePrices({ input: 1, output }),
        inputTokens: 10,
        multiplierPpm,
        availablePicos: picos(availablePicos),
      })
    assert.equal(of(1, 9_999_999n), 0)
    assert.equal(of(1, 10_000_000n), 0)
    assert.equal(of(1, 11_999_999n), 1)
    assert.equal(of(1, -(10n ** 9n)), 0)
    assert.equal(of(0, 10_000_000n), Number.MAX_SAFE_INTEGER)
    assert.equal(of(0, 9_999_999n), 0)
    assert.equal(of(1, 0n, 0), Number.MAX_SAFE_INTEGER)
  })

  test('is the largest output limit whose quote the money covers', () => {
    fc.assert(
      fc.property(
        quoteCase,
        fc.bigInt({ min: -1_000n, max: 10n ** 15n }).map((amount): Picos => picos(amount)),
        (request, availablePicos) => {
          const tokens = affordableOutputTokens({ ...request, availablePicos })
          const quoteFor = (maxOutputTokens: number): Picos =>
            quote({ ...request, maxOutputTokens })
          if (tokens > 0) assert.ok(quoteFor(tokens) <= availablePicos)
          if (tokens < Number.MAX_SAFE_INTEGER) assert.ok(quoteFor(tokens + 1) > availablePicos)
        },
      ),
    )
  })
})
