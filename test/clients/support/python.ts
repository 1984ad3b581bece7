/**
 * The vendors' Python SDKs: a virtual environment per list of requirements, made once and kept, and
 * one driver process that carries out calls one after the other. Where the machine has no usable
 * python3 that is an outcome with its reason, not a failure.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { runChild, type ChildResult } from './child.ts'

const clientsFolder = join(import.meta.dirname, '..')

export interface ReadyPython {
  readonly kind: 'ready'
  readonly folder: string
  readonly python: string
}

export type PythonEnvironment = ReadyPython | { readonly kind: 'missing'; readonly reason: string }

/**
 * `list` names a file of requirements beside the driver, without its ending. Only one test file may use
 * a list: test files run at the same time, and each would install it. `options` are for pip.
 */
export async function preparePython(
  list: string,
  options: readonly string[] = [],
): Promise<PythonEnvironment> {
  const reason = await whyUnusable()
  if (reason !== undefined) return { kind: 'missing', reason }
  const requirements = join(clientsFolder, 'python', `${list}.txt`)
  const wanted = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
  const folder = join(clientsFolder, '.venv', list)
  const python = join(folder, 'bin', 'python')
  const stamp = join(folder, '.turnpike-install')
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === wanted)
    return { kind: 'ready', folder, python }
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await mustRun('python3', ['-m', 'venv', folder])
  // Python compiles a module when it is first imported, and most are never imported.
  const install = ['-m', 'pip', 'install', '--quiet', '--no-compile', ...options]
  await mustRun(python, [...install, '--requirement', requirements])
  await writeFile(stamp, wanted)
  return { kind: 'ready', folder, python }
}

/** The SDKs need Python 3.10; some systems part `venv` from it. */
async function whyUnusable(): Promise<string | undefined> {
  const probe = 'import sys, venv, ensurepip; sys.exit(0 if sys.version_info >= (3, 10) else 9)'
  const probed = await run('python3', ['-c', probe]).catch(() => undefined)
  if (probed === undefined) return 'python3 is not installed'
  if (probed.code === 9) return 'python3 is older than 3.10'
  return probed.code === 0 ? undefined : 'python3 cannot make virtual environments'
}

async function mustRun(command: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await run(command, args)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stderr}`)
}

function run(command: string, args: readonly string[]): Promise<ChildResult> {
  const env = { ...(process.env as Record<string, string>), PIP_DISABLE_PIP_VERSION_CHECK: '1' }
  return runChild({ command, args, env, cwd: clientsFolder, timeoutMs: 900_000 })
}

export interface PythonCall {
  readonly format: 'messages' | 'chat' | 'responses' | 'embeddings'
  /** A function of the driver, without its format. */
  readonly action: string
  readonly base_url: string
  readonly secret: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
  readonly max_retries?: number
}

export interface PythonReport {
  readonly text?: string
  readonly pieces?: string
  readonly refusal?: string
  readonly types?: readonly string[]
  readonly kinds?: readonly string[]
  readonly choice_counts?: readonly number[]
  readonly stop_reason?: string
  readonly usage?: Readonly<Record<string, unknown>>
  readonly request_id?: string
  readonly left_at?: string
  readonly tool?: string
  readonly input?: Readonly<Record<string, unknown>>
  readonly ids?: readonly string[]
  readonly input_tokens?: number
  readonly error?: {
    readonly class: string
    readonly is_sdk_error: boolean
    readonly status: number | null
    readonly message: string
    readonly code: string | null
    readonly body: unknown
    readonly request_id: string | null
  }
}

/** One process of the driver; calls are answered in the order they are made. */
export class PythonDriver {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #waiting: ((report: PythonReport) => void)[] = []
  readonly #ended: Promise<never>
  #stderr = ''

  constructor(python: string) {
    this.#child = spawn(python, [join(clientsFolder, 'python', 'driver.py')], {
      env: { PATH: process.env['PATH'] ?? '' },
    })
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text))
    createInterface(this.#child.stdout).on('line', (line) =>
      this.#waiting.shift()?.(JSON.parse(line) as PythonReport),
    )
    this.#ended = new Promise((_, reject) => {
      this.#child.on('error', reject)
      this.#child.on('close', () => reject(new Error(`The driver ended.\n${this.#stderr}`)))
    })
    // Only a caller that waits for a report needs to know of the end.
    this.#ended.catch(() => undefined)
  }

  call(call: PythonCall): Promise<PythonReport> {
    const report = new Promise<PythonReport>((resolve) => this.#waiting.push(resolve))
    this.#child.stdin.write(`${JSON.stringify(call)}\n`)
    return Promise.race([report, this.#ended])
  }

  async close(): Promise<void> {
    this.#child.stdin.end()
    await this.#ended.catch(() => undefined)
  }
}
