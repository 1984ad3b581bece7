/**
 * How channels are doing, as operators see it: what running gateways publish, or, where none runs,
 * what was last known and how old that is; the history; what checks have cost. Reads only the store,
 * so it answers with or without a gateway.
 */
import { z } from 'zod'
import { utcMonth } from '../base/clock.ts'
import { formatUsd } from '../base/money.ts'
import type { ChannelChange } from '../channels/channel-change.ts'
import { findLastOff, listChanges } from '../channels/channel-change-store.ts'
import { listStates } from '../channels/channel-state-store.ts'
import type { FailureLine, HealthLine } from '../channels/health-line.ts'
import {
  checkTask,
  findLeaseHolder,
  isRunning,
  listNodes,
  type GatewayNode,
} from '../channels/node-store.ts'
import { sumCosts } from '../channels/operator-cost-store.ts'
import type { PublishedState } from '../channels/published-state.ts'
import type { Queryable } from '../storage/database.ts'
import { readStoreTime } from '../storage/store-time.ts'
import { listChannels, type ChannelView } from './channels.ts'
import { notFound, parseInput, type OperationContext } from './context.ts'
import { listCount } from './input.ts'
import { timeOrNull, timeText } from './views.ts'

export interface NodeView {
  readonly id: string
  readonly name: string
  readonly region: string
  readonly started_at: string
  /** The last sign of life. */
  readonly seen_at: string
  /** How long ago that was. */
  readonly age_ms: number
  readonly is_running: boolean
  /** Whether it is the one that makes the regular checks. */
  readonly makes_checks: boolean
}

interface TimesView {
  readonly p50: number
  readonly p95: number
}

export interface FailureView {
  /** `hard`, `broken`, `throttle`, `config`, `model_missing`, `suspect`. */
  readonly class: string
  readonly count: number
  readonly last_at: string
}

export interface ChannelHealthView {
  readonly model: string
  /** `on`, `off`, `trial`, `ramp`, `slow`; `disabled` by an operator. */
  readonly state: string
  /** Null where an operator's word for it is not known. */
  readonly since: string | null
  readonly why: string
  readonly is_usable: boolean
  /** The part of its own traffic that it takes now: 0 to 1. */
  readonly share: number
  readonly running: number
  readonly wakes_at: string | null
  readonly rests_until: string | null
  readonly last_ok_at: string | null
  /** Of late and usually: time to the first event of a small streamed request. */
  readonly first_event_ms: TimesView | null
  readonly usual_first_event_ms: TimesView | null
  /** Since the gateway started. */
  readonly failures: readonly FailureView[]
  /** Who says so, and when it said so as something new. */
  readonly node: string
  readonly published_at: string
  /** How long ago its gateway last stood by it. */
  readonly age_ms: number
  /** Whether that gateway runs; otherwise this is what was last known. */
  readonly is_live: boolean
}

export interface ChannelListing extends ChannelView {
  /** One for each model and each running gateway; those last known where none runs. */
  readonly health: readonly ChannelHealthView[]
}

export interface ChannelReport {
  /** The store's time, to which every age refers. */
  readonly at: string
  /** Whether any gateway runs on the store; where none does, health is what was last known. */
  readonly is_live: boolean
  /** The gateways whose word `health` is. */
  readonly nodes: readonly NodeView[]
  readonly channels: readonly ChannelListing[]
}

/** All channels of the catalogue with their health. */
export async function reportChannels(context: OperationContext): Promise<ChannelReport> {
  const channels = await listChannels(context)
  const nowMs = await readStoreTime(context.database, context.clock)
  const published = await context.database.snapshot((queryable) => readPublished(queryable, nowMs))
  const byChannel = Map.groupBy(published.states, ({ line }) => line.channel)
  const ages = new Map(published.nodes.map((node) => [node.id, node.age_ms]))
  const { isLive } = published
  const offSince = await readOffSince(context.database, published.states)
  return {
    at: timeText(nowMs),
    is_live: isLive,
    nodes: published.nodes,
    channels: channels.map((channel) => ({
      ...channel,
      health: (byChannel.get(channel.name) ?? [])
        .filter(({ line }) => Object.hasOwn(channel.models, line.model))
        .map((state) =>
          viewState(state, {
            sinceMs:
              state.line.mode === 'disabled' ? offSince.get(channel.name) : state.line.sinceMs,
            ageMs: ages.get(state.node) ?? 0,
            isLive,
          }),
        ),
    })),
  }
}

/** A gateway knows since when its own state holds; when an operator has switched off the history knows. */
async function readOffSince(
  database: Queryable,
  states: readonly PublishedState[],
): Promise<ReadonlyMap<string, number>> {
  const since = new Map<string, number>()
  const off = states.filter(({ line }) => line.mode === 'disabled')
  for (const channel of new Set(off.map(({ line }) => line.channel))) {
    const atMs = await findLastOff(database, channel)
    if (atMs !== undefined) since.set(channel, atMs)
  }
  return since
}

interface Published {
  readonly isLive: boolean
  readonly nodes: readonly NodeView[]
  readonly states: readonly PublishedState[]
}

async function readPublished(queryable: Queryable, nowMs: number): Promise<Published> {
  const all = await listNodes(queryable)
  const running = all.filter((node) => isRunning(node, nowMs))
  const speaking = running.length > 0 ? running : latest(all)
  const ids = new Set(speaking.map((node) => node.id))
  const holder = await findLeaseHolder(queryable, checkTask, nowMs)
  return {
    isLive: running.length > 0,
    nodes: speaking.map((node) => ({
      id: node.id,
      name: node.name,
      region: node.region,
      started_at: timeText(node.startedAtMs),
      seen_at: timeText(node.seenAtMs),
      age_ms: Math.max(0, nowMs - node.seenAtMs),
      is_running: running.includes(node),
      makes_checks: running.includes(node) && node.id === holder,
    })),
    states: (await listStates(queryable)).filter((state) => ids.has(state.node)),
  }
}

