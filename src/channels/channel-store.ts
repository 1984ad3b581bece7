/**
 * SQL of the catalogue's tables: vendor, model, price, channel. Rows in, rows out: it judges
 * nothing, opens no sealed credential and builds no snapshot. Nothing is ever deleted, but for
 * prices that were not in force yet.
 */
import type { Queryable, Row, SqlValue, Transaction } from '../storage/database.ts'
import { operatorFeatures, type FormatName, type OperatorFeature } from '../formats/format.ts'
import type { ChannelOverride, CheckKind, CredentialScheme, PinnedBaseline } from './channel.ts'

export interface VendorRow {
  readonly name: string
  readonly format: FormatName
  readonly credential: CredentialScheme
  readonly versionHeader: string | undefined
  readonly defaultVersion: string | undefined
  readonly requireMaxTokens: boolean
  readonly allowedFeatures: ReadonlySet<OperatorFeature>
  readonly retiredAtMs: number | undefined
}

export interface ModelRow {
  readonly id: string
  readonly vendor: string
  readonly maxOutputTokens: number | undefined
  readonly firstEventTimeoutMs: number | undefined
  readonly createdAtMs: number
  readonly retiredAtMs: number | undefined
}

export interface PriceRow {
  readonly model: string
  readonly validFromMs: number
  /** As `encodePrices` of metering/price-book.ts writes it. */
  readonly prices: string
}

export interface ChannelRow {
  readonly name: string
  readonly vendor: string
  readonly url: string
  /** `env:NAME` or `sealed:…`, never a plain secret. */
  readonly credential: string
  readonly models: ReadonlyMap<string, string | undefined>
  readonly rank: number
  readonly weight: number
  readonly maxConcurrent: number | undefined
  readonly check: CheckKind
  readonly override: ChannelOverride
  readonly baselines: ReadonlyMap<string, PinnedBaseline>
  readonly retiredAtMs: number | undefined
}

export interface CatalogueRows {
  readonly vendors: readonly VendorRow[]
  readonly models: readonly ModelRow[]
  /** By model, then by time. */
  readonly prices: readonly PriceRow[]
  readonly channels: readonly ChannelRow[]
}

/** Everything, retired rows included. Read in one transaction when the parts must fit together. */
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

/** Inserts or overwrites. */
export async function saveVendor(transaction: Transaction, vendor: VendorRow): Promise<void> {
  await transaction.query(
    `INSERT INTO vendor (name, format, credential, version_header, default_version,
       require_max_tokens, allowed_features, retired_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (name) DO UPDATE SET format = excluded.format, credential = excluded.credential,
       version_header = excluded.version_header, default_version = excluded.default_version,
       require_max_tokens = excluded.require_max_tokens,
       allowed_features = excluded.allowed_features, retired_at_ms = excluded.retired_at_ms`,
    [
      vendor.name,
      vendor.format,
      vendor.credential,
      vendor.versionHeader ?? null,
      vendor.defaultVersion ?? null,
      vendor.requireMaxTokens ? 1 : 0,
      [...vendor.allowedFeatures].sort().join(','),
      vendor.retiredAtMs ?? null,
    ],
  )
}

/** Inserts or overwrites; the time of creation stays that of the first insert. */
export async function saveModel(transaction: Transaction, model: ModelRow): Promise<void> {
  await transaction.query(
    `INSERT INTO model (id, vendor, max_output_tokens, first_event_timeout_ms, created_at_ms,
       retired_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (id) DO UPDATE SET vendor = excluded.vendor,
       max_output_tokens = excluded.max_output_tokens,
       first_event_timeout_ms = excluded.first_event_timeout_ms,
       retired_at_ms = excluded.retired_at_ms`,
    [
      model.id,
      model.vendor,
      model.maxOutputTokens ?? null,
      model.firstEventTimeoutMs ?? null,
      model.createdAtMs,
      model.retiredAtMs ?? null,
    ],
  )
}

/** Inserts a version, or overwrites one; only a version that is not in force yet may be overwritten. */
export async function savePrice(transaction: Transaction, price: PriceRow): Promise<void> {
  await transaction.query(
    `INSERT INTO price (model, valid_from_ms, prices) VALUES ($1, $2, $3)
     ON CONFLICT (model, valid_from_ms) DO UPDATE SET prices = excluded.prices`,
    [price.model, price.validFromMs, price.prices],
  )
}

/** Takes back a version that is not in force yet. */
export async function withdrawPrice(
  transaction: Transaction,
  price: Pick<PriceRow, 'model' | 'validFromMs'>,
): Promise<void> {
  const key: SqlValue[] = [price.model, price.validFromMs]
  // Running gateways follow inserts and updates; a deletion alone would pass them unseen.
  await transaction.query(
    'UPDATE price SET prices = prices WHERE model = $1 AND valid_from_ms = $2',
    key,
  )
  await transaction.query('DELETE FROM price WHERE model = $1 AND valid_from_ms = $2', key)
}

/** Inserts or overwrites, but for the operator's override, which only `setOverride` changes. */
export async function saveChannel(transaction: Transaction, channel: ChannelRow): Promise<void> {
  await transaction.query(
    `INSERT INTO channel (name, vendor, url, credential, models, rank, weight, max_concurrent,
       check_kind, override, baselines, retired_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     ON CONFLICT (name) DO UPDATE SET vendor = excluded.vendor, url = excluded.url,
       credential = excluded.credential, models = excluded.models, rank = excluded.rank,
       weight = excluded.weight, max_concurrent = excluded.max_concurrent,
       check_kind = excluded.check_kind, baselines = excluded.baselines,
       retired_at_ms = excluded.retired_at_ms`,
    [
      channel.name,
      channel.vendor,
      channel.url,
      channel.credential,
      encodeModels(channel.models),
      channel.rank,
      channel.weight,
      channel.maxConcurrent ?? null,
      channel.check,
      channel.override,
      JSON.stringify(Object.fromEntries(channel.baselines)),
      channel.retiredAtMs ?? null,
    ],
  )
}

/** The operator's hand on a channel. False when there is no such channel in the catalogue. */
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

function encodeModels(models: ReadonlyMap<string, string | undefined>): string {
  return JSON.stringify(
    Object.fromEntries([...models].map(([model, name]) => [model, name ?? null])),
  )
}

function readFeatures(text: string): ReadonlySet<OperatorFeature> {
  const names = text.split(',')
  return new Set(operatorFeatures.filter((feature) => names.includes(feature)))
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
    retiredAtMs: numberOrNone(row['retired_at_ms']),
  }
}

function readModel(row: Row): ModelRow {
  return {
    id: String(row['id']),
    vendor: String(row['vendor']),
    maxOutputTokens: numberOrNone(row['max_output_tokens']),
    firstEventTimeoutMs: numberOrNone(row['first_event_timeout_ms']),
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
    retiredAtMs: numberOrNone(row['retired_at_ms']),
  }
}

function textOrNone(value: SqlValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function numberOrNone(value: SqlValue | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}
