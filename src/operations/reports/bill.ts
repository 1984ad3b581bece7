/**
 * The calculation of a charge as statements and the request log show it: count × price of each class,
 * factors, fee. Amounts are exact decimal text in USD.
 */
import { z } from 'zod'
import { formatUsd, picos } from '../../base/money.ts'
import { parsePriceLines, type PricedPart, type PriceLines } from '../../metering/price-lines.ts'
import { unchangedPpm } from '../../metering/prices.ts'
import { isUse } from '../../metering/usage.ts'
import { usd, type Answer } from '../answer-forms.ts'

export const partForm = z.strictObject({
  model: z.string(),
  long_context: z.boolean(),
  /** Factors on these tokens: tier, speed, region. */
  factors: z.array(z.strictObject({ kind: z.string(), name: z.string(), factor: z.string() })),
  lines: z.array(
    z.strictObject({
      class: z.string(),
      count: z.int().min(0),
      price: usd.meta({ description: 'Of one token or one use.' }),
      amount: usd,
    }),
  ),
})

export const billForm = z.strictObject({
  /** Count × price of each class, as arithmetic. */
  calculation: z.string(),
  parts: z.array(partForm),
  /** Per exchange. */
  fee: usd,
  /** Factor on the sum of parts and fee; the result is rounded up once, to 10⁻¹² USD. */
  multiplier: z.string(),
  /** The cap of the charge, where the vendor's counts were implausible. */
  at_most: usd.nullable(),
})

/** Views the stored price lines of a charge. */
export function viewBill(priceLines: string): Answer<typeof billForm> {
  const bill = parsePriceLines(priceLines)
  return {
    calculation: calculationText(bill),
    parts: bill.parts.map(viewPart),
    fee: formatUsd(bill.feePicos),
    multiplier: ppmText(bill.multiplierPpm),
    at_most: bill.capPicos === undefined ? null : formatUsd(bill.capPicos),
  }
}

function viewPart(part: PriceLines['parts'][number]): Answer<typeof partForm> {
  return {
    model: part.model,
    long_context: part.isLongContext,
    factors: part.modifiers
      .filter(({ ppm }) => ppm !== unchangedPpm)
      .map(({ kind, name, ppm }) => ({ kind, name, factor: ppmText(ppm) })),
    lines: part.lines.map((line) => ({
      class: line.usageClass,
      count: line.count,
      price: formatUsd(line.pricePicos),
      amount: formatUsd(line.amountPicos),
    })),
  }
}

/** Formats a factor in millionths: `1.1`. */
function ppmText(ppm: number): string {
  // Exact, because a millionth of a dollar is a whole number of pico-dollars.
  return formatUsd(picos(BigInt(ppm) * 1_000_000n))
}

/** Formats a charge as exact arithmetic in USD: `10 input × 0.000003 + 20 output × 0.000015`. */
function calculationText(bill: PriceLines): string {
  const terms = bill.parts.flatMap(partTerms)
  if (bill.feePicos > 0n) terms.push(`fee ${formatUsd(bill.feePicos)}`)
  const sum = terms.length === 0 ? '0' : terms.join(' + ')
  const scaled =
    bill.multiplierPpm === unchangedPpm
      ? sum
      : `${terms.length > 1 ? `(${sum})` : sum} × ${ppmText(bill.multiplierPpm)} of the list price`
  return bill.capPicos === undefined ? scaled : `${scaled}, at most ${formatUsd(bill.capPicos)}`
}

/** Factors apply to tokens, never to uses. */
function partTerms(part: PricedPart): string[] {
  const factors = part.modifiers.filter(({ ppm }) => ppm !== unchangedPpm)
  const isUseLine = (line: PricedPart['lines'][number]): boolean => isUse(line.usageClass)
  const term = (line: PricedPart['lines'][number]): string =>
    `${line.count} ${line.usageClass} × ${formatUsd(line.pricePicos)}`
  const tokens = part.lines.filter((line) => !isUseLine(line)).map(term)
  const uses = part.lines.filter(isUseLine).map(term)
  if (factors.length === 0 || tokens.length === 0) return [...tokens, ...uses]
  const named = factors.map(({ kind, name, ppm }) => `${ppmText(ppm)} (${kind} ${name})`)
  const sum = tokens.length > 1 ? `(${tokens.join(' + ')})` : tokens.join('')
  return [`${sum} × ${named.join(' × ')}`, ...uses]
}
