/**
 * Debian packages that tests drive. Where one is missing and this is root on a Debian machine it is
 * installed; elsewhere the tests that need it fail and say so.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Command → the package it is in. */
const packageOf = { strace: 'strace' }

export function ensureDebianPackages() {
  const folders = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin']
  const isMissing = (command) => !folders.some((folder) => existsSync(`${folder}/${command}`))
  const packages = Object.entries(packageOf)
    .filter(([command]) => isMissing(command))
    .map(([, name]) => name)
  if (packages.length === 0) return
  process.stderr.write(`turnpike: installing ${packages.join(', ')} …\n`)
  const words = ['install', '-y', '--no-install-recommends', ...packages]
  // The package lists of a fresh machine may be missing or old, which only the attempt shows.
  const isInstalled = runApt(words) || (runApt(['update']) && runApt(words))
  if (!isInstalled) process.stderr.write(`turnpike: could not install ${packages.join(', ')}\n`)
}

function runApt(words) {
  const result = spawnSync('apt-get', ['-q', ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  return result.status === 0
}
