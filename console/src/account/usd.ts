/** Products of decimal text, and numbers as decimal text. */
import { parsePicos, usdOf } from '../ui/exact.ts'

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
