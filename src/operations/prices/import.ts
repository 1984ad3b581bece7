/**
 * Imports prices from the community's list for models of the catalogue, and fills in its other facts about
 * them. Every price is checked before one is written. The invariant: a version that is or was in force
 * never changes, and prices that the list does not have (other tiers, speeds, regions) stay.
 */
import { z } from 'zod'
import { invariant } from '../../base/errors.ts'
import { describeEntry } from '../../channels/catalogue/field.ts'
import { modelFields } from '../../channels/catalogue/model-fields.ts'
import {
  isInUse,
  readCatalogue,
  saveModel,
  savePrice,
  type CatalogueRows,
  type ModelRow,
} from '../../channels/channel-store.ts'
import { withoutDate } from '../../channels/model-names.ts'
import { encodePrices, parsePrices } from '../../metering/price-form.ts'
import { pricesAt, type PriceChange, type Prices } from '../../metering/prices.ts'
import type { UsageFormat } from '../../metering/rates.ts'
import type { Transaction } from '../../storage/database.ts'
import { recordAction } from '../actions.ts'
import { moment, type Answer } from '../answer-forms.ts'
import {
  appliedKind,
  changesBetween,
  fieldChangeForm,
  type CatalogueChange,
  type FieldChange,
} from '../catalogue/plan.ts'
import {
  currentRevision,
  refuseOverwriting,
  revisionField,
  revisionForm,
} from '../catalogue/revision.ts'
import { describePrices, freeMoment, readVersions } from './versions.ts'
import { fromTime } from '../input.ts'
import {
  invalid,
  invalidField,
  invalidFile,
  operation,
  timeOrNull,
  timeText,
  type OperationContext,
} from '../operation.ts'
import { pricesOf, readPriceList, type ListedModel, type PriceList } from './community-list.ts'
import { factsOf } from './listed-facts.ts'

const importInput = z.strictObject({
  text: z.string().describe('The list (JSON).'),
  names: z
    .record(z.string(), z.string())
    .default({})
    .describe('Models and their names in the list, where they differ.'),
  models: z
    .array(z.string())
    .min(1, 'must name at least one model')
    .optional()
    .describe('Import only these models; all of the catalogue without it.'),
  valid_from: fromTime
    .optional()
    .describe('Day or time (UTC) from which the prices hold; now without it.'),
  dry_run: z.boolean().default(false).describe('Show the changes and make none.'),
  revision: revisionField,
})

const importedModelForm = z.strictObject({
  model: z.string(),
  listed_as: z.string(),
  vendor_in_list: z.string().nullable(),
  /** Null = from the beginning, for a model without a price. */
  valid_from: moment.nullable(),
  /** Empty where the prices are in force already. */
  changes: z.array(fieldChangeForm),
  /** Costs in the list that no class can carry: the gateway does not charge for them. */
  unpriced: z.array(z.strictObject({ field: z.string(), value: z.string() })),
  notes: z.array(z.string()),
})

const importForm = z.strictObject({
  kind: appliedKind,
  models: z.array(importedModelForm),
  /** Models of the catalogue that are not in the list; they keep their prices. */
  not_listed: z.array(z.string()),
  revision: revisionForm,
})

export type ImportedModel = Answer<typeof importedModelForm>
export type ImportResult = Answer<typeof importForm>

type ImportInput = z.output<typeof importInput>

interface PlannedImport {
  readonly view: ImportedModel
  /** As it becomes; undefined where it stays. */
  readonly model: ModelRow | undefined
  /** Undefined where the prices are in force already. */
  readonly price: { readonly validFromMs: number; readonly prices: Prices } | undefined
}

/** Refuses prices that cannot be taken: `details.mistakes` names each, and nothing is written. */
export const importPrices = operation(
  { input: importInput, answer: importForm },
  async (context, given) => {
    const nowMs = context.clock.now()
    const { valid_from: validFromMs } = given
    if (validFromMs !== undefined && validFromMs < nowMs)
      throw invalidField('valid_from', 'must not be in the past')
    const list = readPriceList(given.text)
    if (typeof list === 'string') throw invalid(`The file is not a price list: ${list}.`)
    return context.database.transact(async (transaction) => {
      const catalogue = await readCatalogue(transaction)
      const { planned, notListed } = planImport(list, catalogue, given, nowMs)
      const changed = planned.filter(({ view }) => view.changes.length > 0)
      const diff = changed.map(({ view }) => changeOf(view))
      await refuseOverwriting(context, transaction, {
        revision: given.revision,
        diff,
        isFile: false,
      })
      const isWritten = changed.length > 0 && !given.dry_run
      if (isWritten) await savePrices(context, transaction, changed)
      return {
        kind: isWritten ? 'applied' : changed.length > 0 ? 'would_apply' : 'unchanged',
        models: planned.map(({ view }) => view),
        not_listed: notListed,
        revision: await currentRevision(transaction),
      }
    })
  },
)

