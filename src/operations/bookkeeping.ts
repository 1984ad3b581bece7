/**
 * What a running gateway does for its books in the background: soon after the start and then every
 * interval it audits what has come since the last time. Each round is a thread of its own with
 * bounded memory, and at most one runs. It tells results; what they mean is for whoever listens.
 */
import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { AuditView } from './audit.ts'

export interface BookkeepingOptions {
  readonly clock: Clock
  readonly random: Random
  /** As the setting is written. */
  readonly store: string
  readonly auditIntervalMs: number
  readonly onAudit: (audit: AuditView, durationMs: number) => void
  /** Hears of a round that could not be finished; the next one is made all the same. */
  readonly onError: (error: unknown) => void
}

/** What the thread is started with. */
export interface RoundOrder {
  readonly store: string
  readonly nowMs: number
}

export interface RoundResult {
  readonly audit: AuditView
}

export interface Bookkeeping {
  /** Breaks off a round that is under way; nothing of it is lost but its time. */
  close(): Promise<void>
}

/** The first round waits until a gateway that has just started has served its first requests. */
const firstRoundMs = 5_000
const firstRoundSpreadMs = 15_000
/** Nodes on one store, started together, part their rounds. */
const spread = 0.2
const heapMb = 256

export function startBookkeeping(options: BookkeepingOptions): Bookkeeping {
  const { clock, random, auditIntervalMs, onAudit, onError } = options
  const threads = new Set<Worker>()
  let isRunning = false
  let timer: Timer = clock.after(firstRoundMs + Math.round(random() * firstRoundSpreadMs), begin)

  function begin(): void {
    timer = clock.after(Math.round(auditIntervalMs * (1 + spread * (random() - 0.5))), begin)
    // A round that takes longer than the interval is not joined by a second one.
    if (isRunning) return
    isRunning = true
    const startedMs = clock.monotonic()
    const order: RoundOrder = { store: options.store, nowMs: clock.now() }
    const thread = new Worker(new URL('./bookkeeping-worker.ts', import.meta.url), {
      workerData: order,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    })
    threads.add(thread)
    const end = (tell: () => void): void => {
      // Once: a thread that has told its result or its fault still exits afterwards.
      if (!threads.delete(thread)) return
      isRunning = false
      tell()
    }
    thread.on('message', ({ audit }: RoundResult) =>
      end(() => onAudit(audit, clock.monotonic() - startedMs)),
    )
    thread.on('error', (error) => end(() => onError(error)))
    thread.on('exit', () => end(() => onError(new Error('the thread ended before the audit'))))
  }

  return {
    async close() {
      timer.cancel()
      const running = [...threads]
      threads.clear()
      await Promise.all(running.map((thread) => thread.terminate()))
    },
  }
}
