/**
 * Takes prices from the community's list into the catalogue, for models that are in the catalogue.
 * Everything is looked at before anything is written; a version that is or was in force is never
 * changed, and what the list does not say (other tiers, speeds, regions) stays as it is.
 */
import { z } from 'zod'
import { invariant } from '../../base/errors.ts'
import {
  readCatalogue,
  savePrice,
  type CatalogueRows,
  type ModelRow,
} from '../../channels/channel-store.ts'
import {
  encodePrices,
  parsePrices,
  pricesAt,
  type PriceChange,
  type Prices,
} from '../../metering/price-book.ts'
import { recordAction } from '../action-store.ts'
import type { FieldChange } from '../catalogue/plan.ts'
import { describePrices, freeMoment, readVersions } from '../catalogue/prices.ts'
import { invalid, parseInput, type OperationContext } from '../context.ts'
import { fromTime } from '../input.ts'
import { timeOrNull, timeText } from '../views.ts'
import {
  pricesOf,
  readPriceList,
  type ListedModel,
  type PriceList,
  type UnpricedField,
} from './community-list.ts'

const importInput = z.strictObject({
  /** The list itself. */
  text: z.string(),
  /** Model here → its name in the list, where they differ. */
  names: z.record(z.string(), z.string()).default({}),
  /** Only these models; every model of the catalogue where absent. */
  models: z.array(z.string()).min(1, 'must name at least one model').optional(),
  valid_from: fromTime.optional(),
})

export interface ImportedModel {
  readonly model: string
  readonly listed_as: string
  readonly vendor_in_list: string | null
  /** Null = since ever, for a model that had no price. */
  readonly valid_from: string | null
  /** Empty where the prices are in force already. */
  readonly changes: readonly FieldChange[]
  /** What the list names and nothing here can carry: exchanges that use it are not charged for it. */
  readonly unpriced: readonly UnpricedField[]
  readonly notes: readonly string[]
}

export type ImportResult =
  | {
      readonly kind: 'applied' | 'unchanged' | 'would_apply'
      readonly models: readonly ImportedModel[]
      /** Models of the catalogue that the list does not name; their prices stay. */
      readonly not_listed: readonly string[]
    }
  | { readonly kind: 'mistakes'; readonly list: readonly string[] }

interface PlannedImport {
  readonly view: ImportedModel
  readonly validFromMs: number
  readonly prices: Prices
}

export function importPrices(
  context: OperationContext,
  input: unknown,
  options: { readonly dryRun: boolean },
): Promise<ImportResult> {
  const wanted = parseInput(importInput, input)
  const nowMs = context.clock.now()
  const { valid_from: validFromMs } = wanted
  if (validFromMs !== undefined && validFromMs < nowMs)
    throw invalid('valid_from: must not be in the past; without it the prices hold from now on')
  const list = readPriceList(wanted.text)
  if (typeof list === 'string') throw invalid(`the file is no list of prices: ${list}`)
  return context.database.transact(async (transaction): Promise<ImportResult> => {
    const catalogue = await readCatalogue(transaction)
    const chosen = chooseModels(catalogue, wanted)
    const mistakes: string[] = []
    const planned: PlannedImport[] = []
    const notListed: string[] = []
    for (const model of chosen) {
      const listed = findListed(list, model, { catalogue, names: wanted.names })
      if (listed === undefined) notListed.push(model.id)
      else {
        const plan = planModel({ model, listed, catalogue, validFromMs, nowMs })
        if ('mistakes' in plan) mistakes.push(...plan.mistakes)
        else planned.push(plan)
      }
    }
    if (mistakes.length > 0) return { kind: 'mistakes', list: mistakes }
    const result = { models: planned.map(({ view }) => view), not_listed: notListed }
    const changed = planned.filter(({ view }) => view.changes.length > 0)
    if (changed.length === 0) return { kind: 'unchanged', ...result }
    if (options.dryRun) return { kind: 'would_apply', ...result }
    for (const { view, validFromMs: moment, prices } of changed)
      await savePrice(transaction, {
        model: view.model,
        validFromMs: moment,
        prices: encodePrices(prices),
      })
    await recordAction(transaction, context, {
      action: 'price.import',
      subject: changed.map(({ view }) => view.model).join(','),
      detail: { models: changed.map(({ view }) => view) },
    })
    return { kind: 'applied', ...result }
  })
}

