import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { picos } from '../base/money.ts'
import type { CostPrices } from './cost-prices.ts'
import { parseModelPrices, parsePrices } from './price-form.ts'
import { readBill } from './price-lines.ts'
import {
  cameToNothing,
  decideCharge,
  type AnswerCounts,
  type SettlementFacts,
} from './settlement.ts'
import type { Usage, UsageCounts } from './usage.ts'

const prices = parsePrices({ input: 3, output: 15, cache_read: 0.3, request: 0.001 })
const costPrices: CostPrices = { factorPpm: 800_000, models: new Map() }
const bounds = {
  promptTokensLikely: 213,
  inputTokensMax: 2_900,
  maxOutputTokens: 500,
  choiceCount: 2,
}
const dearBounds = {
  ...bounds,
  audioTokensLikely: 20,
  asksAudioOutput: true,
  serverTools: { uses: 10 },
  webSearchesMax: 10,
}

const anyNumber = fc.oneof(
  fc.nat(2_000),
  fc.integer(),
  fc.double(),
  fc.constantFrom(-1, 0.5, NaN, Infinity, 2 ** 53, 1e300),
)

const anyUsage: fc.Arbitrary<Usage> = fc.record({
  parts: fc.array(
    fc.record({
      promptTokens: anyNumber,
      counts: fc.record(
        { input: anyNumber, output: anyNumber, cache_read: anyNumber, web_search: anyNumber },
        { requiredKeys: [] },
      ),
    }),
    { maxLength: 3 },
  ),
  reported: fc.record({ inputTokens: anyNumber, outputTokens: anyNumber, cacheTokens: anyNumber }),
})

const anyCounts: fc.Arbitrary<AnswerCounts> = fc.record({
  usage: fc.option(anyUsage, { nil: undefined }),
  isFinal: fc.boolean(),
  isImplausible: fc.boolean(),
  hasOutput: fc.boolean(),
  isRefusal: fc.boolean(),
  output: fc.record({
    text: fc.string(),
    bytes: fc.nat(1_000_000),
    audioBytes: fc.nat(10_000_000),
  }),
  webSearches: fc.nat(300),
})

const anyFacts: fc.Arbitrary<SettlementFacts> = fc.record({
  ending: fc.constantFrom(
    'completed',
    'client_left',
    'upstream_cut',
    'gateway_cut',
    'refused',
    'failed',
  ),
  counts: fc.option(anyCounts, { nil: undefined }),
  format: fc.constantFrom('messages', 'chat'),
  bounds: fc.constantFrom(bounds, dearBounds),
  holdPicos: fc.bigInt({ min: 0n, max: 10n ** 11n }).map(picos),
  isHoldFinal: fc.boolean(),
  holdsMost: fc.boolean(),
  isUnseen: fc.boolean(),
  isNotFree: fc.boolean(),
  multiplierPpm: fc.nat(2_000_000),
  cutPolicy: fc.constantFrom('nothing', 'delivered'),
  requestedModel: fc.constant('m'),
  prices: fc.constant(prices),
  pricesFor: fc.constant(() => undefined),
  cost: fc.constantFrom(undefined, { prices: costPrices, atMs: 0 }),
})

const counter = { count: (text: string) => Promise.resolve(text.length), close: async () => {} }

function hasText({ counts }: SettlementFacts): boolean {
  return counts !== undefined && counts.output.bytes + (counts.output.audioBytes ?? 0) > 0
}

function withoutZeros(counts: UsageCounts): UsageCounts {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0))
}