function changeOf({ model: name, changes }: ImportedModel): CatalogueChange {
  return { action: 'change', kind: 'model', name, changes }
}

function planImport(
  list: PriceList,
  catalogue: CatalogueRows,
  given: ImportInput,
  nowMs: number,
): { readonly planned: readonly PlannedImport[]; readonly notListed: readonly string[] } {
  const mistakes: string[] = []
  const planned: PlannedImport[] = []
  const notListed: string[] = []
  for (const model of chooseModels(catalogue, given)) {
    const listed = findListed(list, model, { catalogue, names: given.names })
    if (listed === undefined) notListed.push(model.id)
    else {
      const validFromMs = given.valid_from
      const plan = planModel({ model, listed, list, catalogue, validFromMs, nowMs })
      if ('mistakes' in plan) mistakes.push(...plan.mistakes)
      else planned.push(plan)
    }
  }
  if (mistakes.length > 0)
    throw invalidFile(
      `Nothing was imported, because some prices cannot be taken:\n${mistakes.join('\n')}`,
      mistakes,
    )
  return { planned, notListed }
}

async function savePrices(
  context: OperationContext,
  transaction: Transaction,
  changed: readonly PlannedImport[],
): Promise<void> {
  for (const { view, model, price } of changed) {
    if (model !== undefined) await saveModel(transaction, model)
    if (price === undefined) continue
    const { validFromMs } = price
    const prices = encodePrices(price.prices)
    await savePrice(transaction, { model: view.model, validFromMs, prices })
  }
  await recordAction(transaction, context, {
    action: 'price.import',
    subject: changed.map(({ view }) => view.model).join(','),
    detail: { models: changed.map(({ view }) => view) },
  })
}

function chooseModels({ models }: CatalogueRows, given: ImportInput): readonly ModelRow[] {
  const inUse = models.filter(isInUse)
  const known = new Set(inUse.map(({ id }) => id))
  for (const id of [...(given.models ?? []), ...Object.keys(given.names)])
    if (!known.has(id)) throw invalid(`There is no model ${id} in the catalogue.`)
  return inUse.filter(({ id }) => given.models === undefined || given.models.includes(id))
}

/** Finds a model by its given name, else by its id, else by the one name that all its channels use. */
function findListed(
  list: PriceList,
  model: ModelRow,
  {
    catalogue,
    names,
  }: { readonly catalogue: CatalogueRows; readonly names: Readonly<Record<string, string>> },
): ListedModel | undefined {
  const given = names[model.id]
  if (given !== undefined) {
    const listed = list.get(given)
    if (listed === undefined) throw invalid(`There is no model ${given} in the list.`)
    return listed
  }
  const own = list.get(model.id)
  if (own !== undefined) return own
  const vendorNames = new Set(
    catalogue.channels
      .filter((channel) => isInUse(channel) && channel.models.has(model.id))
      .map((channel) => channel.models.get(model.id) ?? model.id),
  )
  const [only] = vendorNames
  return vendorNames.size === 1 && only !== undefined ? list.get(only) : undefined
}

interface ModelImport {
  readonly model: ModelRow
  readonly listed: ListedModel
  readonly list: PriceList
  readonly catalogue: CatalogueRows
  readonly validFromMs: number | undefined
  readonly nowMs: number
}

