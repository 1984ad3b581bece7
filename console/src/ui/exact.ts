/** Exact sums of amounts: whole pico-dollars, because no binary number holds decimal amounts. */
import { formatUsd, parseUsd, picos } from '../../../src/base/money.ts'

/** Reads decimal text: 1.5 → 1500000000000. What follows the twelfth decimal is dropped. */
export function parsePicos(usd: string): bigint {
  return parseUsd(usd.replace(/(\.\d{12})\d+$/, '$1')) ?? 0n
}

function usdOf(amount: bigint): string {
  return formatUsd(picos(amount))
}

export function sumUsd(amounts: readonly string[]): string {
  return usdOf(amounts.reduce((sum, amount) => sum + parsePicos(amount), 0n))
}

export function subtractUsd(from: string, ...amounts: readonly string[]): string {
  return usdOf(parsePicos(from) - parsePicos(sumUsd(amounts)))
}

export function multiplyUsd(usd: string, factor: number): string {
  return usdOf(parsePicos(usd) * BigInt(factor))
}

/** A price times a factor of at most six decimals. */
export function scaleUsd(price: string, factor: string): string {
  // Twelve decimals hold the product of two numbers with six.
  return usdOf((parsePicos(price) * parsePicos(factor)) / parsePicos('1'))
}

/** Decimal text of a JSON number; numbers below a millionth would otherwise print with an exponent. */
export function usdText(value: number): string {
  const printed = String(value)
  return printed.includes('e') ? usdOf(parsePicos(value.toFixed(12))) : printed
}
