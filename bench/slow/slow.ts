/**
 * Measures what people have: vendors that take their time. One program is client and vendor and has a core of
 * its own, with the store's server; all proxies share the other core and are measured in rounds that take
 * turns.
 */
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startPostgres } from '../../test/support/postgres.ts'
import { models, streamModels } from '../exchanges.ts'
import { chooseCores, describeMachine, moveToCore, provideTools } from '../machine.ts'
import { usedBetween } from '../measure/process-cost.ts'
import { rotate } from '../measure/requests.ts'
import type { Plan } from '../options.ts'
import { findFreePort, type ProcessGroup } from '../processes.ts'
import type { Bench } from '../proxies/proxy.ts'
import { providePythonPeers, readPythonVersions } from '../proxies/python-peers.ts'
import { serverSettings } from '../stores/stores.ts'
import type { SlowFigures, SlowRound } from './figures.ts'
import { measureIdle } from './idle.ts'
import { type LoadProgram, startLoadProgram } from './load-program.ts'
import { fitLoads, listLoads, warmUpLoad, type GivenLoad, type Load } from './loads.ts'
import {
  loadAlone,
  readProxyTimes,
  startTargets,
  stopAndCompare,
  type Target,
  type TargetSetting,
} from './targets.ts'

export interface SlowSetting {
  readonly plan: Plan
  readonly group: ProcessGroup
  readonly workFolder: string
  readonly root: string
  readonly profileFolder: string | undefined
}

export async function measureSlow(setting: SlowSetting): Promise<SlowFigures> {
  const { plan, group, workFolder, root, profileFolder } = setting
  const tools = provideTools(plan.proxies.has('haproxy'))
  const needsPython = plan.proxies.has('envoy') || plan.proxies.has('litellm')
  const python = needsPython ? providePythonPeers(root) : undefined
  const cores = chooseCores()
  moveToCore(cores.load)
  const port = await findFreePort()
  const program = await startLoadProgram(group, { root, core: cores.load, port })
  const bench: Bench = { group, cores, workFolder, root, jsonPort: port, streamPort: port }
  // Not in the work folder: the server runs as another system user, which may not read it.
  const parentFolder = dirname(workFolder)
  const server = plan.proxies.has('postgres')
    ? await startPostgres({ settings: serverSettings, parentFolder })
    : undefined
  try {
    const given = { bench, plan, server, python, profileFolder, hasHaproxy: tools.hasHaproxy }
    const measured = await measureLoads(program, { ...given, part: 'slow' })
    const idle = await measureIdle(program, { ...given, profileFolder: undefined, part: 'idle' })
    return {
      machine: describeMachine(root, workFolder, join(root, 'bench', 'peers')),
      mode: plan.mode,
      plan: plan.slow,
      python: python === undefined ? {} : Object.fromEntries(readPythonVersions(root)),
      postgres: await server?.run('SHOW server_version'),
      rounds: measured.rounds,
      idle: idle.rounds,
      money: [...measured.money, ...idle.money],
    }
  } finally {
    await group.stopAll()
    await server?.close()
  }
}

async function measureLoads(
  program: LoadProgram,
  setting: TargetSetting,
): Promise<Pick<SlowFigures, 'rounds' | 'money'>> {
  const { bench, plan } = setting
  const loads = listLoads(plan)
  if (loads.length === 0) return { rounds: [], money: [] }
  const targets = [loadAlone(bench), ...(await startTargets(setting))]
  for (const target of targets) await warmUp(program, target, loads)
  const rounds: SlowRound[] = []
  const { windowMs } = plan.slow
  for (let round = 0; round < plan.slow.rounds; round++)
    for (const run of listRuns(loads, rotate(targets, round)))
      rounds.push(await measureRound(program, { ...run, windowMs }))
  return { rounds, money: await stopAndCompare(bench, targets) }
}

