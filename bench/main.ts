/**
 * The command `npm run bench`: installs the tools, runs the benchmark, prints and keeps its report. It ends
 * every program that it started and removes the work folder, also after a failure.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { measureAttacks } from './attacks/attacks.ts'
import { formatAttacks } from './attacks/report.ts'
import { measureBodies } from './bodies/bodies.ts'
import { formatBodies } from './bodies/report.ts'
import { measureConsole } from './console/console.ts'
import { formatConsole } from './console/report.ts'
import { measureGrowth } from './growth/growth.ts'
import { formatGrowth } from './growth/report.ts'
import {
  chooseCores,
  describeCommit,
  describeDate,
  describeMachine,
  moveToCore,
  provideTools,
} from './machine.ts'
import type { Figures, RequestRound } from './measure/figures.ts'
import { measureRequests } from './measure/requests.ts'
import { ServedCounts } from './measure/served.ts'
import { startStreamUpstream } from './measure/stream-run.ts'
import { measureStreams, type StreamFigures } from './measure/streams.ts'
import { isSlow, parseOptions, type Plan, usageText } from './options.ts'
import { findFreePort, ProcessGroup } from './processes.ts'
import { describeProfiles } from './profile.ts'
import { startJsonUpstream } from './proxies/nginx.ts'
import { ProxySet } from './proxies/proxy-set.ts'
import type { Bench } from './proxies/proxy.ts'
import { writeFigures, writeReport } from './report/document.ts'
import { measureRefusals } from './refusals/refusals.ts'
import { formatRefusals } from './refusals/report.ts'
import { formatTraces } from './traces/report.ts'
import { measureTraces } from './traces/traces.ts'
import { formatReport } from './report/markdown.ts'
import { formatStores } from './stores/report.ts'
import { measureStores } from './stores/stores.ts'
import { formatSeveral } from './several/report.ts'
import { measureSeveral } from './several/several.ts'
import { check, formatSoak } from './soak/report.ts'
import { runSoak } from './soak/soak.ts'
import { writePicture } from './slow/picture.ts'
import { formatSlow } from './slow/report.ts'
import { measureSlow } from './slow/slow.ts'

export interface BenchmarkSetting {
  readonly plan: Plan
  readonly group: ProcessGroup
  readonly workFolder: string
  readonly root: string
  readonly profileFolder: string | undefined
}

export async function runBenchmark(setting: BenchmarkSetting): Promise<Figures> {
  const { plan, group, workFolder, root } = setting
  const tools = provideTools(plan.proxies.has('haproxy'))
  const cores = chooseCores()
  moveToCore(cores.load)
  const json = await startJsonUpstream(group, workFolder, cores.load)
  const streamPort = await findFreePort()
  const upstream = await startStreamUpstream(group, { root, core: cores.load, port: streamPort })
  const bench: Bench = { group, cores, workFolder, root, jsonPort: json.port, streamPort }
  const proxySet = new ProxySet(bench, plan, tools, setting.profileFolder)
  const served = new ServedCounts()
  // First, while the store is small: the gateway's own audit then takes little time.
  const streams: StreamFigures = await measureStreams({
    bench,
    plan,
    upstream,
    served,
    withProxies: (part, action) => proxySet.withProxies(part, action),
  })
  const requests = await runRequests(bench, plan, proxySet, served)
  const ledger = await proxySet.readLedger()
  return {
    machine: describeMachine(root, workFolder, join(root, 'bench', 'peers')),
    mode: plan.mode,
    requests,
    ...streams,
    money: ledger === undefined ? [] : served.compare(ledger.usage, ledger.audit),
  }
}

async function runRequests(
  bench: Bench,
  plan: Plan,
  proxySet: ProxySet,
  served: ServedCounts,
): Promise<readonly RequestRound[]> {
  const rounds: RequestRound[] = []
  if (!plan.parts.has('requests')) return rounds
  await proxySet.withProxies('requests', async (proxies) => {
    rounds.push(...(await measureRequests(bench, proxies, plan.requests, served)))
  })
  return rounds
}

const root = dirname(import.meta.dirname)
const hotspotCount = 30
const exitCodes = { done: 0, failed: 1, wrongUsage: 2, interrupted: 130 } as const

async function main(commandLine: readonly string[]): Promise<number> {
  const plan = parseOptions(commandLine)
  if (typeof plan === 'string') {
    console.error(`bench: ${plan}\n${usageText}`)
    return exitCodes.wrongUsage
  }
  if (plan.against !== undefined && !existsSync(join(plan.against, 'bin', 'turnpike'))) {
    console.error(`bench: --against: ${plan.against} is not a checkout of Turnpike`)
    return exitCodes.wrongUsage
  }
  const workFolder = makeWorkFolder(plan)
  const group = new ProcessGroup(workFolder)
  const clean = async (): Promise<void> => {
    await group.stopAll()
    rmSync(workFolder, { recursive: true, force: true })
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // The terminal and the parent process often send the same signal twice.
    process.on(signal, () => void clean().finally(() => process.exit(exitCodes.interrupted)))
  }
  try {
    return await runAndReport(plan, commandLine, { group, workFolder })
  } finally {
    await clean()
  }
}

async function runAndReport(
  plan: Plan,
  commandLine: readonly string[],
  { group, workFolder }: { readonly group: ProcessGroup; readonly workFolder: string },
): Promise<number> {
  if (plan.parts.has('growth')) return runGrowth(plan, commandLine, workFolder)
  if (plan.parts.has('stores')) return runStores(plan, commandLine, { group, workFolder })
  if (plan.parts.has('bodies')) return runBodies(plan, commandLine, { group, workFolder })
  if (plan.parts.has('refusals')) return runRefusals(plan, commandLine, { group, workFolder })
  if (plan.parts.has('console')) return runConsole(plan, commandLine, { group, workFolder })
  if (plan.parts.has('traces')) return runTraces(plan, commandLine, { group, workFolder })
  if (plan.parts.has('soak')) return runSoakTest(plan, commandLine)
  const profileFolder = plan.isProfiled
    ? mkdtempSync(join(tmpdir(), 'turnpike-profiles-'))
    : undefined
  if (plan.parts.has('attacks'))
    return runAttacks(commandLine, { plan, group, workFolder, root, profileFolder })
  if (plan.parts.has('processes'))
    return runSeveral(commandLine, { plan, group, workFolder, root, profileFolder })
  if (isSlow(plan)) return runSlow(commandLine, { plan, group, workFolder, root, profileFolder })
  const figures = await runBenchmark({ plan, group, workFolder, root, profileFolder })
  const report = formatReport(figures, describeCommand(commandLine))
  console.log(report)
  if (profileFolder !== undefined) printProfiles(profileFolder)
  if (plan.isWritten) {
    const paths = [writeReport(root, report, 'instant'), writeFigures(root, figures, 'instant')]
    console.error(`bench: written: ${paths.join(', ')}`)
  }
  return figures.money.every((line) => line.isRight) ? exitCodes.done : exitCodes.failed
}

async function runSlow(commandLine: readonly string[], setting: BenchmarkSetting): Promise<number> {
  const { plan, profileFolder } = setting
  const figures = await measureSlow(setting)
  const report = formatSlow(figures, describeCommand(commandLine))
  console.log(report)
  if (profileFolder !== undefined) printProfiles(profileFolder)
  if (plan.isWritten) {
    const paths = [
      writeReport(root, report, 'slow'),
      writeFigures(root, figures, 'slow'),
      writePicture(root, figures),
    ]
    console.error(`bench: written: ${paths.filter((path) => path !== undefined).join(', ')}`)
  }
  return figures.money.every((line) => line.isRight) ? exitCodes.done : exitCodes.failed
}

async function runSeveral(
  commandLine: readonly string[],
  setting: BenchmarkSetting,
): Promise<number> {
  const { plan, profileFolder } = setting
  const figures = await measureSeveral(setting)
  const report = formatSeveral(figures, describeCommand(commandLine))
  console.log(report)
  if (profileFolder !== undefined) printProfiles(profileFolder)
  if (plan.isWritten) console.error(`bench: written: ${writeReport(root, report, 'processes')}`)
  return figures.money.every((line) => line.isRight) ? exitCodes.done : exitCodes.failed
}

async function runGrowth(
  plan: Plan,
  commandLine: readonly string[],
  workFolder: string,
): Promise<number> {
  const growth = await measureGrowth(plan.growth, workFolder)
  const made = { date: describeDate(), commit: describeCommit(root) }
  const report = formatGrowth(growth, { command: describeCommand(commandLine), ...made })
  console.log(report)
  if (plan.isWritten) console.error(`bench: written: ${writeReport(root, report, 'growth')}`)
  return growth.figures.every(({ isClean }) => isClean) ? exitCodes.done : exitCodes.failed
}

async function runStores(
  plan: Plan,
  commandLine: readonly string[],
  { group, workFolder }: { readonly group: ProcessGroup; readonly workFolder: string },
): Promise<number> {
  const figures = await measureStores({ plan: plan.stores, group, workFolder, root })
  const report = formatStores(figures, describeCommand(commandLine))
  console.log(report)
  if (plan.isWritten) console.error(`bench: written: ${writeReport(root, report, 'stores')}`)
  return figures.money.every((line) => line.isRight) ? exitCodes.done : exitCodes.failed
}

async function runBodies(
  plan: Plan,
  commandLine: readonly string[],
  { group, workFolder }: { readonly group: ProcessGroup; readonly workFolder: string },
): Promise<number> {
  const figures = await measureBodies({ plan: plan.bodies, group, workFolder, root })
  const made = { date: describeDate(), commit: describeCommit(root) }
  const report = formatBodies(figures, { command: describeCommand(commandLine), ...made })
  console.log(report)
  if (plan.isWritten) console.error(`bench: written: ${writeReport(root, report, 'bodies')}`)
  return exitCodes.done
}

async function runAttacks(
  commandLine: readonly string[],
  { plan, group, workFolder, profileFolder }: BenchmarkSetting,
): Promise<number> {
  const roots = plan.against === undefined ? [root] : [plan.against, root]
  const programs = new Map(roots.map((folder) => [describeCommit(folder), folder]))
  const rows = await measureAttacks({
    programs,
    plan: plan.attacks,
    wanted: plan.attack,
    group,
    workFolder,
    profileFolder,
  })
  const made = { command: describeCommand(commandLine), date: describeDate() }
  const report = formatAttacks(rows, made)
  console.log(report)
  if (profileFolder !== undefined)
    console.log(describeProfiles(profileFolder, hotspotCount), profileFolder)
  if (plan.isWritten) console.error(`bench: written: ${writeReport(root, report, 'attacks')}`)
  return exitCodes.done
}

async function runRefusals(
  plan: Plan,
  commandLine: readonly string[],
  { group, workFolder }: { readonly group: ProcessGroup; readonly workFolder: string },
): Promise<number> {
  const roots = plan.against === undefined ? [root] : [plan.against, root]
  const programs = new Map(roots.map((folder) => [describeCommit(folder), folder]))
  const rows = await measureRefusals({ programs, plan: plan.refusals, group, workFolder })
  const made = { command: describeCommand(commandLine), date: describeDate() }
  const report = formatRefusals(rows, made)
  console.log(report)
  if (plan.isWritten) console.error(`bench: written: ${writeReport(root, report, 'refusals')}`)
  return exitCodes.done
}

async function runConsole(
  plan: Plan,
  commandLine: readonly string[],
  { group, workFolder }: { readonly group: ProcessGroup; readonly workFolder: string },
): Promise<number> {
  const figures = await measureConsole({ root, plan: plan.console, group, workFolder })
  const made = { command: describeCommand(commandLine), date: describeDate() }
  const report = formatConsole(figures, made)
  console.log(report)
  if (plan.isWritten) console.error(`bench: written: ${writeReport(root, report, 'console')}`)
  return exitCodes.done
}

async function runTraces(
  plan: Plan,
  commandLine: readonly string[],
  { group, workFolder }: { readonly group: ProcessGroup; readonly workFolder: string },
): Promise<number> {
  const rounds = await measureTraces({ root, plan: plan.traces, group, workFolder })
  const made = { command: describeCommand(commandLine), date: describeDate() }
  const report = formatTraces(rounds, made)
  console.log(report)
  if (plan.isWritten) console.error(`bench: written: ${writeReport(root, report, 'traces')}`)
  return exitCodes.done
}

async function runSoakTest(plan: Plan, commandLine: readonly string[]): Promise<number> {
  const figures = await runSoak(plan.soak)
  const made = { date: describeDate(), commit: describeCommit(root) }
  const report = formatSoak(figures, { command: describeCommand(commandLine), ...made })
  console.log(report)
  if (plan.isWritten) console.error(`bench: written: ${writeReport(root, report, 'soak')}`)
  return check(figures).every(({ isRight }) => isRight) ? exitCodes.done : exitCodes.failed
}

function describeCommand(commandLine: readonly string[]): string {
  return ['npm run bench', ...(commandLine.length === 0 ? [] : ['--', ...commandLine])].join(' ')
}

function printProfiles(folder: string): void {
  for (const part of readdirSync(folder)) {
    console.log(`### Profile: ${part}\n`)
    console.log(describeProfiles(join(folder, part), hotspotCount))
  }
  console.error(`bench: profiles are in ${folder}`)
}

/**
 * Prefers a real disk to a memory file system, because the figures include commits. Where they do not, what
 * other programs write to the disk would only disturb.
 */
function makeWorkFolder({ parts }: Plan): string {
  const folders = parts.has('attacks') ? ['/dev/shm', '/var/tmp'] : ['/var/tmp']
  const parent = folders.find((folder) => existsSync(folder)) ?? tmpdir()
  return mkdtempSync(join(parent, 'turnpike-bench-'))
}

process.exitCode = await main(process.argv.slice(2))
