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
import { modelOfPlace } from '../../channels/places.ts'
import { sumCosts } from '../../channels/cluster/operator-cost-store.ts'
import type { Queryable } from '../../storage/database.ts'
import {
  findLeaseHolder,
  isRunning,
  listNodes,
  readStoreTime,
  type GatewayNode,
} from '../../storage/node-store.ts'
import {
  failureForm,
  healthForm,
  timesForm,
  timesView,
  viewFailure,
  viewState,
} from './model-health.ts'
import { readTraffic, trafficForm, viewTraffic } from './channel-traffic.ts'
import { entryForm, readEntries } from '../catalogue/lists.ts'
import { currentRevision, revisionForm } from '../catalogue/revision.ts'
import { formerForm, showFormer } from './former-credential.ts'
import { channelForm, channelName, noSuchChannel, readChannels } from './channels.ts'
import { moment, pageForm, usd, type Answer } from '../answer-forms.ts'
import { pageFields, pageOf, pageOfList } from '../paging.ts'
import {
  invalidField,
  operation,
  timeOrNull,
  timeText,
  type OperationContext,
} from '../operation.ts'

const listingForm = channelForm.extend({
  /** One per model and running gateway; the last known state where none is running. */
  health: z.array(healthForm),
  traffic: z.array(trafficForm).meta({ description: 'One per model.' }),
})

export type ChannelListing = Answer<typeof listingForm>

const momentFields = {
  /** The store's time; every age counts from here. */
  at: moment,
  /** Whether a gateway is running on the store; if not, health is the last known state. */
  is_live: z.boolean(),
  /** The gateways that published `health`. */
  nodes: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      region: z.string(),
      started_at: moment,
      /** The last heartbeat, and the time since then. */
      seen_at: moment,
      age_ms: z.number(),
      is_running: z.boolean(),
      /** Whether this gateway sends the regular checks. */
      makes_checks: z.boolean(),
    }),
  ),
}

const changeForm = z.strictObject({
  at: moment,
  channel: z.string(),
  model: z.string().nullable().meta({ description: 'Null = all models of the channel.' }),
  from: z.string(),
  to: z.string(),
  why: z.string(),
  /** The operator who made the change; null where a gateway did. */
  actor: z.string().nullable(),
  node: z.string().nullable(),
  /** Since the previous line, by class. */
  failures: z.array(failureForm),
  first_event_ms: timesForm,
  usual_first_event_ms: timesForm,
  wakes_at: moment.nullable(),
})

export type ChannelChangeView = Answer<typeof changeForm>

const pageOfListings = z.strictObject({
  ...momentFields,
  ...pageForm(listingForm).shape,
  revision: revisionForm,
})

type HealthMoment = Answer<z.ZodObject<typeof momentFields>>
type NodeView = HealthMoment['nodes'][number]

interface ChannelReport extends HealthMoment {
  readonly channels: readonly ChannelListing[]
}

const detailForm = listingForm.extend({
  ...momentFields,
  /** The cost of its checks this month (UTC), at list price; the operator pays it. */
  check_cost: z.strictObject({ month: z.string(), count: z.int(), usd }),
  history: z.array(changeForm),
  entry: entryForm,
  former_credential: formerForm.nullable(),
  revision: revisionForm,
})

export type ChannelDetail = Answer<typeof detailForm>

/** Lists the names of channels, and nothing that their health is read for. */
const listNames = operation(
  {
    input: z.strictObject({ ...pageFields, fields: z.literal('name', 'must be name') }),
    answer: pageForm(channelForm.pick({ name: true })),
  },
  async (context, page) =>
    pageOfList(await readChannels(context), page, {
      cursorOf: ({ name }) => name,
      view: ({ name }) => ({ name }),
    }),
)

/** Lists channels with their health, by name. */
export const listChannels = operation(
  { input: z.strictObject(pageFields), answer: pageOfListings },
  async (context, page) => {
    const { channels, ...moment } = await reportChannels(context)
    const cursorOf = ({ name }: ChannelListing): string => name
    const revision = await currentRevision(context.database)
    const list = pageOfList(channels, page, { cursorOf, view: (channel) => channel })
    return { ...moment, ...list, revision }
  },
)

/** The list, or with `fields` only the names: a filter needs no more of hundreds of kilobytes. */
export const listChannelFields = Object.assign(
  async (...[context, input]: Parameters<typeof listChannels>) =>
    (input as { readonly fields?: unknown }).fields === undefined
      ? listChannels(context, input)
      : listNames(context, input),
  {
    input: listChannels.input.extend({
      fields: listNames.input.shape.fields
        .optional()
        .describe('`name` = only the names, without settings, health and traffic.'),
    }),
    answer: z.union([listChannels.answer, listNames.answer]),
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
        .filter(({ line }) => Object.hasOwn(channel.models, modelOfPlace(line.model)))
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
  const ids = shown.map((node) => node.id)
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
    states: await listStates(queryable, ids),
  }
}

/** The node with the latest heartbeat. */
function latest(nodes: readonly GatewayNode[]): readonly GatewayNode[] {
  return nodes.toSorted((left, right) => right.seenAtMs - left.seenAtMs).slice(0, 1)
}

const historyInput = z.strictObject({ channel: channelName, ...pageFields })

/** Newest first. A channel that is no longer in the catalogue keeps its history. */
export const channelHistory = operation(
  { input: historyInput, answer: pageForm(changeForm) },
  async (context, { channel, cursor, limit }) => {
    const before = cursor === undefined ? undefined : readPlace(cursor)
    const changes = await listChanges(context.database, { channel, before, countMax: limit + 1 })
    if (changes.length === 0 && before === undefined) {
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

function viewChange(change: ListedChange): ChannelChangeView {
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

const shownHistoryCount = 10

export const showChannel = operation(
  { input: z.strictObject({ channel: channelName }), answer: detailForm },
  async (context, { channel: name }) => {
    const { channels, ...report } = await reportChannels(context)
    const listing = channels.find((one) => one.name === name)
    if (listing === undefined) throw noSuchChannel(name, channels)
    const stored = await readEntries(context)
    const entry = stored.channels.find((one) => one.name === name)
    return {
      ...listing,
      entry: entry?.print() ?? {},
      former_credential: await showFormer(context, name),
      revision: stored.revision,
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
): Promise<ChannelDetail['check_cost']> {
  const month = utcMonth(nowMs)
  const fromMs = Date.parse(`${month}-01T00:00:00Z`)
  const { count, amountPicos } = await sumCosts(database, { channel, fromMs, untilMs: nowMs + 1 })
  return { month, count, usd: formatUsd(amountPicos) }
}
