/**
 * SQL of the catalogue's tables: vendor, model, price, channel. Rows in, rows out: it validates nothing,
 * opens no sealed credential and builds no snapshot. It deletes nothing but prices that are not in force
 * yet.
 */
import {
  eachRow,
  type Queryable,
  type Row,
  type SqlValue,
  type Transaction,
} from '../storage/database.ts'
import { column, rowForm, type Read } from '../storage/row-form.ts'
import { upsertRows } from '../storage/rows.ts'
import { channelFields } from './catalogue/channel-fields.ts'
import { columnsOf, readColumns, type Values } from './catalogue/field.ts'
import { modelFields } from './catalogue/model-fields.ts'
import { vendorFields } from './catalogue/vendor-fields.ts'
import type { ChannelOverride, Model, Vendor } from './channel.ts'

export interface Retirable {
  readonly retiredAtMs: number | undefined
}

export interface VendorRow extends Vendor, Retirable {}

export interface ModelRow extends Omit<Model, 'prices'>, Retirable {}

/** Its credential is `env:NAME`, `file:/path` or `sealed:…`, never a plain secret. */
export interface ChannelRow extends Values<typeof channelFields>, Retirable {
  readonly name: string
  readonly override: ChannelOverride
  /** When its present credential came. */
  readonly credentialSetAtMs: number
}

export function isInUse({ retiredAtMs }: Retirable): boolean {
  return retiredAtMs === undefined
}

const priceForm = rowForm({
  model: column.text,
  validFromMs: column.number,
  /** As `encodePrices` of metering/price-form.ts writes it. */
  prices: column.text,
})
export type PriceRow = Read<typeof priceForm>

export interface CatalogueRows {
  readonly vendors: readonly VendorRow[]
  readonly models: readonly ModelRow[]
  /** By model, then by time. */
  readonly prices: readonly PriceRow[]
  readonly channels: readonly ChannelRow[]
}

/** Reads all rows, retired ones included. Use one transaction where the parts must fit together. */
export async function readCatalogue(queryable: Queryable): Promise<CatalogueRows> {
  return {
    vendors: await readTable(queryable, vendorTable, readVendor),
    models: await readTable(queryable, modelTable, readModel),
    prices: await readTable(queryable, priceTable, priceForm.read),
    channels: await readTable(queryable, channelTable, readChannel),
  }
}

/** A model or a channel by its name. */
export interface CatalogueName {
  readonly name: string
  readonly vendor: string
}

/** Reads the names of the models and channels in use, without the entries. */
export async function readCatalogueNames(
  queryable: Queryable,
): Promise<Readonly<Record<'models' | 'channels', readonly CatalogueName[]>>> {
  const read = async (sql: string): Promise<readonly CatalogueName[]> =>
    (await queryable.query(sql)).map(({ name, vendor }) => ({
      name: String(name),
      vendor: String(vendor),
    }))
  return {
    models: await read(
      'SELECT id AS name, vendor FROM model WHERE retired_at_ms IS NULL ORDER BY id',
    ),
    channels: await read(
      'SELECT name, vendor FROM channel WHERE retired_at_ms IS NULL ORDER BY name',
    ),
  }
}

/** Lists the models that the catalogue gives at least one channel, loaded by a gateway or not. */
export async function listOfferedModels(queryable: Queryable): Promise<readonly string[]> {
  const models = await readTable(queryable, modelTable, readModel)
  const channels = await readTable(queryable, channelTable, readChannel)
  const ids = new Set(channels.filter(isInUse).flatMap((channel) => [...channel.models.keys()]))
  return models.filter((model) => isInUse(model) && ids.has(model.id)).map(({ id }) => id)
}

interface Table {
  readonly table: string
  readonly key: readonly string[]
  /** How many rows the event loop reads in a turn. */
  readonly pageSize?: number
}

const vendorTable: Table = { table: 'vendor', key: ['name'] }
const modelTable: Table = { table: 'model', key: ['id'] }
const priceTable: Table = { table: 'price', key: ['model', 'valid_from_ms'] }
/** A channel may have very many models. */
const channelTable: Table = { table: 'channel', key: ['name'], pageSize: 10 }

/** Reads a table in the order of its key. */
async function readTable<Entry>(
  queryable: Queryable,
  { table, key, pageSize = 200 }: Table,
  read: (row: Row) => Entry,
): Promise<readonly Entry[]> {
  const order = key.join(', ')
  const after = `WHERE (${order}) > (${key.map((_, index) => `$${index + 1}`).join(', ')})`
  const rows = eachRow(pageSize, (last) =>
    queryable.query(
      `SELECT * FROM ${table} ${last === undefined ? '' : after} ORDER BY ${order} LIMIT ${pageSize}`,
      last && key.map((column) => last[column] ?? null),
    ),
  )
  const entries: Entry[] = []
  for await (const row of rows) entries.push(read(row))
  return entries
}

/** Inserts or overwrites. */
export async function saveVendor(transaction: Transaction, vendor: VendorRow): Promise<void> {
  const row = { name: vendor.name, ...columnsOf(vendorFields, vendor), ...retirement(vendor) }
  await upsertRows(transaction, vendorTable, [row])
}

/** Inserts or overwrites; the time of creation stays that of the first insert. */
export async function saveModel(transaction: Transaction, model: ModelRow): Promise<void> {
  const own = { id: model.id, created_at_ms: model.createdAtMs }
  const row = { ...own, ...columnsOf(modelFields, model), ...retirement(model) }
  await upsertRows(transaction, { ...modelTable, kept: ['created_at_ms'] }, [row])
}

/** Inserts or overwrites a version; only one that is not in force yet may be overwritten. */
export async function savePrice(transaction: Transaction, price: PriceRow): Promise<void> {
  await upsertRows(transaction, priceTable, [priceForm.write(price)])
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
  const own = {
    name: channel.name,
    override: channel.override,
    credential_set_at_ms: channel.credentialSetAtMs,
  }
  const row = { ...own, ...columnsOf(channelFields, channel), ...retirement(channel) }
  await upsertRows(transaction, { ...channelTable, kept: ['override'] }, [row])
}

function retirement({ retiredAtMs }: Retirable) {
  return { retired_at_ms: retiredAtMs ?? null }
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

function readVendor(row: Row): VendorRow {
  return {
    name: String(row['name']),
    ...readColumns(vendorFields, row),
    retiredAtMs: readRetirement(row),
  }
}

function readModel(row: Row): ModelRow {
  return {
    id: String(row['id']),
    ...readColumns(modelFields, row),
    createdAtMs: Number(row['created_at_ms']),
    retiredAtMs: readRetirement(row),
  }
}

function readChannel(row: Row): ChannelRow {
  return {
    name: String(row['name']),
    ...readColumns(channelFields, row),
    override: row['override'] === 'disabled' ? 'disabled' : 'enabled',
    credentialSetAtMs: Number(row['credential_set_at_ms']),
    retiredAtMs: readRetirement(row),
  }
}

function readRetirement({ retired_at_ms: retiredAtMs }: Row): number | undefined {
  return retiredAtMs === null || retiredAtMs === undefined ? undefined : Number(retiredAtMs)
}
