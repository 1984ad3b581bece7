/**
 * The health of channels as operators see it: the state that running gateways publish, or the last
 * known state and its age; the history; the cost of checks. It reads only the store, so it works with
 * or without a running gateway.
 */
import { z } from 'zod'
import { utcMonth } from '../../base/clock.ts'
import { formatUsd } from '../../base/money.ts'
import {
  findLastOff,
  listChanges,
  type ListedChange,
} from '../../channels/cluster/channel-history.ts'
import {
  checkTask,
  listStates,
  type PublishedState,
} from '../../channels/cluster/channel-states.ts'
import type { FailureLine, HealthLine } from '../../channels/health/health-line.ts'
import { sumCosts } from '../../channels/cluster/operator-cost-store.ts'
import type { Queryable } from '../../storage/database.ts'
import {
  findLeaseHolder,
  isRunning,
  listNodes,
  readStoreTime,
  type GatewayNode,
} from '../../storage/node-store.ts'
import { nextStepsOf } from './channel-next-steps.ts'
import { readTraffic, viewTraffic, type TrafficView } from './channel-traffic.ts'
import { channelName, noSuchChannel, readChannels, type ChannelView } from './channels.ts'
import { pageFields, pageOf, pageOfList, type Page } from '../paging.ts'
import {
  invalidField,
  operation,
  timeOrNull,
  timeText,
  type OperationContext,
} from '../operation.ts'

export interface NodeView {
  readonly id: string
  readonly name: string
  readonly region: string
  readonly started_at: string
  /** The last heartbeat. */
  readonly seen_at: string
  /** Time since then. */
  readonly age_ms: number
  readonly is_running: boolean
  /** Whether this node sends the regular checks. */
  readonly makes_checks: boolean
}

interface TimesView {
  readonly p50: number
  readonly p95: number
}

export interface ChannelListing extends ChannelView {
  /** One per model and running gateway; the last known state where none is running. */
  readonly health: readonly ChannelHealthView[]
  /** One per model. */
  readonly traffic: readonly TrafficView[]
}

interface HealthMoment {
  /** The store's time; every age counts from here. */
  readonly at: string
  /** Whether a gateway is running on the store; if not, health is the last known state. */
  readonly is_live: boolean
  /** The gateways that published `health`. */
  readonly nodes: readonly NodeView[]
}

interface ChannelReport extends HealthMoment {
  readonly channels: readonly ChannelListing[]
}

export interface ChannelPage extends HealthMoment, Page<ChannelListing> {}

/** Lists channels with their health, by name. */
export const listChannels = operation(
  z.strictObject(pageFields),
  async (context, page): Promise<ChannelPage> => {
    const { channels, ...moment } = await reportChannels(context)
    const cursorOf = ({ name }: ChannelListing): string => name
    return { ...moment, ...pageOfList(channels, page, { cursorOf, view: (channel) => channel }) }
  },
)

async function reportChannels(context: OperationContext): Promise<ChannelReport> {
  const channels = await readChannels(context)
  const nowMs = await readStoreTime(context.database, context.clock)
  const { published, traffic } = await context.database.snapshot(async (queryable) => ({
    published: await readPublished(queryable, nowMs),
    traffic: await readTraffic(queryable, nowMs),
  }))
  const byChannel = Map.groupBy(published.states, ({ line }) => line.channel)
  const ages = new Map(published.nodes.map((node) => [node.id, node.age_ms]))
  const { isLive } = published
  const offSince = await readOffSince(context.database, published.states)
  const places = channels.flatMap(({ name, models }) =>
    Object.keys(models).map((model) => ({ channel: name, model })),
  )
  const trafficOf = viewTraffic(places, traffic, isLive ? published.states : undefined)
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
            check: channel.check,
            nowMs,
          }),
        ),
      traffic: trafficOf.get(channel.name) ?? [],
    })),
  }
}

