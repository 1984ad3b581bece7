/**
 * What programs in Go and Java need of the machine. Prepared once: packages are downloaded and
 * compiled before the examples run. A missing toolchain is an outcome with its reason, not a failure.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { runChild, type ChildResult } from './child.ts'

const examples = join(import.meta.dirname, '..', '..', '..', 'examples')

type Environment = Readonly<Record<string, string>>
type Links = Readonly<Record<string, string>>

export type Toolchain =
  | { readonly kind: 'ready'; readonly env: Environment; readonly links: Links }
  | { readonly kind: 'missing'; readonly reason: string }

const cache = join(import.meta.dirname, '..', '.cache')

const home = { HOME: process.env['HOME'] ?? '' }

/** An older Go would download the Go that `go.mod` asks for. */
const goEnv = { ...home, GOTOOLCHAIN: 'local' }

/** Compiles the module in a folder, the examples' by default; `output` is for its program. */
export async function prepareGo(
  cwd = join(examples, 'go'),
  output = '/dev/null',
): Promise<Toolchain> {
  const [, wanted = ''] = /^go (\S+)$/m.exec(await readFile(join(cwd, 'go.mod'), 'utf8')) ?? []
  const version = await find('go', ['env', 'GOVERSION'], cwd, goEnv)
  if (version === undefined) return { kind: 'missing', reason: 'go is not installed' }
  if (isOlder(version.replace('go', ''), wanted))
    return { kind: 'missing', reason: `go is older than ${wanted}` }
  await mustRun('go', ['build', '-o', output, './...'], cwd, goEnv)
  return { kind: 'ready', env: goEnv, links: {} }
}

/** Compiles a published program, such as `example.com/program@v1.2.3`, into a folder. */
export async function installGo(program: string, folder: string): Promise<Toolchain> {
  const env = { ...goEnv, GOBIN: folder }
  if ((await find('go', ['env', 'GOVERSION'], folder, env)) === undefined)
    return { kind: 'missing', reason: 'go is not installed' }
  await mustRun('go', ['install', program], folder, env)
  return { kind: 'ready', env, links: {} }
}

export async function prepareJava(): Promise<Toolchain> {
  const cwd = join(examples, 'java')
  for (const program of ['java', 'mvn'])
    if ((await find(program, ['--version'], cwd, home)) === undefined)
      return { kind: 'missing', reason: `${program} is not installed` }
  const pom = await readFile(join(cwd, 'pom.xml'))
  const target = join(cache, `java-${createHash('sha256').update(pom).digest('hex').slice(0, 16)}`)
  const folder = join(target, 'dependency')
  if (!existsSync(folder)) {
    const staging = `${target}.${process.pid}`
    const output = `-DoutputDirectory=${join(staging, 'dependency')}`
    await mustRun('mvn', ['--quiet', 'dependency:copy-dependencies', output], cwd, home)
    await rename(staging, target)
  }
  return { kind: 'ready', env: home, links: { target } }
}

/** Resolves with what the program printed, or with undefined where it is not installed. */
async function find(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Environment,
): Promise<string | undefined> {
  const found = await run(command, args, cwd, env).catch(() => undefined)
  return found?.code === 0 ? found.stdout.trim() : undefined
}

async function mustRun(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Environment,
): Promise<void> {
  const { code, stdout, stderr } = await run(command, args, cwd, env)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)
}

function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Environment,
): Promise<ChildResult> {
  const path = { PATH: process.env['PATH'] ?? '' }
  return runChild({ command, args, cwd, env: { ...path, ...env }, timeoutMs: 900_000 })
}

function isOlder(version: string, wanted: string): boolean {
  return version.localeCompare(wanted, 'en', { numeric: true }) < 0
}
