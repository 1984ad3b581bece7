/**
 * Runs programs on the project's own Node, which is one of its packages. Any Node from version 20 on can run
 * this, because nothing may be installed yet.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Names that the package with this platform's Node may have. */
export const runtimePackages = ['node', 'node-bin'].map(
  (name) => `${name}-${process.platform}-${process.arch}`,
)

/** The Node binary that came with the packages, or undefined before they are installed. */
export function findRuntime() {
  return runtimePackages
    .map((name) => join(root, 'node_modules', name, 'bin', 'node'))
    .find((path) => existsSync(path))
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
