/**
 * The calculation of a charge as statements and the request log show it: count × price of each class,
 * factors, fee. Amounts are exact decimal text in USD.
 */
import { formatUsd, picos } from '../../base/money.ts'
import { parsePriceLines, type PricedPart, type PriceLines } from '../../metering/price-lines.ts'
import { unchangedPpm } from '../../metering/prices.ts'
import { isUse } from '../../metering/usage.ts'

/** Views the stored price lines of a charge. */
export function viewBill(priceLines: string) {
  const bill = parsePriceLines(priceLines)
  return {
    /** Count × price of each class, as arithmetic. */
    calculation: calculationText(bill),
    parts: bill.parts.map(viewPart),
    /** Per exchange. */
    fee: formatUsd(bill.feePicos),
    /** Factor on the sum of parts and fee; the result is rounded up once, to 10⁻¹² USD. */
    multiplier: ppmText(bill.multiplierPpm),
    /** The cap of the charge, where the vendor's counts were implausible. */
    at_most: bill.capPicos === undefined ? null : formatUsd(bill.capPicos),
  }
}

function viewPart(part: PriceLines['parts'][number]) {
  return {
    model: part.model,
    long_context: part.isLongContext,
    /** Factors on these tokens: tier, speed, region. */
    factors: part.modifiers
      .filter(({ ppm }) => ppm !== unchangedPpm)
      .map(({ kind, name, ppm }) => ({ kind, name, factor: ppmText(ppm) })),
    lines: part.lines.map((line) => ({
      class: line.usageClass,
      count: line.count,
      /** Price of one token or one use. */
      price: formatUsd(line.pricePicos),
      /** Count × price. */
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
