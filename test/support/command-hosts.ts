/**
 * Runs commands in processes that stay: most of the time of a command is the loading of its modules. What
 * needs a process of its own gets one: see `needsProcess`. command-line.test.ts compares both ways.
 */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { gather } from './gather.ts'

export interface Ran {
  /** -1 where a signal ended it. */
  readonly code: number
  readonly out: string
  readonly error: string
}

export interface CommandPlace {
  readonly cwd: string
  /** What is set beside the bare environment. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** One command for a host, as a line of JSON. Its output ends with the mark and the exit code. */
export interface HostedCommand {
  readonly words: readonly string[]
  readonly cwd: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly mark: string
}

export const launcher = join(import.meta.dirname, '..', '..', 'bin', 'turnpike')

/** The environment of a command without settings. */
export const bareEnvironment = {
  PATH: process.env['PATH'],
  /** Where `bin/turnpike` keeps compiled code: without it a command takes twice the time to start. */
  NODE_COMPILE_CACHE:
    process.env['NODE_COMPILE_CACHE'] ?? join(import.meta.dirname, '../../.cache/compiled'),
}

/** Runs a command to its end, in a process that may have run others before. */
export async function runCommand(words: readonly string[], given: CommandPlace): Promise<Ran> {
  const place = { cwd: given.cwd, env: { ...bareEnvironment, ...given.env } }
  return needsProcess(words, place) ? runInProcess(words, place) : runInHost(words, place)
}

/** The same with a standard output that has no room. */
export async function runIntoFullFile(
  words: readonly string[],
  { cwd, env }: CommandPlace,
): Promise<Pick<Ran, 'code' | 'error'>> {
  const file = openSync('/dev/full', 'w')
  const child = spawn(launcher, words, {
    cwd,
    env: { ...bareEnvironment, ...env },
    stdio: ['ignore', file, 'pipe'],
  })
  closeSync(file)
  assert.ok(child.stderr !== null)
  const error = gather(child.stderr)
  return { code: await exitCodeOf(child), error: error.text() }
}

/** Runs a command in a process of its own, as an operator does. */
export async function runInProcess(words: readonly string[], place: CommandPlace): Promise<Ran> {
  const env = { ...bareEnvironment, ...place.env }
  const child = spawn(launcher, words, { cwd: place.cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const out = gather(child.stdout)
  const error = gather(child.stderr)
  return { code: await exitCodeOf(child), out: out.text(), error: error.text() }
}

/** What serves sets up its whole process; Node reads its variables at its start; a host has no input. */
function needsProcess(words: readonly string[], { env }: CommandPlace): boolean {
  const serves = words.some((word) => ['serve', 'sandbox'].includes(word))
  const setsNode = Object.keys(env).some(
    (name) => name.startsWith('NODE_') && !Object.hasOwn(bareEnvironment, name),
  )
  return serves || setsNode || words.includes('-')
}

// --- hosts ----------------------------------------------------------------------------------------

/** As many commands at once as keep two cores busy; more wait. */
const hostCountMax = 4
const idle: Host[] = []
const waiting: (() => void)[] = []
let busyCount = 0

async function runInHost(words: readonly string[], place: CommandPlace): Promise<Ran> {
  if (busyCount === hostCountMax) await new Promise<void>((resolve) => waiting.push(resolve))
  else busyCount++
  const host = idle.pop() ?? new Host()
  try {
    return await host.run(words, place)
  } finally {
    if (host.isAlive) idle.push(host)
    const next = waiting.shift()
    if (next === undefined) busyCount--
    else next()
  }
}

/** One process, which runs one command at a time. It ends with the process that started it. */
class Host {
  readonly #child: ChildProcess
  readonly #orders: Socket
  readonly #out: MarkedText
  readonly #error: MarkedText
  readonly #exitCode: Promise<number>
  #isAlive = true

  constructor() {
    const program = join(import.meta.dirname, 'command-host-process.ts')
    this.#child = spawn(process.execPath, ['--disable-sigusr1', program], {
      env: bareEnvironment,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    const [, out, error, orders] = this.#child.stdio as readonly unknown[] as readonly Socket[]
    assert.ok(out !== undefined && error !== undefined && orders !== undefined)
    this.#out = new MarkedText(out)
    this.#error = new MarkedText(error)
    // A host that has ended shows it by the end of its output.
    this.#orders = orders.on('error', () => undefined)
    this.#exitCode = exitCodeOf(this.#child)
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  async run(words: readonly string[], { cwd, env }: CommandPlace): Promise<Ran> {
    const mark = randomUUID()
    const command: HostedCommand = { words, cwd, environment: env, mark }
    for (const handle of this.#handles) handle.ref()
    this.#orders.write(`${JSON.stringify(command)}\n`)
    const [out, error] = await Promise.all([this.#out.until(mark), this.#error.until(mark)])
    this.#isAlive = out.exitCode !== undefined && error.exitCode !== undefined
    const code = this.#isAlive ? out.exitCode : await this.#exitCode
    for (const handle of this.#handles) handle.unref()
    return { code: code ?? -1, out: out.text, error: error.text }
  }

  /** What keeps the test's process alive, if it may. */
  get #handles(): readonly { ref(): unknown; unref(): unknown }[] {
    return [this.#child, this.#orders, this.#out.stream, this.#error.stream]
  }
}

interface Marked {
  readonly text: string
  /** What follows the mark; undefined where the stream ended without it. */
  readonly exitCode: number | undefined
}

const exitCodeDigits = 3

/** The text of a stream in parts. Each part ends with a mark and an exit code. */
class MarkedText {
  readonly stream: Socket
  #text = ''
  #isOver = false
  #look: () => void = () => undefined

  constructor(stream: Socket) {
    this.stream = stream
    stream.setEncoding('utf8').on('data', (piece: string) => {
      this.#text += piece
      this.#look()
    })
    stream.once('close', () => {
      this.#isOver = true
      this.#look()
    })
  }

  until(mark: string): Promise<Marked> {
    return new Promise((resolve) => {
      this.#look = () => {
        const at = this.#text.indexOf(mark, -(mark.length + exitCodeDigits + 1) + this.#text.length)
        const isWhole = at !== -1 && this.#text.endsWith('\n')
        if (!isWhole && !this.#isOver) return
        const end = isWhole ? at : this.#text.length
        const exitCode = isWhole ? Number(this.#text.slice(end + mark.length)) : undefined
        resolve({ text: this.#text.slice(0, end), exitCode })
        this.#text = ''
      }
      this.#look()
    })
  }
}

async function exitCodeOf(child: ChildProcess): Promise<number> {
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? -1
}