describe('decideCharge', () => {
  test('makes a valid charge of anything that a vendor can send', async () => {
    await fc.assert(
      fc.asyncProperty(anyFacts, async (facts) => {
        const decided = await decideCharge(facts, counter)
        const { amountPicos, usage, marks, priceLines, operatorCostPicos, ownCostPicos } = decided
        assert.ok(amountPicos >= 0n && operatorCostPicos >= 0n)
        assert.ok(ownCostPicos >= 0n && ownCostPicos <= 10n ** 16n)
        // The cost of an answer is in one of the two; a charged one without a cost price is in neither.
        assert.ok(operatorCostPicos === 0n || ownCostPicos === 0n)
        assert.equal(decided.isOwnCostKnown, usage === undefined || facts.cost !== undefined)
        if (facts.cost === undefined) assert.equal(ownCostPicos, 0n)
        if (marks.includes('implausible')) assert.ok(amountPicos <= facts.holdPicos)
        if (amountPicos > facts.holdPicos)
          assert.ok(
            marks.includes('over_hold') &&
              (!facts.isHoldFinal || (hasText(facts) && facts.holdsMost !== true)),
          )
        assert.equal(usage === undefined, priceLines === '')
        if (usage === undefined) return assert.equal(amountPicos, 0n)
        const bill = readBill(priceLines)
        assert.equal(bill.amountPicos, amountPicos)
        assert.deepEqual(
          bill.counts,
          usage.parts.map(({ counts }) => withoutZeros(counts)),
        )
        for (const tokens of Object.values(usage.reported))
          assert.ok(Number.isSafeInteger(tokens) && tokens >= 0)
        return undefined
      }),
      { numRuns: 500 },
    )
  })

  test('charges nothing for refused and failed exchanges, at any counts', async () => {
    await fc.assert(
      fc.asyncProperty(anyFacts, fc.constantFrom('refused', 'failed'), async (facts, ending) => {
        const decided = await decideCharge({ ...facts, ending }, counter)
        assert.equal(decided.amountPicos, 0n)
        assert.equal(decided.usage, undefined)
      }),
    )
  })

  test('charges what came to nothing only beyond what is free', async () => {
    await fc.assert(
      fc.asyncProperty(anyFacts, async (facts) => {
        if (!cameToNothing(facts)) return
        const free = await decideCharge({ ...facts, isNotFree: false }, counter)
        assert.deepEqual([free.amountPicos, free.usage], [0n, undefined])
        const paid = await decideCharge({ ...facts, isNotFree: true }, counter)
        assert.ok(paid.usage !== undefined)
      }),
    )
    // The client left before anything had come: the prompt is charged.
    const counts: AnswerCounts = {
      usage: undefined,
      isFinal: false,
      isImplausible: false,
      hasOutput: false,
      isRefusal: false,
      output: { text: '', bytes: 0 },
    }
    const [facts] = fc.sample(anyFacts, { numRuns: 1, seed: 1 })
    assert.ok(facts !== undefined)
    const left = {
      ...facts,
      counts,
      ending: 'client_left',
      isUnseen: true,
      isNotFree: true,
    } as const
    const { usage, marks } = await decideCharge(left, counter)
    assert.deepEqual(usage?.reported.outputTokens, 0)
    assert.ok((usage?.reported.inputTokens ?? 0) > 0 && marks.includes('estimated'))
    for (const ending of ['upstream_cut', 'gateway_cut', 'refused', 'failed'] as const)
      assert.equal(cameToNothing({ ...left, ending }), false)
  })

  test('keeps no usage of an exchange that is not charged, whatever the vendor has counted', async () => {
    const endings: readonly [Partial<SettlementFacts>, Partial<AnswerCounts>][] = [
      [{ ending: 'upstream_cut', cutPolicy: 'nothing' }, {}],
      [{ ending: 'upstream_cut', cutPolicy: 'delivered' }, { hasOutput: false }],
      [{ ending: 'gateway_cut' }, { hasOutput: false }],
      [{ ending: 'completed', isNotFree: false }, { isRefusal: true }],
      [{ ending: 'client_left', isNotFree: false }, { isRefusal: true }],
    ]
    await fc.assert(
      fc.asyncProperty(anyFacts, fc.constantFrom(...endings), async (facts, [how, answer]) => {
        const counts = facts.counts === undefined ? undefined : { ...facts.counts, ...answer }
        const decided = await decideCharge({ ...facts, ...how, counts }, counter)
        assert.equal(decided.amountPicos, 0n)
        assert.equal(decided.usage, undefined)
      }),
    )
  })

  test('knows the own cost of what the vendor counted, without the account’s multiplier', async () => {
    const counts: AnswerCounts = {
      usage: {
        parts: [{ promptTokens: 10, counts: { input: 10, output: 4 } }],
        reported: { inputTokens: 10, outputTokens: 4, cacheTokens: 0 },
      },
      isFinal: true,
      isImplausible: false,
      hasOutput: true,
      isRefusal: false,
      output: { text: 'four tokens of text', bytes: 19 },
    }
    const facts: SettlementFacts = {
      ending: 'completed',
      counts,
      format: 'messages',
      bounds,
      holdPicos: picos(10n ** 12n),
      isHoldFinal: true,
      multiplierPpm: 2_000_000,
      cutPolicy: 'nothing',
      requestedModel: 'm',
      prices,
      pricesFor: () => undefined,
      cost: { prices: costPrices, atMs: 0 },
    }
    const costs = async (changes: Partial<SettlementFacts>) => {
      const decided = await decideCharge({ ...facts, ...changes }, counter)
      const { ownCostPicos, operatorCostPicos, isOwnCostKnown } = decided
      return [ownCostPicos, operatorCostPicos, isOwnCostKnown]
    }
    const list = 10n * 3_000_000n + 4n * 15_000_000n + 1_000_000_000n
    const exact = (list * 8n) / 10n
    assert.deepEqual(await costs({}), [exact, 0n, true])
    assert.deepEqual(await costs({ cost: undefined }), [0n, 0n, false])
    const refused = { ...counts, isRefusal: true }
    assert.deepEqual(await costs({ counts: refused }), [exact, 0n, true])
    assert.deepEqual(await costs({ counts: refused, cost: undefined }), [0n, list, true])
    const left = await costs({ ending: 'client_left', counts: { ...counts, isFinal: false } })
    assert.deepEqual([left[0], left[2]], [0n, true])
    assert.ok(typeof left[1] === 'bigint' && left[1] >= exact)
    assert.deepEqual(await costs({ counts: undefined, ending: 'failed' }), [0n, 0n, true])
  })

  test('decides without the tokenizer where the final counts are known', () => {
    const usage: Usage = {
      parts: [{ promptTokens: 10, counts: { input: 10, output: 4 } }],
      reported: { inputTokens: 10, outputTokens: 4, cacheTokens: 0 },
    }
    const decided = decideCharge(
      {
        ending: 'completed',
        counts: {
          usage,
          isFinal: true,
          isImplausible: false,
          hasOutput: true,
          isRefusal: false,
          output: { text: 'four tokens of text', bytes: 19 },
        },
        format: 'messages',
        bounds,
        holdPicos: picos(10n ** 12n),
        isHoldFinal: true,
        multiplierPpm: 1_000_000,
        cutPolicy: 'nothing',
        requestedModel: 'm',
        prices,
        pricesFor: () => undefined,
      },
      { count: () => assert.fail('not needed'), close: async () => {} },
    )
    assert.ok(!(decided instanceof Promise))
    assert.equal(decided.amountPicos, 10n * 3_000_000n + 4n * 15_000_000n + 1_000_000_000n)
    assert.equal(decided.usage, usage)
  })

  test('charges output delivered beyond the limit above the hold, unless the account holds the most', async () => {
    const answer = (text: string, more: Partial<SettlementFacts> = {}) =>
      decideCharge(
        {
          ending: 'completed',
          counts: {
            usage: {
              parts: [{ promptTokens: 10, counts: { input: 10, output: 3_000 } }],
              reported: { inputTokens: 10, outputTokens: 3_000, cacheTokens: 0 },
            },
            isFinal: true,
            isImplausible: false,
            hasOutput: true,
            isRefusal: false,
            output: { text, bytes: text.length },
          },
          format: 'chat',
          bounds,
          holdPicos: picos(10n ** 10n),
          isHoldFinal: true,
          multiplierPpm: 1_000_000,
          cutPolicy: 'nothing',
          requestedModel: 'm',
          prices,
          pricesFor: () => undefined,
          ...more,
        },
        counter,
      )
    const shown = async (text: string, more?: Partial<SettlementFacts>) => {
      const { amountPicos, marks, usage, isBeyondLimit = false } = await answer(text, more)
      return [usage?.parts[0]?.counts.output, amountPicos, marks, isBeyondLimit]
    }
    const cost = (output: bigint): bigint => 10n * 3_000_000n + output * 15_000_000n + 10n ** 9n
    const marks = ['estimated', 'over_hold']
    assert.deepEqual(await shown('x'.repeat(3_000)), [3_000, cost(3_000n), ['over_hold'], true])
    assert.deepEqual(await shown('x'.repeat(2_000)), [2_000, cost(2_000n), marks, true])
    // The limit is 1,000: the estimate may be wrong by so much.
    const kept = 'x'.repeat(1_266)
    assert.deepEqual(await shown(kept), [3_000, 10n ** 10n, ['implausible'], false])
    const most = { holdsMost: true }
    const capped = [2_000, 10n ** 10n, ['estimated', 'implausible'], true]
    assert.deepEqual(await shown('x'.repeat(2_000), most), capped)
  })
})

