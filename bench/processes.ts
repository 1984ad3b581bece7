/**
 * Starts and stops the programs of the benchmark. Every program runs on one core and is stopped by its
 * process id. No program outlives the benchmark: if the benchmark is killed, the kernel signals its
 * children (`setpriv --pdeathsig`).
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const startLimitMs = 120_000
const stopLimitMs = 8_000
const killLimitMs = 2_000
const logEndChars = 2_000

export interface StartOptions {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  readonly core: number
  readonly environment?: Readonly<Record<string, string>>
  readonly folder?: string
  /** `pipe`: the caller reads the output; `log`: it goes to a file in the work folder. */
  readonly output: 'log' | 'pipe'
  readonly hasChannel?: boolean
}

export interface Running {
  readonly name: string
  readonly pid: number
  readonly child: ChildProcess
  /** Returns the last lines of the log file. */
  readonly readLog: () => string
  /** Resolves when the program has ended, also after a failure. */
  readonly ended: Promise<void>
}

/** Sends a program a message and returns its answer; throws if it ends first or takes longer. */
export async function ask(
  running: Running,
  message: object,
  limitMs = startLimitMs,
): Promise<unknown> {
  const answer = once(running.child, 'message', { signal: AbortSignal.timeout(limitMs) })
  running.child.send(message)
  const gone = running.ended.then(() => {
    throw new Error(`${running.name} ended early: ${running.readLog()}`)
  })
  const [received] = (await Promise.race([answer, gone])) as readonly unknown[]
  return received
}

export class ProcessGroup {
  readonly #workFolder: string
  readonly #running = new Set<Running>()
  #logCount = 0

  constructor(workFolder: string) {
    this.#workFolder = workFolder
  }

  start(options: StartOptions): Running {
    const logPath = join(this.#workFolder, `${options.name}-${this.#logCount++}.log`)
    const log = openSync(logPath, 'a')
    const output = options.output === 'pipe' ? 'pipe' : log
    const child = spawn(
      'setpriv',
      ['--pdeathsig', 'TERM', 'taskset', '-c', String(options.core), ...options.command],
      {
        cwd: options.folder ?? this.#workFolder,
        env: { ...process.env, ...options.environment },
        stdio: ['ignore', output, log, ...(options.hasChannel === true ? ['ipc' as const] : [])],
      },
    )
    closeSync(log)
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => resolve())
      child.once('error', () => resolve())
    })
    const readLog = (): string => readFileSync(logPath, 'utf8').slice(-logEndChars)
    const running: Running = { name: options.name, pid: child.pid ?? -1, child, readLog, ended }
    if (running.pid < 0) throw new Error(`cannot start ${options.command.join(' ')}`)
    this.#running.add(running)
    void ended.then(() => this.#running.delete(running))
    return running
  }

  /** Runs a program to its end and returns its output; throws if the program fails. */
  async run(options: Omit<StartOptions, 'output'>, limitMs: number): Promise<string> {
    const running = this.start({ ...options, output: 'pipe' })
    const pieces: Buffer[] = []
    running.child.stdout?.on('data', (piece: Buffer) => pieces.push(piece))
    if ((await within(running.ended, limitMs)) === 'late') {
      await this.stop(running)
      throw new Error(`${running.name} took longer than ${limitMs} ms`)
    }
    const text = Buffer.concat(pieces).toString('utf8')
    if (running.child.exitCode !== 0) {
      throw new Error(`${running.name} failed: ${running.readLog()}${text.slice(-logEndChars)}`)
    }
    return text
  }

  /** Waits until the port accepts connections; throws if the program ends first. */
  async waitForPort(running: Running, port: number): Promise<void> {
    const limit = performance.now() + startLimitMs
    while (performance.now() < limit) {
      if (!this.#running.has(running)) break
      if (await canConnect(port)) return
      await delay(50)
    }
    throw new Error(`${running.name} did not start: ${running.readLog()}`)
  }

  async stop(running: Running): Promise<void> {
    if (!this.#running.has(running)) return
    running.child.kill('SIGTERM')
    if ((await within(running.ended, stopLimitMs)) === 'ended') return
    running.child.kill('SIGKILL')
    await within(running.ended, killLimitMs)
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map((running) => this.stop(running)))
  }
}

function within(ended: Promise<void>, limitMs: number): Promise<'ended' | 'late'> {
  const late = delay(limitMs, 'late' as const, { ref: false })
  return Promise.race([ended.then(() => 'ended' as const), late])
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const answer = (isOpen: boolean): void => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once('connect', () => answer(true))
    socket.once('error', () => answer(false))
  })
}

/** Returns a free port on loopback. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no port'))
        else resolve(address.port)
      })
    })
  })
}
