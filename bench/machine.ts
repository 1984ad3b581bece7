/**
 * What the figures were measured on: cores, processor, versions, commit. Figures are only comparable
 * within one run, so this line stands with every table.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, statfsSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'

export interface Cores {
  /** The proxy under test has this one for itself. */
  readonly proxy: number
  /** Upstream, load and the benchmark itself share this one. */
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
  readonly haproxy: string | undefined
  readonly portkey: string | undefined
  readonly workFileSystem: string
}

/** The cores this process may use, from a list such as `0-3,8`. */
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

/** Keeps all threads of this process off the core of the proxy under test. */
export function moveToCore(core: number): void {
  spawnSync('taskset', ['-a', '-p', '-c', String(core), String(process.pid)])
}

export function describeMachine(root: string, workFolder: string, peersFolder: string): Machine {
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
    haproxy: firstMatch(outputOf('haproxy', ['-v']), /version (\d[\d.]*)/),
    portkey: readVersion(join(peersFolder, 'node_modules/@portkey-ai/gateway/package.json')),
    workFileSystem: describeFileSystem(workFolder),
  }
}

export function describeDate(): string {
  return new Date().toISOString().slice(0, 16).replace('T', ' ') + ' UTC'
}

export function describeCommit(root: string): string {
  const commit = outputOf('git', ['-C', root, 'rev-parse', '--short=12', 'HEAD']).trim()
  if (!/^[0-9a-f]{12}$/.test(commit)) return 'uncommitted'
  const changes = outputOf('git', [
    '-C',
    root,
    'status',
    '--porcelain',
    '--',
    'src',
    'package.json',
  ])
  return changes.trim() === '' ? commit : `${commit} with changes`
}

/** Whatever the command wrote, on either stream; empty where it does not exist. */
function outputOf(command: string, commandArguments: readonly string[]): string {
  const result = spawnSync(command, commandArguments, { encoding: 'utf8' })
  return result.error === undefined ? result.stdout + result.stderr : ''
}

function firstMatch(text: string, pattern: RegExp): string | undefined {
  return pattern.exec(text)?.[1]
}

function readVersion(path: string): string | undefined {
  try {
    return firstMatch(readFileSync(path, 'utf8'), /"version": "([^"]+)"/)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const fileSystems: Readonly<Record<number, string>> = {
  0xef53: 'ext4',
  0x9123683e: 'btrfs',
  0x58465342: 'xfs',
  0x01021994: 'tmpfs (a commit costs nothing here)',
  0x794c7630: 'overlay',
}

function describeFileSystem(folder: string): string {
  const type = statfsSync(folder).type
  return fileSystems[type] ?? `type 0x${type.toString(16)}`
}
