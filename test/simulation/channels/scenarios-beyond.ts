/**
 * What the table of one main channel, one reserve and one node does not cover: rests after 429, all
 * channels dead (the token buckets), three ranks, two nodes that share nothing but what they publish.
 */
import {
  isOff,
  meanAtMost,
  offs,
  secondsToReturn,
  secondsUntil,
  within,
  type Measure,
  type Run,
} from './measures.ts'
import type { Scenario } from './scenario.ts'
import { during, onNode, steady } from './vendor-model.ts'
import type { WorldRecord } from './world.ts'

const minuteMs = 60_000
const tenMinutes = 10 * minuteMs

function attemptsOf({ watchedAttempts }: WorldRecord): number {
  return [...watchedAttempts.values()].reduce((sum, count) => sum + count, 0)
}

/** Attempts beyond one for each request, in each minute of the fault. */
function inVainPerMinute({ record, fault }: Run): number {
  const extra = attemptsOf(record) - record.watchedExchanges
  return extra / ((fault.to - fault.from) / minuteMs)
}

function metPerMinute(most: number): Measure {
  return {
    title: 'requests that met it, a minute',
    accepted: `≤ ${most}`,
    value: inVainPerMinute,
    summary: 'mean',
    complain: meanAtMost(most),
  }
}

function servedAgain(most: number): Measure {
  return {
    title: 'seconds until it serves again',
    accepted: `median ≤ ${most} from 2/s on`,
    value: ({ record, fault }) =>
      record.mainServedAgainAt === undefined
        ? undefined
        : (record.mainServedAgainAt - fault.to) / 1_000,
    summary: 'medianAndWorst',
    complain: within({ medianMost: most, at: [2, 10] }),
  }
}

const neverOff = offs({ title: 'times switched off', accepted: '0', complain: meanAtMost(0) })

const allBack: Measure = {
  title: 'seconds until all traffic is back',
  accepted: 'median ≤ 300',
  value: secondsToReturn(),
  summary: 'medianAndWorst',
  complain: within({ medianMost: 300, mustHappen: true }),
}

function shareServedBy(channel: string, accepted: Accepted): Measure {
  const { least, most } = accepted
  return {
    title: `share of the requests that ${channel} serves`,
    accepted: `${least} to ${most} from 2/s on`,
    value: ({ record }) => (record.watchedServed.get(channel) ?? 0) / record.watchedExchanges,
    summary: 'mean',
    complain({ load, values }) {
      const wrong = values.filter((value) => value === undefined || value < least || value > most)
      return load < 2 || wrong.length === 0 ? undefined : `${wrong.join(', ')} of the requests`
    },
  }
}

interface Accepted {
  readonly least: number
  readonly most: number
}

/** On an idle node nothing but the other's word tells of the outage. */
function secondsBetweenNodes(run: Run): number | undefined {
  const [first, second] = [0, 1].map((node) => secondsUntil(isOff, { node })(run))
  return first === undefined || second === undefined ? undefined : Math.abs(first - second)
}

