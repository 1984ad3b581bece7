/**
 * Builds the relay's snapshot from the stored catalogue: opens sealed credentials, reads those in the
 * environment and in files, and leaves out what cannot be served, with the reason. One unusable channel
 * never keeps the others from being served.
 */
import { Secret } from '../base/secret.ts'
import { inTurns } from '../base/turns.ts'
import type { Database } from '../storage/database.ts'
import { isSealed, unseal } from '../storage/master-key.ts'
import { decodePrices } from '../metering/price-form.ts'
import { type ModelPrices } from '../metering/prices.ts'
import { proxyFault } from './catalogue/channel-address.ts'
import { inChat } from './places.ts'
import { readCredentialFile, stampOf } from './credential-file.ts'
import type { Channel, Model, Snapshot, Vendor } from './channel.ts'
import { groupByOtherName } from './model-names.ts'
import {
  type CatalogueRows,
  type ChannelRow,
  type PriceRow,
  readCatalogue,
} from './channel-store.ts'

export interface SnapshotSources {
  /** Called only where there is a credential to open. May throw where there is no usable key. */
  readonly masterKey: () => Secret
  readonly environment: (name: string) => string | undefined
  /** The catalogue's revision at or before the moment of reading. */
  readonly revision: number
  /** How many processes share the concurrency limit of a channel; 1 by default. */
  readonly processCount?: number | undefined
}

/** A model or channel that is not served, and what the operator can do about it. */
interface OutOfService {
  readonly kind: 'model' | 'channel'
  readonly name: string
  readonly vendor: string
  readonly reason: string
  /** The channel's models; of a model itself. */
  readonly models: readonly string[]
}

export interface LoadedSnapshot extends Snapshot {
  readonly outOfService: readonly OutOfService[]
  /** Stamps of the credential files by path, from before they were read. */
  readonly credentialFiles: ReadonlyMap<string, string>
}

/** Returns why a channel or its vendor is not served. */
export function explainAbsence({ outOfService }: LoadedSnapshot, channel: string): string {
  const out = outOfService.find((one) => one.kind === 'channel' && one.name === channel)
  return out?.reason ?? 'the channel or its vendor is retired'
}

export const credentialField = 'credential'

/** Keeps the snapshot that the relay reads at the start of each exchange. */
export interface SnapshotHolder {
  readonly current: LoadedSnapshot
  /** Replaces the snapshot unless it is newer than `next`: two loads may end in the other order. */
  swap(next: LoadedSnapshot): void
}

export function createSnapshotHolder(initial: LoadedSnapshot): SnapshotHolder {
  let current = initial
  return {
    get current() {
      return current
    },
    swap(next) {
      if (next.revision >= current.revision) current = next
    },
  }
}

/** Reads the catalogue in one transaction, so that no half-applied change is seen. */
export async function loadSnapshot(
  database: Database,
  sources: SnapshotSources,
): Promise<LoadedSnapshot> {
  return buildSnapshot(await database.snapshot(readCatalogue), sources)
}

/** Rows of a turn. A price has many parts, and a channel may have very many models. */
const modelsPerTurn = 100
const channelsPerTurn = 10

export async function buildSnapshot(
  rows: CatalogueRows,
  sources: SnapshotSources,
): Promise<LoadedSnapshot> {
  const outOfService: OutOfService[] = []
  const vendors = new Map<string, Vendor>()
  for (const { retiredAtMs, ...vendor } of rows.vendors)
    if (retiredAtMs === undefined) vendors.set(vendor.name, vendor)

  const pricesByModel = Map.groupBy(rows.prices, ({ model }) => model)
  const models = new Map<string, Model>()
  await inTurns(rows.models, modelsPerTurn, ({ retiredAtMs, ...row }) => {
    if (retiredAtMs !== undefined) return
    const model = buildModel(row, pricesByModel.get(row.id))
    if (typeof model !== 'string') models.set(row.id, model)
    else {
      const { id: name, vendor } = row
      outOfService.push({ kind: 'model', name, vendor, reason: model, models: [name] })
    }
  })

  const channels = new Map<string, Channel>()
  const channelsByModel = new Map<string, Channel[]>()
  const credentialFiles = new Map<string, string>()
  await inTurns(rows.channels, channelsPerTurn, ({ retiredAtMs, ...row }) => {
    if (retiredAtMs !== undefined) return
    for (const reference of referencesOf(row)) {
      const path = credentialPath(reference)
      if (path !== undefined) credentialFiles.set(path, stampOf(path))
    }
    const channel = buildChannel(row, models, sources)
    if (typeof channel === 'string') {
      const { name, vendor } = row
      const served = [...row.models.keys()]
      outOfService.push({ kind: 'channel', name, vendor, reason: channel, models: served })
      return
    }
    channels.set(row.name, channel)
    for (const model of channel.models.keys()) {
      const list = channelsByModel.get(model)
      if (list === undefined) channelsByModel.set(model, [channel])
      else list.push(channel)
    }
  })
  return {
    revision: sources.revision,
    vendors,
    models,
    modelsByOtherName: groupByOtherName(models.values()),
    channels,
    channelsByModel,
    outOfService,
    credentialFiles,
  }
}

