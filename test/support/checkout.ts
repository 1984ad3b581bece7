/**
 * A small checkout with the real launcher and scripts, whose packages come from a registry in this process:
 * the Node that runs the test under the runtime's name, one package that the program imports, one for
 * development, and an optional one.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Ran } from './command-line.ts'
import { gather } from './gather.ts'

const root = join(import.meta.dirname, '..', '..')
/** A host without a program that listens. */
export const noRegistry = 'http://127.0.0.1:9'
const isMac = process.platform === 'darwin' && process.arch === 'arm64'
export const runtimeName = `${isMac ? 'node-bin' : 'node'}-${process.platform}-${process.arch}`
const runtimeScript = `#!/bin/sh\nexec ${process.execPath} "$@"\n`

export interface Checkout {
  readonly folder: string
  readonly modules: string
  /** Names of the archives that the registry has sent. */
  readonly fetched: string[]
  /** Writes package.json and package-lock.json for this version of the program's package. */
  lock(greeterVersion: string): void
  npmCi(): Promise<void>
  stopRegistry(): void
  /** Runs a command in the checkout. */
  run(command: string, words: readonly string[], options?: RunOptions): Promise<Ran>
  /** Each path below node_modules, with what changes when the file is written or replaced. */
  installed(): ReadonlyMap<string, string>
}

interface RunOptions {
  readonly cwd?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly uid?: number
}

export async function makeCheckout(context: TestContext): Promise<Checkout> {
  const place = mkdtempSync(join(tmpdir(), 'turnpike checkout-'))
  context.after(() => rmSync(place, { recursive: true, maxRetries: 3 }))
  // Other users may use it.
  chmodSync(place, 0o755)
  const folder = join(place, 'turnpike')
  const modules = join(folder, 'node_modules')
  const fetched: string[] = []
  const registry = await serveRegistry(packArchives(place), fetched)
  const stopRegistry = (): void => {
    registry.close()
    registry.closeAllConnections()
  }
  context.after(stopRegistry)
  copyProgram(folder)
  const registryUrl = urlOf(registry)
  const lock = (greeterVersion: string): void => writeLock(folder, greeterVersion)
  lock('1.0.0')
  const run = (command: string, words: readonly string[], options: RunOptions = {}): Promise<Ran> =>
    runIn(folder, command, words, {
      ...options,
      environment: {
        HOME: place,
        npm_config_cache: join(place, 'cache'),
        npm_config_registry: registryUrl,
        ...options.environment,
      },
    })
  return {
    folder,
    modules,
    fetched,
    lock,
    async npmCi() {
      const { code, error } = await run('npm', ['ci', '--ignore-scripts'])
      if (code !== 0) throw new Error(`npm ci ended with ${code}: ${error}`)
    },
    stopRegistry,
    run,
    installed: () =>
      new Map(
        readdirSync(modules, { recursive: true }).map((name) => stateOf(modules, String(name))),
      ),
  }
}

function stateOf(modules: string, name: string): [string, string] {
  const { ino, mtimeMs, size } = lstatSync(join(modules, name))
  return [name, `${ino} ${mtimeMs} ${size}`]
}

function copyProgram(folder: string): void {
  for (const name of ['bin', 'src']) mkdirSync(join(folder, name), { recursive: true })
  cpSync(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true })
  copyFileSync(join(root, 'bin', 'turnpike'), join(folder, 'bin', 'turnpike'))
  const program =
    "import { greeting } from 'greeter'\nconsole.log(greeting, process.argv.slice(2).join('|'))\nprocess.exitCode = 7\n"
  for (const name of ['cli.ts', 'start.ts']) writeFileSync(join(folder, 'src', name), program)
}

function writeLock(folder: string, greeterVersion: string): void {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: unknown
  }
  const dependencies = { greeter: greeterVersion }
  const devDependencies = { tool: '1.0.0' }
  const optionalDependencies = { [runtimeName]: '26.0.0', compiled: '1.0.0' }
  const needs = { dependencies, devDependencies, optionalDependencies }
  const about = { name: 'turnpike', version: '0.1.0', ...needs }
  const packages = {
    '': about,
    'node_modules/greeter': { version: greeterVersion },
    'node_modules/tool': { version: '1.0.0', dev: true },
    [`node_modules/${runtimeName}`]: { version: '26.0.0', optional: true },
    'node_modules/compiled': { version: '1.0.0', optional: true },
    'node_modules/node-sunos-sparc': { version: '26.0.0', optional: true, os: ['sunos'] },
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...about, type: 'module', scripts }))
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({
      name: 'turnpike',
      version: '0.1.0',
      lockfileVersion: 3,
      requires: true,
      packages,
    }),
  )
}

/** Name → version → archive. */
type Archives = ReadonlyMap<string, ReadonlyMap<string, Buffer>>

function packArchives(place: string): Archives {
  const greeter = (version: string): Buffer =>
    packArchive(place, 'greeter', version, {
      'index.js': `export const greeting = 'greeter ${version}'`,
    })
  const runtime = packArchive(place, runtimeName, '26.0.0', { 'bin/node': runtimeScript })
  const tool = packArchive(place, 'tool', '1.0.0', { 'index.js': '' })
  const compiled = packArchive(place, 'compiled', '1.0.0', { 'index.js': '' })
  return new Map([
    [
      'greeter',
      new Map([
        ['1.0.0', greeter('1.0.0')],
        ['1.1.0', greeter('1.1.0')],
      ]),
    ],
    [runtimeName, new Map([['26.0.0', runtime]])],
    ['tool', new Map([['1.0.0', tool]])],
    ['compiled', new Map([['1.0.0', compiled]])],
  ])
}

function packArchive(
  place: string,
  name: string,
  version: string,
  files: Readonly<Record<string, string>>,
): Buffer {
  const folder = mkdtempSync(join(place, 'archive-'))
  const about = { name, version, type: 'module', exports: './index.js' }
  const all = { 'package.json': JSON.stringify(about), ...files }
  for (const [path, text] of Object.entries(all)) {
    const target = join(folder, 'package', path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text, { mode: 0o755 })
  }
  return execFileSync('tar', ['-czf', '-', '-C', folder, 'package'])
}

async function serveRegistry(archives: Archives, fetched: string[]): Promise<Server> {
  const server = createServer((request, response) => {
    const [, name = '', version] = (request.url ?? '').split('/')
    const versions = archives.get(name)
    const archive = versions?.get(version ?? '')
    if (archive !== undefined) {
      fetched.push(`${name} ${version}`)
      response.end(archive)
    } else if (versions === undefined || version !== undefined) response.writeHead(404).end('{}')
    else response.end(JSON.stringify(listing(name, [...versions.keys()], urlOf(server))))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function listing(name: string, versions: readonly string[], url: string): object {
  const entries = versions.map((version): [string, object] => [
    version,
    { name, version, dist: { tarball: `${url}/${name}/${version}` } },
  ])
  return {
    name,
    'dist-tags': { latest: versions.at(-1) },
    versions: Object.fromEntries<object>(entries),
  }
}

async function runIn(
  folder: string,
  command: string,
  words: readonly string[],
  { cwd = folder, environment, uid }: RunOptions,
): Promise<Ran> {
  const child = spawn(command, words, {
    cwd,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  const out = gather(child.stdout)
  const error = gather(child.stderr)
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode) => resolve(exitCode ?? -1))
  })
  return { code, out: out.text(), error: error.text() }
}