/** One answer of ten tokens, and what differs from it. */
function decide(
  answer: Partial<AnswerCounts>,
  facts: Partial<SettlementFacts> = {},
): ReturnType<typeof decideCharge> {
  const counts: AnswerCounts = {
    usage: {
      parts: [{ promptTokens: 10, counts: { input: 10, output: 4 } }],
      reported: { inputTokens: 10, outputTokens: 4, cacheTokens: 0 },
    },
    isFinal: true,
    isImplausible: false,
    hasOutput: true,
    isRefusal: false,
    output: { text: 'x'.repeat(10), bytes: 10 },
    ...answer,
  }
  const usual = {
    ending: 'completed',
    counts,
    format: 'chat',
    bounds,
    holdPicos: picos(10n ** 12n),
    isHoldFinal: true,
    multiplierPpm: 1_000_000,
    cutPolicy: 'nothing',
    requestedModel: 'm',
    prices,
    pricesFor: () => undefined,
  } as const
  return decideCharge({ ...usual, ...facts }, counter)
}

function listPrice(input: bigint, output: bigint): bigint {
  return input * 3_000_000n + output * 15_000_000n + 10n ** 9n
}

describe('an answer without counts', () => {
  const uncounted = { usage: undefined, isFinal: false } as const

  test('costs its likely prompt and the delivered output, at the price of its tier', async () => {
    const tiered = parsePrices({ input: 3, output: 15, tiers: { flex: { multiplier: 0.5 } } })
    const plain = await decide(uncounted, { prices: tiered })
    assert.equal(plain.amountPicos, 213n * 3_000_000n + 10n * 15_000_000n)
    assert.deepEqual(plain.usage?.parts, [
      { promptTokens: 213, counts: { input: 213, output: 10 } },
    ])
    assert.deepEqual(plain.marks, ['estimated'])
    const flex = await decide({ ...uncounted, tier: 'flex' }, { prices: tiered })
    assert.equal(flex.amountPicos * 2n, plain.amountPicos)
    assert.equal(flex.usage?.parts[0]?.tier, 'flex')
  })

  test('costs the likely audio of its prompt, and its own audio', async () => {
    const heard = { ...bounds, audioTokensLikely: 20, asksAudioOutput: true }
    const output = { text: '', bytes: 0, audioBytes: 64_000 }
    const { usage } = await decide({ ...uncounted, output }, { bounds: heard })
    const [part] = usage?.parts ?? []
    assert.equal(part?.promptTokens, 233)
    assert.deepEqual([part.counts.input, part.counts.input_audio], [213, 20])
    const spoken = part.counts.output_audio ?? 0
    assert.ok(spoken > 0)
    assert.deepEqual(usage?.reported, {
      inputTokens: 233,
      outputTokens: spoken,
      cacheTokens: 0,
    })
    const counted: Usage = {
      parts: [{ promptTokens: 1, counts: { input: 1, output_audio: spoken - 1 } }],
      reported: { inputTokens: 1, outputTokens: spoken - 1, cacheTokens: 0 },
    }
    const text = { ...output, text: 'xx', bytes: 2 }
    const more = await decide({ usage: counted, isFinal: false, output: text }, { bounds: heard })
    const counts = { input: 1, output: 2, output_audio: spoken }
    assert.deepEqual(more.usage?.parts, [{ promptTokens: 1, counts }])
  })

  test('costs the searches whose results came, as far as the hold covers them', async () => {
    const searched = { ...bounds, serverTools: { uses: 3 }, webSearchesMax: 3 }
    for (const [webSearches, charged] of [
      [2, 2],
      [4, 3],
    ] as const) {
      const { usage } = await decide({ ...uncounted, webSearches }, { bounds: searched })
      assert.equal(usage?.parts[0]?.counts.web_search, charged)
    }
  })

  test('costs more than its hold only where more was delivered than the limit allows', async () => {
    const little = { holdPicos: picos(1_000n) }
    const within = await decide(uncounted, little)
    assert.deepEqual([within.amountPicos, within.marks], [1_000n, ['estimated', 'implausible']])
    const output = { text: 'x'.repeat(3_000), bytes: 3_000 }
    const beyond = await decide({ ...uncounted, output }, little)
    assert.deepEqual(
      [beyond.amountPicos, beyond.marks],
      [listPrice(213n, 3_000n), ['estimated', 'over_hold']],
    )
  })
})

