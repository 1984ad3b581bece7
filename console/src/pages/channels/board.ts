/**
 * The board: each model with its channels in the order in which the gateway tries them, the models with the
 * worst trouble first; and the same by channel. Pure: it puts together what the queries have read.
 */
import type { Board, Channel, Health, Traffic } from './queries.ts'
import type { ReportRow } from '../../api/reports.ts'
import type { BoardSearch } from './address.ts'
import { placeOf, urgencyOf, type Place } from './states.ts'

export interface Standing {
  /** The most urgent of what the gateways see. */
  readonly place: Place
  readonly health: Health | undefined
  /** How each gateway sees it, only where they see different states. */
  readonly sights: readonly {
    readonly node: string
    readonly place: Place
    readonly health: Health
  }[]
}

/** One model on one channel. */
export interface Row extends Standing {
  readonly id: string
  readonly channel: Channel
  readonly model: string
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

export function buildBoard(board: Pick<Board, 'items' | 'at' | 'nodes'>): readonly ModelBoard[] {
  const rows = board.items.flatMap((channel) =>
    Object.keys(channel.models).map((model) => rowOf(channel, model, board)),
  )
  return [...new Set(rows.map(({ model }) => model))]
    .map((model) =>
      modelOf(
        model,
        rows.filter((row) => row.model === model),
      ),
    )
    .toSorted(
      (one, other) =>
        services.indexOf(one.service) - services.indexOf(other.service) ||
        other.requestsToday - one.requestsToday ||
        one.model.localeCompare(other.model),
    )
}

function placeWithoutModels({ enabled }: Pick<Channel, 'enabled'>): Place {
  return enabled ? 'unknown' : 'disabled'
}

function byUrgency(one: { readonly place: Place }, other: { readonly place: Place }): number {
  return urgencyOf(one.place) - urgencyOf(other.place)
}

/** A model on a channel, as the gateways see it. */
export function standingOf(
  channel: Pick<Channel, 'health' | 'enabled'>,
  model: string,
  { at, nodes }: Pick<Board, 'at' | 'nodes'>,
): Standing {
  const sights = channel.health
    .filter((health) => health.model === model)
    .map((health) => ({
      node: nodes.find(({ id }) => id === health.node)?.name ?? health.node,
      place: placeOf(health, Date.parse(at)),
      health,
    }))
    .toSorted(byUrgency)
  const [worst] = sights
  return {
    place: worst?.place ?? placeWithoutModels(channel),
    health: worst?.health,
    sights: sights.some(({ place }) => place !== worst?.place) ? sights : [],
  }
}

function rowOf(channel: Channel, model: string, board: Pick<Board, 'at' | 'nodes'>): Row {
  const shares = channel.health.filter((one) => one.model === model).map(({ share }) => share)
  return {
    id: `${model}\n${channel.name}`,
    channel,
    model,
    ...standingOf(channel, model, board),
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

/**
 * Channels of one rank with their expected parts of the requests, those with the larger weight first. All
 * take their shares of the same requests, so within the smallest share all of them compete by weight, beyond
 * it all but one, and so on. A channel on a ramp or a slow one takes a part of what reaches its rank.
 */
function withShares(peers: readonly Row[]): readonly Row[] {
  const parts = peers.map(() => 0)
  let from = 0
  for (const until of [...new Set(peers.map(({ share }) => share))].sort((a, b) => a - b)) {
    const weights = peers.map(({ share, channel }) =>
      share >= until && share > 0 ? channel.weight : 0,
    )
    const sum = weights.reduce((total, weight) => total + weight, 0)
    if (sum > 0)
      for (const [index, weight] of weights.entries())
        parts[index] = (parts[index] ?? 0) + ((until - from) * weight) / sum
    from = until
  }
  return peers
    .map((row, index) => ({ ...row, share: parts[index] ?? 0 }))
    .toSorted(
      (one, other) =>
        other.channel.weight - one.channel.weight ||
        one.channel.name.localeCompare(other.channel.name),
    )
}

function isUsable({ channel, model }: Row): boolean {
  return channel.health.some((health) => health.model === model && health.is_usable)
}

/** Whether the main route serves a model: in full, in part, only a reserve does, or nothing. */
function serviceOf(rows: readonly Row[]): Service {
  const usable = rows.filter(isUsable)
  if (usable.length === 0) return 'none'
  const main = rows[0]?.channel.rank
  if (!usable.some(({ channel }) => channel.rank === main)) return 'reserve'
  return rows.every(({ place }) => place === 'on') ? 'full' : 'part'
}

/** Whether the filters that both views have let a channel in its place through. */
function fits(
  { vendor, state }: BoardSearch,
  { channel, place }: { readonly channel: Channel; readonly place: Place },
): boolean {
  return (
    (vendor === undefined || channel.vendor === vendor) &&
    (state === undefined || place === state || (state === 'trouble' && place !== 'on'))
  )
}

/** Leaves out the models and channels that the filters exclude. */
export function filterBoard(
  board: readonly ModelBoard[],
  search: BoardSearch,
): readonly ModelBoard[] {
  const wanted = (search.model ?? '').toLowerCase()
  return board
    .filter(({ model: id }) => id.toLowerCase().includes(wanted))
    .map((each) => ({ ...each, rows: each.rows.filter((row) => fits(search, row)) }))
    .filter(({ rows }) => rows.length > 0)
}

/** One channel, with its worst state and the figures of today. */
export interface ChannelRow {
  readonly channel: Channel
  /** The most urgent of its models. */
  readonly place: Place
  /** How many of its models are in this place. */
  readonly placeCount: number
  readonly modelCount: number
  readonly running: number
  /** Undefined without a request or a check today. */
  readonly today: ReportRow | undefined
}

export function buildRows(
  channels: readonly Channel[],
  board: readonly ModelBoard[],
  today: readonly ReportRow[],
): readonly ChannelRow[] {
  const all = board.flatMap(({ rows }) => rows)
  return channels.map((channel) => {
    const rows = all.filter((row) => row.channel === channel)
    const place = rows.toSorted(byUrgency)[0]?.place ?? placeWithoutModels(channel)
    return {
      channel,
      place,
      placeCount: rows.filter((row) => row.place === place).length,
      modelCount: rows.length,
      running: channel.health.reduce((sum, { running }) => sum + running, 0),
      today: today.find((row) => row.channel === channel.name),
    }
  })
}

/** Leaves out the channels that the filters exclude. */
export function filterRows(
  rows: readonly ChannelRow[],
  search: BoardSearch,
): readonly ChannelRow[] {
  const wanted = (search.channel ?? '').toLowerCase()
  return rows.filter((row) => row.channel.name.toLowerCase().includes(wanted) && fits(search, row))
}

export function errorShare(figures: ReportRow | undefined): number | null {
  return figures?.requests ? figures.errors / figures.requests : null
}

/** Models that no other channel could serve now. */
export function modelsWithout(
  board: readonly ModelBoard[],
  channels: readonly string[],
): readonly string[] {
  return board.flatMap(({ model, rows }) => {
    const others = rows.filter(({ channel }) => !channels.includes(channel.name))
    return others.length < rows.length && !others.some(isUsable) ? [model] : []
  })
}
