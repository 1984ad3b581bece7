/**
 * The board: each model with its channels in the order in which the gateway tries them, the models with the
 * worst trouble first. Pure: it puts together what the queries have read.
 */
import type { Board, Channel, Health, Traffic } from './queries.ts'
import type { BoardSearch } from './address.ts'
import { placeOf, urgencyOf, type Place } from './states.ts'
import { trafficShares } from './traffic-share.ts'

/** How one gateway sees a model on a channel. */
export interface Sight {
  readonly node: string
  readonly place: Place
  readonly health: Health
}

/** One model on one channel. */
export interface Row {
  readonly id: string
  readonly channel: Channel
  readonly model: string
  /** The most urgent of what the gateways see. */
  readonly place: Place
  readonly health: Health | undefined
  /** One for each gateway, only where they see different states. */
  readonly sights: readonly Sight[]
  /** Expected part of the model's requests now: 0 to 1. */
  readonly share: number
  readonly traffic: Traffic | undefined
}

export type Service = 'none' | 'reserve' | 'part' | 'full'

export interface ModelBoard {
  readonly model: string
  readonly service: Service
  readonly rows: readonly Row[]
  readonly requestsToday: number
}

const services: readonly Service[] = ['none', 'reserve', 'part', 'full']

export function buildBoard({
  items,
  at,
  nodes,
}: Pick<Board, 'items' | 'at' | 'nodes'>): readonly ModelBoard[] {
  const nowMs = Date.parse(at)
  const names = new Map(nodes.map(({ id, name }) => [id, name]))
  const models = new Map<string, Row[]>()
  for (const channel of items)
    for (const model of Object.keys(channel.models)) {
      const rows = models.get(model) ?? []
      rows.push(rowOf(channel, model, { nowMs, names }))
      models.set(model, rows)
    }
  return [...models]
    .map(([model, rows]) => modelOf(model, rows))
    .toSorted(
      (one, other) =>
        services.indexOf(one.service) - services.indexOf(other.service) ||
        other.requestsToday - one.requestsToday ||
        one.model.localeCompare(other.model),
    )
}

interface Known {
  readonly nowMs: number
  readonly names: ReadonlyMap<string, string>
}

export function sightsOf(
  channel: Pick<Channel, 'health'>,
  model: string,
  { nowMs, names }: Known,
): readonly Sight[] {
  return channel.health
    .filter((health) => health.model === model)
    .map((health) => ({
      node: names.get(health.node) ?? health.node,
      place: placeOf(health, nowMs),
      health,
    }))
    .toSorted((one, other) => urgencyOf(one.place) - urgencyOf(other.place))
}

function rowOf(channel: Channel, model: string, known: Known): Row {
  const sights = sightsOf(channel, model, known)
  const [worst] = sights
  const shares = sights.map(({ health }) => health.share)
  return {
    id: `${model}\n${channel.name}`,
    channel,
    model,
    place: worst?.place ?? (channel.enabled ? 'unknown' : 'disabled'),
    health: worst?.health,
    sights: sights.some(({ place }) => place !== worst?.place) ? sights : [],
    share: shares.reduce((sum, share) => sum + share, 0) / Math.max(shares.length, 1),
    traffic: channel.traffic.find((one) => one.model === model),
  }
}

function modelOf(model: string, rows: readonly Row[]): ModelBoard {
  const requestsToday = rows.reduce((sum, { traffic }) => sum + (traffic?.today.requests ?? 0), 0)
  const ranks = [...new Set(rows.map(({ channel }) => channel.rank))].toSorted((a, b) => a - b)
  const shared = ranks.flatMap((rank) =>
    withShares(rows.filter(({ channel }) => channel.rank === rank)),
  )
  return { model, requestsToday, service: serviceOf(shared), rows: shared }
}

/** Channels of one rank: those with the larger weight first. */
function withShares(peers: readonly Row[]): readonly Row[] {
  const shares = trafficShares(peers.map(({ share, channel: { weight } }) => ({ share, weight })))
  return peers
    .map((row, index) => ({ ...row, share: shares[index] ?? 0 }))
    .toSorted(
      (one, other) =>
        other.channel.weight - one.channel.weight ||
        one.channel.name.localeCompare(other.channel.name),
    )
}

/** Whether the main route serves a model: in full, in part, only a reserve does, or nothing. */
function serviceOf(rows: readonly Row[]): Service {
  const usable = rows.filter(({ health, sights }) =>
    sights.length === 0
      ? health?.is_usable === true
      : sights.some(({ health: one }) => one.is_usable),
  )
  if (usable.length === 0) return 'none'
  const main = rows[0]?.channel.rank
  if (!usable.some(({ channel }) => channel.rank === main)) return 'reserve'
  return rows.every(({ place }) => place === 'on') ? 'full' : 'part'
}

/** Leaves out the models and channels that the filters exclude. */
export function filterBoard(
  board: readonly ModelBoard[],
  { model = '', vendor, state }: BoardSearch,
): readonly ModelBoard[] {
  const wanted = model.toLowerCase()
  return board
    .filter(({ model: id }) => id.toLowerCase().includes(wanted))
    .map((each) => ({
      ...each,
      rows: each.rows.filter(
        ({ channel, place }) =>
          (vendor === undefined || channel.vendor === vendor) &&
          (state === undefined || place === state || (state === 'trouble' && place !== 'on')),
      ),
    }))
    .filter(({ rows }) => rows.length > 0)
}
