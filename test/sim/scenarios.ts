/**
 * The scenarios every version of the health machine is measured by: what happens to the main
 * channel, what is measured, and what is accepted. A cell is one scenario at one load over several
 * seeds; the same cells make the short tests and the table in the documentation.
 */
import { during, flapping, steady, type Script } from './vendor-model.ts'
import { World, type Change, type WorldRecord } from './world.ts'

export const loads = [0.02, 0.2, 2, 10] as const

const minuteMs = 60_000
const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

interface Span {
  readonly from: number
  readonly to: number
}

export interface Run {
  readonly record: WorldRecord
  readonly fault: Span
  readonly seed: number
}

export interface Scenario {
  readonly id: string
  readonly title: string
  readonly faultMs: number
  readonly afterMs: number
  /** A whole day without a fault; a short volume runs a part of it. */
  readonly isDay?: boolean
  readonly keyCount?: number
  readonly main: (fault: Span) => Script
  readonly reserve?: (fault: Span) => Script
  readonly measures: readonly Measure[]
}

export interface Measure {
  readonly title: string
  readonly accepted: string
  /** Of one run; undefined where it did not happen. */
  readonly value: (run: Run) => number | undefined
  readonly summary: 'mean' | 'perDay' | 'medianAndWorst'
  /** What is wrong with these values of several runs, if anything. */
  readonly complain: (values: Values) => string | undefined
}

export interface Values {
  readonly load: number
  readonly values: readonly (number | undefined)[]
  /** Simulated days in all runs together. */
  readonly days: number
}

// --- what is measured -----------------------------------------------------------------------------

function changesOf(run: Run, match: (change: Change) => boolean): readonly Change[] {
  return run.record.changes.filter((change) => change.channel === 'main' && match(change))
}

function countOf(match: (change: Change) => boolean): (run: Run) => number {
  return (run) => changesOf(run, match).length
}

const isOff = (change: Change): boolean => change.to === 'off' && change.from !== 'off'
const isSlow = (change: Change): boolean => change.to === 'slow'
const isBack = (change: Change): boolean => change.to === 'on'

function firstAfter(moment: (run: Run) => number, match: (change: Change) => boolean) {
  return (run: Run): number | undefined => {
    const from = moment(run)
    const found = changesOf(run, match).find(({ at }) => at >= from)
    return found === undefined ? undefined : (found.at - from) / 1_000
  }
}

const atFault = ({ fault }: Run): number => fault.from
const atRecovery = ({ fault }: Run): number => fault.to

/** Zero where the channel had never been taken out of use: then there is nothing to return from. */
function secondsToReturn(run: Run): number | undefined {
  const before = changesOf(run, ({ at }) => at < run.fault.to).at(-1)
  if (before === undefined || before.to === 'on') return undefined
  return firstAfter(atRecovery, isBack)(run)
}

// --- what is accepted -----------------------------------------------------------------------------

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor((sorted.length - 1) / 2)]
}

function known(values: Values['values']): readonly number[] {
  return values.filter((value) => value !== undefined)
}

function meanAtMost(most: number) {
  return ({ values }: Values): string | undefined => {
    const found = mean(known(values))
    return found <= most ? undefined : `${found} on average, at most ${most} is accepted`
  }
}

/** Rare events: less than a day was run where the volume is short, so one is always forgiven. */
function perDayAtMost(most: number) {
  return ({ values, days }: Values): string | undefined => {
    const total = known(values).reduce((sum, value) => sum + value, 0)
    const allowed = days < 3 ? Math.max(1, most * days) : most * days
    return total <= allowed ? undefined : `${total} in ${days} days, ${most} a day are accepted`
  }
}

interface Within {
  readonly medianMost?: number
  readonly worstMost?: number
  readonly at?: readonly number[]
  readonly mustHappen?: boolean
}

function within({ medianMost, worstMost, at, mustHappen }: Within) {
  return ({ load, values }: Values): string | undefined => {
    if (at !== undefined && !at.includes(load)) return undefined
    const seen = known(values)
    if (mustHappen === true && seen.length < values.length) return 'it did not happen in every run'
    const middle = median(seen)
    if (medianMost !== undefined && middle !== undefined && middle > medianMost)
      return `median ${middle}, at most ${medianMost} is accepted`
    const worst = Math.max(0, ...seen)
    if (worstMost !== undefined && worst > worstMost)
      return `worst ${worst}, at most ${worstMost} is accepted`
    return undefined
  }
}

/** Every failure a client saw must be one of the reserve's own everyday ones. */
export const clientFailures: Measure = {
  title: 'failures seen by clients that the channels’ own error rate does not explain',
  accepted: '0',
  value: ({ record }) => record.unexplainedFailures,
  summary: 'mean',
  complain: meanAtMost(0),
}

function offs(title: string, accepted: string, complain: Measure['complain']): Measure {
  return { title, accepted, value: countOf(isOff), summary: 'mean', complain }
}

function offsPerDay(most: number): Measure {
  return {
    title: 'switched off, per day',
    accepted: `≤ ${most}`,
    value: countOf(isOff),
    summary: 'perDay',
    complain: perDayAtMost(most),
  }
}

// --- the scenarios --------------------------------------------------------------------------------

