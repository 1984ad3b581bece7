/**
 * The command: brings the tools, runs the benchmark, prints and keeps its report. Whatever happens,
 * everything that was started is ended and the work folder removed.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runBenchmark } from './benchmark.ts'
import { measureGrowth } from './growth/growth.ts'
import { formatGrowth } from './growth/report.ts'
import { describeCommit, describeDate } from './machine.ts'
import { parseOptions, usageText, type Plan } from './options.ts'
import { ProcessGroup } from './processes.ts'
import { describeProfiles } from './profile.ts'
import { formatReport } from './report/markdown.ts'
import { formatStores } from './stores/report.ts'
import { measureStores } from './stores/stores.ts'
import { writeFigures, writeReport } from './report/write.ts'

const root = dirname(import.meta.dirname)
const hotspotCount = 30
const exitCodes = { done: 0, failed: 1, wrongUsage: 2, interrupted: 130 } as const

async function main(commandLine: readonly string[]): Promise<number> {
  const plan = parseOptions(commandLine)
  if (typeof plan === 'string') {
    console.error(`bench: ${plan}\n${usageText}`)
    return exitCodes.wrongUsage
  }
  const workFolder = makeWorkFolder()
  const group = new ProcessGroup(workFolder)
  const clean = async (): Promise<void> => {
    await group.stopAll()
    rmSync(workFolder, { recursive: true, force: true })
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // The same signal often comes twice, from the terminal and from the parent.
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
  const profileFolder = plan.isProfiled
    ? mkdtempSync(join(tmpdir(), 'turnpike-profiles-'))
    : undefined
  const figures = await runBenchmark({ plan, group, workFolder, root, profileFolder })
  const report = formatReport(figures, describeCommand(commandLine))
  console.log(report)
  if (profileFolder !== undefined) printProfiles(profileFolder)
  if (plan.isWritten) {
    const paths = [writeReport(root, report), writeFigures(root, figures)]
    console.error(`bench: written: ${paths.join(', ')}`)
  }
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

/** On a disk that keeps what is written, where there is a choice: commits are part of the figures. */
function makeWorkFolder(): string {
  return mkdtempSync(join(existsSync('/var/tmp') ? '/var/tmp' : tmpdir(), 'turnpike-bench-'))
}

process.exitCode = await main(process.argv.slice(2))
