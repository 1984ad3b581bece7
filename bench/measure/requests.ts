/**
 * Measures requests and their cost: the same load tool against one proxy after the other. The order changes
 * with each round, so that other load on the machine affects all proxies alike.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { type FormatName, models, requestBodies } from '../exchanges.ts'
import type { RequestPlan } from '../options.ts'
import { readServedCount } from '../proxies/nginx.ts'
import type { Bench, Proxy, RequestCase } from '../proxies/proxy.ts'
import type { RequestRound } from './figures.ts'
import { findProcessTree, readThreadTimes, usedBetween } from './process-cost.ts'
import type { ServedCounts } from './served.ts'

export async function measureRequests(
  bench: Bench,
  proxies: readonly Proxy[],
  plan: RequestPlan,
  served: ServedCounts,
): Promise<readonly RequestRound[]> {
  const cases = proxies.flatMap((proxy) => proxy.requests.map((given) => ({ proxy, given })))
  const rounds: RequestRound[] = []
  for (const connections of plan.connections) {
    for (let round = -1; round < plan.rounds; round++) {
      const seconds = round < 0 ? plan.warmUpSeconds : plan.seconds
      for (const { proxy, given } of rotate(cases, round)) {
        const measured = await runLoad(bench, { proxy, given, connections, seconds }, served)
        if (round >= 0) rounds.push(measured)
      }
    }
  }
  return rounds
}

/** Returns the same items, starting with another one each round. */
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

async function runLoad(bench: Bench, load: Load, served: ServedCounts): Promise<RequestRound> {
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
  // The upstream still answers the requests that were running at the end. The count includes this query.
  await delay(lateAnswersMs)
  const answered = (await readServedCount(bench.jsonPort)) - servedBefore - 1
  const failures = result.badStatus + result.socketErrors
  if (failures * 100 > result.requests || result.requests === 0) {
    throw new Error(`${given.name}: ${failures} of ${result.requests} requests failed`)
  }
  const isFree = given.isFree === true
  if (proxy.name === 'turnpike' && !isFree) {
    const complete = result.requests - result.badStatus
    served.add(models[given.format], { complete, answered, outputTokens: 0 })
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

/** The longest time from the end of the load to the last answer. */
export const lateAnswersMs = 200

const wrkResult = z.object({
  requests: z.number(),
  durationUs: z.number(),
  bytes: z.number(),
  badStatus: z.number(),
  socketErrors: z.number(),
  p50Us: z.number(),
  p99Us: z.number(),
})

export type WrkResult = z.infer<typeof wrkResult>

export interface WrkLoad {
  /** The ports share the connections equally; with fewer connections than ports, the first get one. */
  readonly ports: readonly [number, ...number[]]
  readonly path: string
  readonly format: FormatName
  readonly headers: Readonly<Record<string, string>>
  /** A file with one key per line; the requests use them in turn. */
  readonly keysPath?: string
  readonly connections: number
  readonly seconds: number
}

export async function runWrk(bench: Bench, load: WrkLoad): Promise<WrkResult> {
  const { path, format, headers, keysPath, connections, seconds } = load
  const ports = load.ports.slice(0, connections)
  const script = join(bench.root, 'bench', 'programs', 'post.lua')
  const options = `-t${ports.length} -c${connections} -d${seconds}s --timeout 10s`.split(' ')
  const output = await bench.group.run(
    {
      name: 'wrk',
      command: ['wrk', ...options, '-s', script, `http://127.0.0.1:${ports[0]}${path}`],
      core: bench.cores.load,
      environment: {
        BENCH_BODY: requestBodies[format],
        BENCH_HEADERS: describeHeaders({ 'content-type': 'application/json', ...headers }),
        BENCH_PORTS: ports.join(' '),
        ...(keysPath !== undefined && { BENCH_KEYS: keysPath }),
      },
    },
    (seconds + 20) * 1_000,
  )
  return wrkResult.parse(JSON.parse(/^result (.*)$/m.exec(output)?.[1] ?? 'null'))
}

function describeHeaders(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}
