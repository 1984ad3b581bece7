/**
 * Streams: what an event costs, how long it is on its way and what a stream takes in memory, with few
 * and with many streams at one total rate of events. The proxies are started anew for each number of
 * streams, so that memory grown before is not mistaken for free.
 */
import type { Plan, ProxyName } from '../options.ts'
import type { Running } from '../processes.ts'
import type { Bench, Proxy, StreamCase } from '../proxies/proxy.ts'
import { formatPaths } from '../exchanges.ts'
import type { HealthRound, StreamRound } from './figures.ts'
import { measureHealth } from './health.ts'
import { findProcessTree, readResidentBytes } from './process-cost.ts'
import { rotate } from './requests.ts'
import type { ServedBook } from './served.ts'
import { runStreams, type StreamMeasurement, type StreamRun } from './stream-run.ts'

/** About 14,300 events per second in each, which leaves every proxy part of its core. */
export const streamLoads = [
  { streams: 100, intervalMs: 7 },
  { streams: 1_000, intervalMs: 70 },
] as const

type StreamLoad = (typeof streamLoads)[number]

/** Lets compilers and pools warm up before memory is read for the first time. */
const warmUp = { streams: 50, intervalMs: 4, settlingMs: 1_500, windowMs: 500 } as const

const direct: StreamCase = { path: formatPaths.messages, headers: {} }

export interface StreamSetting {
  readonly bench: Bench
  readonly plan: Plan
  readonly upstream: Running
  readonly book: ServedBook
  /** Starts the proxies, hands them over, and stops them afterwards. */
  readonly withProxies: (
    part: string,
    action: (proxies: readonly Proxy[]) => Promise<void>,
  ) => Promise<void>
}

interface Prepared {
  readonly proxy: Proxy
  readonly given: StreamCase
  readonly pids: readonly number[]
  readonly residentBytesBefore: number
}

export interface StreamFigures {
  readonly streams: readonly StreamRound[]
  readonly health: readonly HealthRound[]
}

export async function measureStreams(setting: StreamSetting): Promise<StreamFigures> {
  const streams: StreamRound[] = []
  const health: HealthRound[] = []
  for (const load of streamLoads) {
    const healthRounds = setting.plan.parts.has('health') && load.streams >= 1_000
    if (!healthRounds && !setting.plan.parts.has('streams')) continue
    await setting.withProxies(`streams-${load.streams}`, async (proxies) => {
      const prepared = await prepare(setting, proxies)
      if (setting.plan.parts.has('streams')) {
        streams.push(await measureDirect(setting, load))
        for (let round = 0; round < setting.plan.streams.rounds; round++) {
          for (const one of rotate(prepared, round)) {
            streams.push(await measureRound(setting, one, load))
          }
        }
      }
      if (healthRounds) health.push(...(await measureHealthRounds(setting, prepared, load)))
    })
  }
  return { streams, health }
}

async function prepare(
  setting: StreamSetting,
  proxies: readonly Proxy[],
): Promise<readonly Prepared[]> {
  const prepared: Prepared[] = []
  for (const proxy of proxies) {
    const given = proxy.stream
    if (given === undefined) continue
    const pids = findProcessTree(proxy.process.pid)
    await run(setting, proxy, { port: proxy.port, given, pids, ...warmUp })
    prepared.push({ proxy, given, pids, residentBytesBefore: readResidentBytes(pids) })
  }
  return prepared
}

async function measureRound(
  setting: StreamSetting,
  { proxy, given, pids, residentBytesBefore }: Prepared,
  load: StreamLoad,
): Promise<StreamRound> {
  const { windowMs, settlingMs } = setting.plan.streams
  const bounds = { ...load, windowMs, settlingMs }
  const result = await run(setting, proxy, { port: proxy.port, given, pids, ...bounds })
  const grownBytes = result.residentBytes - residentBytesBefore
  return toRound(proxy.name, load.streams, result, grownBytes)
}

async function measureDirect(setting: StreamSetting, load: StreamLoad): Promise<StreamRound> {
  const { windowMs, settlingMs } = setting.plan.streams
  const result = await runStreams(
    setting,
    { port: setting.bench.streamPort, given: direct, pids: [], ...load, windowMs, settlingMs },
    {},
  )
  return toRound('none', load.streams, result, 0)
}

async function measureHealthRounds(
  setting: StreamSetting,
  prepared: readonly Prepared[],
  load: StreamLoad,
): Promise<readonly HealthRound[]> {
  const { rounds, windowMs } = setting.plan.health
  const health: HealthRound[] = []
  for (let round = 0; round < rounds; round++) {
    for (const { proxy, given, pids } of rotate(prepared, round)) {
      const path = proxy.healthPath
      if (path === undefined) continue
      const bounds = { ...load, windowMs: 100, settlingMs: setting.plan.streams.settlingMs }
      await run(setting, proxy, { port: proxy.port, given, pids, ...bounds }, async () => {
        const times = await measureHealth(proxy.port, path, windowMs)
        health.push({
          proxy: proxy.name,
          streams: load.streams,
          questions: times.total,
          p50Us: times.percentile(50),
          p99Us: times.percentile(99),
          highestUs: times.highest,
        })
      })
    }
  }
  return health
}

function run(
  setting: StreamSetting,
  proxy: Proxy,
  bounds: StreamRun,
  during?: () => Promise<void>,
): Promise<StreamMeasurement> {
  return runStreams(setting, bounds, {
    ...(proxy.name === 'turnpike' ? { book: setting.book } : {}),
    ...(during === undefined ? {} : { during }),
  })
}

function toRound(
  proxy: ProxyName | 'none',
  streams: number,
  result: StreamMeasurement,
  grownBytes: number,
): StreamRound {
  return {
    proxy,
    streams,
    events: result.events,
    eventsPerSecond: result.events / (result.durationUs / 1e6),
    cpuUsPerEvent: result.cpuUs / result.events,
    coreShare: result.cpuUs / result.durationUs,
    residentBytesPerStream: grownBytes / streams,
    delayP50Us: result.delayP50Us,
    delayP99Us: result.delayP99Us,
    firstByteP50Us: result.firstByteP50Us,
    firstByteP99Us: result.firstByteP99Us,
    slips: result.slips,
  }
}
