/**
 * The list of channels: one row for each, with its worst state and the figures of today. Pure: it puts
 * together what the queries have read.
 */
import type { BoardSearch } from './address.ts'
import type { ModelBoard, Row } from './board.ts'
import type { Channel, ReportRow } from './queries.ts'
import { urgencyOf, type Place } from './states.ts'

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
  const places = new Map<string, Row[]>()
  for (const row of board.flatMap(({ rows }) => rows))
    places.set(row.channel.name, [...(places.get(row.channel.name) ?? []), row])
  const figures = new Map(today.map((row) => [row.channel, row]))
  return channels.map((channel) =>
    rowOf(channel, places.get(channel.name) ?? [], figures.get(channel.name)),
  )
}

function rowOf(channel: Channel, models: readonly Row[], today: ReportRow | undefined): ChannelRow {
  const [worst] = models.toSorted((one, other) => urgencyOf(one.place) - urgencyOf(other.place))
  const place = worst?.place ?? (channel.enabled ? 'unknown' : 'disabled')
  return {
    channel,
    place,
    placeCount: models.filter((model) => model.place === place).length,
    modelCount: models.length,
    running: channel.health.reduce((sum, { running }) => sum + running, 0),
    today,
  }
}

/** Leaves out the channels that the filters exclude. */
export function filterRows(
  rows: readonly ChannelRow[],
  { channel: name = '', vendor, state }: BoardSearch,
): readonly ChannelRow[] {
  const wanted = name.toLowerCase()
  return rows.filter(
    ({ channel, place }) =>
      channel.name.toLowerCase().includes(wanted) &&
      (vendor === undefined || channel.vendor === vendor) &&
      (state === undefined || place === state || (state === 'trouble' && place !== 'on')),
  )
}

/** The value that a column sorts by; null = not known. */
export function sortValue(row: ChannelRow, by: string): string | number | null {
  const { channel, today } = row
  switch (by) {
    case 'vendor':
      return channel.vendor
    case 'state':
      return urgencyOf(row.place)
    case 'running':
      return row.running
    case 'p50':
      return today?.first_event_p50_ms ?? null
    case 'errors':
      return errorShare(today) ?? null
    case 'cost':
      return today === undefined ? null : Number(today.own_cost_usd)
    case 'credential':
      return Date.parse(channel.credential_set_at)
    case 'margin':
      return today === undefined ? null : Number(today.known_margin_usd)
    default:
      return channel.name
  }
}

export function errorShare(today: ReportRow | undefined): number | undefined {
  return today === undefined || today.requests === 0 ? undefined : today.errors / today.requests
}