describe('final counts', () => {
  const usage: Usage = {
    parts: [{ promptTokens: 10, counts: { input: 10 } }],
    reported: { inputTokens: 10, outputTokens: 0, cacheTokens: 0 },
  }

  test('without output are charged as they are where the request asks for none', async () => {
    const asked = { bounds: { ...bounds, asksNoOutput: true } }
    const decided = await decide({ usage, hasOutput: false }, asked)
    assert.deepEqual([decided.amountPicos, decided.marks], [listPrice(10n, 0n), []])
  })

  test('without output are believed where none was seen, and the allowance is used up', async () => {
    const decided = await decide({ usage, hasOutput: false }, { isNotFree: true })
    assert.deepEqual([decided.amountPicos, decided.marks], [listPrice(10n, 0n), []])
    const seen = await decide({ usage })
    assert.deepEqual([seen.amountPicos, seen.marks], [listPrice(10n, 10n), ['estimated']])
  })

  test('that have not come yet cost what is known where the client leaves', async () => {
    const early = { usage, isFinal: false, hasOutput: false, output: { text: '', bytes: 0 } }
    const left = await decide(early, { ending: 'client_left' })
    assert.deepEqual([left.amountPicos, left.marks], [listPrice(10n, 0n), ['estimated']])
  })

  test('that cost exactly the hold are within it', async () => {
    const { marks } = await decide({}, { holdPicos: picos(listPrice(10n, 4n)) })
    assert.deepEqual(marks, [])
  })
})

