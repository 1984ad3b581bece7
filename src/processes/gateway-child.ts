/** One gateway process as its supervisor sees it: started, perhaps ready, ended. */
import { spawn, type ChildProcess } from 'node:child_process'
import type { Clock } from '../base/clock.ts'
import type { MetricsReport } from '../telemetry/united-metrics.ts'
import { notice, placeVariable, writePlace, type Notice, type Order } from './messages.ts'

/** How every process of a supervisor is started. */
export interface Launch {
  /** The program's path. It is read again for each process, so that a new version comes in. */
  readonly command: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly count: number
  /** Descriptors of the bound sockets in the supervisor. */
  readonly listen: number
  readonly adminListen: number
}

export interface Exit {
  readonly kind: 'ended'
  /** Absent where a signal ended the process, or it could not be started. */
  readonly code: number | undefined
  readonly reason: string
}

/** The first descriptors are for input, output, errors and messages. */
const listenDescriptor = 4
const adminListenDescriptor = 5
const reportTimeoutMs = 1_000

export class GatewayChild {
  readonly slot: number
  readonly startedAtMs: number
  readonly ready: Promise<'ready'>
  readonly ended: Promise<Exit>
  isReady = false
  isRetiring = false
  /** The latest that is known; the last words of a process that has ended. */
  lastReport: MetricsReport | undefined
  /** Undefined where it could not be started. */
  readonly #process: ChildProcess | undefined
  readonly #clock: Clock
  readonly #waiting = new Map<number, () => void>()
  #questionCount = 0

  constructor(
    launch: Launch,
    facts: { readonly slot: number; readonly announces: boolean },
    { clock, onCollect }: ChildEffects,
  ) {
    this.slot = facts.slot
    this.#clock = clock
    this.startedAtMs = clock.monotonic()
    const place = writePlace({
      ...facts,
      count: launch.count,
      listen: listenDescriptor,
      adminListen: adminListenDescriptor,
    })
    const started = startProgram(launch, place)
    this.ended = 'failure' in started ? Promise.resolve(started.failure) : endOf(started.child)
    this.#process = 'failure' in started ? undefined : started.child
    const isReady = Promise.withResolvers<'ready'>()
    this.ready = isReady.promise
    this.#process?.on('message', (message: unknown) => {
      const parsed = notice.safeParse(message)
      if (!parsed.success) return
      if (parsed.data.kind === 'ready') {
        this.isReady = true
        isReady.resolve('ready')
      } else if (parsed.data.kind === 'collect') {
        onCollect(this, parsed.data.id)
      } else {
        this.#onReport(parsed.data)
      }
    })
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  send(order: Order): void {
    // A process that has ended, or could not be started, hears nothing.
    if (this.#process?.connected === true) this.#process.send(order, () => undefined)
  }

  kill(): void {
    this.#process?.kill('SIGKILL')
  }

  /** Updates `lastReport`; where the process does not answer in time, it stays as it is. */
  async report(): Promise<void> {
    const id = ++this.#questionCount
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.set(id, resolve)
    const timer = this.#clock.after(reportTimeoutMs, resolve)
    this.send({ kind: 'report', id })
    await Promise.race([promise, this.ended])
    timer.cancel()
    this.#waiting.delete(id)
  }

  #onReport({ id, metrics }: Extract<Notice, { kind: 'reported' }>): void {
    this.lastReport = metrics
    if (id !== undefined) this.#waiting.get(id)?.()
  }
}

interface ChildEffects {
  readonly clock: Clock
  readonly onCollect: (child: GatewayChild, id: number) => void
}

type Started = { readonly child: ChildProcess } | { readonly failure: Exit }

/** A missing program is an event of the child; where memory is short, for example, `spawn` throws. */
function startProgram(launch: Launch, place: string): Started {
  try {
    const child = spawn(launch.command, launch.args, {
      env: { ...launch.environment, [placeVariable]: place },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', launch.listen, launch.adminListen],
      serialization: 'advanced',
    })
    return { child }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { failure: { kind: 'ended', code: undefined, reason } }
  }
}

function endOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('error', (error) =>
      resolve({ kind: 'ended', code: undefined, reason: error.message }),
    )
    child.once('exit', (code, signal) => {
      const reason = signal === null ? `exit code ${code}` : signal
      const exit: Exit = { kind: 'ended', code: code ?? undefined, reason }
      // Its last words may still be on their way.
      if (child.connected) child.once('disconnect', () => resolve(exit))
      else resolve(exit)
    })
  })
}