function chooseModels(
  { models }: CatalogueRows,
  wanted: z.output<typeof importInput>,
): readonly ModelRow[] {
  const inUse = models.filter((model) => model.retiredAtMs === undefined)
  const known = new Set(inUse.map(({ id }) => id))
  for (const id of [...(wanted.models ?? []), ...Object.keys(wanted.names)])
    if (!known.has(id)) throw invalid(`there is no model ${id} in the catalogue`)
  return inUse.filter(({ id }) => wanted.models === undefined || wanted.models.includes(id))
}

/** By the name that was told, else its own, else the one name all its channels know it by. */
function findListed(
  list: PriceList,
  model: ModelRow,
  {
    catalogue,
    names,
  }: { readonly catalogue: CatalogueRows; readonly names: Readonly<Record<string, string>> },
): ListedModel | undefined {
  const told = names[model.id]
  if (told !== undefined) {
    const listed = list.get(told)
    if (listed === undefined) throw invalid(`there is no model ${told} in the list`)
    return listed
  }
  const own = list.get(model.id)
  if (own !== undefined) return own
  const vendorNames = new Set(
    catalogue.channels
      .filter((channel) => channel.retiredAtMs === undefined && channel.models.has(model.id))
      .map((channel) => channel.models.get(model.id) ?? model.id),
  )
  const [only] = vendorNames
  return vendorNames.size === 1 && only !== undefined ? list.get(only) : undefined
}

interface ModelImport {
  readonly model: ModelRow
  readonly listed: ListedModel
  readonly catalogue: CatalogueRows
  readonly validFromMs: number | undefined
  readonly nowMs: number
}

function planModel(wanted: ModelImport): PlannedImport | { readonly mistakes: readonly string[] } {
  const { model, listed, catalogue, nowMs } = wanted
  const vendor = catalogue.vendors.find(({ name }) => name === model.vendor)
  invariant(vendor !== undefined, 'a model is of a vendor in the catalogue')
  const read = pricesOf(listed, vendor.format)
  if (read.kind === 'mistakes') {
    const title = listed.name === model.id ? model.id : `${model.id} (${listed.name})`
    return { mistakes: read.list.map((mistake) => `${title}: ${mistake}`) }
  }
  const versions = readVersions(catalogue.prices.filter((row) => row.model === model.id))
  const validFromMs =
    wanted.validFromMs ?? (versions.length === 0 ? 0 : freeMoment(versions, nowMs))
  const before = pricesAt(versions, validFromMs)
  const notes: string[] = []
  const prices = keepUnsaid(parsePrices(read.form), before, notes)
  const changes = compare(before, prices)
  for (const usageClass of Object.keys(before?.classes ?? {}))
    if (!(usageClass in prices.classes))
      notes.push(`${usageClass} has no price in the list: from then on it costs the default`)
  for (const version of versions)
    if (version.validFromMs > validFromMs)
      notes.push(`the prices from ${timeText(version.validFromMs)} stay as they are`)
  const view: ImportedModel = {
    model: model.id,
    listed_as: listed.name,
    vendor_in_list: listed.vendor ?? null,
    valid_from: timeOrNull(validFromMs === 0 ? undefined : validFromMs),
    changes,
    unpriced: read.unpriced,
    notes,
  }
  return { view, validFromMs, prices }
}

type Changes = ReadonlyMap<string, PriceChange>

/** The list does not know every tier, speed, region and fee: what stands here goes on. */
function keepUnsaid(listed: Prices, before: Prices | undefined, notes: string[]): Prices {
  if (before === undefined) return listed
  const fits = ([name, change]: readonly [string, PriceChange]): boolean => {
    const isFitting =
      change.kind === 'multiplier' ||
      (change.longContext === undefined) === (listed.longContext === undefined)
    if (!isFitting) notes.push(`${name} loses its prices: they do not fit the long-context prices`)
    return isFitting
  }
  const added = (kept: Changes, said: Changes): Changes =>
    new Map([...[...kept].filter(([name]) => !said.has(name)).filter(fits), ...said])
  return {
    ...listed,
    requestFeePicos: listed.requestFeePicos > 0n ? listed.requestFeePicos : before.requestFeePicos,
    tiers: added(before.tiers, listed.tiers),
    speeds: added(before.speeds, listed.speeds),
    geos: added(before.geos, listed.geos),
  }
}

function compare(before: Prices | undefined, after: Prices): readonly FieldChange[] {
  const describe = (prices: Prices | undefined): ReadonlyMap<string, string> =>
    prices === undefined ? new Map() : describePrices([{ validFromMs: 0, prices }])
  const from = describe(before)
  const to = describe(after)
  return [...new Set([...from.keys(), ...to.keys()])]
    .filter((field) => from.get(field) !== to.get(field))
    .map((field) => ({ field, from: from.get(field), to: to.get(field) }))
}
