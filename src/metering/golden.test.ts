/**
 * The golden vectors: counts in, charge out, each with its working by hand. The working is checked
 * on its own, line by line, so that a fixture cannot be made to agree with a wrong program.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { picos } from '../base/money.ts'
import { charge } from './charge.ts'
import { parsePrices, priceSchema, type PriceForm } from './price-form.ts'
import { type Prices } from './prices.ts'
import { formatPriceLines, parsePriceLines, recompute } from './price-lines.ts'
import type { RequestBounds, Usage, UsageMark, UsagePart } from './usage.ts'
import type { UsageFormat } from './rates.ts'
import { decideCharge, type AnswerCounts, type CutPolicy, type Ending } from './settlement.ts'

interface GoldenCharge {
  readonly name: string
  readonly format: UsageFormat
  readonly model: string
  readonly upstreamModel?: string
  readonly multiplierPpm?: number
  readonly parts: readonly UsagePart[]
  readonly working: readonly string[]
  readonly amountPicos: string
  readonly marks?: readonly UsageMark[]
}

interface GoldenSettlement {
  readonly name: string
  readonly ending: Ending
  readonly format: UsageFormat
  readonly model: string
  readonly holdPicos: string
  readonly bounds: RequestBounds
  readonly cutPolicy?: CutPolicy
  readonly countedTokens?: number
  readonly counts?: Omit<AnswerCounts, 'usage'> & { readonly usage?: Usage }
  readonly amountPicos: string
  readonly marks?: readonly UsageMark[]
  readonly operatorCostPicos?: string
  readonly chargedTokens?: readonly [number, number]
}

const charges = readGolden('charges') as {
  readonly prices: Readonly<Record<string, PriceForm>>
  readonly cases: readonly GoldenCharge[]
}
const settlements = readGolden('settlements') as { readonly cases: readonly GoldenSettlement[] }

const book = new Map<string, Prices>()
for (const [model, form] of Object.entries(charges.prices)) {
  priceSchema.parse(form)
  book.set(model, parsePrices(form))
}

function readGolden(name: string): unknown {
  const text = readFileSync(new URL(`./golden/${name}.json`, import.meta.url), 'utf8')
  return JSON.parse(text)
}

function pricesOf(model: string): Prices {
  const prices = book.get(model)
  assert.ok(prices, `${model} has prices`)
  return prices
}

describe('golden charges', () => {
  for (const golden of charges.cases)
    test(golden.name, () => {
      const usage: Usage = {
        parts: golden.parts,
        reported: { inputTokens: 0, outputTokens: 0, cacheTokens: 0 },
      }
      const made = charge(usage, {
        format: golden.format,
        requestedModel: golden.model,
        upstreamModel: golden.upstreamModel,
        prices: pricesOf(golden.model),
        pricesFor: (model) => book.get(model),
        multiplierPpm: golden.multiplierPpm ?? 1_000_000,
      })
      assert.equal(workedOut(golden.working), golden.amountPicos)
      assert.equal(String(made.amountPicos), golden.amountPicos)
      assert.deepEqual(made.marks, golden.marks ?? [])
      const kept = parsePriceLines(formatPriceLines(made.bill))
      assert.equal(recompute(kept), made.amountPicos)
    })
})

describe('golden settlements', () => {
  for (const golden of settlements.cases)
    test(golden.name, async () => {
      const decided = await decideCharge(
        {
          ending: golden.ending,
          counts: golden.counts && { ...golden.counts, usage: golden.counts.usage },
          format: golden.format,
          requestedModel: golden.model,
          prices: pricesOf(golden.model),
          pricesFor: (model) => book.get(model),
          bounds: golden.bounds,
          holdPicos: picos(BigInt(golden.holdPicos)),
          isHoldFinal: golden.marks?.includes('over_hold') !== true,
          multiplierPpm: 1_000_000,
          cutPolicy: golden.cutPolicy ?? 'nothing',
        },
        { count: () => Promise.resolve(golden.countedTokens ?? 0), close: () => Promise.resolve() },
      )
      assert.equal(String(decided.amountPicos), golden.amountPicos)
      assert.deepEqual(decided.marks, golden.marks ?? [])
      assert.equal(String(decided.operatorCostPicos), golden.operatorCostPicos ?? '0')
      const reported = decided.usage?.reported
      const shown = reported && [reported.inputTokens, reported.outputTokens]
      assert.deepEqual(shown, golden.chargedTokens)
      if (decided.priceLines !== '')
        assert.equal(recompute(parsePriceLines(decided.priceLines)), decided.amountPicos)
    })
})

/** Checks each `label: expression = value` line and returns the last value. */
function workedOut(lines: readonly string[]): string {
  let last = ''
  for (const line of lines) {
    const match = /: ([^:=]+) = (\d+)( \(rounded up\))?$/.exec(line)
    assert.ok(match, `a line of working: ${line}`)
    const [, expression, value, rounding] = match
    let numerator = 0n
    let denominator = 1n
    for (const term of (expression ?? '').split(' + ')) {
      const { over, under } = product(term)
      numerator = numerator * under + over * denominator
      denominator *= under
    }
    const isWhole = numerator % denominator === 0n
    assert.ok(isWhole || rounding !== undefined, `whole, or said to be rounded: ${line}`)
    const worth = (numerator + denominator - 1n) / denominator
    assert.equal(String(worth), value, line)
    last = value ?? ''
  }
  return last
}

function product(term: string): { readonly over: bigint; readonly under: bigint } {
  let over = 1n
  let under = 1n
  let isDivisor = false
  for (const word of term.split(' '))
    if (word === '×' || word === '/') isDivisor = word === '/'
    else if (isDivisor) under *= BigInt(word)
    else over *= BigInt(word)
  return { over, under }
}
