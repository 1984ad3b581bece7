/**
 * Plans what a reviewed file changes in the stored catalogue: rows to write and differences to show.
 * Pure; `catalogue.ts` carries the plan out. Entries that the file does not name are retired; one that comes
 * back is added again. The invariant: a difference never holds a secret.
 */
import { z } from 'zod'
import { inTurns } from '../../base/turns.ts'
import { channelFields } from '../../channels/catalogue/channel-fields.ts'
import { describeEntry, withKept } from '../../channels/catalogue/field.ts'
import { modelFields } from '../../channels/catalogue/model-fields.ts'
import { vendorFields } from '../../channels/catalogue/vendor-fields.ts'
import type { Model } from '../../channels/channel.ts'
import { withoutDate } from '../../channels/model-names.ts'
import {
  isInUse,
  type CatalogueRows,
  type ChannelRow,
  type ModelRow,
  type PriceRow,
  type Retirable,
  type VendorRow,
} from '../../channels/channel-store.ts'
import type { FormerCredential } from '../../channels/former-credential-store.ts'
import { encodePrices } from '../../metering/price-form.ts'
import type { ModelPrices } from '../../metering/prices.ts'
import type { Answer } from '../answer-forms.ts'
import type { DemoAccess } from './demo.ts'
import { describeCredential, type SettledCredential } from './credentials.ts'
import { currentPrices, describePrices, planPrices, readVersions } from '../prices/versions.ts'
import { entriesPerTurn, type Catalogue } from './review.ts'

export const fieldChangeForm = z.strictObject({
  field: z.string(),
  from: z.string().optional().meta({ description: 'Absent = was not set.' }),
  to: z.string().optional().meta({ description: 'Absent = is not set.' }),
})

export const catalogueChangeForm = z.strictObject({
  action: z.enum(['add', 'change', 'retire']),
  /** Account and key: of the demo, which ends with its catalogue. */
  kind: z.enum(['vendor', 'model', 'channel', 'account', 'key']),
  name: z.string(),
  changes: z.array(fieldChangeForm),
})

/** The result of a change of the catalogue. */
export const appliedKind = z.enum(['applied', 'unchanged', 'would_apply'])

export type FieldChange = Answer<typeof fieldChangeForm>
export type CatalogueChange = Answer<typeof catalogueChangeForm>

export type UsableCredential = Exclude<SettledCredential, { kind: 'mistake' }>

/** A channel's row without its credential, which may be to seal. */
interface PlannedChannel {
  readonly row: Omit<ChannelRow, 'credential'>
  readonly credential: UsableCredential
  /** Set where another credential takes its place. */
  readonly former?: FormerCredential | undefined
}

export interface CataloguePlan {
  readonly diff: readonly CatalogueChange[]
  readonly vendors: readonly VendorRow[]
  readonly models: readonly ModelRow[]
  /** All models of the file as they become, with their current and future prices. */
  readonly allModels: readonly Model[]
  readonly pricesToSave: readonly PriceRow[]
  readonly pricesToWithdraw: readonly Pick<PriceRow, 'model' | 'validFromMs'>[]
  readonly channels: readonly PlannedChannel[]
}

export interface PlanInput {
  readonly stored: CatalogueRows
  readonly catalogue: Catalogue
  /** By channel name; one for each channel of the file. */
  readonly credentials: ReadonlyMap<string, UsableCredential>
  /** What ends together with the demo's catalogue. */
  readonly demo: DemoAccess
  readonly nowMs: number
}

/** Field → text, to compare and to show. */
type View = ReadonlyMap<string, string>

export async function planCatalogue(input: PlanInput): Promise<CataloguePlan> {
  const vendors = planVendors(input)
  const models = await planModels(input)
  const channels = await planChannels(input)
  return {
    diff: [...vendors.diff, ...models.diff, ...channels.diff, ...endDemo(input.demo)],
    vendors: vendors.rows,
    models: models.rows,
    allModels: models.all,
    pricesToSave: models.save,
    pricesToWithdraw: models.withdraw,
    channels: channels.rows,
  }
}

function endDemo({ accounts, keys }: DemoAccess): readonly CatalogueChange[] {
  return [
    ...accounts.map(({ name }) => retire('account', name)),
    ...keys.map(({ head }) => retire('key', head)),
  ]
}

/** Rows to write, with the differences that they make. */
interface Planned<Row> {
  readonly diff: CatalogueChange[]
  readonly rows: Row[]
}

function planVendors({ stored, catalogue, nowMs }: PlanInput): Planned<VendorRow> {
  const planned: Planned<VendorRow> = { diff: [], rows: [] }
  const before = new Map(stored.vendors.map((row) => [row.name, row]))
  for (const [name, entry] of catalogue.vendors) {
    const row = { name, ...entry, retiredAtMs: undefined }
    const view = (one: VendorRow): View => describeEntry(vendorFields, one)
    const change = compare({ kind: 'vendor', name }, liveView(before.get(name), view), view(row))
    add(planned, change, row)
  }
  for (const row of stored.vendors)
    if (isInUse(row) && !catalogue.vendors.has(row.name))
      add(planned, retire('vendor', row.name), { ...row, retiredAtMs: nowMs })
  return planned
}

interface PlannedModels extends Planned<ModelRow> {
  readonly all: Model[]
  readonly save: PriceRow[]
  readonly withdraw: Pick<PriceRow, 'model' | 'validFromMs'>[]
}

