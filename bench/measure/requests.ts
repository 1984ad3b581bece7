/**
 * Requests and their cost: the same load tool against one proxy after the other, in rounds whose
 * order changes, so that whatever else the machine does meets all of them alike.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { models } from '../exchanges.ts'
import type { RequestPlan } from '../options.ts'
import { readServedCount } from '../proxies/nginx.ts'
import type { Bench, Proxy, RequestCase } from '../proxies/proxy.ts'
import type { RequestRound } from './figures.ts'
import { findProcessTree, readThreadTimes, usedBetween } from './process-cost.ts'
import type { ServedBook } from './served.ts'
import { afterglowMs, runWrk } from './wrk.ts'

export async function measureRequests(
  bench: Bench,
  proxies: readonly Proxy[],
  plan: RequestPlan,
  book: ServedBook,
): Promise<readonly RequestRound[]> {
  const cases = proxies.flatMap((proxy) => proxy.requests.map((given) => ({ proxy, given })))
  const rounds: RequestRound[] = []
  for (const connections of plan.connections) {
    for (let round = -1; round < plan.rounds; round++) {
      const seconds = round < 0 ? plan.warmUpSeconds : plan.seconds
      for (const { proxy, given } of rotate(cases, round)) {
        const measured = await runLoad(bench, { proxy, given, connections, seconds }, book)
        if (round >= 0) rounds.push(measured)
      }
    }
  }
  return rounds
}

/** The same items, beginning with another one each round. */
export function rotate<Item>(items: readonly Item[], round: number): readonly Item[] {
  const start = items.length === 0 ? 0 : Math.max(0, round) % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}

interface Load {
  readonly proxy: Proxy
  readonly given: RequestCase
  readonly connections: number
  readonly seconds: number
}

async function runLoad(bench: Bench, load: Load, book: ServedBook): Promise<RequestRound> {
  const { proxy, given, connections, seconds } = load
  const pids = findProcessTree(proxy.process.pid)
  const servedBefore = await readServedCount(bench.jsonPort)
  const timesBefore = readThreadTimes(pids)
  const result = await runWrk(bench, {
    ports: [proxy.port],
    path: given.path,
    format: given.format,
    headers: given.headers,
    connections,
    seconds,
  })
  const cpu = usedBetween(timesBefore, readThreadTimes(pids))
  // What was under way when the load ended is answered meanwhile. Asking is counted itself.
  await delay(afterglowMs)
  const answered = (await readServedCount(bench.jsonPort)) - servedBefore - 1
  const failures = result.badStatus + result.socketErrors
  if (failures * 100 > result.requests || result.requests === 0) {
    throw new Error(`${given.name}: ${failures} of ${result.requests} requests failed`)
  }
  const isFree = given.isFree === true
  if (proxy.name === 'turnpike' && !isFree) {
    const complete = result.requests - result.badStatus
    book.add(models[given.format], { complete, answered, outputTokens: 0 })
  }
  return {
    proxy: proxy.name,
    name: given.name,
    connections,
    isFree,
    requests: result.requests,
    failures,
    cpuUsPerRequest: cpu.totalUs / result.requests,
    busiestThreadUsPerRequest: cpu.busiestThreadUs / result.requests,
    requestsPerSecond: result.requests / (result.durationUs / 1e6),
    coreShare: cpu.totalUs / result.durationUs,
    p50Us: result.p50Us,
    p99Us: result.p99Us,
  }
}
