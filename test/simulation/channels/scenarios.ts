/**
 * The scenarios every version of the health machine is measured by: two channels, one node, what
 * happens to the main channel. `scenarios-beyond.ts` has those with more of each.
 */
import {
  countOf,
  isOff,
  isSlow,
  meanAtMost,
  offs,
  offsPerDay,
  perDayAtMost,
  secondsToReturn,
  secondsUntil,
  within,
} from './measures.ts'
import type { Scenario } from './scenario.ts'
import { during, flapping, steady } from './vendor-model.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

export const tableScenarios: readonly Scenario[] = [
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
        value: secondsUntil(isOff),
        summary: 'medianAndWorst',
        complain: within({ worstMost: 630, mustHappen: true }),
      },
      {
        title: 'requests that failed there until off',
        accepted: 'median ≤ 6',
        value: ({ record }) => record.failedUntilFirstOff,
        summary: 'medianAndWorst',
        complain: within({ medianMost: 6 }),
      },
      {
        title: 'seconds until all traffic is back',
        accepted: 'median ≤ 300',
        value: secondsToReturn(),
        summary: 'medianAndWorst',
        complain: within({ medianMost: 300, mustHappen: true }),
      },
      offs({ title: 'times switched off', accepted: '1', complain: meanAtMost(1) }),
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
        value: secondsUntil(isOff),
        summary: 'medianAndWorst',
        complain: within({ medianMost: 120, at: [2] }),
      },
      offs({ title: 'times switched off', accepted: '≤ 7', complain: meanAtMost(7) }),
    ],
  },
  {
    id: 'flapping',
    title: '20 s up, 20 s down, for an hour',
    faultMs: hourMs,
    afterMs: 20 * minuteMs,
    main: (fault) => flapping(fault, 20_000),
    measures: [offs({ title: 'times switched off', accepted: '≤ 3', complain: meanAtMost(3) })],
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
        value: secondsUntil(isSlow),
        summary: 'medianAndWorst',
        complain: within({ medianMost: 90, at: [2, 10] }),
      },
      {
        title: 'seconds until all traffic is back',
        accepted: 'median ≤ 300 at 2/s',
        value: secondsToReturn(),
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
    measures: [offs({ title: 'times switched off', accepted: '≤ 0.2', complain: meanAtMost(0.2) })],
  },
]