export const scenarios: readonly Scenario[] = [
  {
    id: 'calm',
    title: 'A calm day, 1 % errors',
    isDay: true,
    faultMs: dayMs,
    afterMs: 0,
    main: () => steady(),
    measures: [
      offsPerDay(0.1),
      {
        title: 'slow, per day',
        accepted: '≤ 0.3',
        value: countOf(isSlow),
        summary: 'perDay',
        complain: perDayAtMost(0.3),
      },
    ],
  },
  {
    id: 'errors-5',
    title: 'A calm day, 5 % errors',
    isDay: true,
    faultMs: dayMs,
    afterMs: 0,
    main: () => steady({ errorRate: 0.05 }),
    measures: [offsPerDay(2)],
  },
  {
    id: 'outage',
    title: 'Outage of 10 minutes',
    faultMs: 10 * minuteMs,
    afterMs: 30 * minuteMs,
    main: (fault) => during(fault, { errorRate: 1 }),
    measures: [
      {
        title: 'seconds until off',
        accepted: 'always, ≤ 630',
        value: firstAfter(atFault, isOff),
        summary: 'medianAndWorst',
        complain: within({ worstMost: 630, mustHappen: true }),
      },
      {
        title: 'requests that failed there until off',
        accepted: 'median ≤ 6',
        value: failedUntilOff,
        summary: 'medianAndWorst',
        complain: within({ medianMost: 6 }),
      },
      {
        title: 'seconds until all traffic is back',
        accepted: 'median ≤ 300',
        value: secondsToReturn,
        summary: 'medianAndWorst',
        complain: within({ medianMost: 300, mustHappen: true }),
      },
      offs('times switched off', '1', meanAtMost(1)),
      {
        title: 'probes a minute, at most',
        accepted: '≤ 12',
        value: ({ record }) => record.probesPerMinuteMax,
        summary: 'medianAndWorst',
        complain: within({ worstMost: 12 }),
      },
    ],
  },
  {
    id: 'errors-30',
    title: '30 % errors for 30 minutes',
    faultMs: 30 * minuteMs,
    afterMs: 30 * minuteMs,
    main: (fault) => during(fault, { errorRate: 0.3 }),
    measures: [
      {
        title: 'seconds until off',
        accepted: 'median ≤ 120 at 2/s',
        value: firstAfter(atFault, isOff),
        summary: 'medianAndWorst',
        complain: within({ medianMost: 120, at: [2] }),
      },
      offs('times switched off', '≤ 7', meanAtMost(7)),
    ],
  },
  {
    id: 'flapping',
    title: '20 s up, 20 s down, for an hour',
    faultMs: hourMs,
    afterMs: 20 * minuteMs,
    main: (fault) => flapping(fault, 20_000),
    measures: [offs('times switched off', '≤ 3', meanAtMost(3))],
  },
  {
    id: 'latency-3',
    title: '3 × latency for 30 minutes',
    faultMs: 30 * minuteMs,
    afterMs: hourMs,
    main: (fault) => during(fault, { latencyFactor: 3 }),
    measures: [
      {
        title: 'seconds until its traffic moves',
        accepted: 'median ≤ 90 at 2/s',
        value: firstAfter(atFault, isSlow),
        summary: 'medianAndWorst',
        complain: within({ medianMost: 90, at: [2, 10] }),
      },
      {
        title: 'seconds until all traffic is back',
        accepted: 'median ≤ 300 at 2/s',
        value: secondsToReturn,
        summary: 'medianAndWorst',
        complain: within({ medianMost: 300, at: [2, 10] }),
      },
    ],
  },
  {
    id: 'latency-2',
    title: '2 × latency for 30 minutes',
    faultMs: 30 * minuteMs,
    afterMs: 30 * minuteMs,
    main: (fault) => during(fault, { latencyFactor: 2 }),
    measures: [
      {
        title: 'times its traffic moves',
        accepted: '≤ 4',
        value: countOf(isSlow),
        summary: 'mean',
        complain: meanAtMost(4),
      },
    ],
  },
  {
    id: 'latency-3-both',
    title: '3 × latency on both channels for 30 minutes',
    faultMs: 30 * minuteMs,
    afterMs: 30 * minuteMs,
    main: (fault) => during(fault, { latencyFactor: 3 }),
    reserve: (fault) => during(fault, { latencyFactor: 3 }),
    measures: [
      {
        title: 'times its traffic moves',
        accepted: '≤ 0.5',
        value: countOf(isSlow),
        summary: 'mean',
        complain: meanAtMost(0.5),
      },
    ],
  },
  {
    id: 'failing-key',
    title: 'One of three keys always fails, for 6 hours',
    faultMs: 6 * hourMs,
    afterMs: 0,
    keyCount: 3,
    main: (fault) => during(fault, { failingKeys: new Set(['key-0']), errorRate: 0.01 }),
    measures: [offs('times switched off', '≤ 0.2', meanAtMost(0.2))],
  },
]

function failedUntilOff(run: Run): number | undefined {
  return run.record.failedUntilFirstOff
}

// --- running --------------------------------------------------------------------------------------

/** Long enough for a baseline of the channel's own, whatever the load. */
function warmUpMs(load: number): number {
  return Math.max(10 * minuteMs, 200_000 / load)
}

export function runScenario(
  scenario: Scenario,
  { load, seed, faultMs }: { readonly load: number; readonly seed: number; faultMs?: number },
): Run {
  const from = warmUpMs(load)
  const fault = { from, to: from + (faultMs ?? scenario.faultMs) }
  const world = new World({
    channels: [
      { name: 'main', rank: 0, script: scenario.main(fault) },
      { name: 'reserve', rank: 1, script: scenario.reserve?.(fault) ?? steady() },
    ],
    requestsPerSecond: load,
    keyCount: scenario.keyCount ?? 20,
    durationMs: fault.to + scenario.afterMs,
    seed,
    countFailuresFrom: fault.from,
  })
  return { record: world.run(), fault, seed }
}
