/**
 * Measures what other clients get while one client attacks: the times of `/health` and of small requests of
 * another account, the longest turn of the gateway's event loop, and its memory. Each attack of each round
 * meets a fresh gateway; the checkouts take turns, each on a store with a past.
 */
import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { askOften, askOnce, startVendor, type Ask } from '../client.ts'
import { chooseCores, moveToCore } from '../machine.ts'
import { percentileOf, rotate } from '../measure/statistics.ts'
import { monitorTurns, readLongestTurnMs } from '../measure/turns.ts'
import type { Made, RunResult, RunSetting } from '../part.ts'
import { ask, findFreePort } from '../processes.ts'
import { stopTarget, type Bench } from '../targets/target.ts'
import {
  applyCatalogue,
  catalogue,
  chatOf,
  createKey,
  prepareStore,
  runCommand,
  startTurnpike,
  type Gateway,
  type Store,
} from '../targets/turnpike.ts'
import type { Attack, Target } from './attack.ts'
import { formatAttacks, type AttackRow, type OthersFigures } from './report.ts'
import { attacks } from './shapes.ts'

/** One checkout with its store. */
interface Side {
  readonly program: string
  readonly bench: Bench
  readonly store: Store
  readonly attacker: Pick<Target, 'account' | 'key' | 'token'>
}

/** Of accounts of the last two months; those of the attacker's account come on top. */
const pastRequests = 60_000
const attackerRequests = 20_000
const attackerConnections = 32
const warmUpRequests = 3_000
/** Otherwise the gateway would begin by removing a half. */
const keepsAll = { TURNPIKE_REQUEST_RETENTION: '400d' }

export async function runAttacks(setting: RunSetting, made: Made): Promise<RunResult> {
  const { programs, plan, group, workFolder } = setting
  const cores = chooseCores()
  moveToCore(cores.load)
  const chatPort = await startVendor()
  const vendorPort = await findFreePort()
  const sides: Side[] = []
  for (const [program, root] of programs) {
    const bench: Bench = { group, workFolder, cores, root, vendorPort, chatPort }
    sides.push(await prepareSide(program, bench))
  }
  const rows: AttackRow[] = []
  const wanted = attacks.filter(({ name }) => name.includes(plan.attack))
  for (let round = 0; round < plan.rounds; round++)
    for (const attack of wanted)
      for (const side of rotate(sides, round)) rows.push(await measure(attack, side, setting))
  return { report: formatAttacks(rows, made), isRight: true }
}

async function prepareSide(program: string, bench: Bench): Promise<Side> {
  const store = await prepareStore(bench, program.replaceAll(/\W/g, '-'), { pastRequests })
  const key = await createKey(bench, store, 'attacker')
  const created = await runCommand(bench, store, ['token', 'create', 'attacker'])
  const { token } = z.object({ token: z.string() }).parse(created)
  const side = { program, bench, store, attacker: { account: 'attacker', key, token } }
  const gateway = await startTurnpike(bench, store)
  const headers = { authorization: `Bearer ${key}` }
  const asked = { ...chatOf(gateway), headers }
  await askOften(asked, { count: attackerRequests, atOnce: attackerConnections })
  await stopTarget(bench, gateway)
  return side
}

async function measure(
  attack: Attack,
  { program, bench, store, attacker: account }: Side,
  { plan, profileFolder }: RunSetting,
): Promise<AttackRow> {
  const { group, cores, workFolder, vendorPort } = bench
  const script = join(import.meta.dirname, '../programs/attacker.ts')
  const attacker = group.start({
    name: 'attacker',
    command: ['nice', '-n10', process.execPath, script, String(vendorPort)],
    core: cores.load,
    output: 'log',
    hasChannel: true,
  })
  await group.waitForPort(attacker, vendorPort)
  // An attack may have left another one.
  await applyCatalogue(bench, store)
  const { socketPath, environment } = monitorTurns(workFolder)
  const gateway = await startTurnpike(bench, store, {
    profileFolder,
    environment: { ...environment, ...keepsAll },
  })
  const [port] = gateway.ports
  const { adminPort } = gateway
  const chat = chatOf(gateway)
  // The first answers of a new process are slow for reasons of its own.
  await askOften(chat, { count: warmUpRequests, atOnce: attackerConnections })
  await group.waitForPort(attacker, adminPort)
  await delay(settlingMs)
  const seconds = plan.attackSeconds
  const quiet = await measureOthers(chat, seconds)
  const { adminToken } = store
  const applied = JSON.stringify(catalogue(bench))
  const target: Target = { ...account, port, adminPort, adminToken, catalogue: applied }
  await ask(attacker, { name: attack.name, target })
  await readLongestTurnMs(socketPath)
  const during = await measureOthers(chat, seconds)
  const longestTurnMs = await readLongestTurnMs(socketPath)
  const highestMegabytes = highestResident(gateway)
  const answers = z.record(z.string(), z.number()).parse(await ask(attacker, {}))
  await stopTarget(bench, gateway)
  await group.stop(attacker)
  const row = { attack: attack.name, program, quiet, during, answers, longestTurnMs }
  console.error(`bench: attacks: ${JSON.stringify(row)}`)
  return { ...row, highestMegabytes }
}

const settlingMs = 2_000
/** Of each kind of request, whether or not earlier ones have their answer. */
const everyMs = 10

async function measureOthers(chat: Ask, seconds: number): Promise<OthersFigures> {
  const until = performance.now() + seconds * 1_000
  const [health, requests] = await Promise.all([
    askUntil(until, { port: chat.port, path: '/health' }),
    askUntil(until, chat),
  ])
  return {
    healthMs: percentileOf(health.times, 99) ?? Number.NaN,
    requestMs: percentileOf(requests.times, 99) ?? Number.NaN,
    failedCount: health.failedCount + requests.failedCount,
  }
}

/** Sends a request every few milliseconds, and waits for all answers. */
async function askUntil(until: number, what: Ask) {
  const agent = new Agent({ keepAlive: true })
  const times: number[] = []
  let failedCount = 0
  const one = async (): Promise<void> => {
    const startedMs = performance.now()
    if (!(await askOnce(what, agent))) failedCount++
    times.push(performance.now() - startedMs)
  }
  const running: Promise<void>[] = []
  while (performance.now() < until) {
    running.push(one())
    await delay(everyMs)
  }
  await Promise.all(running)
  agent.destroy()
  return { times, failedCount }
}

function highestResident({ processes: [gateway] }: Gateway): number {
  const status = readFileSync(`/proc/${gateway?.pid}/status`, 'utf8')
  return (Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1_024) / 1_000_000
}