export const scenariosBeyond: readonly Scenario[] = [
  {
    id: 'throttle',
    title: '429 for 10 minutes, retry-after 30 s',
    faultMs: tenMinutes,
    afterMs: tenMinutes,
    main: (fault) => during(fault, { throttle: { retryAfterMs: 30_000 } }),
    measures: [neverOff, metPerMinute(10), servedAgain(30)],
  },
  {
    id: 'throttle-unasked',
    title: '429 for 10 minutes, no time named',
    faultMs: tenMinutes,
    afterMs: tenMinutes,
    main: (fault) => during(fault, { throttle: { retryAfterMs: undefined } }),
    measures: [neverOff, metPerMinute(40), servedAgain(6)],
  },
  {
    id: 'all-dead',
    title: 'Both channels dead for 10 minutes',
    faultMs: tenMinutes,
    afterMs: 20 * minuteMs,
    isServedThroughout: false,
    main: (fault) => during(fault, { errorRate: 1 }),
    reserve: (fault) => during(fault, { errorRate: 1 }),
    measures: [
      {
        title: 'attempts for each request',
        accepted: '≤ 1.2 from 2/s on',
        value: ({ record }) => attemptsOf(record) / record.watchedExchanges,
        summary: 'medianAndWorst',
        complain: within({ worstMost: 1.2, at: [2, 10] }),
      },
      {
        title: 'requests refused without an attempt',
        accepted: '0',
        value: ({ record }) => record.refusedExchanges,
        summary: 'mean',
        complain: meanAtMost(0),
      },
      allBack,
    ],
  },
  {
    id: 'reserve-dead',
    title: 'Reserve dead, 15 % errors on the main channel, for 10 minutes',
    faultMs: tenMinutes,
    afterMs: 20 * minuteMs,
    isServedThroughout: false,
    main: (fault) => during(fault, { errorRate: 0.15 }),
    reserve: (fault) => during(fault, { errorRate: 1 }),
    measures: [
      {
        title: 'attempts on the reserve, a second',
        accepted: '≤ 0.35',
        value: ({ record }) => (record.watchedAttempts.get('reserve') ?? 0) / (tenMinutes / 1_000),
        summary: 'medianAndWorst',
        complain: within({ worstMost: 0.35 }),
      },
      {
        title: 'requests refused without an attempt',
        accepted: '0',
        value: ({ record }) => record.refusedExchanges,
        summary: 'mean',
        complain: meanAtMost(0),
      },
    ],
  },
  {
    id: 'three-ranks',
    title: 'Three ranks: the first dead for 10 minutes, the second for the last 7',
    faultMs: tenMinutes,
    afterMs: 20 * minuteMs,
    main: (fault) => during(fault, { errorRate: 1 }),
    reserve: ({ from, to }) => during({ from: from + 3 * minuteMs, to }, { errorRate: 1 }),
    others: () => [{ name: 'last', rank: 2, script: steady() }],
    measures: [
      offs({ title: 'times the first is switched off', accepted: '1', complain: meanAtMost(1) }),
      offs({
        title: 'times the second is switched off',
        accepted: '≤ 1',
        complain: meanAtMost(1),
        whose: { channel: 'reserve' },
      }),
      shareServedBy('last', { least: 0.6, most: 0.75 }),
      allBack,
    ],
  },
  {
    id: 'two-nodes',
    title: 'Two nodes, one with a tenth of the traffic; outage of 10 minutes',
    faultMs: tenMinutes,
    afterMs: 30 * minuteMs,
    nodeCount: 2,
    firstNodeShare: 0.9,
    main: (fault) => during(fault, { errorRate: 1 }),
    measures: [
      {
        title: 'seconds until off on the first',
        accepted: 'always, ≤ 630',
        value: secondsUntil(isOff),
        summary: 'medianAndWorst',
        complain: within({ worstMost: 630, mustHappen: true }),
      },
      {
        title: 'seconds from there until off on the other',
        accepted: 'always, ≤ 20',
        value: secondsBetweenNodes,
        summary: 'medianAndWorst',
        complain: within({ worstMost: 20, mustHappen: true }),
      },
      offs({
        title: 'times switched off, on both together',
        accepted: '2',
        complain: meanAtMost(2),
      }),
      {
        title: 'seconds until all traffic of the busy one is back',
        accepted: 'median ≤ 300',
        value: secondsToReturn({ node: 0 }),
        summary: 'medianAndWorst',
        complain: within({ medianMost: 300, mustHappen: true }),
      },
      {
        title: 'seconds until all traffic of the quiet one is back',
        accepted: 'median ≤ 300',
        value: secondsToReturn({ node: 1 }),
        summary: 'medianAndWorst',
        complain: within({ medianMost: 300, mustHappen: true }),
      },
      {
        title: 'probes a minute, at most, of both together',
        accepted: '≤ 15',
        value: ({ record }) => record.probesPerMinuteMax,
        summary: 'medianAndWorst',
        complain: within({ worstMost: 15 }),
      },
    ],
  },
  {
    id: 'one-node-cut-off',
    title: 'Two nodes, one of which cannot reach the main channel for 10 minutes',
    faultMs: tenMinutes,
    afterMs: 30 * minuteMs,
    nodeCount: 2,
    main: (fault) => onNode(0, during(fault, { errorRate: 1 }), steady()),
    measures: [
      offs({
        title: 'times switched off where it cannot be reached',
        accepted: '1',
        complain: meanAtMost(1),
        whose: { node: 0 },
      }),
      offs({
        title: 'times switched off on the other',
        accepted: '0',
        complain: meanAtMost(0),
        whose: { node: 1 },
      }),
      allBack,
    ],
  },
]