/** All loads in turn, each through all targets that can do it. */
function listRuns(
  loads: readonly Load[],
  targets: readonly Target[],
): readonly Omit<RoundSetting, 'windowMs'>[] {
  return loads.flatMap((load) => {
    const ofPart = loads.filter(({ part }) => part === load.part)
    return targets.flatMap((target) => {
      const given = fitLoads(ofPart, target.cases).find((one) => one.load === load)
      return given === undefined ? [] : [{ target, given }]
    })
  })
}

/** V8 has optimized it only after some ten thousand requests. */
const ownWarmUpMs = 6_000
const peerWarmUpMs = 1_000

/** Until the gateway's code is optimized. */
export async function warmUp(
  program: LoadProgram,
  target: Target,
  loads: readonly Load[],
): Promise<void> {
  const [stream] = loads.filter(({ events }) => events > 0)
  const windowMs = target.books === undefined ? peerWarmUpMs : ownWarmUpMs
  for (const load of [warmUpLoad, stream]) {
    const given = load === undefined ? undefined : fitLoads([load], target.cases)[0]
    if (given !== undefined) await measureRound(program, { target, given, windowMs })
  }
}

/** A load begins with many new connections at once, and the requests that wait for them. */
const settlingMs = 2_000

/** Beyond the answers that run at the rate: a proxy that is too slow gets no more. */
const backlogFactor = 2

interface RoundSetting {
  readonly target: Target
  readonly given: GivenLoad
  readonly windowMs: number
}

export async function measureRound(
  program: LoadProgram,
  { target, given, windowMs }: RoundSetting,
): Promise<SlowRound> {
  const { load, ratePerSecond } = given
  const { path, headers } = given.given
  const { part, name, format, body, periodMs } = load
  const events = load.events
  const answerMs = periodMs * Math.max(1, events)
  const runningMax = Math.max(1, Math.ceil((ratePerSecond * answerMs * backlogFactor) / 1_000))
  await program.begin({
    port: target.port,
    path,
    headers,
    body,
    events,
    periodMs,
    ratePerSecond,
    runningMax,
    countMax: Number.MAX_SAFE_INTEGER,
    isCutShort: false,
  })
  // All connections are open by then, and as many answers end as begin.
  await delay(answerMs + settlingMs)
  const before = await readCosts(target)
  const atBegin = await program.mark()
  const startedMs = performance.now()
  await delay(windowMs)
  const atEnd = await program.mark()
  const durationUs = (performance.now() - startedMs) * 1_000
  const after = await readCosts(target)
  const ended = await program.end()
  if (ended.client.failed > 0)
    console.error(`bench: ${target.title}, ${part}, ${name}: ${ended.failure}`)
  const isStream = events > 0
  target.books?.served.add(isStream ? streamModels[format] : models.chat, {
    complete: ended.client.complete,
    answered: ended.vendor.answered,
    outputTokens: ended.vendor.outputTokens,
  })
  const proxyCpu = usedBetween(before.proxy, after.proxy)
  return {
    part,
    load: name,
    target: target.name,
    title: target.title,
    ratePerSecond,
    durationUs,
    requests: atEnd.client.complete - atBegin.client.complete,
    events: atEnd.vendor.events - atBegin.vendor.events,
    failures: ended.client.failed,
    proxyCpuUs: proxyCpu.totalUs,
    busiestThreadUs: proxyCpu.busiestThreadUs,
    storeCpuUs: usedBetween(before.store, after.store).totalUs,
    transactions: after.transactions - before.transactions,
    firstP50Us: atEnd.first.p50Us ?? Number.NaN,
    firstP99Us: atEnd.first.p99Us ?? Number.NaN,
    lastP50Us: atEnd.last.p50Us ?? Number.NaN,
    lastP99Us: atEnd.last.p99Us ?? Number.NaN,
    slips: ended.vendor.slips,
  }
}

async function readCosts(target: Target) {
  return {
    transactions: (await target.books?.countTransactions()) ?? Number.NaN,
    proxy: readProxyTimes(target),
    store: target.books?.readTimes() ?? new Map<number, number>(),
  }
}
