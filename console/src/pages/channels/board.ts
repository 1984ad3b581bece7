/**
 * The board: each model with its channels in the order in which the gateway tries them, the models with the
 * worst trouble first; and the same by channel. Pure: it puts together what the queries have read.
 */
import type { Board, Channel, Health, ReportRow, Traffic } from './queries.ts'
import type { BoardSearch } from './address.ts'
import { placeOf, urgencyOf, type Place } from './states.ts'

/** How one gateway sees a model on a channel. */
interface Sight {
  readonly node: string
  readonly place: Place
  readonly health: Health
}

export interface Standing {
  /** The most urgent of what the gateways see. */
  readonly place: Place
  readonly health: Health | undefined
  /** One for each gateway, only where they see different states. */
  readonly sights: readonly Sight[]
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

/** The most urgent place first. */
function sightsOf(
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

function placeWithoutModels({ enabled }: Pick<Channel, 'enabled'>): Place {
  return enabled ? 'unknown' : 'disabled'
}

/** A model on a channel, as the gateways see it. */
export function standingOf(
  channel: Pick<Channel, 'health' | 'enabled'>,
  model: string,
  known: Known,
): Standing {
  const sights = sightsOf(channel, model, known)
  const [worst] = sights
  return {
    place: worst?.place ?? placeWithoutModels(channel),
    health: worst?.health,
    sights: sights.some(({ place }) => place !== worst?.place) ? sights : [],
  }
}

function rowOf(channel: Channel, model: string, known: Known): Row {
  const shares = channel.health.filter((one) => one.model === model).map(({ share }) => share)
  return {
    id: `${model}\n${channel.name}`,
    channel,
    model,
    ...standingOf(channel, model, known),
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

interface Peer {
  /** Of the requests that reach this rank; a channel on a ramp or a slow one takes a part of them. */
  readonly share: number
  readonly weight: number
}

/**
 * Returns the expected part of the requests for each channel of a rank. All take their shares of the same
 * requests, so within the smallest share all of them compete by weight, beyond it all but one, and so on.
 */
function trafficShares(peers: readonly Peer[]): readonly number[] {
  const parts = peers.map(() => 0)
  let from = 0
  for (const until of [...new Set(peers.map(({ share }) => share))].sort((a, b) => a - b)) {
    const weights = peers.map(({ share, weight }) => (share >= until && share > 0 ? weight : 0))
    const sum = weights.reduce((total, weight) => total + weight, 0)
    if (sum > 0)
      for (const [index, weight] of weights.entries())
        parts[index] = (parts[index] ?? 0) + ((until - from) * weight) / sum
    from = until
  }
  return parts
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
  const figures = new Map(today.map((row) => [row.channel, row]))
  return channels.map((channel) => {
    const rows = all.filter((row) => row.channel === channel)
    const [worst] = rows.toSorted((one, other) => urgencyOf(one.place) - urgencyOf(other.place))
    const place = worst?.place ?? placeWithoutModels(channel)
    return {
      channel,
      place,
      placeCount: rows.filter((row) => row.place === place).length,
      modelCount: rows.length,
      running: channel.health.reduce((sum, { running }) => sum + running, 0),
      today: figures.get(channel.name),
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

export function errorShare(today: ReportRow | undefined): number | undefined {
  return today === undefined || today.requests === 0 ? undefined : today.errors / today.requests
}

/** Models that no other channel could serve now. */
export function modelsWithout(
  board: readonly ModelBoard[],
  channels: readonly string[],
): readonly string[] {
  return board.flatMap(({ model, rows }) => {
    const others = rows.filter(({ channel }) => !channels.includes(channel.name))
    const isServed = others.some(({ channel }) =>
      channel.health.some((health) => health.model === model && health.is_usable),
    )
    return others.length < rows.length && !isServed ? [model] : []
  })
}
