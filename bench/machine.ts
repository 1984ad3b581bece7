/**
 * The machine of a run: chooses cores, and describes processor, versions and commit. Figures are comparable
 * within one run only.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'

export interface Cores {
  /** Runs only the proxy under test. */
  readonly proxy: number
  /** Runs the upstream, the load tool and the benchmark itself. */
  readonly load: number
}

export interface Machine {
  readonly date: string
  readonly commit: string
  readonly processor: string
  readonly cores: number
  readonly memoryGib: number
  readonly kernel: string
  readonly node: string
  readonly sqlite: string
  readonly nginx: string
  readonly workFileSystem: string
}

/** Parses a list of cores such as `0-3,8`. */
export function parseCoreList(text: string): readonly number[] {
  return text.split(',').flatMap((range) => {
    const match = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(range)
    if (match === null) return []
    const first = Number(match[1])
    const last = Number(match[2] ?? first)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

export function chooseCores(): Cores {
  const status = readFileSync('/proc/self/status', 'latin1')
  const allowed = parseCoreList(/^Cpus_allowed_list:\s*(.*)$/m.exec(status)?.[1] ?? '')
  const [proxy, load] = allowed
  if (proxy === undefined || load === undefined) {
    throw new Error('the benchmark needs two cores: one for the proxy under test, one for its load')
  }
  return { proxy, load }
}

/** More than Turnpike keeps for its store, its logs and `/health`. */
const openFilesReserve = 1_000

/** The streams that one process can relay within its limit of open files, with two sockets for each. */
export function streamsMax(): number {
  const limits = readFileSync('/proc/self/limits', 'latin1')
  const open = Number(/^Max open files +(\d+)/m.exec(limits)?.[1])
  return Math.min(16_000, Math.floor((open - openFilesReserve) / 2))
}

/** Moves all threads of this process to one core. */
export function moveToCore(core: number): void {
  spawnSync('taskset', ['-a', '-p', '-c', String(core), String(process.pid)])
}

export function describeMachine(root: string, workFolder: string): Machine {
  return {
    date: describeDate(),
    commit: describeCommit(root),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.versions.node,
    sqlite: process.versions['sqlite'] ?? 'unknown',
    nginx: firstMatch(outputOf('nginx', ['-v']), /nginx\/(\S+)/) ?? 'unknown',
    workFileSystem: outputOf('stat', ['-f', '-c', '%T', workFolder]).trim(),
  }
}

export function describeDate(): string {
  return new Date().toISOString().slice(0, 16).replace('T', ' ') + ' UTC'
}

export function describeCommit(root: string): string {
  const commit = outputOf('git', ['-C', root, 'rev-parse', '--short=12', 'HEAD']).trim()
  if (!/^[0-9a-f]{12}$/.test(commit)) return 'uncommitted'
  const status = `-C ${root} status --porcelain -- src package.json`
  const changes = outputOf('git', status.split(' '))
  return changes.trim() === '' ? commit : `${commit} with changes`
}

/** Returns what the command wrote to both streams; an empty text if there is no such command. */
function outputOf(command: string, commandArguments: readonly string[]): string {
  const result = spawnSync(command, commandArguments, { encoding: 'utf8' })
  return result.error === undefined ? result.stdout + result.stderr : ''
}

function firstMatch(text: string, pattern: RegExp): string | undefined {
  return pattern.exec(text)?.[1]
}
