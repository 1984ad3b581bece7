/**
 * The machine of a run: installs the programs that the benchmark measures and measures with, chooses cores,
 * and describes processor, versions and commit. Figures are comparable within one run only.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'

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
  readonly haproxy: string | undefined
  readonly portkey: string | undefined
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

const openFilesReserve = 400

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

/** Returns what the command wrote to both streams; an empty text if there is no such command. */
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

const required = [
  { command: 'nginx', packageName: 'nginx' },
  { command: 'wrk', packageName: 'wrk' },
  { command: 'taskset', packageName: 'util-linux' },
  { command: 'setpriv', packageName: 'util-linux' },
] as const
const optional = { command: 'haproxy', packageName: 'haproxy' } as const

const policyPath = '/usr/sbin/policy-rc.d'

export interface Tools {
  readonly hasHaproxy: boolean
}

/** Installs missing programs. If haproxy cannot be installed, the benchmark runs without it. */
export function provideTools(needsHaproxy: boolean): Tools {
  const missing = required.filter((tool) => !hasCommand(tool.command))
  if (missing.length > 0 && !install([...new Set(missing.map((tool) => tool.packageName))])) {
    const names = missing.map((tool) => tool.command).join(', ')
    throw new Error(`these programs are missing and cannot be installed: ${names}`)
  }
  if (needsHaproxy && !hasCommand(optional.command) && !install([optional.packageName])) {
    console.error('bench: haproxy cannot be installed; the run continues without it')
  }
  return { hasHaproxy: needsHaproxy && hasCommand(optional.command) }
}

function hasCommand(command: string): boolean {
  return ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'].some(
    (folder) => existsSync(`${folder}/${command}`),
  )
}

function install(packageNames: readonly string[]): boolean {
  if (process.getuid?.() !== 0 || !hasCommand('apt-get')) return false
  console.error(`bench: installing ${packageNames.join(', ')} …`)
  return withoutServices(() => {
    const words = ['install', '-y', '--no-install-recommends', ...packageNames]
    // Package lists may be missing or old; only a failed install shows it.
    return runApt(words) || (runApt(['update']) && runApt(words))
  })
}

function runApt(words: readonly string[]): boolean {
  const result = spawnSync('apt-get', ['-q', ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  return result.status === 0
}

/** Debian starts an installed service, unless this policy script forbids it. */
function withoutServices<Result>(action: () => Result): Result {
  if (existsSync(policyPath)) return action()
  writeFileSync(policyPath, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    return action()
  } finally {
    rmSync(policyPath, { force: true })
  }
}
