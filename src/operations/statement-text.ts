/** A bill as one line of arithmetic that anyone can work out by hand: exact decimals, no rounding. */
import { formatUsd, picos } from '../base/money.ts'
import { unchangedPpm } from '../metering/price-book.ts'
import type { PricedPart, PriceLines } from '../metering/price-lines.ts'

/** A factor in millionths as a decimal: `1.1`. */
export function ppmText(ppm: number): string {
  // Millionths of a dollar are exact in pico-dollars, so the printer of amounts serves for factors.
  return formatUsd(picos(BigInt(ppm) * 1_000_000n))
}

/** `10 input × 0.000003 + 20 output × 0.000015`; USD. */
export function calculationText(bill: PriceLines): string {
  const terms = bill.parts.flatMap(partTerms)
  if (bill.feePicos > 0n) terms.push(`fee ${formatUsd(bill.feePicos)}`)
  const sum = terms.length === 0 ? '0' : terms.join(' + ')
  const scaled =
    bill.multiplierPpm === unchangedPpm
      ? sum
      : `${terms.length > 1 ? `(${sum})` : sum} × ${ppmText(bill.multiplierPpm)} of the list price`
  return bill.capPicos === undefined ? scaled : `${scaled}, at most ${formatUsd(bill.capPicos)}`
}

/** Factors are on tokens, never on uses. */
function partTerms(part: PricedPart): string[] {
  const factors = part.modifiers.filter(({ ppm }) => ppm !== unchangedPpm)
  const isUse = (line: PricedPart['lines'][number]): boolean => line.usageClass === 'web_search'
  const term = (line: PricedPart['lines'][number]): string =>
    `${line.count} ${line.usageClass} × ${formatUsd(line.pricePicos)}`
  const tokens = part.lines.filter((line) => !isUse(line)).map(term)
  const uses = part.lines.filter(isUse).map(term)
  if (factors.length === 0 || tokens.length === 0) return [...tokens, ...uses]
  const named = factors.map(({ kind, name, ppm }) => `${ppmText(ppm)} (${kind} ${name})`)
  const sum = tokens.length > 1 ? `(${tokens.join(' + ')})` : tokens.join('')
  return [`${sum} × ${named.join(' × ')}`, ...uses]
}
