/**
 * Counts requests by time and outcome, for a picture above their list. Each step of time is one short
 * question, so that no count keeps the store busy.
 */
import { z } from 'zod'
import { dayMs } from '../../base/clock.ts'
import { countExchanges } from '../../ledger/exchange-store.ts'
import type { FreeEnding } from '../../ledger/free-exchange-store.ts'
import { count, moment, type Answer } from '../answer-forms.ts'
import { stepCount } from '../input.ts'
import { invalidField, operation, timeText } from '../operation.ts'
import { findOwner, requestFilters } from './requests.ts'
import { endings } from './view.ts'

const daysMax = 92

const secondMs = 1_000
const minuteMs = 60_000
const hourMs = 3_600_000
/** Steps begin at multiples of their length, UTC. */
const stepsMs = [
  ...[1, 5, 15, 30].map((seconds) => seconds * secondMs),
  ...[1, 5, 15, 30].map((minutes) => minutes * minuteMs),
  ...[1, 3, 6, 12].map((hours) => hours * hourMs),
  ...[1, 2, 7].map((days) => days * dayMs),
  daysMax * dayMs,
]

const histogramInput = z.strictObject({
  ...requestFilters,
  from: requestFilters.from.describe('As in the list; a day before the end without it.'),
  to: requestFilters.to.describe('As in the list; now without it.'),
  buckets: stepCount.default(60).describe('At most so many steps of time, up to 120.'),
})

const countsForm = z.strictObject(
  Object.fromEntries(endings.map((ending) => [ending, count])) as Record<FreeEnding, typeof count>,
)

const histogramForm = z.strictObject({
  from: moment,
  to: moment,
  step_ms: count,
  /** False where a step has more rows than are counted. */
  is_complete: z.boolean(),
  requests: count,
  buckets: z.array(
    z.strictObject({
      at: moment.meta({ description: 'Its beginning, a multiple of `step_ms`.' }),
      requests: count,
      by_outcome: countsForm,
    }),
  ),
})

type Bucket = Answer<typeof histogramForm>['buckets'][number]

/** Counts the requests that the list shows for the same filter and period. */
export const countRequests = operation(
  { input: histogramInput, answer: histogramForm },
  async ({ database, clock }, { account, key, from, to, buckets, ...filter }) => {
    const toMs = to ?? clock.now()
    const fromMs = from ?? toMs - dayMs
    if (fromMs >= toMs) throw invalidField('to', 'must be after from')
    if (toMs - fromMs > daysMax * dayMs)
      throw invalidField('from', `must be at most ${daysMax} days before to`)
    const owner = await findOwner(database, { account, key })
    const stepMs = stepOf(toMs - fromMs, buckets)
    const found: Bucket[] = []
    let isComplete = true
    for (let atMs = Math.floor(fromMs / stepMs) * stepMs; atMs < toMs; atMs += stepMs) {
      const span = { fromMs: Math.max(atMs, fromMs), toMs: Math.min(atMs + stepMs, toMs) }
      const { counts, isCut } = await countExchanges(database, { ...filter, ...owner, ...span })
      found.push(bucketOf(atMs, counts))
      isComplete &&= !isCut
    }
    return {
      from: timeText(fromMs),
      to: timeText(toMs),
      step_ms: stepMs,
      is_complete: isComplete,
      requests: found.reduce((sum, { requests }) => sum + requests, 0),
      buckets: found,
    }
  },
)

/** The shortest step by which a period has at most so many, wherever it begins. */
function stepOf(periodMs: number, countMax: number): number {
  const shortest = periodMs / (countMax - 1)
  return stepsMs.find((stepMs) => stepMs >= shortest) ?? daysMax * dayMs
}

function bucketOf(atMs: number, counts: ReadonlyMap<FreeEnding, number>): Bucket {
  const byOutcome = endings.map((ending) => [ending, counts.get(ending) ?? 0] as const)
  return {
    at: timeText(atMs),
    requests: byOutcome.reduce((sum, [, each]) => sum + each, 0),
    by_outcome: Object.fromEntries(byOutcome) as Bucket['by_outcome'],
  }
}
