/** Summarizes the rounds of a run: one row per table line, with medians and the spread of the CPU cost. */
import type { Figures, HealthRound, RequestRound, StreamRound } from '../measure/figures.ts'
import { median } from '../measure/statistics.ts'

export interface RequestSummary {
  readonly proxy: RequestRound['proxy']
  readonly name: string
  readonly connections: number
  readonly isFree: boolean
  readonly cpuUs: number
  readonly cpuUsLowest: number
  readonly cpuUsHighest: number
  readonly busiestThreadUs: number
  readonly requestsPerSecond: number
  readonly coreShare: number
  readonly p50Us: number
  readonly p99Us: number
  readonly failures: number
}

export interface StreamSummary {
  readonly proxy: StreamRound['proxy']
  readonly streams: number
  readonly cpuUs: number
  readonly eventsPerSecond: number
  readonly coreShare: number
  readonly delayP50Us: number
  readonly delayP99Us: number
  readonly firstByteP50Us: number
  readonly firstByteP99Us: number
  readonly kilobytesPerStream: number
  readonly slips: number
}

export interface HealthSummary {
  readonly proxy: HealthRound['proxy']
  readonly streams: number
  readonly p50Us: number
  readonly p99Us: number
  readonly highestUs: number
}

export interface Summary {
  readonly requests: readonly RequestSummary[]
  readonly streams: readonly StreamSummary[]
  readonly health: readonly HealthSummary[]
}

export function summarize(figures: Figures): Summary {
  return {
    requests: groupBy(figures.requests, (round) => `${round.connections} ${round.name}`).map(
      summarizeRequests,
    ),
    streams: groupBy(figures.streams, (round) => `${round.streams} ${round.proxy}`).map(
      summarizeStreams,
    ),
    health: groupBy(figures.health, (round) => `${round.streams} ${round.proxy}`).map(
      summarizeHealth,
    ),
  }
}

type Group<Item> = readonly [Item, ...Item[]]

/** Returns groups in the order of their first item. */
function groupBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): readonly Group<Item>[] {
  const groups = new Map<string, [Item, ...Item[]]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return [...groups.values()]
}

function middle<Item>(group: Group<Item>, valueOf: (item: Item) => number): number {
  return median(group.map(valueOf))
}

function summarizeRequests(group: Group<RequestRound>): RequestSummary {
  const costs = group.map((round) => round.cpuUsPerRequest)
  const [{ proxy, name, connections, isFree }] = group
  return {
    proxy,
    name,
    connections,
    isFree,
    cpuUs: median(costs),
    cpuUsLowest: Math.min(...costs),
    cpuUsHighest: Math.max(...costs),
    busiestThreadUs: middle(group, (round) => round.busiestThreadUsPerRequest),
    requestsPerSecond: middle(group, (round) => round.requestsPerSecond),
    coreShare: middle(group, (round) => round.coreShare),
    p50Us: middle(group, (round) => round.p50Us),
    p99Us: middle(group, (round) => round.p99Us),
    failures: group.reduce((sum, round) => sum + round.failures, 0),
  }
}

function summarizeStreams(group: Group<StreamRound>): StreamSummary {
  const [{ proxy, streams }] = group
  const memory = group.map((round) => round.residentBytesPerStream)
  return {
    proxy,
    streams,
    cpuUs: middle(group, (round) => round.cpuUsPerEvent),
    eventsPerSecond: middle(group, (round) => round.eventsPerSecond),
    coreShare: middle(group, (round) => round.coreShare),
    delayP50Us: middle(group, (round) => round.delayP50Us),
    delayP99Us: middle(group, (round) => round.delayP99Us),
    firstByteP50Us: middle(group, (round) => round.firstByteP50Us),
    firstByteP99Us: middle(group, (round) => round.firstByteP99Us),
    // The highest, because a process keeps the memory that it has allocated.
    kilobytesPerStream: Math.max(...memory) / 1024,
    slips: group.reduce((sum, round) => sum + round.slips, 0),
  }
}

function summarizeHealth(group: Group<HealthRound>): HealthSummary {
  const [{ proxy, streams }] = group
  return {
    proxy,
    streams,
    p50Us: middle(group, (round) => round.p50Us),
    p99Us: middle(group, (round) => round.p99Us),
    highestUs: Math.max(...group.map((round) => round.highestUs)),
  }
}