/** Reads when an operator disabled a channel: the history knows it, the published state does not. */
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
  const shown = running.length > 0 ? running : latest(all)
  const ids = new Set(shown.map((node) => node.id))
  const holder = await findLeaseHolder(queryable, checkTask, nowMs)
  return {
    isLive: running.length > 0,
    nodes: shown.map((node) => ({
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

/** The node with the latest heartbeat. */
function latest(nodes: readonly GatewayNode[]): readonly GatewayNode[] {
  return nodes.toSorted((left, right) => right.seenAtMs - left.seenAtMs).slice(0, 1)
}

export type ChannelHealthView = Readonly<ReturnType<typeof viewState>>

function viewState(
  { node, line, publishedAtMs }: PublishedState,
  {
    sinceMs,
    ageMs,
    isLive,
    check,
    nowMs,
  }: {
    readonly sinceMs: number | undefined
    readonly ageMs: number
    readonly isLive: boolean
    readonly check: string
    readonly nowMs: number
  },
) {
  const shown = {
    model: line.model,
    /** `on`, `off`, `trial`, `ramp`, `slow`; `disabled` by an operator. */
    state: line.mode,
    /** Null where the moment is not known. */
    since: timeOrNull(sinceMs),
    why: line.why,
    is_usable: line.isUsable,
    /** Share of the model's requests that it takes now, before its weight in its rank: 0 to 1. */
    share: Math.round(line.share * 1_000) / 1_000,
    running: line.running,
    wakes_at: timeOrNull(line.wakeAtMs),
    rests_until: timeOrNull(line.restUntilMs),
    last_ok_at: timeOrNull(line.lastOkAtMs),
    /** Recent and usual time to the first event of a small streamed request. */
    first_event_ms: timesView(line.firstEventMs),
    usual_first_event_ms: timesView(line.usualFirstEventMs),
    /** Since the gateway started. */
    failures: line.failures.map(viewFailure),
    /** The node that published this state, and when the state last changed. */
    node,
    published_at: timeText(publishedAtMs),
    /** Time since that node's last heartbeat. */
    age_ms: ageMs,
    /** Whether that node is running; if not, this is the last known state. */
    is_live: isLive,
  }
  return { ...shown, next_steps: nextStepsOf(shown, { check, isLive, nowMs }) }
}

function timesView(times: HealthLine['firstEventMs']): TimesView | null {
  return times === undefined ? null : { p50: Math.round(times.p50), p95: Math.round(times.p95) }
}

interface FailureView {
  readonly class: string
  readonly count: number
  readonly last_at: string
}

function viewFailure({ outcome, count, lastAtMs }: FailureLine): FailureView {
  return { class: outcome, count, last_at: timeText(lastAtMs) }
}

/** Newest first. A channel that is no longer in the catalogue keeps its history. */
export const channelHistory = operation(
  z.strictObject({
    channel: channelName.optional().describe('Name of the channel; all channels without it.'),
    ...pageFields,
  }),
  async (context, { channel, cursor, limit }): Promise<Page<ChannelChangeView>> => {
    const before = cursor === undefined ? undefined : readPlace(cursor)
    const changes = await listChanges(context.database, { channel, before, countMax: limit + 1 })
    if (changes.length === 0 && channel !== undefined && before === undefined) {
      const channels = await readChannels(context)
      if (!channels.some(({ name }) => name === channel)) throw noSuchChannel(channel, channels)
    }
    const cursorOf = ({ atMs, sequence }: ListedChange): string => `${atMs}.${sequence}`
    return pageOf(changes, { limit, cursorOf, view: viewChange })
  },
)

function readPlace(cursor: string): { readonly atMs: number; readonly sequence: number } {
  const [, atMs, sequence] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? []
  if (atMs === undefined) throw invalidField('cursor', 'must be the next_cursor of a page')
  return { atMs: Number(atMs), sequence: Number(sequence) }
}

export type ChannelChangeView = Readonly<ReturnType<typeof viewChange>>

export function viewChange(change: ListedChange) {
  const { detail } = change
  return {
    at: timeText(change.atMs),
    channel: change.channel,
    /** Null: all models of the channel. */
    model: change.model ?? null,
    from: change.from,
    to: change.to,
    why: change.why,
    /** The operator who made the change; null where a gateway did. */
    actor: change.actor ?? null,
    node: change.node ?? null,
    /** Since the previous line, by class. */
    failures: (detail.failures ?? []).map(viewFailure),
    first_event_ms: timesView(detail.first_event_ms),
    usual_first_event_ms: timesView(detail.usual_first_event_ms),
    wakes_at: timeOrNull(detail.wake_at_ms),
  }
}

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
  /** The cost of its checks this month, at list price; the operator pays it. */
  readonly check_cost: CheckCostView
  readonly history: readonly ChannelChangeView[]
}

const shownHistoryCount = 10

export const showChannel = operation(
  z.strictObject({ channel: channelName }),
  async (context, { channel: name }): Promise<ChannelDetail> => {
    const { channels, ...report } = await reportChannels(context)
    const listing = channels.find((one) => one.name === name)
    if (listing === undefined) throw noSuchChannel(name, channels)
    return {
      ...listing,
      ...report,
      check_cost: await monthCost(context, name, Date.parse(report.at)),
      history: (
        await listChanges(context.database, { channel: name, countMax: shownHistoryCount })
      ).map(viewChange),
    }
  },
)

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
