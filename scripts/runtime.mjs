/**
 * Brings the project's own Node and its packages, whatever `node` started this script (20 or newer).
 * Plain JavaScript, because nothing is installed yet when it runs.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

/** Where the last completed install notes what it installed, and from which lock file. */
function stampPath(folder) {
  return join(folder, 'node_modules', '.turnpike-install')
}

/** What was installed last, and by which lock file; undefined where nothing was. */
function readStamp(folder) {
  const path = stampPath(folder)
  if (!existsSync(path)) return undefined
  const text = readFileSync(path, 'utf8')
  const end = text.indexOf('\n')
  return { scope: text.slice(0, end), lock: text.slice(end + 1) }
}

/**
 * Installs a folder's packages exactly as its lock file says, unless that has been done already.
 * `scope` is `production` or `development`; the latter contains the former and is never taken back.
 */
export function ensureInstalled(folder, scope) {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  const last = readStamp(folder)
  const isEnough = last?.scope === scope || last?.scope === 'development'
  if (last?.lock === lock && isEnough) return
  const wanted = last?.scope === 'development' ? 'development' : scope
  process.stderr.write(`turnpike: installing packages (${wanted}) …\n`)
  rmSync(stampPath(folder), { force: true })
  const scopeArguments = wanted === 'production' ? ['--omit=dev'] : []
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
  writeFileSync(stampPath(folder), `${wanted}\n${lock}`)
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

/** Runs the project's own Node with these arguments; resolves with its exit code. */
export function runNode(nodeArguments, options = {}) {
  return run(findRuntime() ?? process.execPath, nodeArguments, options)
}

/** Runs a command in the project's root, passing on the signals that end it; resolves with its exit code. */
export function run(command, commandArguments, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, commandArguments, {
      cwd: options.cwd ?? root,
      stdio: options.stdio ?? 'inherit',
      env: childEnvironment(options.env),
    })
    const forward = (signal) => child.kill(signal)
    process.on('SIGINT', forward)
    process.on('SIGTERM', forward)
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      process.off('SIGINT', forward)
      process.off('SIGTERM', forward)
      resolve(code ?? (signal === null ? 1 : 128))
    })
  })
}
