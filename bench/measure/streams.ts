/**
 * Measures streams: CPU per event, delay, memory per stream, and how long `/health` takes meanwhile. Few
 * and many streams have the same total rate of events. Each number of streams gets freshly started
 * proxies, so that no memory from earlier runs is reused.
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { formatPaths } from '../exchanges.ts'
import type { Plan, ProxyName } from '../options.ts'
import type { Running } from '../processes.ts'
import { monotonicUs } from '../programs/stream-protocol.ts'
import type { Bench, Proxy, StreamCase } from '../proxies/proxy.ts'
import type { HealthRound, StreamRound } from './figures.ts'
import { findProcessTree, readResidentBytes } from './process-cost.ts'
import { rotate } from './requests.ts'
import type { ServedCounts } from './served.ts'
import { Histogram } from './statistics.ts'
import { runStreams, type StreamMeasurement, type StreamRun } from './stream-run.ts'

/** About 14,300 events per second each, so that no proxy uses all of its core. */
const streamLoads = [
  { streams: 100, intervalMs: 7 },
  { streams: 1_000, intervalMs: 70 },
] as const

type StreamLoad = (typeof streamLoads)[number]

/** Warms up compilers and pools before the first memory reading. */
const warmUp = { streams: 50, intervalMs: 4, settlingMs: 1_500, windowMs: 500 } as const

const direct: StreamCase = { path: formatPaths.messages, headers: {} }

export interface StreamSetting {
  readonly bench: Bench
  readonly plan: Plan
  readonly upstream: Running
  readonly served: ServedCounts
  /** Starts the proxies, runs the action, and stops them. */
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
    ...(proxy.name === 'turnpike' ? { served: setting.served } : {}),
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

const betweenMs = 5
const answerLimitMs = 10_000
const histogramLimitUs = 5_000_000

async function measureHealth(port: number, path: string, windowMs: number): Promise<Histogram> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.setEncoding('latin1')
  socket.setTimeout(answerLimitMs, () => socket.destroy(new Error('/health did not answer')))
  const question = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`
  const times = new Histogram(histogramLimitUs)
  const end = performance.now() + windowMs
  try {
    while (performance.now() < end) {
      const sentAtUs = monotonicUs()
      await ask(socket, question)
      times.record(monotonicUs() - sentAtUs)
      await delay(betweenMs)
    }
  } finally {
    socket.destroy()
  }
  return times
}

function ask(socket: Socket, question: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = ''
    const end = (error?: Error): void => {
      socket.off('data', read)
      socket.off('error', end)
      socket.off('close', closed)
      if (error === undefined) resolve()
      else reject(error)
    }
    const closed = (): void => end(new Error('/health closed the connection'))
    const read = (text: string): void => {
      received += text
      if (!isWholeAnswer(received)) return
      if (received.startsWith('HTTP/1.1 200 ')) end()
      else end(new Error(`/health answered: ${received.slice(0, 200)}`))
    }
    socket.on('data', read)
    socket.on('error', end)
    socket.on('close', closed)
    socket.write(question, 'latin1')
  })
}

function isWholeAnswer(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text.slice(0, headEnd))?.[1] ?? '0')
  return text.length >= headEnd + 4 + length
}
