/**
 * Measures what other clients get while one client attacks: the times of `/health` and of small requests of
 * another account, the longest turn of the gateway's event loop, and its memory. Each attack of each round
 * meets a fresh gateway; the checkouts take turns, each on a store with a past.
 */
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { requestBodies } from '../exchanges.ts'
import { chooseCores, moveToCore } from '../machine.ts'
import { benchMasterKey } from '../measure/operations.ts'
import { rotate } from '../measure/requests.ts'
import { Histogram } from '../measure/statistics.ts'
import { monitorTurns, readLongestTurnMs } from '../measure/turns.ts'
import type { AttacksPlan } from '../options.ts'
import { findFreePort, type ProcessGroup } from '../processes.ts'
import type { Bench } from '../proxies/proxy.ts'
import {
  catalogue,
  cataloguePath,
  createKey,
  embeddedPath,
  prepareTurnpike,
  runCommand,
  startTurnpike,
  type TurnpikeStore,
} from '../proxies/turnpike.ts'
import { startVendor } from '../refusals/refusals.ts'
import type { Attack, Target } from './attack.ts'
import type { AttackRow, OthersFigures } from './report.ts'
import { attacks } from './shapes.ts'

export interface AttackSetting {
  /** Checkouts by the name that the report shows, oldest first. */
  readonly programs: ReadonlyMap<string, string>
  readonly plan: AttacksPlan
  /** Only attacks whose name contains it. */
  readonly wanted: string
  readonly group: ProcessGroup
  readonly workFolder: string
  readonly profileFolder: string | undefined
}

/** One checkout with its store. */
interface Side {
  readonly program: string
  readonly bench: Bench
  readonly store: TurnpikeStore
  readonly attacker: Pick<Target, 'account' | 'key' | 'token'>
}

/** Of accounts of the last two months; those of the attacker's account come on top. */
const pastRequests = 60_000
const attackerRequests = 20_000
const attackerConnections = 32
const warmUpRequests = 3_000
/** Otherwise the gateway would begin by removing a half. */
const keepsAll = { TURNPIKE_REQUEST_RETENTION: '400d' }

export async function measureAttacks(setting: AttackSetting): Promise<readonly AttackRow[]> {
  const { programs, plan, group, workFolder } = setting
  const cores = chooseCores()
  moveToCore(cores.load)
  const vendor = await startVendor()
  const { port: jsonPort } = vendor.address() as AddressInfo
  const streamPort = await findFreePort()
  try {
    const sides: Side[] = []
    for (const [program, root] of programs) {
      const bench: Bench = { group, workFolder, cores, root, jsonPort, streamPort }
      sides.push(await prepareSide(program, bench))
    }
    const rows: AttackRow[] = []
    const wanted = attacks.filter(({ name }) => name.includes(setting.wanted))
    for (let round = 0; round < plan.rounds; round++)
      for (const attack of wanted)
        for (const side of rotate(sides, round)) rows.push(await measure(attack, side, setting))
    return rows
  } finally {
    vendor.close()
    vendor.closeAllConnections()
  }
}

async function prepareSide(program: string, bench: Bench): Promise<Side> {
  const { root, group, workFolder, cores } = bench
  const folderName = program.replaceAll(/\W/g, '-')
  const folder = join(workFolder, folderName)
  mkdirSync(folder)
  writeFileSync(join(folder, 'master.key'), benchMasterKey, { mode: 0o600 })
  const fill = join(root, 'bench', 'programs', 'fill-store.ts')
  const storeUrl = `sqlite:${embeddedPath(folder)}`
  const command = [process.execPath, fill, storeUrl, String(pastRequests)] as const
  await group.run({ name: 'fill-store', command, core: cores.load, folder: root }, fillLimitMs)
  const store = await prepareTurnpike(bench, { name: 'turnpike', root }, folderName)
  const key = await createKey(bench, store, 'attacker')
  const created = await runCommand(bench, store, ['token', 'create', 'attacker'])
  const { token } = z.object({ token: z.string() }).parse(created)
  const side = { program, bench, store, attacker: { account: 'attacker', key, token } }
  const gateway = await startTurnpike(bench, store)
  const chat = { port: gateway.port, ...gateway.slow.json, body: requestBodies.chat }
  const headers = { authorization: `Bearer ${key}` }
  await repeat({ ...chat, headers }, attackerRequests)
  await group.stop(gateway.process)
  return side
}

const fillLimitMs = 300_000

