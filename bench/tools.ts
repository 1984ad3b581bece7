/**
 * Brings the programs the benchmark measures and measures with: Debian packages where they are
 * missing, the peers from npm at the versions of their lock file. It starts none of them, and sees
 * to it that the system does not start them as services either.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

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

/** Installs what is missing. `wantsHaproxy` is a wish: without haproxy the benchmark goes on. */
export function provideTools(wantsHaproxy: boolean): Tools {
  const missing = required.filter((tool) => !hasCommand(tool.command))
  if (missing.length > 0 && !install([...new Set(missing.map((tool) => tool.packageName))])) {
    const names = missing.map((tool) => tool.command).join(', ')
    throw new Error(`missing and not installable here: ${names}`)
  }
  if (wantsHaproxy && !hasCommand(optional.command) && !install([optional.packageName])) {
    console.error('bench: haproxy could not be installed and is left out')
  }
  return { hasHaproxy: wantsHaproxy && hasCommand(optional.command) }
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
    // The package lists of a fresh machine may be missing or old, which only the attempt shows.
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

/** Debian starts a service when it is installed, unless this policy script says no. */
function withoutServices<Result>(action: () => Result): Result {
  if (existsSync(policyPath)) return action()
  writeFileSync(policyPath, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    return action()
  } finally {
    rmSync(policyPath, { force: true })
  }
}