describe('the cost of an answer for the operator', () => {
  const costs = async (answer: Partial<AnswerCounts>, facts: Partial<SettlementFacts>) => {
    const decided = await decide(answer, facts)
    return [decided.amountPicos, decided.ownCostPicos, decided.operatorCostPicos]
  }
  const cut = { ending: 'upstream_cut', cost: { prices: costPrices, atMs: 0 } } as const

  test('is an estimate where the vendor broke off before its counts', async () => {
    const estimated = (listPrice(10n, 10n) * 8n) / 10n
    assert.deepEqual(await costs({ isFinal: false }, cut), [0n, 0n, estimated])
  })

  test('is what the vendor counted before it broke off', async () => {
    const counted = (listPrice(10n, 4n) * 8n) / 10n
    assert.deepEqual(await costs({}, cut), [0n, counted, 0n])
    const refused = { isRefusal: true, isFinal: false }
    assert.deepEqual(await costs(refused, cut), [0n, counted, 0n])
  })

  test('is at the prices of its time, and unknown where the channel has none', async () => {
    const versions = [
      { input: 1, output: 1 },
      { input: 2, output: 2, valid_from: '2026-02-01' },
    ]
    const dated: CostPrices = { models: new Map([['m', parseModelPrices(versions)]]) }
    const at = (time: string) => decide({}, { cost: { prices: dated, atMs: Date.parse(time) } })
    assert.equal((await at('2026-01-31')).ownCostPicos, 14n * 1_000_000n)
    assert.equal((await at('2026-02-01')).ownCostPicos, 14n * 2_000_000n)
    const without: CostPrices = { models: new Map() }
    const { ownCostPicos, isOwnCostKnown } = await decide(
      {},
      { cost: { prices: without, atMs: 0 } },
    )
    assert.deepEqual([ownCostPicos, isOwnCostKnown], [0n, false])
  })
})
