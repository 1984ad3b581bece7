/**
 * Measures the cost of traces: gateways of this checkout without traces, with a trace of every request, and
 * of one in a hundred, take turns under the same load. A collector takes their spans.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chooseCores, moveToCore, provideTools } from '../machine.ts'
import { findProcessTree, readThreadTimes, usedBetween } from '../measure/process-cost.ts'
import { rotate, runWrk } from '../measure/requests.ts'
import type { TracesPlan } from '../options.ts'
import type { ProcessGroup } from '../processes.ts'
import type { Bench, Proxy } from '../proxies/proxy.ts'
import { prepareTurnpike, startTurnpike } from '../proxies/turnpike.ts'
import { startVendor } from '../refusals/refusals.ts'
import type { TracesRound } from './report.ts'

export interface TracesSetting {
  readonly root: string
  readonly plan: TracesPlan
  readonly group: ProcessGroup
  readonly workFolder: string
}

interface Running {
  readonly setting: string
  readonly gateway: Proxy
  readonly collector: Collector
}

const connections = 32

/** By the name that the report shows; the ratio of traced requests. */
const ratios = new Map([
  ['no traces', undefined],
  ['every request', '1'],
  ['1 of 100', '0.01'],
])

export async function measureTraces({
  root,
  plan,
  group,
  workFolder,
}: TracesSetting): Promise<readonly TracesRound[]> {
  provideTools(false)
  const cores = chooseCores()
  moveToCore(cores.load)
  const vendor = await startVendor()
  const servers = [vendor]
  const { port } = vendor.address() as AddressInfo
  const bench: Bench = { group, workFolder, cores, root, jsonPort: port, streamPort: port }
  try {
    const running: Running[] = []
    for (const [setting, ratio] of ratios) {
      const folder = setting.replaceAll(/\W/g, '-')
      const store = await prepareTurnpike(bench, { name: 'turnpike', root }, folder)
      const collector = await startCollector()
      servers.push(collector.server)
      const environment = ratio === undefined ? {} : environmentOf(collector, ratio)
      const gateway = await startTurnpike(bench, store, { environment })
      running.push({ setting, gateway, collector })
    }
    const rounds: TracesRound[] = []
    for (let round = -1; round < plan.rounds; round++)
      for (const one of rotate(running, round)) {
        const measured = await measureRound(bench, one, plan.seconds)
        if (round >= 0) rounds.push(measured)
      }
    return rounds
  } finally {
    for (const server of servers) {
      server.close()
      server.closeAllConnections()
    }
  }
}

function environmentOf({ url }: Collector, ratio: string): Readonly<Record<string, string>> {
  return { TURNPIKE_OTLP_ENDPOINT: url, TURNPIKE_OTLP_SAMPLE_RATIO: ratio }
}

async function measureRound(
  bench: Bench,
  { setting, gateway, collector }: Running,
  seconds: number,
): Promise<TracesRound> {
  const [chat] = gateway.requests
  if (chat === undefined) throw new Error('the gateway has no request to measure')
  const pids = findProcessTree(gateway.process.pid)
  const bytesBefore = collector.receivedBytes()
  const before = readThreadTimes(pids)
  const result = await runWrk(bench, {
    ports: [gateway.port],
    path: chat.path,
    format: chat.format,
    headers: chat.headers,
    connections,
    seconds,
  })
  const { totalUs } = usedBetween(before, readThreadTimes(pids))
  return {
    setting,
    cpuUsPerRequest: totalUs / result.requests,
    requestsPerSecond: result.requests / (result.durationUs / 1e6),
    bytesPerRequest: (collector.receivedBytes() - bytesBefore) / result.requests,
    failedCount: result.badStatus + result.socketErrors,
  }
}

interface Collector {
  readonly url: string
  readonly server: Server
  receivedBytes(): number
}

/** Takes everything and keeps nothing. */
async function startCollector(): Promise<Collector> {
  let bytes = 0
  const server = createServer((received, answer) => {
    received.on('data', (chunk: Buffer) => (bytes += chunk.length))
    received.on('end', () => answer.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, server, receivedBytes: () => bytes }
}
