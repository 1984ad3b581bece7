/**
 * Channels as operators handle them: list, enable, disable, check with a real request. The invariant:
 * an operator's "disabled" is stored apart from health, so that no check enables the channel again.
 */
import { z } from 'zod'
import { newId } from '../base/id.ts'
import type { Channel, ChannelOverride, Vendor } from '../channels/channel.ts'
import { type ChannelChange, appendChanges } from '../channels/cluster/channel-history.ts'
import { readCatalogue, setOverride, type ChannelRow } from '../channels/channel-store.ts'
import { countsOf, priceCheck } from '../channels/probes/check-cost.ts'
import { requestCheck } from '../channels/cluster/channel-states.ts'
import { appendCosts } from '../channels/cluster/operator-cost-store.ts'
import { loadSnapshot, type LoadedSnapshot } from '../channels/snapshot.ts'
import type { Usage } from '../metering/usage.ts'
import { readRevisions } from '../storage/changes.ts'
import { isRunning, listNodes, readStoreTime } from '../storage/node-store.ts'
import { recordAction } from './actions.ts'
import { notFound, operation, type OperationContext } from './operation.ts'

export async function listChannels(context: OperationContext): Promise<readonly ChannelView[]> {
  const { channels } = await context.database.snapshot(readCatalogue)
  return channels.filter(isInUse).map(viewChannel)
}

export const channelName = z.string('must name a channel').min(1, 'must name a channel')

/** Disables or enables a channel. Where it has that state already, nothing changes. */
export const switchChannel = operation(
  z.strictObject({ channel: channelName, override: z.enum(['enabled', 'disabled']) }),
  (context, { channel: name, override }): Promise<ChannelView> =>
    context.database.transact(async (transaction) => {
      const channels = (await readCatalogue(transaction)).channels.filter(isInUse)
      const row = channels.find((one) => one.name === name)
      if (row === undefined) throw noSuchChannel(name, channels)
      if (row.override === override) return viewChannel(row)
      await setOverride(transaction, { channel: name, override })
      await recordAction(transaction, context, {
        action: override === 'disabled' ? 'channel.off' : 'channel.on',
        subject: name,
      })
      await appendChanges(transaction, [overrideChange(context, row, override)])
      return viewChannel({ ...row, override })
    }),
)

/** An operator's decision is part of the channel's history, for all of its models. */
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

/** Sends one real check. The caller provides it, because operations have no network. */
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

interface ModelCheck {
  readonly model: string
  readonly ok: boolean
  /** `ok`, or the class of the failure: `hard`, `config`, `throttle`, `model_missing`, `client`. */
  readonly outcome: string
  /** HTTP status; null without an answer. */
  readonly status: number | null
  readonly duration_ms: number
}

export interface ChannelCheck {
  readonly channel: string
  readonly ok: boolean
  /** Why no check could be sent, such as an unreadable credential. */
  readonly reason: string | null
  readonly models: readonly ModelCheck[]
  /** How many running gateways were asked to check the channel too. */
  readonly gateways_asked: number
}

/**
 * Checks a channel as its `check` setting says: a tiny request per model, or one listing call. With
 * `check: none` it sends requests, because the operator has asked for a check. It also asks running
 * gateways to check, because each keeps its own health: their channel then leaves `off` at once.
 * The operator pays for checks.
 */
export const checkChannel = operation(
  z.strictObject({ channel: channelName }),
  (context, { channel }, run: RunCheck) => runChecks(context, channel, run),
)

async function runChecks(
  context: OperationContext,
  name: string,
  run: RunCheck,
): Promise<ChannelCheck> {
  const snapshot = await readSnapshot(context)
  const channel = snapshot.channels.get(name)
  if (channel === undefined) return failedCheck(await explainAbsence(context, snapshot, name), name)
  const vendor = snapshot.vendors.get(channel.vendor)
  if (vendor === undefined)
    return failedCheck(`the vendor ${channel.vendor} of this channel is retired`, name)
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
  if (models.length === 0) return failedCheck('no model of this channel has a price', name)
  const ok = models.every((model) => model.ok)
  return { channel: name, ok, reason: null, models, gateways_asked: gatewaysAsked }
}

async function askGateways({ database, clock }: OperationContext, name: string): Promise<number> {
  const nowMs = await readStoreTime(database, clock)
  const nodes = await listNodes(database)
  const running = nodes.filter((node) => isRunning(node, nowMs))
  if (running.length === 0) return 0
  const asked = { id: newId('evt', nowMs), channel: name, askedAtMs: nowMs }
  await database.transact((transaction) => requestCheck(transaction, asked))
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

/** Reads the catalogue as a gateway would run it, with what it could not serve. */
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
  throw noSuchChannel(name, channels.filter(isInUse))
}

export function noSuchChannel(name: string, known: readonly { readonly name: string }[]): Error {
  const names = known.map((channel) => channel.name).join(', ')
  return notFound(
    names === ''
      ? `There is no channel ${name}: the catalogue has no channels.`
      : `There is no channel ${name}. Channels: ${names}.`,
  )
}

function isInUse(row: ChannelRow): boolean {
  return row.retiredAtMs === undefined
}

export type ChannelView = Readonly<ReturnType<typeof viewChannel>>

function viewChannel(row: ChannelRow) {
  return {
    name: row.name,
    vendor: row.vendor,
    url: row.url,
    /** `env:NAME`, or `sealed`; never the secret. */
    credential: row.credential.startsWith('env:') ? row.credential : 'sealed',
    /** Model id → the vendor's name for it on this channel; null where it is the same. */
    models: Object.fromEntries([...row.models].map(([model, name]) => [model, name ?? null])),
    rank: row.rank,
    weight: row.weight,
    max_concurrent: row.maxConcurrent ?? null,
    check: row.check,
    /** False = disabled by an operator. */
    enabled: row.override === 'enabled',
  }
}
