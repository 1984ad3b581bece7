/**
 * Installs Debian packages that tests and the benchmark use, as root on a Debian machine. Elsewhere the tests that need a
 * missing package fail and say so.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Command → the package it is in. */
const packageOf = {
  curl: 'curl',
  strace: 'strace',
  mount: 'mount',
  postgres: 'postgresql',
  pgbouncer: 'pgbouncer',
  zsh: 'zsh',
  fish: 'fish',
  exim4: 'exim4-daemon-light',
  promtool: 'prometheus',
  nginx: 'nginx-light',
  haproxy: 'haproxy',
  caddy: 'caddy',
  buildah: 'buildah',
  mmdebstrap: 'mmdebstrap',
  'systemd-analyze': 'systemd',
  ip: 'iproute2',
  'chromium-headless-shell': 'chromium-headless-shell',
  slowhttptest: 'slowhttptest',
}

const postgresFolder = '/usr/lib/postgresql'

/** By default all of them; a benchmark needs few of these commands. */
export function ensureDebianPackages(commands = Object.keys(packageOf)) {
  const folders = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', ...postgresFolders()]
  const isMissing = (command) => !folders.some((folder) => existsSync(join(folder, command)))
  const packages = Object.entries(packageOf)
    .filter(([command]) => commands.includes(command) && isMissing(command))
    .map(([, name]) => name)
  if (packages.length === 0) return
  process.stderr.write(`turnpike: installing ${packages.join(', ')} …\n`)
  const isInstalled = withoutServices(() => {
    // This package has the file that keeps PostgreSQL from creating its own cluster.
    if (packages.includes('postgresql') && !(install(['postgresql-common']) && forbidCluster()))
      return false
    return install(packages)
  })
  if (!isInstalled) process.stderr.write(`turnpike: could not install ${packages.join(', ')}\n`)
}

/** Debian keeps each version's programs in a separate folder. */
function postgresFolders() {
  if (!existsSync(postgresFolder)) return []
  return readdirSync(postgresFolder).map((version) => join(postgresFolder, version, 'bin'))
}

function install(packages) {
  const words = ['install', '-y', '--no-install-recommends', ...packages]
  // The package lists of a fresh machine may be missing or old; only an attempt shows it.
  return runApt(words) || (runApt(['update']) && runApt(words))
}

function forbidCluster() {
  const path = '/etc/postgresql-common/createcluster.conf'
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replace(/^#?create_main_cluster.*$/m, 'create_main_cluster = false'))
  return true
}

/** Tests start their own servers, so a package's services are not started. */
function withoutServices(action) {
  const policy = '/usr/sbin/policy-rc.d'
  if (process.getuid?.() !== 0 || existsSync(policy)) return action()
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    return action()
  } finally {
    rmSync(policy)
  }
}

function runApt(words) {
  const result = spawnSync('apt-get', ['-q', ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  return result.status === 0
}
