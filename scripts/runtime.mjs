/**
 * Installs the project's own Node and its packages. Any `node` from version 20 on can start this script.
 * Plain JavaScript, because nothing is installed yet when it runs.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

const runtimePackages = ['node', 'node-bin'].map(
  (name) => `${name}-${process.platform}-${process.arch}`,
)

/** The Node binary that came with the packages, or undefined before they are installed. */
export function findRuntime() {
  return runtimePackages
    .map((name) => join(root, 'node_modules', name, 'bin', 'node'))
    .find((path) => existsSync(path))
}

/** The file in which the last complete installation records its scope and lock file. */
function stampPath(folder) {
  return join(folder, 'node_modules', '.turnpike-install')
}

/** Returns scope and lock file of the last installation; undefined if there was none. */
function readStamp(folder) {
  const path = stampPath(folder)
  if (!existsSync(path)) return undefined
  const text = readFileSync(path, 'utf8')
  const end = text.indexOf('\n')
  return { scope: text.slice(0, end), lock: text.slice(end + 1) }
}

/**
 * Installs a folder's packages exactly as its lock file says, unless they are installed already.
 * `scope` is `production` or `development`; the second contains the first and is never removed.
 * Of two processes that start at once, one installs, and the other waits for it.
 */
export function ensureInstalled(folder, scope) {
  if (planInstall(folder, scope) === undefined) return
  const release = holdInstall(folder)
  try {
    const plan = planInstall(folder, scope)
    if (plan !== undefined) install(folder, plan)
  } finally {
    release()
  }
}

/** Returns what must be installed, or undefined if everything is there. */
function planInstall(folder, scope) {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  const last = readStamp(folder)
  const isEnough = last?.scope === scope || last?.scope === 'development'
  if (last?.lock === lock && isEnough) return undefined
  return { lock, scope: last?.scope === 'development' ? 'development' : scope }
}

function install(folder, { lock, scope }) {
  process.stderr.write(`turnpike: installing packages (${scope}) …\n`)
  rmSync(stampPath(folder), { force: true })
  const scopeArguments = scope === 'production' ? ['--omit=dev'] : []
  const result = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--loglevel=error', ...scopeArguments],
    {
      cwd: folder,
      stdio: ['ignore', 2, 2],
      env: { ...process.env, NODE_ENV: '' },
    },
  )
  if (result.status !== 0) throw new Error('npm ci failed; its output is above')
  mkdirSync(dirname(stampPath(folder)), { recursive: true })
  writeFileSync(stampPath(folder), `${scope}\n${lock}`)
}

const installPollMs = 200

/** Waits until no other process installs into the folder; returns a function that releases the lock. */
function holdInstall(folder) {
  const path = join(folder, '.turnpike-install.lock')
  // Written to another file and linked, so that the lock never exists without its owner's process id.
  const ownPath = `${path}.${process.pid}`
  writeFileSync(ownPath, String(process.pid))
  try {
    while (!tryLink(ownPath, path)) {
      if (!isAlive(readOwner(path))) rmSync(path, { force: true })
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, installPollMs)
    }
  } finally {
    rmSync(ownPath, { force: true })
  }
  return () => rmSync(path, { force: true })
}

function tryLink(from, to) {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

function readOwner(path) {
  try {
    return Number(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

function isAlive(pid) {
  if (pid === undefined) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Environment for children: the project's own runtime and tools come first. */
export function childEnvironment(extra = {}) {
  const runtime = findRuntime()
  if (runtime === undefined) {
    throw new Error(`no Node runtime package for ${process.platform}-${process.arch} is installed`)
  }
  const path = [dirname(runtime), join(root, 'node_modules', '.bin'), process.env.PATH].join(':')
  return { ...process.env, PATH: path, ...extra }
}

/**
 * Runs the project's own Node with these arguments; resolves with its exit code. SIGUSR1 opens no debugger
 * in it: every local user could connect to a debugger and read keys from memory.
 */
export function runNode(nodeArguments, options = {}) {
  const runtime = findRuntime()
  if (runtime === undefined) return run(process.execPath, nodeArguments, options)
  return run(runtime, ['--disable-sigusr1', ...nodeArguments], options)
}

/**
 * Runs a command in the project's root and forwards the signals that end it; resolves with its exit code.
 * Its output goes where this process writes, or to `onOutput` piece by piece.
 */
export function run(command, commandArguments, options = {}) {
  const { onOutput } = options
  const stdio = onOutput === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe']
  return new Promise((resolve, reject) => {
    const child = spawn(command, commandArguments, {
      cwd: options.cwd ?? root,
      stdio: options.stdio ?? stdio,
      env: childEnvironment(options.env),
    })
    if (onOutput !== undefined) {
      child.stdout.on('data', onOutput)
      child.stderr.on('data', onOutput)
    }
    const forward = (signal) => child.kill(signal)
    process.on('SIGINT', forward)
    process.on('SIGTERM', forward)
    child.on('error', reject)
    child.on('close', (code, signal) => {
      process.off('SIGINT', forward)
      process.off('SIGTERM', forward)
      resolve(code ?? (signal === null ? 1 : 128))
    })
  })
}