/** Returns the model, or the reason why it cannot be served. */
function buildModel(
  row: Omit<Model, 'prices'>,
  priceRows: readonly PriceRow[] | undefined,
): Model | string {
  if (priceRows === undefined) return 'it has no price; give it one in the catalogue'
  let prices: ModelPrices
  try {
    prices = priceRows.map((price) => ({
      validFromMs: price.validFromMs,
      prices: decodePrices(price.prices),
    }))
  } catch {
    // Only a newer version or a manual edit can have written it; the model must not run on it.
    return 'its stored prices cannot be read by this version of the program; apply the catalogue again'
  }
  return { ...row, prices }
}

/** Returns the channel, or the reason why it cannot be used. */
function buildChannel(
  row: Omit<ChannelRow, 'retiredAtMs'>,
  models: ReadonlyMap<string, Model>,
  sources: SnapshotSources,
): Channel | string {
  const credential = resolveCredential(row, sources)
  if (typeof credential === 'string') return credential
  const secrets = [credential]
  const headers = new Map<string, Secret>()
  for (const [name, text] of row.headers) {
    const value = resolveReference(text, `header ${name}`, sources) ?? new Secret(text)
    if (typeof value === 'string') return value
    headers.set(name, value)
    if (isReference(text)) secrets.push(value)
  }
  const { maxConcurrent, proxy: proxyText, ...rest } = row
  const proxy = proxyText === undefined ? undefined : resolveProxy(proxyText, sources)
  if (typeof proxy === 'string') return proxy
  return {
    ...rest,
    credential,
    headers,
    secrets,
    ...(proxy !== undefined && { proxy }),
    models: placesOf(row, models),
    maxConcurrent: maxConcurrent && Math.ceil(maxConcurrent / (sources.processCount ?? 1)),
  }
}

/** Returns the names of its models at the vendor by their places. */
function placesOf(
  row: Pick<ChannelRow, 'models' | 'chatPath'>,
  models: ReadonlyMap<string, Model>,
): Channel['models'] {
  const served = [...row.models].filter(([model]) => models.has(model))
  if (row.chatPath === undefined) return new Map(served)
  return new Map([...served, ...served.map(([model, name]) => [inChat(model), name] as const)])
}

const environmentPrefix = 'env:'
const filePrefix = 'file:'

/** Whether a credential is a reference, which may be shown, and not a secret. */
export function isReference(credential: string): boolean {
  return credential.startsWith(environmentPrefix) || credential.startsWith(filePrefix)
}

/** Returns the texts of a channel that may refer to a variable or a file. */
export function referencesOf({
  credential,
  headers,
  proxy,
}: Pick<ChannelRow, 'credential' | 'headers' | 'proxy'>): readonly string[] {
  return [credential, ...headers.values(), ...(proxy === undefined ? [] : [proxy])]
}

/** Returns the variable that a credential names. */
export function credentialVariable(credential: string): string | undefined {
  return credential.startsWith(environmentPrefix)
    ? credential.slice(environmentPrefix.length)
    : undefined
}

/** Returns the path of the file that a credential names. */
export function credentialPath(credential: string): string | undefined {
  return credential.startsWith(filePrefix) ? credential.slice(filePrefix.length) : undefined
}

function resolveCredential(
  row: Pick<ChannelRow, 'name' | 'credential'>,
  sources: SnapshotSources,
): Secret | string {
  const { credential } = row
  const referred = resolveReference(credential, 'credential', sources)
  if (referred !== undefined) return referred
  if (!isSealed(credential)) return 'its stored credential is not sealed; apply the catalogue again'
  const place = { owner: row.name, field: credentialField }
  const opened = openWithKey(credential, place, sources)
  return opened.kind === 'unsealed'
    ? opened.secret
    : `its credential cannot be opened: ${opened.reason}`
}

function resolveProxy(text: string, sources: SnapshotSources): Secret | string {
  const address = resolveReference(text, 'proxy', sources) ?? new Secret(text)
  if (typeof address === 'string') return address
  const fault = proxyFault(address.reveal())
  return fault === undefined ? address : `its proxy, which ${text} holds, ${fault}`
}

/** Returns the secret or why it cannot be read; undefined for a text that is no reference. */
function resolveReference(
  reference: string,
  purpose: string,
  { environment }: Pick<SnapshotSources, 'environment'>,
): Secret | string | undefined {
  const variable = credentialVariable(reference)
  if (variable !== undefined) {
    const value = environment(variable)?.trim() ?? ''
    const place = `the environment variable ${variable}`
    return value === '' ? `${place} with its ${purpose} is not set` : checkedSecret(value, place)
  }
  const path = credentialPath(reference)
  if (path === undefined) return undefined
  const { text, fault } = readCredentialFile(path)
  const place = `the file ${path}`
  if (text === undefined) return `${place} with its ${purpose} ${fault}`
  return text === '' ? `${place} with its ${purpose} is empty` : checkedSecret(text, place)
}

/** A line break in a header value would start another header. */
function checkedSecret(value: string, place: string): Secret | string {
  return /^[\x21-\x7e]+$/.test(value)
    ? new Secret(value)
    : `${place} holds characters that a credential cannot have`
}

function openWithKey(
  text: string,
  place: { readonly owner: string; readonly field: string },
  sources: SnapshotSources,
): ReturnType<typeof unseal> {
  try {
    return unseal(sources.masterKey(), place, text)
  } catch (error) {
    return {
      kind: 'unreadable',
      reason: error instanceof Error ? error.message : 'no master key',
    }
  }
}
