/** The health of a channel's models as columns: of the list of channels, and of the lines about one. */
import type { ChannelHealthView, ChannelListing } from '../../operations/channels/channel-health.ts'
import type { TrafficView } from '../../operations/channels/channel-traffic.ts'
import type { Column } from '../columns.ts'
import { formatAge, type Cell } from '../output.ts'

/** A model on a channel, as one gateway sees it. */
interface HealthRow {
  readonly channel: ChannelListing
  readonly model: string
  /** Undefined where no gateway has published it. */
  readonly health: ChannelHealthView | undefined
  readonly traffic: TrafficView | undefined
  /** The time of the answer: every age counts from here. */
  readonly at: string
}

/** Returns a row for each model and each gateway that has published its health. */
export function healthRows(channel: ChannelListing, at: string): readonly HealthRow[] {
  return Object.keys(channel.models).flatMap((model) => {
    const published = channel.health.filter((one) => one.model === model)
    const traffic = channel.traffic.find((one) => one.model === model)
    const rows = published.length === 0 ? [undefined] : published
    return rows.map((health) => ({ channel, model, health, traffic, at }))
  })
}

export const healthColumns: readonly Column<HealthRow>[] = [
  ['state', stateText],
  ['for', ({ health, at }) => (health?.since ? ageText(health.since, at) : null)],
  'health.why',
  ['share', ({ health }) => health && `${Math.round(health.share * 100)} %`],
  ['first event ms', ({ health }) => timesText(health?.first_event_ms)],
  ['usual ms', ({ health }) => timesText(health?.usual_first_event_ms)],
  ['failed in 10 min', recentText],
  ['cost today, usd', costText],
  ['next', nextText],
]

/** What only the lines about one channel show. */
export const moreHealth: readonly Column<HealthRow>[] = [
  'health.since',
  'health.running',
  ['last complete answer', 'health.last_ok_at'],
  ['failures', failuresText],
]

function stateText({ health }: HealthRow): string {
  if (health === undefined) return 'unknown'
  return health.rests_until === null ? health.state : `${health.state}, rests`
}

function ageText(since: string, at: string): string {
  return formatAge(Date.parse(at) - Date.parse(since))
}

/** The median, and what 95 of 100 stay below. */
function timesText(times: ChannelHealthView['first_event_ms'] | undefined): Cell {
  return times && `${times.p50} / ${times.p95}`
}

function recentText({ health, traffic }: HealthRow): Cell {
  const recent = health && traffic?.recent
  return recent && `${recent.failed} of ${recent.attempts}`
}

/** Null where no cost is known. */
function costText({ health, traffic }: HealthRow): Cell {
  if (health === undefined || traffic === undefined) return null
  const { requests, checks, unknown_cost_requests: unknown, ...cost } = traffic.today
  if (unknown > 0 && unknown === requests && checks === 0) return null
  const estimated = cost.estimated_cost_usd
  return estimated === '0' ? cost.own_cost_usd : `${cost.own_cost_usd} + ${estimated} estimated`
}

function nextText({ health, at }: HealthRow): Cell {
  if (health === undefined || health.next_steps.length === 0) return null
  return health.next_steps.map((step) => {
    if (step.at === null) return step.text
    const inMs = Date.parse(step.at) - Date.parse(at)
    return `${step.text} ${inMs > 0 ? `in ${formatAge(inMs)}` : 'now'}`
  })
}

function failuresText({ health }: HealthRow): string {
  const failures = health?.failures ?? []
  if (failures.length === 0) return 'none'
  return failures
    .map((failure) => `${failure.class} ${failure.count}, last ${failure.last_at}`)
    .join('; ')
}
