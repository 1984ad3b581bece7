/**
 * Plans what a reviewed file changes in the stored catalogue: rows to write and differences to show.
 * Pure; `catalogue.ts` carries the plan out. What the file does not name is retired; an entry that comes
 * back is added again. The invariant: a difference never holds a secret.
 */
import type {
  CatalogueRows,
  ChannelRow,
  ModelRow,
  PriceRow,
  VendorRow,
} from '../../channels/channel-store.ts'
import { formatDuration } from '../../base/clock.ts'
import { encodeCost } from '../../metering/cost-form.ts'
import { encodePrices } from '../../metering/price-form.ts'
import type { DemoAccess } from './demo.ts'
import { describeCredential, type SettledCredential } from './credentials.ts'
import {
  currentPrices,
  describeForm,
  describePrices,
  planPrices,
  readVersions,
} from '../prices/versions.ts'
import type { Catalogue } from './review.ts'

export interface FieldChange {
  readonly field: string
  /** Undefined: not set. */
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export interface CatalogueChange {
  readonly action: 'add' | 'change' | 'retire'
  /** Account and key: of the demo, which ends with its catalogue. */
  readonly kind: 'vendor' | 'model' | 'channel' | 'account' | 'key'
  readonly name: string
  readonly changes: readonly FieldChange[]
}

export type UsableCredential = Exclude<SettledCredential, { kind: 'mistake' }>

/** A channel's row; a new credential is not sealed yet. */
interface PlannedChannel {
  readonly row: Omit<ChannelRow, 'credential'>
  readonly credential: UsableCredential
}

export interface CataloguePlan {
  readonly diff: readonly CatalogueChange[]
  readonly vendors: readonly VendorRow[]
  readonly models: readonly ModelRow[]
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

export function planCatalogue(input: PlanInput): CataloguePlan {
  const vendors = planVendors(input)
  const models = planModels(input)
  const channels = planChannels(input)
  return {
    diff: [...vendors.diff, ...models.diff, ...channels.diff, ...endDemo(input.demo)],
    vendors: vendors.rows,
    models: models.rows,
    pricesToSave: models.save,
    pricesToWithdraw: models.withdraw,
    channels: channels.rows,
  }
}

function endDemo({ accounts, keys }: DemoAccess): readonly CatalogueChange[] {
  const retire = (kind: 'account' | 'key', name: string): CatalogueChange => {
    return { action: 'retire', kind, name, changes: [] }
  }
  return [
    ...accounts.map(({ name }) => retire('account', name)),
    ...keys.map(({ head }) => retire('key', head)),
  ]
}

function planVendors({ stored, catalogue, nowMs }: PlanInput) {
  const diff: CatalogueChange[] = []
  const rows: VendorRow[] = []
  const before = new Map(stored.vendors.map((row) => [row.name, row]))
  for (const [name, entry] of catalogue.vendors) {
    const row: VendorRow = { name, ...entry, retiredAtMs: undefined }
    const old = before.get(name)
    const change = compare({ kind: 'vendor', name }, liveView(old, viewVendor), viewVendor(row))
    if (change === undefined) continue
    diff.push(change)
    rows.push(row)
  }
  for (const row of stored.vendors) {
    if (row.retiredAtMs !== undefined || catalogue.vendors.has(row.name)) continue
    diff.push({ action: 'retire', kind: 'vendor', name: row.name, changes: [] })
    rows.push({ ...row, retiredAtMs: nowMs })
  }
  return { diff, rows }
}

function planModels({ stored, catalogue, nowMs }: PlanInput) {
  const diff: CatalogueChange[] = []
  const rows: ModelRow[] = []
  const save: PriceRow[] = []
  const withdraw: Pick<PriceRow, 'model' | 'validFromMs'>[] = []
  const before = new Map(stored.models.map((row) => [row.id, row]))
  const priceRows = Map.groupBy(stored.prices, (row) => row.model)
  for (const [id, entry] of catalogue.models) {
    const old = before.get(id)
    const versions = readVersions(priceRows.get(id) ?? [])
    const prices = planPrices(versions, entry.prices, nowMs)
    const row: ModelRow = {
      id,
      vendor: entry.vendor,
      maxOutputTokens: entry.maxOutputTokens,
      maxInputTokens: entry.maxInputTokens ?? old?.maxInputTokens,
      firstEventTimeoutMs: entry.firstEventTimeoutMs,
      pingTimeoutMs: entry.pingTimeoutMs,
      operations: entry.operations,
      createdAtMs: old?.createdAtMs ?? nowMs,
      retiredAtMs: undefined,
    }
    const oldView = liveView(old, (one) =>
      viewModel(one, describePrices(currentPrices(versions, nowMs))),
    )
    const newView = viewModel(row, describePrices(prices.after))
    const change = compare({ kind: 'model', name: id }, oldView, newView)
    if (change === undefined) continue
    diff.push(change)
    rows.push(row)
    for (const { validFromMs, prices: value } of prices.save)
      save.push({ model: id, validFromMs, prices: encodePrices(value) })
    for (const validFromMs of prices.withdraw) withdraw.push({ model: id, validFromMs })
  }
  for (const row of stored.models) {
    if (row.retiredAtMs !== undefined || catalogue.models.has(row.id)) continue
    diff.push({ action: 'retire', kind: 'model', name: row.id, changes: [] })
    rows.push({ ...row, retiredAtMs: nowMs })
  }
  return { diff, rows, save, withdraw }
}

function planChannels({ stored, catalogue, credentials, nowMs }: PlanInput) {
  const diff: CatalogueChange[] = []
  const rows: PlannedChannel[] = []
  const before = new Map(stored.channels.map((row) => [row.name, row]))
  for (const [name, entry] of catalogue.channels) {
    const credential = credentials.get(name)
    if (credential === undefined) continue
    const old = before.get(name)
    const row = {
      name,
      vendor: entry.vendor,
      url: entry.url,
      models: entry.models,
      rank: entry.rank,
      weight: entry.weight,
      maxConcurrent: entry.maxConcurrent,
      check: entry.check,
      override: old?.override ?? 'enabled',
      baselines: entry.baselines,
      cost: entry.cost === undefined ? undefined : encodeCost(entry.cost),
      retiredAtMs: undefined,
    } as const
    const oldView = liveView(old, (one) => viewChannel(one, describeCredential(one.credential)))
    const newView = viewChannel(row, describeSettled(credential, old))
    const change = compare({ kind: 'channel', name }, oldView, newView)
    if (change === undefined) continue
    diff.push(change)
    rows.push({ row, credential })
  }
  for (const { credential, ...row } of stored.channels) {
    if (row.retiredAtMs !== undefined || catalogue.channels.has(row.name)) continue
    diff.push({ action: 'retire', kind: 'channel', name: row.name, changes: [] })
    rows.push({
      row: { ...row, retiredAtMs: nowMs },
      credential: { kind: 'as_is', text: credential },
    })
  }
  return { diff, rows }
}

/** Shows that a secret is new without showing it. */
function describeSettled(credential: UsableCredential, old: ChannelRow | undefined): string {
  if (credential.kind === 'to_seal') return old === undefined ? 'sealed' : 'sealed (new)'
  const shown = describeCredential(credential.text)
  const isOther = old !== undefined && shown === 'sealed' && credential.text !== old.credential
  return isOther ? 'sealed (new)' : shown
}

function viewVendor(row: VendorRow): View {
  return view({
    format: row.format,
    credential: row.credential,
    version_header: row.versionHeader,
    default_version: row.defaultVersion,
    require_max_tokens: row.requireMaxTokens,
    allow: [...row.allowedFeatures].sort().join(', '),
    stored_responses: row.storedResponses,
  })
}

function durationText(durationMs: number | undefined): string | undefined {
  return durationMs === undefined ? undefined : formatDuration(durationMs)
}

function viewModel(row: ModelRow, prices: View): View {
  const own = view({
    vendor: row.vendor,
    max_output_tokens: row.maxOutputTokens,
    max_input_tokens: row.maxInputTokens,
    first_event_timeout: durationText(row.firstEventTimeoutMs),
    ping_timeout: durationText(row.pingTimeoutMs),
    operations: row.operations && [...row.operations].sort().join(', '),
  })
  return new Map([...own, ...prices])
}

function viewChannel(row: Omit<ChannelRow, 'credential'>, credential: string): View {
  const models = [...row.models].map(([model, name]) =>
    name === undefined ? model : `${model} as ${name}`,
  )
  const baselines = [...row.baselines].map(
    ([model, { p50Ms, p95Ms }]) =>
      `${model} p50 ${formatDuration(p50Ms)}, p95 ${formatDuration(p95Ms)}`,
  )
  const own = view({
    vendor: row.vendor,
    url: row.url,
    credential,
    models: models.sort().join(', '),
    rank: row.rank,
    weight: row.weight,
    max_concurrent: row.maxConcurrent,
    check: row.check,
    baselines: baselines.length === 0 ? undefined : baselines.sort().join('; '),
  })
  return new Map([...own, ...describeForm('cost', JSON.parse(row.cost ?? '{}'))])
}

function view(fields: Readonly<Record<string, string | number | boolean | undefined>>): View {
  const shown = new Map<string, string>()
  for (const [field, value] of Object.entries(fields))
    if (value !== undefined) shown.set(field, String(value))
  return shown
}

/** Returns the view of a row in use. A retired row counts as absent. */
function liveView<Stored extends { readonly retiredAtMs: number | undefined }>(
  row: Stored | undefined,
  describe: (row: Stored) => View,
): View | undefined {
  return row === undefined || row.retiredAtMs !== undefined ? undefined : describe(row)
}

function compare(
  subject: Pick<CatalogueChange, 'kind' | 'name'>,
  before: View | undefined,
  after: View,
): CatalogueChange | undefined {
  const changes: FieldChange[] = []
  for (const field of new Set([...(before?.keys() ?? []), ...after.keys()])) {
    const from = before?.get(field)
    const to = after.get(field)
    if (from !== to) changes.push({ field, from, to })
  }
  if (before === undefined) return { action: 'add', ...subject, changes }
  return changes.length === 0 ? undefined : { action: 'change', ...subject, changes }
}
