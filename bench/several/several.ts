/**
 * Measures what several processes cost: `turnpike serve` with one and with two, each on its own database of
 * one PostgreSQL, under the same steady loads in turn. All processes of a gateway share one core, so that
 * only their CPU time says something.
 */
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startPostgres } from '../../test/support/postgres.ts'
import { chooseCores, describeMachine, moveToCore, provideTools } from '../machine.ts'
import {
  findProcessTree,
  readResidentBytes,
  readThreadTimes,
  usedBetween,
} from '../measure/process-cost.ts'
import { rotate } from '../measure/requests.ts'
import type { Plan } from '../options.ts'
import { findFreePort, type ProcessGroup } from '../processes.ts'
import type { Bench } from '../proxies/proxy.ts'
import { startLoadProgram, type LoadProgram } from '../slow/load-program.ts'
import { fitLoads, listLoads, type Load } from '../slow/loads.ts'
import { measureRound, warmUp } from '../slow/slow.ts'
import { startGateway, stopAndCompare } from '../slow/targets.ts'
import { serverSettings } from '../stores/stores.ts'
import type { IdleProcesses, SeveralFigures, SeveralRound } from './report.ts'

interface SeveralSetting {
  readonly plan: Plan
  readonly group: ProcessGroup
  readonly workFolder: string
  readonly root: string
  readonly profileFolder: string | undefined
}

type Gateway = Awaited<ReturnType<typeof startGateway>> & { readonly processCount: number }

const processCounts = [1, 2]

export async function measureSeveral(setting: SeveralSetting): Promise<SeveralFigures> {
  const { plan, group, workFolder, root, profileFolder } = setting
  provideTools(false)
  const cores = chooseCores()
  moveToCore(cores.load)
  const port = await findFreePort()
  const program = await startLoadProgram(group, { root, core: cores.load, port })
  const bench: Bench = { group, cores, workFolder, root, jsonPort: port, streamPort: port }
  // Not in the work folder: the server runs as another system user, which may not read it.
  const parentFolder = dirname(workFolder)
  const server = await startPostgres({ settings: serverSettings, parentFolder })
  try {
    const gateways: Gateway[] = []
    for (const processCount of processCounts) {
      const folder = `processes-${processCount}`
      const given = { program: { name: 'turnpike', root }, folder, server, profileFolder } as const
      const started = await startGateway(bench, { ...given, processCount })
      gateways.push({ ...started, title: `processes: ${processCount}`, processCount })
    }
    await delay(plan.slow.restMs)
    const idle = await measureIdle(gateways, plan.processes.idleMs)
    const loads = listLoads({
      ...plan,
      parts: new Set(['slow', 'short-streams']),
      slow: { ...plan.slow, rates: [500, 2_000], formats: ['messages'] },
    })
    // Each process optimizes its own code.
    for (const gateway of gateways)
      for (let process = 0; process < gateway.processCount; process++)
        await warmUp(program, gateway, loads)
    const rounds: SeveralRound[] = []
    for (let round = 0; round < plan.processes.rounds; round++)
      for (const load of loads)
        rounds.push(...(await measureInTurn(program, load, rotate(gateways, round), plan)))
    return {
      machine: describeMachine(root, workFolder, join(root, 'bench', 'peers')),
      plan: plan.processes,
      server: await server.run('SHOW server_version'),
      idle,
      rounds,
      money: await stopAndCompare(bench, gateways),
    }
  } finally {
    await group.stopAll()
    await server.close()
  }
}

async function measureInTurn(
  program: LoadProgram,
  load: Load,
  gateways: readonly Gateway[],
  plan: Plan,
): Promise<readonly SeveralRound[]> {
  const rounds: SeveralRound[] = []
  for (const target of gateways) {
    const [given] = fitLoads([load], target.cases)
    if (given === undefined) throw new Error('the gateway does not take this load')
    const round = await measureRound(program, { target, given, ...plan.processes })
    rounds.push({ ...round, processCount: target.processCount })
  }
  return rounds
}

/** Of all gateways in the same time. */
async function measureIdle(
  gateways: readonly Gateway[],
  idleMs: number,
): Promise<readonly IdleProcesses[]> {
  const trees = gateways.map(({ proxy }) => findProcessTree(proxy.process.pid))
  const before = trees.map(readThreadTimes)
  await delay(idleMs)
  return gateways.map(({ processCount }, index) => {
    const pids = trees[index] ?? []
    const { totalUs } = usedBetween(before[index] ?? new Map(), readThreadTimes(pids))
    const [first = 0] = pids
    return {
      processCount,
      cpuMsPerSecond: totalUs / idleMs,
      bytes: readResidentBytes(pids),
      supervisorBytes: processCount === 1 ? Number.NaN : readResidentBytes([first]),
    }
  })
}
