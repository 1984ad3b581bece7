/**
 * Measures what 2,000 refused requests a second of one key cost the gateway, and what the charged requests of
 * another account get meanwhile. The gateways of several checkouts take turns.
 */
import { Agent, createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { attacks } from '../attacks/shapes.ts'
import { answerBodies, requestBodies } from '../exchanges.ts'
import { chooseCores, moveToCore } from '../machine.ts'
import { findProcessTree, readThreadTimes, usedBetween } from '../measure/process-cost.ts'
import { Histogram } from '../measure/statistics.ts'
import type { RefusalsPlan } from '../options.ts'
import type { ProcessGroup } from '../processes.ts'
import type { Bench, Proxy } from '../proxies/proxy.ts'
import { createKey, prepareTurnpike, startTurnpike } from '../proxies/turnpike.ts'
import type { RefusalsRow } from './report.ts'

export interface RefusalsSetting {
  /** Checkouts by the name that the report shows, oldest first. */
  readonly programs: ReadonlyMap<string, string>
  readonly plan: RefusalsPlan
  readonly group: ProcessGroup
  readonly workFolder: string
}

interface Running {
  readonly program: string
  readonly gateway: Proxy
  /** Of another account than the measured requests. */
  readonly key: string
}

const limitUs = 20_000_000
const settlingMs = 1_000
const pauseMs = 10

export async function measureRefusals(setting: RefusalsSetting): Promise<readonly RefusalsRow[]> {
  const { programs, plan, group, workFolder } = setting
  const cores = chooseCores()
  moveToCore(cores.load)
  const vendor = await startVendor()
  const { port } = vendor.address() as AddressInfo
  try {
    const running: Running[] = []
    for (const [program, root] of programs) {
      const bench: Bench = { group, workFolder, cores, root, jsonPort: port, streamPort: port }
      const folder = program.replaceAll(/\W/g, '-')
      const store = await prepareTurnpike(bench, { name: 'turnpike', root }, folder)
      const key = await createKey(bench, store, 'flooding')
      running.push({ program, key, gateway: await startTurnpike(bench, store) })
    }
    const rows: RefusalsRow[] = []
    for (let round = 1; round <= plan.rounds; round++)
      for (const one of running) rows.push({ round, ...(await measureRound(one, plan.seconds)) })
    return rows
  } finally {
    vendor.close()
    vendor.closeAllConnections()
  }
}

async function measureRound(
  { program, gateway, key }: Running,
  seconds: number,
): Promise<Omit<RefusalsRow, 'round'>> {
  const flood = attacks.find(({ name }) => name.includes('refused requests'))
  if (flood === undefined) throw new Error('no attack sends refused requests')
  const pids = findProcessTree(gateway.process.pid)
  const { port } = gateway
  const none = { adminPort: 0, account: '', token: '', adminToken: '', catalogue: '' }
  const stop = flood.start({ port, key, ...none }, () => undefined)
  await delay(settlingMs)
  const timesUs = new Histogram(limitUs)
  const before = readThreadTimes(pids)
  const startedMs = performance.now()
  const failedCount = await askUntil(startedMs + seconds * 1_000, gateway, timesUs)
  const tookMs = performance.now() - startedMs
  const { totalUs } = usedBetween(before, readThreadTimes(pids))
  stop()
  await delay(settlingMs)
  return {
    program,
    cpuMsPerSecond: totalUs / tookMs,
    medianMs: timesUs.percentile(50) / 1_000,
    slowMs: timesUs.percentile(99) / 1_000,
    failedCount,
  }
}

/** Sends charged requests, one after the other; returns how many failed. */
async function askUntil(until: number, gateway: Proxy, timesUs: Histogram): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let failedCount = 0
  while (performance.now() < until) {
    const startedMs = performance.now()
    if (!(await ask(gateway, agent))) failedCount++
    timesUs.record((performance.now() - startedMs) * 1_000)
    await delay(pauseMs)
  }
  agent.destroy()
  return failedCount
}

function ask({ port, requests }: Proxy, agent: Agent): Promise<boolean> {
  const [chat] = requests
  const headers = { ...chat?.headers, 'content-type': 'application/json' }
  const options = {
    port,
    host: '127.0.0.1',
    path: chat?.path ?? '',
    method: 'POST',
    agent,
    headers,
  }
  return new Promise((resolve) => {
    const sent = request(options, (answer) => {
      answer.resume()
      answer.on('close', () => resolve(answer.complete && answer.statusCode === 200))
    })
    sent.on('error', () => resolve(false))
    sent.end(requestBodies.chat)
  })
}

/** Answers every request when it has read it. */
export async function startVendor(): Promise<Server> {
  const server = createServer((received, answer) => {
    received.resume().on('end', () => {
      answer.writeHead(200, { 'content-type': 'application/json' })
      answer.end(answerBodies.chat)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
