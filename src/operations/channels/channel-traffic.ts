/**
 * Sums of the requests of each model on a channel: the last minutes as all running gateways count them,
 * and today with its cost. The cost of one listing depends on the places and on today's rows, not on the
 * number of requests.
 */
import { z } from 'zod'
import { utcDay } from '../../base/clock.ts'
import { addPicos, formatUsd, zeroPicos, type Picos } from '../../base/money.ts'
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
      /** What the vendor counted, at cost prices. */
      own_cost_usd: usd,
      /** Of lost attempts, answers without final counts, checks without cost prices. */
      estimated_cost_usd: usd,
      /** Their own cost is in neither of these two. */
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

/** Reads the sums of a day (UTC) so far. */
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
  const traffic = places.map((place) => ({
    ...place,
    recent: recent && (recent.get(nameOf(place)) ?? noAttempts),
    today: today.get(nameOf(place)),
    checks: checks.get(nameOf(place)),
  }))
  const ofModel = Map.groupBy(traffic, ({ model }) => model)
  const ofChannel = Map.groupBy(traffic, ({ channel }) => channel)
  return new Map(
    [...ofChannel].map(([channel, own]) => [
      channel,
      own.map((one) => viewPlace(one, ofModel.get(one.model) ?? [])),
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

interface PlaceTraffic {
  readonly model: string
  readonly recent: AttemptCounts | undefined
  readonly today: DayTraffic | undefined
  readonly checks: CheckSum | undefined
}

/** `peers` are the places of the model on all channels. */
function viewPlace(
  { model, recent, today, checks }: PlaceTraffic,
  peers: readonly PlaceTraffic[],
): TrafficView {
  const { requests = 0, errors = 0, knownCostRequests = 0 } = today ?? {}
  const attemptsOfModel = peers.reduce((sum, peer) => sum + (peer.recent?.ended ?? 0), 0)
  const requestsOfModel = peers.reduce((sum, peer) => sum + (peer.today?.requests ?? 0), 0)
  return {
    model,
    recent:
      recent === undefined
        ? null
        : {
            attempts: recent.ended,
            failed: recent.failed,
            share: shareOf(recent.ended, attemptsOfModel),
          },
    today: {
      requests,
      errors,
      share: shareOf(requests, requestsOfModel),
      checks: checks?.checks ?? 0,
      own_cost_usd: sumUsd(today?.ownCostPicos, checks?.knownPicos),
      estimated_cost_usd: sumUsd(today?.lostCostPicos, checks?.estimatedPicos),
      unknown_cost_requests: requests - knownCostRequests,
    },
  }
}

function sumUsd(left: Picos = zeroPicos, right: Picos = zeroPicos): string {
  return formatUsd(addPicos(left, right))
}

function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 1_000) / 1_000
}

/** No name contains U+0000. */
function nameOf({ channel, model }: Place): string {
  return `${channel}\0${model}`
}
