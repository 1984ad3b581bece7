/**
 * SQL of the catalogue's tables: vendor, model, price, channel. Rows in, rows out: it validates nothing,
 * opens no sealed credential and builds no snapshot. It deletes nothing but prices that are not in force
 * yet.
 */
import type { Queryable, Row, SqlValue, Transaction } from '../storage/database.ts'
import {
  modelOperations,
  vendorFeatures,
  type FormatName,
  type ModelOperation,
  type VendorFeature,
} from '../formats/format.ts'
import type {
  ChannelOverride,
  CheckKind,
  CredentialScheme,
  PinnedBaseline,
  StoredResponses,
} from './channel.ts'

export interface VendorRow {
  readonly name: string
  readonly format: FormatName
  readonly credential: CredentialScheme
  readonly versionHeader: string | undefined
  readonly defaultVersion: string | undefined
  readonly requireMaxTokens: boolean
  readonly allowedFeatures: ReadonlySet<VendorFeature>
  readonly storedResponses: StoredResponses
  readonly retiredAtMs: number | undefined
}

export interface ModelRow {
  readonly id: string
  readonly vendor: string
  readonly maxOutputTokens: number | undefined
  readonly maxInputTokens: number | undefined
  readonly firstEventTimeoutMs: number | undefined
  readonly pingTimeoutMs: number | undefined
  /** Undefined: all that its prices allow. */
  readonly operations: ReadonlySet<ModelOperation> | undefined
  readonly createdAtMs: number
  readonly retiredAtMs: number | undefined
}

export interface PriceRow {
  readonly model: string
  readonly validFromMs: number
  /** As `encodePrices` of metering/price-form.ts writes it. */
  readonly prices: string
}

export interface ChannelRow {
  readonly name: string
  readonly vendor: string
  readonly url: string
  /** `env:NAME`, `file:/path` or `sealed:…`, never a plain secret. */
  readonly credential: string
  readonly models: ReadonlyMap<string, string | undefined>
  readonly rank: number
  readonly weight: number
  readonly maxConcurrent: number | undefined
  readonly check: CheckKind
  readonly override: ChannelOverride
  readonly baselines: ReadonlyMap<string, PinnedBaseline>
  /** What the operator pays, as `encodeCost` of metering/cost-form.ts writes it; undefined = not known. */
  readonly cost: string | undefined
  readonly retiredAtMs: number | undefined
}

export interface CatalogueRows {
  readonly vendors: readonly VendorRow[]
  readonly models: readonly ModelRow[]
  /** By model, then by time. */
  readonly prices: readonly PriceRow[]
  readonly channels: readonly ChannelRow[]
}

/** Reads all rows, retired ones included. Use one transaction where the parts must fit together. */
export async function readCatalogue(queryable: Queryable): Promise<CatalogueRows> {
  const vendors = await queryable.query('SELECT * FROM vendor ORDER BY name')
  const models = await queryable.query('SELECT * FROM model ORDER BY id')
  const prices = await queryable.query('SELECT * FROM price ORDER BY model, valid_from_ms')
  const channels = await queryable.query('SELECT * FROM channel ORDER BY name')
  return {
    vendors: vendors.map(readVendor),
    models: models.map(readModel),
    prices: prices.map(readPrice),
    channels: channels.map(readChannel),
  }
}

/** Lists the models that the catalogue gives at least one channel, loaded by a gateway or not. */
export async function listOfferedModels(queryable: Queryable): Promise<readonly string[]> {
  const { models, channels } = await readCatalogue(queryable)
  const offered = channels.filter(({ retiredAtMs }) => retiredAtMs === undefined)
  const ids = new Set(offered.flatMap((channel) => [...channel.models.keys()]))
  return models
    .filter(({ id, retiredAtMs }) => retiredAtMs === undefined && ids.has(id))
    .map(({ id }) => id)
}