/** The one that was there last. */
function latest(nodes: readonly GatewayNode[]): readonly GatewayNode[] {
  return nodes.toSorted((left, right) => right.seenAtMs - left.seenAtMs).slice(0, 1)
}

function viewState(
  { node, line, publishedAtMs }: PublishedState,
  {
    sinceMs,
    ageMs,
    isLive,
  }: {
    readonly sinceMs: number | undefined
    readonly ageMs: number
    readonly isLive: boolean
  },
): ChannelHealthView {
  return {
    model: line.model,
    state: line.mode,
    since: timeOrNull(sinceMs),
    why: line.why,
    is_usable: line.isUsable,
    share: Math.round(line.share * 1_000) / 1_000,
    running: line.running,
    wakes_at: timeOrNull(line.wakeAtMs),
    rests_until: timeOrNull(line.restUntilMs),
    last_ok_at: timeOrNull(line.lastOkAtMs),
    first_event_ms: timesView(line.firstEventMs),
    usual_first_event_ms: timesView(line.usualFirstEventMs),
    failures: line.failures.map(viewFailure),
    node,
    published_at: timeText(publishedAtMs),
    age_ms: ageMs,
    is_live: isLive,
  }
}

function timesView(times: HealthLine['firstEventMs']): TimesView | null {
  return times === undefined ? null : { p50: Math.round(times.p50), p95: Math.round(times.p95) }
}

function viewFailure({ outcome, count, lastAtMs }: FailureLine): FailureView {
  return { class: outcome, count, last_at: timeText(lastAtMs) }
}

// --- history --------------------------------------------------------------------------------------

export interface ChannelChangeView {
  readonly at: string
  readonly channel: string
  /** Null: all models of the channel. */
  readonly model: string | null
  readonly from: string
  readonly to: string
  readonly why: string
  /** The operator who did it; null where the gateway did. */
  readonly actor: string | null
  readonly node: string | null
  /** Since the line before, by class. */
  readonly failures: readonly FailureView[]
  readonly first_event_ms: TimesView | null
  readonly usual_first_event_ms: TimesView | null
  readonly wakes_at: string | null
}

const historyInput = z.strictObject({
  channel: z.string().min(1, 'must name a channel').optional(),
  count: listCount.default(50),
})

/** The newest first. Channels that the catalogue no longer has keep their history. */
export async function channelHistory(
  context: OperationContext,
  input: unknown,
): Promise<readonly ChannelChangeView[]> {
  const { channel, count } = parseInput(historyInput, input)
  const changes = await listChanges(context.database, { channel, countMax: count })
  if (changes.length === 0 && channel !== undefined) await demandChannel(context, channel)
  return changes.map(viewChange)
}

function viewChange(change: ChannelChange): ChannelChangeView {
  const { detail } = change
  return {
    at: timeText(change.atMs),
    channel: change.channel,
    model: change.model ?? null,
    from: change.from,
    to: change.to,
    why: change.why,
    actor: change.actor ?? null,
    node: change.node ?? null,
    failures: (detail.failures ?? []).map(viewFailure),
    first_event_ms: timesView(detail.first_event_ms),
    usual_first_event_ms: timesView(detail.usual_first_event_ms),
    wakes_at: timeOrNull(detail.wake_at_ms),
  }
}

// --- one channel ----------------------------------------------------------------------------------

export interface CheckCostView {
  /** `2026-11`, UTC. */
  readonly month: string
  readonly count: number
  readonly usd: string
}

export interface ChannelDetail extends ChannelListing {
  readonly at: string
  readonly is_live: boolean
  readonly nodes: readonly NodeView[]
  /** What its checks have cost the operator this month, at list price. */
  readonly check_cost: CheckCostView
  readonly history: readonly ChannelChangeView[]
}

const showInput = z.strictObject({ channel: z.string().min(1, 'must name a channel') })
const shownHistoryCount = 10

export async function showChannel(
  context: OperationContext,
  input: unknown,
): Promise<ChannelDetail> {
  const { channel: name } = parseInput(showInput, input)
  const { channels, ...report } = await reportChannels(context)
  const listing = channels.find((one) => one.name === name)
  if (listing === undefined) throw noChannel(name, channels)
  return {
    ...listing,
    ...report,
    check_cost: await monthCost(context, name, Date.parse(report.at)),
    history: await channelHistory(context, { channel: name, count: shownHistoryCount }),
  }
}

async function monthCost(
  { database }: OperationContext,
  channel: string,
  nowMs: number,
): Promise<CheckCostView> {
  const month = utcMonth(nowMs)
  const fromMs = Date.parse(`${month}-01T00:00:00Z`)
  const { count, amountPicos } = await sumCosts(database, { channel, fromMs, untilMs: nowMs + 1 })
  return { month, count, usd: formatUsd(amountPicos) }
}

async function demandChannel(context: OperationContext, name: string): Promise<void> {
  const channels = await listChannels(context)
  if (!channels.some((channel) => channel.name === name)) throw noChannel(name, channels)
}

function noChannel(name: string, channels: readonly ChannelView[]): Error {
  const names = channels.map((channel) => channel.name).join(', ')
  return notFound(`There is no channel ${name}; there are ${names === '' ? 'none yet' : names}.`)
}
