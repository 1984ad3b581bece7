/**
 * Installs the packages that are missing, and removes nothing that works: npm installs into a staging folder,
 * and only complete packages move from there to their place. Any Node from version 20 on can run this.
 */
import { spawnSync } from 'node:child_process'
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { lockedPackages, lockPath, readLock } from './lock-file.mjs'
import { runtimePackages } from './runtime.mjs'

/** Something that the person who starts Turnpike can change. */
class Obstacle extends Error {}

/**
 * Installs what a folder's lock file names and the folder lacks. `scope` is `production` or `development`;
 * the second contains the first. Returns whether something was missing. Of two processes that start at once,
 * one installs, and the other waits for it. Ends the process with one sentence where it cannot install.
 */
export function ensureInstalled(folder, scope) {
  try {
    return installMissing(folder, scope)
  } catch (error) {
    if (!(error instanceof Obstacle) && error.syscall === undefined) throw error
    process.stderr.write(`turnpike: ${error.message}\n`)
    process.exit(1)
  }
}

function installMissing(folder, scope) {
  const missing = findMissing(folder, scope)
  if (missing.length === 0) return false
  const modules = join(folder, 'node_modules')
  requireWritable(existsSync(modules) ? modules : folder, missing)
  mkdirSync(modules, { recursive: true })
  const release = holdInstall(modules)
  try {
    // Another process may have installed them meanwhile.
    const stillMissing = findMissing(folder, scope)
    if (stillMissing.length > 0) install(folder, scope, stillMissing)
  } finally {
    release()
  }
  return true
}

/** Returns the packages of the lock file that are not there in their version: `{ path, name, version }`. */
function findMissing(folder, scope) {
  return lockedPackages(readLock(folder))
    .filter(({ isDevelopment }) => !(isDevelopment && scope === 'production'))
    .map(({ path, name, version, isOptional }) => ({
      path,
      name,
      version,
      isOptional: isOptional && !runtimePackages.includes(name),
    }))
    .filter(({ path, version, isOptional }) => {
      const found = readVersion(join(folder, path))
      return found !== version && !(isOptional && found === undefined)
    })
}

/** Returns undefined where the folder has no package that can be read. */
function readVersion(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version
  } catch (error) {
    if (error instanceof SyntaxError || error.code === 'ENOENT' || error.code === 'ENOTDIR')
      return undefined
    throw error
  }
}

function describe([first, ...others]) {
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return `packages are missing (${first.name} ${first.version}${more})`
}

function requireWritable(folder, missing) {
  try {
    accessSync(folder, constants.W_OK)
  } catch {
    throw new Obstacle(
      `${describe(missing)}, and this user may not write to ${folder}; run the same command once as the user who owns that folder.`,
    )
  }
}

/** The staging folder is beside the packages, so that they can be moved, and has its own npm project. */
function install(folder, scope, missing) {
  process.stderr.write(`turnpike: installing packages (${scope}) …\n`)
  const modules = join(folder, 'node_modules')
  removeStaging(modules)
  const staging = join(modules, `${stagingName}.${process.pid}`)
  try {
    mkdirSync(staging)
    for (const name of ['package.json', basename(lockPath(folder)), '.npmrc'])
      if (existsSync(join(folder, name))) copyFileSync(join(folder, name), join(staging, name))
    fetchPackages(staging, scope, missing)
    moveIntoPlace(staging, modules, missing)
  } finally {
    removeStaging(modules)
  }
  const left = findMissing(folder, scope)
  if (left.length > 0) throw new Obstacle(`${describe(left)} although npm has installed them.`)
}

const stagingName = '.turnpike-staging'

/** Also removes what an installation that was killed has left. */
function removeStaging(modules) {
  for (const name of readdirSync(modules))
    if (name.startsWith(stagingName))
      rmSync(join(modules, name), { recursive: true, force: true, maxRetries: 3 })
}

const probeTimeoutMs = 10_000