async function measure(
  attack: Attack,
  side: Side,
  { plan: { seconds }, profileFolder }: AttackSetting,
): Promise<AttackRow> {
  const { program, bench, store } = side
  const { group, cores, workFolder } = bench
  const attacker = group.start({
    name: 'attacker',
    command: [
      'nice',
      '-n10',
      process.execPath,
      join(import.meta.dirname, '../programs/attacker.ts'),
      String(bench.streamPort),
    ],
    core: cores.load,
    output: 'log',
    hasChannel: true,
  })
  await group.waitForPort(attacker, bench.streamPort)
  // An attack may have left another one.
  await runCommand(bench, store, ['apply', '-f', cataloguePath(store.folder)])
  const adminPort = await findFreePort()
  const turns = monitorTurns(workFolder)
  const gateway = await startTurnpike(bench, store, {
    nodeOptions: turns.nodeOptions,
    environment: {
      ...turns.environment,
      ...keepsAll,
      TURNPIKE_ADMIN_LISTEN: `127.0.0.1:${adminPort}`,
    },
    ...(profileFolder !== undefined && { profileFolder }),
  })
  const { port } = gateway
  const chat = { port, ...gateway.slow.json, body: requestBodies.chat }
  // The first answers of a new process are slow for reasons of its own.
  await repeat(chat, warmUpRequests)
  await group.waitForPort(gateway.process, adminPort)
  await delay(settlingMs)
  const quiet = await measureOthers(chat, seconds)
  const target: Target = {
    ...side.attacker,
    port,
    adminPort,
    adminToken: store.adminToken,
    catalogue: JSON.stringify(catalogue(bench)),
  }
  const send = async (message: object): Promise<Readonly<Record<string, number>>> => {
    attacker.child.send(message)
    const [answers] = (await once(attacker.child, 'message')) as readonly unknown[]
    return z.record(z.string(), z.number()).parse(answers)
  }
  await send({ number: attacks.indexOf(attack), target })
  await readLongestTurnMs(turns.socketPath)
  const during = await measureOthers(chat, seconds)
  const longestTurnMs = await readLongestTurnMs(turns.socketPath)
  const highestMegabytes = highestResident(gateway.process.pid)
  const answers = await send({})
  await group.stop(gateway.process)
  await group.stop(attacker)
  const row = { attack: attack.name, program, quiet, during, answers, longestTurnMs }
  console.error(`bench: attacks: ${JSON.stringify(row)}`)
  return { ...row, highestMegabytes }
}

const settlingMs = 2_000
/** An answer later than this counts as failed, with this time. */
const limitMs = 20_000
const limitUs = limitMs * 1_000
/** Of each kind of request, whether or not earlier ones have their answer. */
const everyMs = 10

interface Probe {
  readonly port: number
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

async function measureOthers(chat: Probe, seconds: number): Promise<OthersFigures> {
  const until = performance.now() + seconds * 1_000
  const health = { port: chat.port, path: '/health' }
  const [healthTimes, requestTimes] = await Promise.all([
    probeUntil(until, health),
    probeUntil(until, chat),
  ])
  return {
    healthMs: healthTimes.timesUs.percentile(99) / 1_000,
    requestMs: requestTimes.timesUs.percentile(99) / 1_000,
    failedCount: healthTimes.failedCount + requestTimes.failedCount,
  }
}

/** Sends a request every few milliseconds, and waits for all answers. */
async function probeUntil(
  until: number,
  what: Probe,
): Promise<{ readonly timesUs: Histogram; readonly failedCount: number }> {
  const agent = new Agent({ keepAlive: true })
  const timesUs = new Histogram(limitUs)
  let failedCount = 0
  const one = async (): Promise<void> => {
    const startedMs = performance.now()
    if (!(await probe(what, agent))) failedCount++
    timesUs.record((performance.now() - startedMs) * 1_000)
  }
  const running: Promise<void>[] = []
  while (performance.now() < until) {
    running.push(one())
    await delay(everyMs)
  }
  await Promise.all(running)
  agent.destroy()
  return { timesUs, failedCount }
}

/** Sends requests as fast as they are answered. */
async function repeat(what: Probe, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  let left = count
  const connection = async (): Promise<void> => {
    while (left-- > 0)
      if (!(await probe(what, agent))) throw new Error(`${what.path} did not answer with 200`)
  }
  await Promise.all(Array.from({ length: attackerConnections }, connection))
  agent.destroy()
}

/** Resolves with whether the whole answer came, with 200. */
function probe({ port, path, headers, body }: Probe, agent: Agent): Promise<boolean> {
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

function highestResident(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1_024) / 1_000_000
}
