/**
 * Channels as operators handle them: listed from the store, switched off and on by hand, checked
 * with a real exchange. A hand's "off" is kept apart from health, so that no check undoes it.
 */
import { z } from 'zod'
import { newId } from '../base/id.ts'
import type { Channel, ChannelOverride, CheckKind, Vendor } from '../channels/channel.ts'
import type { ChannelChange } from '../channels/channel-change.ts'
import { appendChanges } from '../channels/channel-change-store.ts'
import { readCatalogue, setOverride, type ChannelRow } from '../channels/channel-store.ts'
import { countsOf, priceCheck } from '../channels/check-cost.ts'
import { askForCheck, isRunning, listNodes } from '../channels/node-store.ts'
import { appendCosts } from '../channels/operator-cost-store.ts'
import { loadSnapshot, type LoadedSnapshot } from '../channels/snapshot.ts'
import type { Usage } from '../metering/usage.ts'
import { readRevisions } from '../storage/changes.ts'
import { readStoreTime } from '../storage/store-time.ts'
import { recordAction } from './action-store.ts'
import { notFound, parseInput, type OperationContext } from './context.ts'

export interface ChannelView {
  readonly name: string
  readonly vendor: string
  readonly url: string
  /** `env:NAME` as it stands, or `sealed`; never what is sealed. */
  readonly credential: string
  /** Model id → the name the channel knows it by, null where it is the same. */
  readonly models: Readonly<Record<string, string | null>>
  readonly rank: number
  readonly weight: number
  readonly max_concurrent: number | null
  readonly check: CheckKind
  /** False = switched off by an operator. */
  readonly enabled: boolean
}

export async function listChannels(context: OperationContext): Promise<readonly ChannelView[]> {
  const { channels } = await context.database.snapshot(readCatalogue)
  return channels.filter((row) => row.retiredAtMs === undefined).map(viewChannel)
}

const channelInput = z.strictObject({
  channel: z.string('must name a channel').min(1, 'must name a channel'),
})

/** Off or on by hand; saying what already holds changes nothing and succeeds. */
export function switchChannel(
  context: OperationContext,
  override: ChannelOverride,
  input: unknown,
): Promise<ChannelView> {
  const { channel: name } = parseInput(channelInput, input)
  return context.database.transact(async (transaction) => {
    const { channels } = await readCatalogue(transaction)
    const row = channels.find((one) => one.name === name && one.retiredAtMs === undefined)
    if (row === undefined) throw noSuchChannel(name, channels)
    if (row.override === override) return viewChannel(row)
    await setOverride(transaction, { channel: name, override })
    await recordAction(transaction, context, {
      action: override === 'disabled' ? 'channel.off' : 'channel.on',
      subject: name,
    })
    await appendChanges(transaction, [overrideChange(context, row, override)])
    return viewChannel({ ...row, override })
  })
}

/** An operator's word is part of the channel's history, for all of its models. */
function overrideChange(
  { clock, actor }: OperationContext,
  row: ChannelRow,
  to: ChannelOverride,
): ChannelChange {
  const atMs = clock.now()
  const id = newId('evt', atMs)
  const place = { node: undefined, channel: row.name, model: undefined }
  return { id, atMs, ...place, from: row.override, to, why: 'operator', actor, detail: {} }
}

/** Makes one real check; how is the caller's business, because it takes a network. */
export type RunCheck = (check: {
  readonly vendor: Vendor
  readonly channel: Channel
  readonly model: string
  readonly by: 'request' | 'models'
}) => Promise<{
  readonly outcome: string
  readonly durationMs: number
  readonly status: number | undefined
  readonly usage?: Usage | undefined
}>

export interface ModelCheck {
  readonly model: string
  readonly ok: boolean
  /** `ok`, or the class of what went wrong: `hard`, `config`, `throttle`, `model_missing`, `client`. */
  readonly outcome: string
  /** HTTP status; null where no answer came. */
  readonly status: number | null
  readonly duration_ms: number
}

export interface ChannelCheck {
  readonly channel: string
  readonly ok: boolean
  /** Why nothing could be sent, such as a credential that cannot be read. */
  readonly reason: string | null
  readonly models: readonly ModelCheck[]
  /** How many running gateways have been asked to check it themselves, at once. */
  readonly gateways_asked: number
}

