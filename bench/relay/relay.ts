/**
 * Measures what people have, vendors that take their time, and what one core can do where a vendor answers at
 * once. One program is client and vendor and shares a core with the store's server; all targets share the
 * other core and are measured in rounds that take turns.
 */
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startPostgres } from '../../test/support/postgres.ts'
import { models, streamModels } from '../exchanges.ts'
import { chooseCores, describeMachine, moveToCore } from '../machine.ts'
import { usedBetween } from '../measure/process-cost.ts'
import { rotate } from '../measure/statistics.ts'
import { targetsOnServer } from '../options.ts'
import type { RunSetting } from '../part.ts'
import { findFreePort } from '../processes.ts'
import { providePythonPeers } from '../targets/python-peers.ts'
import {
  loadAlone,
  readTargetTimes,
  startTargets,
  stopAndCompare,
  type TargetSetting,
} from '../targets/start.ts'
import type { Bench, Target } from '../targets/target.ts'
import { measureIdle } from './idle.ts'
import { type LoadProgram, startLoadProgram } from './load-program.ts'
import { fitLoads, listLoads, warmUpLoad, type GivenLoad, type Load } from './loads.ts'
import type { RelayFigures, Round } from './rounds.ts'

/** The memory of a small production server; other settings have their defaults. */
const serverSettings = { shared_buffers: '256MB', max_wal_size: '1GB' }

export async function measureRelay(run: RunSetting): Promise<RelayFigures> {
  const { plan, group, workFolder, root, profileFolder } = run
  const needsPython = plan.targets.has('envoy') || plan.targets.has('litellm')
  const python = needsPython ? providePythonPeers(root) : undefined
  const cores = chooseCores()
  moveToCore(cores.load)
  const vendorPort = await findFreePort()
  const program = await startLoadProgram(group, { root, core: cores.load, port: vendorPort })
  const bench: Bench = { group, cores, workFolder, root, vendorPort, chatPort: vendorPort }
  // Not in the work folder: the server runs as another system user, which may not read it.
  const parentFolder = dirname(workFolder)
  const server = targetsOnServer.some((name) => plan.targets.has(name))
    ? await startPostgres({ settings: serverSettings, parentFolder })
    : undefined
  try {
    const given = { bench, plan, server, python }
    const measured = await measureLoads(program, { ...given, profileFolder, part: 'relay' })
    const idle = await measureIdle(program, { ...given, profileFolder: undefined, part: 'idle' })
    return {
      machine: describeMachine(root, workFolder),
      mode: plan.mode,
      roundCount: plan.rounds,
      postgres: await server?.run('SHOW server_version'),
      rounds: measured.rounds,
      idle: idle.idle,
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
): Promise<Pick<RelayFigures, 'rounds' | 'money'>> {
  const { bench, plan } = setting
  const loads = listLoads(plan)
  if (loads.length === 0) return { rounds: [], money: [] }
  const targets = [loadAlone(bench), ...(await startTargets(setting))]
  const { windowMs } = plan.relay
  const rounds: Round[] = []
  for (const target of targets) await warmUp(program, target, loads)
  for (let round = 0; round < plan.rounds; round++)
    for (const run of listRuns(loads, rotate(targets, round)))
      rounds.push(await measureRound(program, { ...run, windowMs }))
  return { rounds, money: await stopAndCompare(bench, targets) }
}

/** All loads in turn, each through all targets that can do it. */
function listRuns(
  loads: readonly Load[],
  targets: readonly Target[],
): readonly Pick<RoundSetting, 'target' | 'given'>[] {
  return loads.flatMap((load) => {
    const ofPart = loads.filter(({ part }) => part === load.part)
    return targets.flatMap((target) => {
      const given = fitLoads(ofPart, target.cases).find((one) => one.load === load)
      return given === undefined ? [] : [{ target, given }]
    })
  })
}

/** A process of ours compiles code until it has served some thirty thousand requests. */
const ownWarmUpMs = 15_000
const peerWarmUpMs = 1_000

async function warmUp(program: LoadProgram, target: Target, loads: readonly Load[]): Promise<void> {
  const windowMs = target.books === undefined ? peerWarmUpMs : ownWarmUpMs
  const stream = loads.find(({ events }) => events > 0)
  for (const load of [warmUpLoad, stream]) {
    const given = load === undefined ? undefined : fitLoads([load], target.cases)[0]
    if (given !== undefined) await measureRound(program, { target, given, windowMs })
  }
}

interface RoundSetting {
  readonly target: Target
  readonly given: GivenLoad
  readonly windowMs: number
}

/** A load begins with many new connections at once, and the requests that wait for them. */
const settlingMs = 2_000

/** Beyond the answers that run at the rate: a proxy that is too slow gets no more. */
const backlogFactor = 2

async function measureRound(
  program: LoadProgram,
  { target, given, windowMs }: RoundSetting,
): Promise<Round> {
  const { load, ratePerSecond } = given
  const { part, name, kind, body, periodMs, events } = load
  const answerMs = periodMs * Math.max(1, events)
  const running = Math.ceil((ratePerSecond * answerMs * backlogFactor) / 1_000)
  const runningMax = load.runningMax ?? Math.max(1, running)
  const countMax = Number.MAX_SAFE_INTEGER
  const bounds = { events, periodMs, ratePerSecond, runningMax, countMax }
  await program({
    kind: 'begin',
    ports: target.ports,
    ...given.given,
    body,
    ...bounds,
    isCutShort: false,
  })
  // All connections are open by then, and as many answers end as begin.
  await delay(answerMs + settlingMs)
  const before = await readCosts(target)
  const atBegin = await program({ kind: 'mark' })
  const startedMs = performance.now()
  await delay(windowMs)
  const atEnd = await program({ kind: 'mark' })
  const durationUs = (performance.now() - startedMs) * 1_000
  const costs = costsBetween(before, await readCosts(target))
  const ended = await program({ kind: 'end' })
  if (ended.client.failed > 0)
    console.error(`bench: ${target.title}, ${part}, ${name}: ${ended.failure}`)
  if (kind !== 'free')
    target.books?.served.add(events > 0 ? streamModels[load.format] : models.chat, {
      complete: ended.client.complete,
      answered: ended.vendor.answered,
      outputTokens: ended.vendor.outputTokens,
    })
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
    ...costs,
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
    target: readTargetTimes(target),
    store: target.books?.readTimes() ?? new Map<number, number>(),
  }
}

type Costs = Awaited<ReturnType<typeof readCosts>>

function costsBetween(
  before: Costs,
  after: Costs,
): Pick<Round, 'targetCpuUs' | 'storeCpuUs' | 'transactions'> {
  return {
    targetCpuUs: usedBetween(before.target, after.target),
    storeCpuUs: usedBetween(before.store, after.store),
    transactions: after.transactions - before.transactions,
  }
}