/** Where the registry cannot be reached, npm's cache may have all packages. */
function fetchPackages(staging, scope, missing) {
  const [{ name, version }] = missing
  const unreachable = runNpm(staging, ['view', `${name}@${version}`, 'version'], {
    timeout: probeTimeoutMs,
  })
  const scopes = scope === 'production' ? ['--omit=dev'] : ['--include=dev']
  const words = ['ci', '--ignore-scripts', '--include=prod', '--include=optional', ...scopes]
  const failure = runNpm(staging, [...words, unreachable ? '--offline' : '--prefer-offline'])
  if (failure === undefined) return
  throw new Obstacle(
    unreachable === undefined
      ? `${describe(missing)}, and npm could not install them: ${failure}.`
      : `${describe(missing)}, and npm cannot reach its registry (${unreachable}); connect this machine, or set npm_config_registry to a registry that it can reach.`,
  )
}

/** Few and short pauses between attempts: npm's own add up to minutes. */
const retries = [
  '--fetch-retries=2',
  '--fetch-retry-mintimeout=500',
  '--fetch-retry-maxtimeout=1000',
]

/** Returns the reason where npm fails. */
function runNpm(cwd, words, options = {}) {
  const { error, status, stderr } = spawnSync('npm', [...words, ...retries], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
    // In production mode npm leaves packages out.
    env: { ...process.env, NODE_ENV: '' },
    ...options,
  })
  if (status === 0) return undefined
  if (error?.code === 'ENOENT')
    throw new Obstacle(
      'npm, which installs the packages, is missing; install Node 20 or newer with npm.',
    )
  if (error !== undefined) return error.code
  const [, reason = `exit code ${status}`] =
    /^npm (?:error|ERR!) (?:code )?(.+)$/m.exec(stderr) ?? []
  return reason
}

/**
 * Replaces only what is missing, each package in one step: a gateway may run on the others. Required packages
 * come last: if this is interrupted, some are still missing, and the next start installs again.
 */
function moveIntoPlace(staging, modules, missing) {
  const staged = join(staging, 'node_modules')
  moveCommands(join(staged, '.bin'), join(modules, '.bin'))
  const former = join(staging, 'former')
  mkdirSync(former)
  const required = topLevelNames(missing)
  // Which optional packages this machine needs, such as compiled programs, only npm knows.
  const isNew = (name) => !existsSync(join(modules, name)) && !required.has(name)
  const names = [...listPackages(staged).filter(isNew), ...required]
  for (const [index, name] of names.entries()) {
    if (!existsSync(join(staged, name))) continue
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    if (existsSync(join(modules, name)))
      renameSync(join(modules, name), join(former, String(index)))
    renameSync(join(staged, name), join(modules, name))
  }
  // npm's own list of what is installed; npm makes it again.
  rmSync(join(modules, '.package-lock.json'), { force: true })
}

function moveCommands(from, to) {
  if (!existsSync(from)) return
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) renameSync(join(from, name), join(to, name))
}

function listPackages(modules) {
  const names = readdirSync(modules).filter((name) => !name.startsWith('.'))
  return names.flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(join(modules, name)).map((member) => `${name}/${member}`)
      : [name],
  )
}

/** `node_modules/@a/b/node_modules/c` is part of `@a/b`. */
function topLevelNames(packages) {
  const names = packages.map(({ path }) => path.split('/node_modules/')[0])
  return new Set(names.map((name) => name.replace('node_modules/', '')))
}

const installPollMs = 200

/** Waits until no other process installs into the folder; returns a function that releases the lock. */
function holdInstall(modules) {
  const path = join(modules, '.turnpike-install.lock')
  // Written to another file and linked, so that the lock never exists without its owner's process id.
  const ownPath = `${path}.${process.pid}`
  writeFileSync(ownPath, String(process.pid))
  try {
    for (let isSaid = false; !tryLink(ownPath, path); isSaid = true) {
      const owner = readOwner(path)
      if (!isAlive(owner) && removeStale(path, ownPath)) continue
      if (!isSaid)
        process.stderr.write(`turnpike: waiting for process ${owner}, which installs packages …\n`)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, installPollMs)
    }
  } finally {
    rmSync(ownPath, { force: true })
  }
  return () => rmSync(path, { force: true })
}

/** Removes the lock of a process that was killed. Of several processes that want to, one does. */
function removeStale(path, ownPath) {
  const removing = `${path}.removing`
  if (!tryLink(ownPath, removing)) return false
  // Another process may have removed it and taken the lock meanwhile.
  if (!isAlive(readOwner(path))) rmSync(path, { force: true })
  rmSync(removing)
  return true
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

/** A process with this one's id ended before this one started. */
function isAlive(pid) {
  if (pid === undefined || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
