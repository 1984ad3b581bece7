/**
 * The command `npm run bench`: installs the tools, runs the benchmark, prints and keeps its report. It ends
 * every program that it started and removes the work folder, also after a failure.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runAttacks } from './attacks/attacks.ts'
import { runConsole } from './growth/console.ts'
import { runGrowth } from './growth/growth.ts'
import { runSealing } from './growth/sealing.ts'
import { describeCommit, describeDate } from './machine.ts'
import { parseOptions, type PartName, type Plan, usageText } from './options.ts'
import type { Made, RunResult, RunSetting } from './part.ts'
import { ProcessGroup } from './processes.ts'
import { describeProfiles } from './profile.ts'
import { writePicture } from './relay/picture.ts'
import { measureRelay } from './relay/relay.ts'
import { formatRelay } from './relay/report.ts'
import { runSoak } from './soak/soak.ts'
import { writeResult } from './table.ts'

const root = dirname(import.meta.dirname)
const hotspotCount = 30
const exitCodes = { done: 0, failed: 1, wrongUsage: 2, interrupted: 130 } as const

type Run = (setting: RunSetting, made: Made) => Promise<RunResult>

/** The parts that run alone; the others are of the relay. */
const runs: Readonly<Partial<Record<PartName, Run>>> = {
  attacks: runAttacks,
  console: runConsole,
  growth: runGrowth,
  sealing: runSealing,
  soak: runSoak,
}

async function runRelay(setting: RunSetting, made: Made): Promise<RunResult> {
  const figures = await measureRelay(setting)
  return {
    report: formatRelay(figures, made.command),
    isRight: figures.money.every((line) => line.isRight),
    figures,
    writePicture: () => writePicture(root, figures),
  }
}

async function main(commandLine: readonly string[]): Promise<number> {
  const plan = parseOptions(commandLine)
  if (typeof plan === 'string') {
    console.error(`bench: ${plan}\n${usageText}`)
    return exitCodes.wrongUsage
  }
  const { against } = plan
  if (against !== undefined && !existsSync(join(against, 'bin', 'turnpike'))) {
    console.error(`bench: --against: ${against} is not a checkout of Turnpike`)
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
  const programs = new Map(
    [...(against === undefined ? [] : [against]), root].map((folder) => [
      describeCommit(folder),
      folder,
    ]),
  )
  const profileFolder = plan.isProfiled
    ? mkdtempSync(join(tmpdir(), 'turnpike-profiles-'))
    : undefined
  const command = ['npm run bench', ...(commandLine.length === 0 ? [] : ['--', ...commandLine])]
  const made = { command: command.join(' '), date: describeDate(), commit: describeCommit(root) }
  try {
    return await runAndReport({ plan, group, workFolder, root, profileFolder, programs }, made)
  } finally {
    await clean()
  }
}

async function runAndReport(setting: RunSetting, made: Made): Promise<number> {
  const { plan, profileFolder } = setting
  const [part = 'slow'] = plan.parts
  const own = runs[part]
  const { report, isRight, figures, writePicture: draw } = await (own ?? runRelay)(setting, made)
  console.log(report)
  if (profileFolder !== undefined) printProfiles(profileFolder)
  if (plan.isWritten) {
    const name = own === undefined && part !== 'requests' ? 'slow' : part
    const paths = [
      writeResult(root, `${name}.md`, `# ${name}\n\n${report.trimEnd()}\n`),
      figures && writeResult(root, `${name}.json`, JSON.stringify(figures, undefined, 2) + '\n'),
      draw?.(),
    ]
    console.error(`bench: written: ${paths.filter((path) => path !== undefined).join(', ')}`)
  }
  return isRight ? exitCodes.done : exitCodes.failed
}

function printProfiles(folder: string): void {
  for (const part of readdirSync(folder)) {
    const path = join(folder, part)
    if (!statSync(path).isDirectory()) continue
    console.log(`### Profile: ${part}\n`)
    console.log(describeProfiles(path, hotspotCount))
  }
  console.error(`bench: profiles are in ${folder}`)
}

/**
 * Prefers a real disk to a memory file system, because the figures include commits. Where they do not, other
 * programs that write to the disk would only disturb.
 */
function makeWorkFolder({ parts }: Plan): string {
  const folders = parts.has('attacks') ? ['/dev/shm', '/var/tmp'] : ['/var/tmp']
  const parent = folders.find((folder) => existsSync(folder)) ?? tmpdir()
  return mkdtempSync(join(parent, 'turnpike-bench-'))
}

process.exitCode = await main(process.argv.slice(2))