/**
 * Sends what the channel's `check` setting says: a tiny request per model, or one listing call. A
 * channel whose own checks are off is checked with requests, because the operator has asked for it.
 * Running gateways are asked to do the same, because health is what they see: for them an operator's
 * wish ends the hold of a channel that is off. What it costs is the operator's.
 */
export async function checkChannel(
  context: OperationContext,
  input: unknown,
  run: RunCheck,
): Promise<ChannelCheck> {
  const { channel: name } = parseInput(channelInput, input)
  const snapshot = await readSnapshot(context)
  const channel = snapshot.channels.get(name)
  if (channel === undefined) return failedCheck(await explainAbsence(context, snapshot, name), name)
  const vendor = snapshot.vendors.get(channel.vendor)
  if (vendor === undefined) return failedCheck(`its vendor ${channel.vendor} is retired`, name)
  const gatewaysAsked = channel.override === 'enabled' ? await askGateways(context, name) : 0
  const models: ModelCheck[] = []
  const by = channel.check === 'models' ? 'models' : 'request'
  for (const model of channel.models.keys()) {
    const { outcome, durationMs, status, usage } = await run({ vendor, channel, model, by })
    if (usage !== undefined) await bookCheck(context, { snapshot, channel: name, model, usage })
    models.push({
      model,
      ok: outcome === 'ok',
      outcome,
      status: status ?? null,
      duration_ms: Math.round(durationMs),
    })
    if (by === 'models') break
  }
  if (models.length === 0) return failedCheck('it serves no model that has a price', name)
  const ok = models.every((model) => model.ok)
  return { channel: name, ok, reason: null, models, gateways_asked: gatewaysAsked }
}

async function askGateways({ database, clock }: OperationContext, name: string): Promise<number> {
  const nowMs = await readStoreTime(database, clock)
  const nodes = await listNodes(database)
  const running = nodes.filter((node) => isRunning(node, nowMs))
  if (running.length === 0) return 0
  const asked = { id: newId('evt', nowMs), channel: name, askedAtMs: nowMs }
  await database.transact((transaction) => askForCheck(transaction, asked))
  return running.length
}

async function bookCheck(
  { database, clock }: OperationContext,
  made: {
    readonly snapshot: LoadedSnapshot
    readonly channel: string
    readonly model: string
    readonly usage: Usage
  },
): Promise<void> {
  const { snapshot, channel, model, usage } = made
  const atMs = clock.now()
  const amountPicos = priceCheck({ channel, model }, usage, { snapshot, nowMs: atMs })
  if (amountPicos === undefined) return
  const id = newId('evt', atMs)
  const place = { node: undefined, channel, model }
  const cost = { id, atMs, ...place, kind: 'check', usage: countsOf(usage), amountPicos } as const
  await database.transact((transaction) => appendCosts(transaction, [cost]))
}

/** The catalogue as a gateway would run on it, with what it could not serve. */
export async function readSnapshot(context: OperationContext): Promise<LoadedSnapshot> {
  const { catalogue } = await readRevisions(context.database)
  return loadSnapshot(context.database, { ...context, revision: catalogue })
}

function failedCheck(reason: string, channel: string): ChannelCheck {
  return { channel, ok: false, reason, models: [], gateways_asked: 0 }
}

async function explainAbsence(
  context: OperationContext,
  snapshot: LoadedSnapshot,
  name: string,
): Promise<string> {
  const out = snapshot.outOfService.find((one) => one.kind === 'channel' && one.name === name)
  if (out !== undefined) return out.reason
  const { channels } = await context.database.snapshot(readCatalogue)
  throw noSuchChannel(name, channels)
}

function noSuchChannel(name: string, rows: readonly ChannelRow[]): Error {
  const names = rows.filter((row) => row.retiredAtMs === undefined).map((row) => row.name)
  const list = names.length === 0 ? 'the catalogue has none yet' : `there are ${names.join(', ')}`
  return notFound(`There is no channel ${name}; ${list}.`)
}

function viewChannel(row: ChannelRow): ChannelView {
  return {
    name: row.name,
    vendor: row.vendor,
    url: row.url,
    credential: row.credential.startsWith('env:') ? row.credential : 'sealed',
    models: Object.fromEntries([...row.models].map(([model, name]) => [model, name ?? null])),
    rank: row.rank,
    weight: row.weight,
    max_concurrent: row.maxConcurrent ?? null,
    check: row.check,
    enabled: row.override === 'enabled',
  }
}
