/**
 * What a file's prices mean for the stored versions: which are new, which are taken back. The
 * invariant: a version that is or was in force is never changed; a different price begins now.
 */
import type { PriceRow } from '../../channels/channel-store.ts'
import {
  decodePrices,
  encodePrices,
  pricesAt,
  printPrices,
  type ModelPrices,
  type PriceVersion,
} from '../../metering/price-book.ts'

export interface PricePlan {
  readonly save: readonly PriceVersion[]
  /** Moments of versions, all in the future, that the file no longer names. */
  readonly withdraw: readonly number[]
  /** In force and to come once the plan is carried out, as `currentPrices` gives them. */
  readonly after: ModelPrices
}

export function readVersions(rows: readonly PriceRow[]): ModelPrices {
  return rows.map((row) => ({ validFromMs: row.validFromMs, prices: decodePrices(row.prices) }))
}

export function planPrices(
  stored: ModelPrices,
  given: ModelPrices | undefined,
  nowMs: number,
): PricePlan {
  if (given === undefined) return { save: [], withdraw: [], after: currentPrices(stored, nowMs) }
  if (stored.length === 0) return { save: given, withdraw: [], after: currentPrices(given, nowMs) }
  const save: PriceVersion[] = []
  const before = pricesAt(stored, nowMs)
  const wanted = pricesAt(given, nowMs) ?? before
  if (wanted !== undefined && (before === undefined || !areEqual(before, wanted)))
    save.push({ validFromMs: freeMoment(stored, nowMs), prices: wanted })
  const future = futureOf(given, nowMs)
  for (const version of future) {
    const same = stored.find((one) => one.validFromMs === version.validFromMs)
    if (same === undefined || !areEqual(same.prices, version.prices)) save.push(version)
  }
  const named = new Set(future.map((version) => version.validFromMs))
  const withdraw = futureOf(stored, nowMs)
    .map((version) => version.validFromMs)
    .filter((validFromMs) => !named.has(validFromMs))
  const after = wanted === undefined ? future : [{ validFromMs: 0, prices: wanted }, ...future]
  return { save, withdraw, after }
}

/** What an operator needs to see and to write: the prices in force, undated, and those to come. */
export function currentPrices(versions: ModelPrices, nowMs: number): ModelPrices {
  const inForce = pricesAt(versions, nowMs)
  const future = futureOf(versions, nowMs)
  return inForce === undefined ? future : [{ validFromMs: 0, prices: inForce }, ...future]
}

/** Prices in force and to come as `field → text` pairs, for showing differences. */
export function describePrices(current: ModelPrices): ReadonlyMap<string, string> {
  const described = new Map<string, string>()
  for (const { validFromMs, prices } of current) {
    const isInForce = validFromMs === 0
    const title = isInForce ? 'price' : `price from ${new Date(validFromMs).toISOString()}`
    flatten(title, printPrices(prices), described)
  }
  return described
}

function flatten(path: string, value: unknown, into: Map<string, string>): void {
  if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) flatten(`${path}.${key}`, inner, into)
  else into.set(path, String(value))
}

function futureOf(versions: ModelPrices, nowMs: number): ModelPrices {
  return versions.filter((version) => version.validFromMs > nowMs)
}

function areEqual(left: PriceVersion['prices'], right: PriceVersion['prices']): boolean {
  return encodePrices(left) === encodePrices(right)
}

/** Now, or the next moment that no version holds: two changes within one millisecond stay two. */
export function freeMoment(stored: ModelPrices, nowMs: number): number {
  const taken = new Set(stored.map((version) => version.validFromMs))
  let moment = nowMs
  while (taken.has(moment)) moment++
  return moment
}
