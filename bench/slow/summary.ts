/** Summarizes the rounds of the measurements with a slow vendor: one row for each load and target. */
import { median } from '../measure/statistics.ts'
import type { SlowRound } from './figures.ts'

export interface SlowRow extends Pick<
  SlowRound,
  'part' | 'load' | 'target' | 'title' | 'ratePerSecond'
> {
  readonly requestsPerSecond: number
  readonly eventsPerSecond: number
  /** Of all threads and of the store's processes; of a request, or of an event of a stream. */
  readonly cpuUs: number
  readonly cpuUsLowest: number
  readonly cpuUsHighest: number
  readonly storeCpuUs: number
  /** This row's CPU divided by that of nginx under the same load. */
  readonly cpuRatio: number
  /** What the proxy adds to the time of the load alone. */
  readonly firstAddedP50Ms: number
  readonly firstAddedP99Ms: number
  readonly lastAddedP50Ms: number
  readonly lastAddedP99Ms: number
  readonly commitsPerRequest: number
  readonly failures: number
  readonly slips: number
}

type Group = readonly [SlowRound, ...SlowRound[]]

/** Returns rows in the order of their first round. */
export function summarizeSlow(rounds: readonly SlowRound[]): readonly SlowRow[] {
  const keyOf = ({ part, load, target }: SlowRound): string => [part, load, target].join(' ')
  const groups = new Map<string, [SlowRound, ...SlowRound[]]>()
  for (const round of rounds) {
    const group = groups.get(keyOf(round))
    if (group === undefined) groups.set(keyOf(round), [round])
    else group.push(round)
  }
  const find = (like: SlowRound, target: SlowRound['target']) =>
    groups.get(keyOf({ ...like, target }))
  return [...groups.values()].map((group) =>
    summarizeGroup(group, find(group[0], 'none'), find(group[0], 'nginx')),
  )
}

function summarizeGroup(group: Group, alone: Group | undefined, nginx: Group | undefined): SlowRow {
  const [{ part, load, target, title, ratePerSecond }] = group
  const costs = group.map(costOf)
  const added = (valueOf: (round: SlowRound) => number): number =>
    (middle(group, valueOf) - middle(alone, valueOf)) / 1_000
  return {
    part,
    load,
    target,
    title,
    ratePerSecond,
    requestsPerSecond: middle(group, (round) => round.requests / (round.durationUs / 1e6)),
    eventsPerSecond: middle(group, (round) => round.events / (round.durationUs / 1e6)),
    cpuUs: median(costs),
    cpuUsLowest: Math.min(...costs),
    cpuUsHighest: Math.max(...costs),
    storeCpuUs: middle(group, (round) => round.storeCpuUs / unitsOf(round)),
    cpuRatio: median(costs) / middle(nginx, costOf),
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
function unitsOf({ events, requests }: SlowRound): number {
  return events > 0 ? events : requests
}

function costOf(round: SlowRound): number {
  return (round.proxyCpuUs + round.storeCpuUs) / unitsOf(round)
}

function middle(group: Group | undefined, valueOf: (round: SlowRound) => number): number {
  return median((group ?? []).map(valueOf))
}

function sum(group: Group, valueOf: (round: SlowRound) => number): number {
  return group.reduce((total, round) => total + valueOf(round), 0)
}

export interface PerCore {
  readonly target: SlowRow['target']
  readonly title: string
  readonly requestsPerCore: number
}

/** The rate of which all peers are shown that can do it; the others at the highest that they can. */
const comparedRate = 2_000

/** Returns how many requests with slow answers one core serves by each proxy, by its CPU time for one. */
export function compareCores(rows: readonly SlowRow[]): readonly PerCore[] {
  const slow = rows.filter(({ part, target }) => part === 'slow' && target !== 'none')
  return [...new Set(slow.map(({ target }) => target))].flatMap((target) => {
    const [best] = slow
      .filter((row) => row.target === target && row.ratePerSecond <= comparedRate)
      .toSorted((left, right) => right.ratePerSecond - left.ratePerSecond)
    if (best === undefined) return []
    return [{ target, title: best.title, requestsPerCore: 1e6 / best.cpuUs }]
  })
}
