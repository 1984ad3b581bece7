/**
 * Money: integer pico-dollars (10⁻¹² USD) as bigint, end to end. A price in USD per million tokens with up
 * to six decimals is a whole number of pico-dollars per token, so tokens × price is exact and nothing is
 * ever rounded.
 */

declare const picosBrand: unique symbol

/** An amount in pico-dollars. It may be negative: entries are signed. */
export type Picos = bigint & { readonly [picosBrand]: true }

export const picosPerUsd = 1_000_000_000_000n
const usdDecimals = 12

export const zeroPicos = 0n as Picos

/** Types an integer that is an amount in pico-dollars. */
export function picos(amount: bigint): Picos {
  return amount as Picos
}

export function addPicos(left: Picos, right: Picos): Picos {
  return (left + right) as Picos
}

export function subtractPicos(left: Picos, right: Picos): Picos {
  return (left - right) as Picos
}

/** Multiplies a price per unit by a number of units (tokens, requests; an integer ≥ 0). */
export function multiplyPicos(price: Picos, count: number): Picos {
  return (price * BigInt(count)) as Picos
}

export function maxPicos(left: Picos, right: Picos): Picos {
  return left > right ? left : right
}

export function minPicos(left: Picos, right: Picos): Picos {
  return left < right ? left : right
}

/**
 * Parses decimal USD such as `12.50`, `-3`, `0.000001`, with at most twelve decimals and no exponent.
 * Returns undefined for anything else: the gateway never guesses an amount.
 */
export function parseUsd(text: string): Picos | undefined {
  const match = /^(-?)(\d{1,12})(?:\.(\d{1,12}))?$/.exec(text)
  if (match === null) return undefined
  const [, sign, whole, fraction] = match
  const amount =
    BigInt(whole ?? '0') * picosPerUsd + BigInt((fraction ?? '').padEnd(usdDecimals, '0'))
  return (sign === '-' ? -amount : amount) as Picos
}

/** Formats exact decimal USD without trailing zeros: `12.5`, `-3`, `0.000000000001`. */
export function formatUsd(amount: Picos): string {
  const magnitude: bigint = amount < 0n ? 0n - amount : amount
  const whole = magnitude / picosPerUsd
  const fraction = (magnitude % picosPerUsd)
    .toString()
    .padStart(usdDecimals, '0')
    .replace(/0+$/, '')
  return (amount < 0n ? '-' : '') + whole.toString() + (fraction === '' ? '' : '.' + fraction)
}

/** Returns the closest JSON number: for display only, never for calculation. */
export function usdNumber(amount: Picos): number {
  return Number(formatUsd(amount))
}