async function planModels({ stored, catalogue, nowMs }: PlanInput): Promise<PlannedModels> {
  const planned: PlannedModels = { diff: [], rows: [], all: [], save: [], withdraw: [] }
  const before = new Map(stored.models.map((row) => [row.id, row]))
  const priceRows = Map.groupBy(stored.prices, (row) => row.model)
  const withEditions = new Set([...catalogue.models.keys()].map(withoutDate))
  await inTurns(catalogue.models, entriesPerTurn, ([id, { prices: given, ...entry }]) => {
    const old = before.get(id)
    const cleared = catalogue.cleared.get(id) ?? []
    const kept = withKept(modelFields, entry, { stored: old, cleared })
    const versions = readVersions(priceRows.get(id) ?? [])
    const prices = planPrices(versions, given, nowMs)
    const row: ModelRow = {
      id,
      ...kept,
      // A model with an edition beside it is not dated; only a file that says so is refused.
      dated: withEditions.has(id) ? entry.dated : kept.dated,
      createdAtMs: old?.createdAtMs ?? nowMs,
      retiredAtMs: undefined,
    }
    planned.all.push({ ...row, prices: prices.after })
    const view = (one: ModelRow, its: ModelPrices): View =>
      new Map([...describeEntry(modelFields, one), ...describePrices(its)])
    const oldView = liveView(old, (one) => view(one, currentPrices(versions, nowMs)))
    const change = compare({ kind: 'model', name: id }, oldView, view(row, prices.after))
    if (!add(planned, change, row)) return
    for (const { validFromMs, prices: value } of prices.save)
      planned.save.push({ model: id, validFromMs, prices: encodePrices(value) })
    for (const validFromMs of prices.withdraw) planned.withdraw.push({ model: id, validFromMs })
  })
  for (const row of stored.models)
    if (isInUse(row) && !catalogue.models.has(row.id))
      add(planned, retire('model', row.id), { ...row, retiredAtMs: nowMs })
  return planned
}

async function planChannels({
  stored,
  catalogue,
  credentials,
  nowMs,
}: PlanInput): Promise<Planned<PlannedChannel>> {
  const planned: Planned<PlannedChannel> = { diff: [], rows: [] }
  const before = new Map(stored.channels.map((row) => [row.name, row]))
  await inTurns(catalogue.channels, entriesPerTurn, ([name, entry]) => {
    const credential = credentials.get(name)
    if (credential === undefined) return
    const old = before.get(name)
    const isKept = credential.kind === 'as_is' && credential.text === old?.credential
    const row = {
      name,
      ...entry,
      override: old?.override ?? 'enabled',
      credentialSetAtMs: isKept ? old.credentialSetAtMs : nowMs,
      retiredAtMs: undefined,
    }
    const former = old === undefined || isKept ? undefined : formerOf(old, nowMs)
    const view = (one: ChannelRow, shown: string): View =>
      describeEntry(channelFields, { ...one, credential: shown })
    const oldView = liveView(old, (one) => view(one, describeCredential(one.credential)))
    const newView = view(row, describeSettled(credential, old))
    add(planned, compare({ kind: 'channel', name }, oldView, newView), { row, credential, former })
  })
  for (const row of stored.channels) {
    if (!isInUse(row) || catalogue.channels.has(row.name)) continue
    const credential = { kind: 'as_is', text: row.credential } as const
    add(planned, retire('channel', row.name), { row: { ...row, retiredAtMs: nowMs }, credential })
  }
  return planned
}

/** Undefined for a retired channel: nothing of it is in force. */
function formerOf(old: ChannelRow, nowMs: number): FormerCredential | undefined {
  const { name: channel, credential, url } = old
  return isInUse(old) ? { channel, credential, url, replacedAtMs: nowMs } : undefined
}

/** Adds a row where it makes a difference. Returns whether it does. */
function add<Row>(planned: Planned<Row>, change: CatalogueChange | undefined, row: Row): boolean {
  if (change === undefined) return false
  planned.diff.push(change)
  planned.rows.push(row)
  return true
}

function retire(kind: CatalogueChange['kind'], name: string): CatalogueChange {
  return { action: 'retire', kind, name, changes: [] }
}

/** Shows that a secret is new without showing it. */
function describeSettled(credential: UsableCredential, old: ChannelRow | undefined): string {
  if (credential.kind === 'to_seal') return old === undefined ? 'sealed' : 'sealed (new)'
  const shown = describeCredential(credential.text)
  const isOther = old !== undefined && shown === 'sealed' && credential.text !== old.credential
  return isOther ? 'sealed (new)' : shown
}

/** Returns the view of a row in use. A retired row counts as absent. */
function liveView<Stored extends Retirable>(
  row: Stored | undefined,
  describe: (row: Stored) => View,
): View | undefined {
  return row === undefined || !isInUse(row) ? undefined : describe(row)
}

function compare(
  subject: Pick<CatalogueChange, 'kind' | 'name'>,
  before: View | undefined,
  after: View,
): CatalogueChange | undefined {
  const changes = changesBetween(before ?? new Map(), after)
  if (before === undefined) return { action: 'add', ...subject, changes }
  return changes.length === 0 ? undefined : { action: 'change', ...subject, changes }
}

/** Returns the fields whose texts differ. */
export function changesBetween(before: View, after: View): readonly FieldChange[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((field) => ({ field, from: before.get(field), to: after.get(field) }))
    .filter(({ from, to }) => from !== to)
}
