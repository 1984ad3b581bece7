/**
 * Measures what other clients get while one client attacks: the times of `/health` and of small requests of
 * another account, and the gateway's memory. Each attack meets a fresh gateway on a store of its own.
 */
import { readFileSync } from 'node:fs'
import { Agent, createServer, request, type Server, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { answerBodies, formatPaths, requestBodies } from '../exchanges.ts'
import { chooseCores, moveToCore } from '../machine.ts'
import { Histogram } from '../measure/statistics.ts'
import type { ProcessGroup } from '../processes.ts'
import type { Bench } from '../proxies/proxy.ts'
import { createKey, prepareTurnpike, startTurnpike } from '../proxies/turnpike.ts'
import type { AttackRow, AttackFigures } from './report.ts'
import { attacks, type Attack } from './shapes.ts'

export interface AttackSetting {
  /** Checkouts by the name that the report shows, oldest first. */
  readonly programs: ReadonlyMap<string, string>
  readonly seconds: number
  readonly group: ProcessGroup
  readonly workFolder: string
}

export async function measureAttacks(setting: AttackSetting): Promise<readonly AttackRow[]> {
  const cores = chooseCores()
  moveToCore(cores.load)
  const vendor = await startVendor()
  try {
    const rows: AttackRow[] = []
    for (const attack of attacks)
      for (const [program, root] of setting.programs) {
        const bench = { ...setting, cores, root, jsonPort: vendor.port, streamPort: vendor.port }
        rows.push({ attack: attack.name, program, ...(await measure(attack, bench, program)) })
      }
    return rows
  } finally {
    vendor.server.close()
    vendor.server.closeAllConnections()
  }
}

interface AttackBench extends Bench {
  readonly seconds: number
}

let storeCount = 0

async function measure(
  attack: Attack,
  bench: AttackBench,
  program: string,
): Promise<AttackFigures> {
  const name = `${program.replaceAll(/\W/g, '-')}-${storeCount++}`
  const store = await prepareTurnpike(bench, { name: 'turnpike', root: bench.root }, name)
  const attackerKey = await createKey(bench, store, 'attacker')
  const gateway = await startTurnpike(bench, store)
  const { port } = gateway
  const [chat] = gateway.requests
  const healthUs = new Histogram(limitUs)
  const requestUs = new Histogram(limitUs)
  // The first answers of a new process are slow for reasons of its own.
  await probe({ port, path: '/health' })
  await delay(settlingMs)
  const stop = attack.start({ port, key: attackerKey })
  await delay(settlingMs)
  const until = performance.now() + bench.seconds * 1_000
  const body = requestBodies.chat
  const failedCounts = await Promise.all([
    probeUntil(until, { port, path: '/health' }, healthUs),
    probeUntil(until, { port, path: chat?.path ?? '', headers: chat?.headers, body }, requestUs),
  ])
  const highestMegabytes = residentMegabytes(gateway.process.pid, 'VmHWM')
  stop()
  await delay(afterwardsMs)
  const afterwardsMegabytes = residentMegabytes(gateway.process.pid, 'VmRSS')
  await bench.group.stop(gateway.process)
  return {
    healthMs: healthUs.percentile(99) / 1_000,
    requestMs: requestUs.percentile(99) / 1_000,
    failedCount: failedCounts.reduce((sum, count) => sum + count, 0),
    highestMegabytes,
    afterwardsMegabytes,
  }
}

const settlingMs = 2_000
const afterwardsMs = 25_000
/** An answer later than this counts as failed, with this time. */
const limitMs = 20_000
const limitUs = limitMs * 1_000
const pauseMs = 25

interface Probe {
  readonly port: number
  readonly path: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string
}

/** Sends one request after the other; returns how many failed. */
async function probeUntil(until: number, what: Probe, timesUs: Histogram): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let failedCount = 0
  while (performance.now() < until) {
    const startedMs = performance.now()
    const isAnswered = await probe(what, agent)
    if (!isAnswered) failedCount++
    timesUs.record((performance.now() - startedMs) * 1_000)
    await delay(pauseMs)
  }
  agent.destroy()
  return failedCount
}

/** Resolves with whether the whole answer came, with 200. */
function probe({ port, path, headers, body }: Probe, agent?: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    const method = body === undefined ? 'GET' : 'POST'
    const type = { 'content-type': 'application/json' }
    const options = { port, host: '127.0.0.1', path, method, agent, timeout: limitMs }
    const sent = request({ ...options, headers: { ...headers, ...type } }, (answer) => {
      answer.resume()
      answer.on('close', () => resolve(answer.complete && answer.statusCode === 200))
    })
    sent.on('timeout', () => sent.destroy())
    sent.on('error', () => resolve(false))
    sent.end(body)
  })
}

function residentMegabytes(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kibibytes = Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1])
  return (kibibytes * 1_024) / 1_000_000
}

const streamStart =
  'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":5}}}\n\n'
const streamPiece = Buffer.from(
  'event: content_block_delta\ndata: ' +
    `{"type":"content_block_delta","delta":{"type":"text_delta","text":"${'the '.repeat(16)}"}}\n\n`,
)
const streamPieces = Buffer.concat(Array.from({ length: 400 }, () => streamPiece))

/** A vendor that answers at once, and streams without end as fast as it is read. */
async function startVendor(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((received, response) => {
    const pieces: Buffer[] = []
    received.on('data', (piece: Buffer) => pieces.push(piece))
    received.on('end', () => {
      if (Buffer.concat(pieces).includes('"stream":true')) streamTo(response)
      else answerTo(response, received.url?.endsWith(formatPaths.chat) === true)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return { server, port: typeof address === 'object' ? (address?.port ?? 0) : 0 }
}

function answerTo(response: ServerResponse, isChat: boolean): void {
  const body = isChat ? answerBodies.chat : answerBodies.messages
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(body)
}

function streamTo(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(streamStart)
  const go = (): void => {
    while (!response.destroyed && response.write(streamPieces));
  }
  response.on('drain', go)
  go()
}
