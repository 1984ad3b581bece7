/**
 * Versions of prices: list them, plan what a catalogue file changes, describe them. The invariant: a
 * version that is or was in force never changes; a new price gets a new version from now on.
 */
import { z } from 'zod'
import { describeForm } from '../../channels/catalogue/field.ts'
import { isInUse, readCatalogue, type PriceRow } from '../../channels/channel-store.ts'
import { decodePrices, encodePrices, printPrices } from '../../metering/price-form.ts'
import { pricesAt, type ModelPrices, type PriceVersion } from '../../metering/prices.ts'
import { moment, pageForm, type Answer } from '../answer-forms.ts'
import { operation, timeText } from '../operation.ts'
import { pageFields, pageOfList } from '../paging.ts'

const priceForm = z.strictObject({
  model: z.string(),
  vendor: z.string(),
  valid_from: moment.nullable().meta({ description: 'Null = from the beginning.' }),
  state: z.enum(['later', 'in_force', 'past']),
  price: z.custom<ReturnType<typeof printPrices>>().meta({
    type: 'object',
    additionalProperties: {},
    description: 'USD per million tokens by class, in the form of the catalogue.',
  }),
})

/** Lists every version of every model in use, by model, then by time. */
export const listPrices = operation(
  { input: z.strictObject(pageFields), answer: pageForm(priceForm) },
  async (context, page) => {
    const { models, prices } = await context.database.snapshot(readCatalogue)
    const nowMs = context.clock.now()
    const byModel = Map.groupBy(prices, (price) => price.model)
    const all = models.filter(isInUse).flatMap(({ id, vendor }) => {
      const versions = byModel.get(id) ?? []
      const inForce = versions.findLast((version) => version.validFromMs <= nowMs)
      return versions.map((version) => ({ version, vendor, inForce }))
    })
    return pageOfList(all, page, {
      cursorOf: ({ version }) => `${version.model}\0${timeText(version.validFromMs)}`,
      view: ({ version, vendor, inForce }) => viewPrice(version, vendor, { inForce, nowMs }),
    })
  },
)

function viewPrice(
  version: PriceRow,
  vendor: string,
  { inForce, nowMs }: { readonly inForce: PriceRow | undefined; readonly nowMs: number },
): Answer<typeof priceForm> {
  const { validFromMs } = version
  return {
    model: version.model,
    vendor,
    valid_from: validFromMs === 0 ? null : timeText(validFromMs),
    state: validFromMs > nowMs ? 'later' : version === inForce ? 'in_force' : 'past',
    price: printPrices(decodePrices(version.prices)),
  }
}

export interface PricePlan {
  readonly save: readonly PriceVersion[]
  /** Future versions that the file no longer names. */
  readonly withdraw: readonly number[]
  /** Current and future prices after the plan, as `currentPrices` returns them. */
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
  const current = pricesAt(given, nowMs) ?? before
  if (current !== undefined && (before === undefined || !areEqual(before, current)))
    save.push({ validFromMs: freeMoment(stored, nowMs), prices: current })
  const future = futureOf(given, nowMs)
  for (const version of future) {
    const same = stored.find((one) => one.validFromMs === version.validFromMs)
    if (same === undefined || !areEqual(same.prices, version.prices)) save.push(version)
  }
  const named = new Set(future.map((version) => version.validFromMs))
  const withdraw = futureOf(stored, nowMs)
    .map((version) => version.validFromMs)
    .filter((validFromMs) => !named.has(validFromMs))
  const after = current === undefined ? future : [{ validFromMs: 0, prices: current }, ...future]
  return { save, withdraw, after }
}

/** Returns the price in force, undated, and the future ones. */
export function currentPrices(versions: ModelPrices, nowMs: number): ModelPrices {
  const inForce = pricesAt(versions, nowMs)
  const future = futureOf(versions, nowMs)
  return inForce === undefined ? future : [{ validFromMs: 0, prices: inForce }, ...future]
}

/** Returns current and future prices as `field → text`, to show differences. */
export function describePrices(current: ModelPrices): ReadonlyMap<string, string> {
  const described = new Map<string, string>()
  for (const { validFromMs, prices } of current) {
    const isInForce = validFromMs === 0
    const title = isInForce ? 'price' : `price from ${new Date(validFromMs).toISOString()}`
    describeForm(title, printPrices(prices), described)
  }
  return described
}

function futureOf(versions: ModelPrices, nowMs: number): ModelPrices {
  return versions.filter((version) => version.validFromMs > nowMs)
}

function areEqual(left: PriceVersion['prices'], right: PriceVersion['prices']): boolean {
  return encodePrices(left) === encodePrices(right)
}

/** Returns now, or the next moment without a version: two changes in one millisecond stay two. */
export function freeMoment(stored: ModelPrices, nowMs: number): number {
  const taken = new Set(stored.map((version) => version.validFromMs))
  let moment = nowMs
  while (taken.has(moment)) moment++
  return moment
}
