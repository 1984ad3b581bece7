/**
 * What the requests of each model on a channel come to: the last minutes as all running gateways count them,
 * and today with its cost. The cost of one listing depends on the places and on today's figures, not on the
 * number of requests.
 */
import { z } from 'zod'
import { utcDay } from '../../base/clock.ts'
import { addPicos, formatUsd, zeroPicos } from '../../base/money.ts'
import type { PublishedState } from '../../channels/cluster/channel-states.ts'
import { sumChecks, type CheckSum } from '../../channels/cluster/operator-cost-store.ts'
import { noAttempts, type AttemptCounts } from '../../channels/health/health-line.ts'
import { readDayTraffic, type DayTraffic } from '../../ledger/report-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { usd, type Answer } from '../answer-forms.ts'

const share = z.number().nullable()

export const trafficForm = z.strictObject({
  model: z.string(),
  recent: z
    .strictObject({
      attempts: z.int(),
      failed: z.int(),
      share: share.meta({ description: "Of the model's attempts; null without any." }),
    })
    .nullable()
    .meta({
      description: 'Attempts of ten minutes on all running gateways; null where none is running.',
    }),
  today: z
    .strictObject({
      requests: z.int(),
      errors: z.int(),
      share: share.meta({ description: "Of the model's requests; null without any." }),
      checks: z.int(),
      own_cost_usd: usd,
      estimated_cost_usd: usd,
      unknown_cost_requests: z.int(),
    })
    .meta({ description: 'The day so far, UTC.' }),
})

export type TrafficView = Answer<typeof trafficForm>

/** A model on a channel of the catalogue. */
interface Place {
  readonly channel: string
  readonly model: string
}

export interface Traffic {
  readonly today: ReadonlyMap<string, DayTraffic>
  readonly checks: ReadonlyMap<string, CheckSum>
}

/** Reads what a day (UTC) has so far. */
export async function readTraffic(snapshot: Queryable, nowMs: number): Promise<Traffic> {
  const day = utcDay(nowMs)
  const today = await readDayTraffic(snapshot, day)
  const checks = await sumChecks(snapshot, { fromMs: Date.parse(day), untilMs: nowMs + 1 })
  return {
    today: new Map(today.map((one) => [nameOf(one), one])),
    checks: new Map(checks.map((one) => [nameOf(one), one])),
  }
}

/**
 * Shows the traffic of every place, by the channel's name. `states` are those of the running gateways, so
 * without one nothing is known of the last minutes.
 */
export function viewTraffic(
  places: readonly Place[],
  { today, checks }: Traffic,
  states: readonly PublishedState[] | undefined,
): ReadonlyMap<string, readonly TrafficView[]> {
  const recent = states === undefined ? undefined : sumRecent(states)
  const recentOf = (place: Place): AttemptCounts => recent?.get(nameOf(place)) ?? noAttempts
  const requestsOf = (place: Place): number => today.get(nameOf(place))?.requests ?? 0
  const views = [...Map.groupBy(places, ({ model }) => model).values()].flatMap((peers) => {
    const attempts = peers.reduce((sum, place) => sum + recentOf(place).ended, 0)
    const requests = peers.reduce((sum, place) => sum + requestsOf(place), 0)
    return peers.map((place) => ({
      channel: place.channel,
      view: viewPlace(place, {
        recent: recent === undefined ? undefined : recentOf(place),
        attemptsOfModel: attempts,
        today: today.get(nameOf(place)),
        requestsOfModel: requests,
        checks: checks.get(nameOf(place)),
      }),
    }))
  })
  return new Map(
    [...Map.groupBy(views, ({ channel }) => channel)].map(([channel, own]) => [
      channel,
      own.map(({ view }) => view),
    ]),
  )
}

function sumRecent(states: readonly PublishedState[]): ReadonlyMap<string, AttemptCounts> {
  const sums = new Map<string, AttemptCounts>()
  for (const { line } of states) {
    const { ended, failed } = sums.get(nameOf(line)) ?? noAttempts
    sums.set(nameOf(line), {
      ended: ended + line.recentAttempts.ended,
      failed: failed + line.recentAttempts.failed,
    })
  }
  return sums
}

interface PlaceFigures {
  readonly recent: AttemptCounts | undefined
  /** On all channels of the model. */
  readonly attemptsOfModel: number
  readonly today: DayTraffic | undefined
  readonly requestsOfModel: number
  readonly checks: CheckSum | undefined
}

function viewPlace(
  { model }: Place,
  { recent, attemptsOfModel, today, requestsOfModel, checks }: PlaceFigures,
) {
  const { requests = 0, errors = 0, knownCostRequests = 0 } = today ?? {}
  return {
    model,
    /** Attempts of the last ten minutes, on all running gateways; null where none is running. */
    recent:
      recent === undefined
        ? null
        : {
            attempts: recent.ended,
            failed: recent.failed,
            /** Of the model's attempts on all channels, 0 to 1; null without any. */
            share: shareOf(recent.ended, attemptsOfModel),
          },
    /** The day (UTC) so far: requests that the channel answered, and its checks. */
    today: {
      requests,
      errors,
      /** Of the model's requests on all channels, 0 to 1; null without any. */
      share: shareOf(requests, requestsOfModel),
      checks: checks?.checks ?? 0,
      /** Exact: what the vendor counted, at cost prices. */
      own_cost_usd: formatUsd(
        addPicos(today?.ownCostPicos ?? zeroPicos, checks?.knownPicos ?? zeroPicos),
      ),
      /** Estimates: lost attempts, answers without final counts, checks without cost prices. */
      estimated_cost_usd: formatUsd(
        addPicos(today?.lostCostPicos ?? zeroPicos, checks?.estimatedPicos ?? zeroPicos),
      ),
      /** Their own cost is not known, and in neither figure. */
      unknown_cost_requests: requests - knownCostRequests,
    },
  }
}

function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 1_000) / 1_000
}

/** No name contains U+0000. */
function nameOf({ channel, model }: Place): string {
  return `${channel}\0${model}`
}
