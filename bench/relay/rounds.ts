/** The figures of the relay, as `bench/results/` keeps them, and one row of medians for each. */
import type { Machine } from '../machine.ts'
import type { MoneyLine } from '../measure/served.ts'
import { median } from '../measure/statistics.ts'
import type { Plan, RelayPartName } from '../options.ts'

/** One load through one target, once. */
export interface Round {
  readonly part: RelayPartName
  readonly load: string
  /** `none` without a proxy. */
  readonly target: string
  readonly title: string
  /** Requests or streams that were begun each second; infinite where they follow each other. */
  readonly ratePerSecond: number
  readonly durationUs: number
  /** Answered in the measured window. */
  readonly requests: number
  readonly events: number
  readonly failures: number
  /** Of all threads of the target, and of the store's own processes. */
  readonly targetCpuUs: number
  readonly storeCpuUs: number
  /** Writing transactions of the store; NaN without one. */
  readonly transactions: number
  readonly firstP50Us: number
  readonly firstP99Us: number
  readonly lastP50Us: number
  readonly lastP99Us: number
  /** Writes of the benchmark's own vendor that were late; a row with many is worthless. */
  readonly slips: number
}

/** A target at rest, with streams that have nearly nothing to do, and after them. */
export interface IdleRound {
  readonly target: string
  readonly title: string
  readonly streams: number
  readonly restBytes: number
  /** Milliseconds of CPU in each second. */
  readonly restCpuMs: number
  /** NaN where the target relays no such streams. */
  readonly runningBytes: number
  readonly afterBytes: number
}

export interface RelayFigures {
  readonly machine: Machine
  readonly mode: Plan['mode']
  readonly roundCount: number
  readonly postgres: string | undefined
  readonly rounds: readonly Round[]
  readonly idle: readonly IdleRound[]
  readonly money: readonly MoneyLine[]
}

export interface Row extends Pick<Round, 'part' | 'load' | 'target' | 'title' | 'ratePerSecond'> {
  readonly requestsPerSecond: number
  readonly eventsPerSecond: number
  /** Of all threads and of the store's processes; of a request, or of an event of a stream. */
  readonly cpuUs: number
  readonly cpuUsLowest: number
  readonly cpuUsHighest: number
  readonly storeCpuUs: number
  /** This row's CPU divided by that of nginx, and of the lean relay, under the same load. */
  readonly cpuRatio: number
  readonly leanRatio: number
  /** What the target adds to the time of the load alone. */
  readonly firstAddedP50Ms: number
  readonly firstAddedP99Ms: number
  readonly lastAddedP50Ms: number
  readonly lastAddedP99Ms: number
  readonly commitsPerRequest: number
  readonly failures: number
  readonly slips: number
}

type Group = readonly Round[]

/** Returns rows in the order of their first round. */
export function summarize(rounds: readonly Round[]): readonly Row[] {
  const keyOf = ({ part, load, target }: Round): string => [part, load, target].join(' ')
  const groups = Map.groupBy(rounds, keyOf)
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const find = (target: string): Group => groups.get(keyOf({ ...first, target })) ?? []
    return [{ ...first, ...summarizeGroup(group, find) }]
  })
}

function summarizeGroup(
  group: Group,
  find: (target: string) => Group,
): Omit<Row, 'part' | 'load' | 'target' | 'title' | 'ratePerSecond'> {
  const costs = group.map(costOf)
  const alone = find('none')
  const added = (valueOf: (round: Round) => number): number =>
    (middle(group, valueOf) - middle(alone, valueOf)) / 1_000
  return {
    requestsPerSecond: middle(group, (round) => round.requests / (round.durationUs / 1e6)),
    eventsPerSecond: middle(group, (round) => round.events / (round.durationUs / 1e6)),
    cpuUs: median(costs),
    cpuUsLowest: Math.min(...costs),
    cpuUsHighest: Math.max(...costs),
    storeCpuUs: middle(group, (round) => round.storeCpuUs / unitsOf(round)),
    cpuRatio: median(costs) / middle(find('nginx'), costOf),
    leanRatio: median(costs) / middle(find('lean'), costOf),
    firstAddedP50Ms: added((round) => round.firstP50Us),
    firstAddedP99Ms: added((round) => round.firstP99Us),
    lastAddedP50Ms: added((round) => round.lastP50Us),
    lastAddedP99Ms: added((round) => round.lastP99Us),
    commitsPerRequest: middle(group, (round) => round.transactions / round.requests),
    failures: sum(group, (round) => round.failures),
    slips: sum(group, (round) => round.slips),
  }
}

/** Events of streams, else requests. */
function unitsOf({ events, requests }: Round): number {
  return events > 0 ? events : requests
}

function costOf(round: Round): number {
  return (round.targetCpuUs + round.storeCpuUs) / unitsOf(round)
}

function middle(group: Group, valueOf: (round: Round) => number): number {
  return median(group.map(valueOf))
}

function sum(group: Group, valueOf: (round: Round) => number): number {
  return group.reduce((total, round) => total + valueOf(round), 0)
}

export interface PerCore {
  readonly target: string
  readonly title: string
  readonly requestsPerCore: number
}

/** The rate of which all peers are shown that can do it; the others at the highest that they can. */
const comparedRate = 2_000

/** Returns how many requests with slow answers one core serves by each target, by its CPU time for one. */
export function compareCores(rows: readonly Row[]): readonly PerCore[] {
  const slow = rows.filter(({ part, target }) => part === 'slow' && target !== 'none')
  return [...new Set(slow.map(({ target }) => target))].flatMap((target) => {
    const [best] = slow
      .filter((row) => row.target === target && row.ratePerSecond <= comparedRate)
      .toSorted((left, right) => right.ratePerSecond - left.ratePerSecond)
    if (best === undefined) return []
    return [{ target, title: best.title, requestsPerCore: 1e6 / best.cpuUs }]
  })
}