function planModel(request: ModelImport): PlannedImport | { readonly mistakes: readonly string[] } {
  const { model, listed, catalogue, nowMs } = request
  const vendor = catalogue.vendors.find(({ name }) => name === model.vendor)
  invariant(vendor !== undefined, 'the vendor of a model is in the catalogue')
  const read = pricesOf(listed, vendor.format)
  if (read.kind === 'mistakes') {
    const title = listed.name === model.id ? model.id : `${model.id} (${listed.name})`
    return { mistakes: read.list.map((mistake) => `${title}: ${mistake}`) }
  }
  const versions = readVersions(catalogue.prices.filter((row) => row.model === model.id))
  const validFromMs =
    request.validFromMs ?? (versions.length === 0 ? 0 : freeMoment(versions, nowMs))
  const before = pricesAt(versions, validFromMs)
  const notes: string[] = []
  const prices = keepUnlisted(parsePrices(read.form), before, notes)
  const priceChanges = compare(before, prices)
  const fields = planFields(request, vendor.format)
  notes.push(...fields.notes)
  if (prices.classes.output === undefined)
    notes.push('output has no price; the model then serves embeddings only')
  for (const usageClass of Object.keys(before?.classes ?? {}))
    if (usageClass !== 'output' && !(usageClass in prices.classes))
      notes.push(`${usageClass} has no price in the list; it gets the default price`)
  for (const version of versions)
    if (version.validFromMs > validFromMs)
      notes.push(`the prices from ${timeText(version.validFromMs)} stay as they are`)
  const view: ImportedModel = {
    model: model.id,
    listed_as: listed.name,
    vendor_in_list: listed.vendor ?? null,
    valid_from: timeOrNull(validFromMs === 0 ? undefined : validFromMs),
    changes: [...fields.changes, ...priceChanges],
    unpriced: read.unpriced,
    notes,
  }
  const price = priceChanges.length === 0 ? undefined : { validFromMs, prices }
  return { view, model: fields.model, price }
}

interface PlannedFields {
  readonly changes: readonly FieldChange[]
  /** Undefined where it stays. */
  readonly model: ModelRow | undefined
  readonly notes: readonly string[]
}

/** The list replaces how much a model reads, as it replaces prices; the rest it only fills in. */
function planFields(
  { model, listed, list, catalogue }: ModelImport,
  format: UsageFormat,
): PlannedFields {
  const facts = factsOf(listed, list, format)
  const { maxInputTokens = model.maxInputTokens, maxOutputTokens } = facts
  const filled: ModelRow = {
    ...model,
    maxInputTokens,
    maxOutputTokens: model.maxOutputTokens ?? maxOutputTokens,
    thinks: model.thinks ?? facts.thinks,
    dated: model.dated ?? (mayBeDated(model, listed, catalogue) ? facts.dated : undefined),
  }
  const changes = changesBetween(
    describeEntry(modelFields, model),
    describeEntry(modelFields, filled),
  )
  const notes =
    maxOutputTokens === undefined || filled.maxOutputTokens === maxOutputTokens
      ? []
      : [`max_output_tokens stays as it is; the list has ${maxOutputTokens}`]
  return { changes, model: changes.length === 0 ? undefined : filled, notes }
}

/** Whether a date behind its id can mean an edition of the listed model, and no other model. */
function mayBeDated({ id }: ModelRow, { name }: ListedModel, { models }: CatalogueRows): boolean {
  if (name !== id && !name.endsWith(`/${id}`)) return false
  return !models.some((other) => isInUse(other) && withoutDate(other.id) === id)
}

type Changes = ReadonlyMap<string, PriceChange>

/** Keeps stored tiers, speeds, regions and fees that the list does not have. */
function keepUnlisted(listed: Prices, before: Prices | undefined, notes: string[]): Prices {
  if (before === undefined) return listed
  const fits = ([name, change]: readonly [string, PriceChange]): boolean => {
    if (change.kind === 'multiplier') return true
    const fitsLength = (change.longContext === undefined) === (listed.longContext === undefined)
    const fitsOutput =
      (change.classes.output === undefined) === (listed.classes.output === undefined)
    if (!fitsLength)
      notes.push(`${name} loses its prices, because they do not fit the long-context prices`)
    else if (!fitsOutput)
      notes.push(`${name} loses its prices, because they do not fit the price of output`)
    return fitsLength && fitsOutput
  }
  const merge = (stored: Changes, given: Changes): Changes =>
    new Map([...[...stored].filter(([name]) => !given.has(name)).filter(fits), ...given])
  return {
    ...listed,
    requestFeePicos: listed.requestFeePicos > 0n ? listed.requestFeePicos : before.requestFeePicos,
    tiers: merge(before.tiers, listed.tiers),
    speeds: merge(before.speeds, listed.speeds),
    geos: merge(before.geos, listed.geos),
  }
}

function compare(before: Prices | undefined, after: Prices): readonly FieldChange[] {
  const describe = (prices: Prices | undefined): ReadonlyMap<string, string> =>
    prices === undefined ? new Map() : describePrices([{ validFromMs: 0, prices }])
  return changesBetween(describe(before), describe(after))
}