/** Inserts a row, or overwrites the one with the same key but for the columns in `kept`. */
async function upsert(
  transaction: Transaction,
  table: 'vendor' | 'model' | 'price' | 'channel',
  row: Readonly<Record<string, SqlValue>>,
  { key, kept = [] }: { readonly key: readonly string[]; readonly kept?: readonly string[] },
): Promise<void> {
  const columns = Object.keys(row)
  const changed = columns.filter((column) => !key.includes(column) && !kept.includes(column))
  await transaction.query(
    `INSERT INTO ${table} (${columns.join(', ')})
     VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})
     ON CONFLICT (${key.join(', ')})
     DO UPDATE SET ${changed.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    Object.values(row),
  )
}

/** Inserts or overwrites. */
export async function saveVendor(transaction: Transaction, vendor: VendorRow): Promise<void> {
  const row = {
    name: vendor.name,
    format: vendor.format,
    credential: vendor.credential,
    version_header: vendor.versionHeader ?? null,
    default_version: vendor.defaultVersion ?? null,
    require_max_tokens: vendor.requireMaxTokens ? 1 : 0,
    allowed_features: [...vendor.allowedFeatures].sort().join(','),
    stored_responses: vendor.storedResponses,
    retired_at_ms: vendor.retiredAtMs ?? null,
  }
  await upsert(transaction, 'vendor', row, { key: ['name'] })
}

/** Inserts or overwrites; the time of creation stays that of the first insert. */
export async function saveModel(transaction: Transaction, model: ModelRow): Promise<void> {
  const row = {
    id: model.id,
    vendor: model.vendor,
    max_output_tokens: model.maxOutputTokens ?? null,
    max_input_tokens: model.maxInputTokens ?? null,
    first_event_timeout_ms: model.firstEventTimeoutMs ?? null,
    ping_timeout_ms: model.pingTimeoutMs ?? null,
    operations: model.operations === undefined ? null : [...model.operations].sort().join(','),
    created_at_ms: model.createdAtMs,
    retired_at_ms: model.retiredAtMs ?? null,
  }
  await upsert(transaction, 'model', row, { key: ['id'], kept: ['created_at_ms'] })
}

/** Inserts or overwrites a version; only one that is not in force yet may be overwritten. */
export async function savePrice(transaction: Transaction, price: PriceRow): Promise<void> {
  const row = { model: price.model, valid_from_ms: price.validFromMs, prices: price.prices }
  await upsert(transaction, 'price', row, { key: ['model', 'valid_from_ms'] })
}

/** Deletes a version that is not in force yet. */
export async function withdrawPrice(
  transaction: Transaction,
  price: Pick<PriceRow, 'model' | 'validFromMs'>,
): Promise<void> {
  const key: SqlValue[] = [price.model, price.validFromMs]
  // Running gateways follow inserts and updates; they would not see a deletion alone.
  await transaction.query(
    'UPDATE price SET prices = prices WHERE model = $1 AND valid_from_ms = $2',
    key,
  )
  await transaction.query('DELETE FROM price WHERE model = $1 AND valid_from_ms = $2', key)
}

/** Inserts or overwrites all but the operator's override, which only `setOverride` changes. */
export async function saveChannel(transaction: Transaction, channel: ChannelRow): Promise<void> {
  const models = [...channel.models].map(([model, name]) => [model, name ?? null])
  const row = {
    name: channel.name,
    vendor: channel.vendor,
    url: channel.url,
    credential: channel.credential,
    models: JSON.stringify(Object.fromEntries(models)),
    rank: channel.rank,
    weight: channel.weight,
    max_concurrent: channel.maxConcurrent ?? null,
    check_kind: channel.check,
    override: channel.override,
    baselines: JSON.stringify(Object.fromEntries(channel.baselines)),
    cost: channel.cost ?? null,
    retired_at_ms: channel.retiredAtMs ?? null,
  }
  await upsert(transaction, 'channel', row, { key: ['name'], kept: ['override'] })
}

/** Enables or disables a channel. Returns false where the catalogue has no such channel. */
export async function setOverride(
  transaction: Transaction,
  change: { readonly channel: string; readonly override: ChannelOverride },
): Promise<boolean> {
  const rows = await transaction.query(
    'UPDATE channel SET override = $1 WHERE name = $2 AND retired_at_ms IS NULL RETURNING name',
    [change.override, change.channel],
  )
  return rows.length > 0
}

function readFeatures(text: string): ReadonlySet<VendorFeature> {
  const names = text.split(',')
  return new Set(vendorFeatures.filter((feature) => names.includes(feature)))
}

function readOperations(text: string | undefined): ReadonlySet<ModelOperation> | undefined {
  if (text === undefined) return undefined
  const names = text.split(',')
  return new Set(modelOperations.filter((operation) => names.includes(operation)))
}

function readVendor(row: Row): VendorRow {
  return {
    name: String(row['name']),
    format: String(row['format']) as FormatName,
    credential: String(row['credential']) as CredentialScheme,
    versionHeader: textOrNone(row['version_header']),
    defaultVersion: textOrNone(row['default_version']),
    requireMaxTokens: Number(row['require_max_tokens']) !== 0,
    allowedFeatures: readFeatures(String(row['allowed_features'])),
    storedResponses: String(row['stored_responses']) as VendorRow['storedResponses'],
    retiredAtMs: numberOrNone(row['retired_at_ms']),
  }
}

function readModel(row: Row): ModelRow {
  return {
    id: String(row['id']),
    vendor: String(row['vendor']),
    maxOutputTokens: numberOrNone(row['max_output_tokens']),
    maxInputTokens: numberOrNone(row['max_input_tokens']),
    firstEventTimeoutMs: numberOrNone(row['first_event_timeout_ms']),
    pingTimeoutMs: numberOrNone(row['ping_timeout_ms']),
    operations: readOperations(textOrNone(row['operations'])),
    createdAtMs: Number(row['created_at_ms']),
    retiredAtMs: numberOrNone(row['retired_at_ms']),
  }
}

function readPrice(row: Row): PriceRow {
  return {
    model: String(row['model']),
    validFromMs: Number(row['valid_from_ms']),
    prices: String(row['prices']),
  }
}

function readChannel(row: Row): ChannelRow {
  const models = JSON.parse(String(row['models'])) as Record<string, string | null>
  const baselines = JSON.parse(String(row['baselines'])) as Record<string, PinnedBaseline>
  return {
    name: String(row['name']),
    vendor: String(row['vendor']),
    url: String(row['url']),
    credential: String(row['credential']),
    models: new Map(Object.entries(models).map(([model, name]) => [model, name ?? undefined])),
    rank: Number(row['rank']),
    weight: Number(row['weight']),
    maxConcurrent: numberOrNone(row['max_concurrent']),
    check: String(row['check_kind']) as CheckKind,
    override: String(row['override']) as ChannelOverride,
    baselines: new Map(Object.entries(baselines)),
    cost: textOrNone(row['cost']),
    retiredAtMs: numberOrNone(row['retired_at_ms']),
  }
}

function textOrNone(value: SqlValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function numberOrNone(value: SqlValue | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}
