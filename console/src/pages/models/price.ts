/** Prices in the form of the catalogue: their texts, and how a version differs from the one before it. */
import { formatUsdExact } from '../../ui/format.ts'
import type { PriceVersion } from './queries.ts'

type Price = PriceVersion['price']

export interface PriceClass {
  readonly name: string
  readonly title: string
  /** The price of a model that does not set this class. */
  readonly fallback: string
}

/** The classes that most models have. */
export const mainClasses: readonly PriceClass[] = [
  { name: 'input', title: 'Input', fallback: 'No price' },
  { name: 'output', title: 'Output', fallback: 'Makes no output' },
  { name: 'cache_read', title: 'Cache read', fallback: 'Not set: as input' },
  { name: 'cache_write_5m', title: 'Cache write, 5 min', fallback: 'Not set: 1.25 × input' },
  { name: 'cache_write_1h', title: 'Cache write, 1 h', fallback: 'Not set: 2 × input' },
]

const mainNames: readonly string[] = mainClasses.map(({ name }) => name)

/** The exact decimal text of a class; undefined where the price does not set it. */
export function decimalOf(price: Price, name: string): string | undefined {
  const value = price[name]
  return typeof value === 'number' || typeof value === 'string' ? String(value) : undefined
}

/** What the price has besides the main classes: tiers, long context, tools, a fee. */
export function otherParts(price: Price): readonly string[] {
  return Object.keys(price).filter((name) => !mainNames.includes(name))
}

/** `tiers.batch.multiplier` → its text, for each price and factor. */
function flatten(path: string, value: unknown, into: Map<string, string>): void {
  if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value))
      flatten(path === '' ? name : `${path}.${name}`, inner, into)
  else into.set(path, String(value))
}

export interface PriceChange {
  readonly field: string
  readonly from: string | undefined
  readonly to: string | undefined
}

/** Returns the parts in which two versions differ. */
export function changesBetween(before: Price, after: Price): readonly PriceChange[] {
  const [from, to] = [new Map<string, string>(), new Map<string, string>()]
  flatten('', before, from)
  flatten('', after, to)
  return [...new Set([...from.keys(), ...to.keys()])]
    .map((field) => ({ field, from: from.get(field), to: to.get(field) }))
    .filter((change) => change.from !== change.to)
}

/** All parts of a price besides the main classes, as lines. */
export function otherLines(price: Price): readonly (readonly [string, string])[] {
  const lines = new Map<string, string>()
  for (const name of otherParts(price)) flatten(name, price[name], lines)
  return [...lines].map(([field, text]) => [fieldTitle(field), amountText(field, text)])
}

/** `price.tiers.batch.multiplier` → `tiers · batch · multiplier`. */
export function fieldTitle(field: string): string {
  const path = field.replace(/^price(?= |\.)/, '')
  if (path.startsWith(' from ')) {
    const [, day = '', rest = ''] = /^ from (.+?Z)\.(.*)$/.exec(path) ?? []
    return `${titleOfPath(rest)}, from ${day.slice(0, 16).replace('T', ' ')} UTC`
  }
  return titleOfPath(path.replace(/^\./, ''))
}

function titleOfPath(path: string): string {
  const main = mainClasses.find(({ name }) => name === path)
  return main?.title ?? path.replaceAll('_', ' ').replaceAll('.', ' · ')
}

const notAnAmount = /multiplier$|above$|tokens$|timeout$/

/** A price in dollars; a factor or a number of tokens as it is. */
export function amountText(field: string, text: string): string {
  return /^\d+(\.\d+)?$/.test(text) && !notAnAmount.test(field) ? formatUsdExact(text) : text
}

/** +12.5% or −20%; undefined where there is nothing to compare. */
export function changeShare({ from, to }: PriceChange): number | undefined {
  const [before, after] = [Number(from), Number(to)]
  if (!(before > 0) || !Number.isFinite(after)) return undefined
  return (after - before) / before
}
