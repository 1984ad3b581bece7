/**
 * What a running gateway does for its books in the background: soon after the start and then every
 * interval it audits what has come since the last time, and lets go what need not be kept. Each
 * round is a thread of its own with bounded memory, and at most one runs. It tells results; what
 * they mean is for whoever listens.
 */
import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { RetentionReport } from '../ledger/exchange-retention.ts'
import type { AuditView } from './audit.ts'

export interface BookkeepingOptions {
  readonly clock: Clock
  readonly random: Random
  /** As the setting is written. */
  readonly store: string
  readonly auditIntervalMs: number
  /** How long exchanges are kept; undefined = for ever. */
  readonly exchangeRetentionMs: number | undefined
  readonly onAudit: (audit: AuditView, durationMs: number) => void
  readonly onRetention: (report: RetentionReport) => void
  /** Hears of a round that could not be finished; the next one is made all the same. */
  readonly onError: (error: unknown) => void
}

/** What the thread is started with. */
export interface RoundOrder {
  readonly store: string
  readonly nowMs: number
  readonly keepMs: number | undefined
}

export type RoundResult = { readonly isLast: boolean } & (
  | { readonly kind: 'audit'; readonly audit: AuditView }
  | { readonly kind: 'retention'; readonly report: RetentionReport }
)

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
  const { clock, random, auditIntervalMs, onAudit, onRetention, onError } = options
  const threads = new Set<Worker>()
  let isRunning = false
  let timer: Timer = clock.after(firstRoundMs + Math.round(random() * firstRoundSpreadMs), begin)

  function begin(): void {
    timer = clock.after(Math.round(auditIntervalMs * (1 + spread * (random() - 0.5))), begin)
    // A round that takes longer than the interval is not joined by a second one.
    if (isRunning) return
    isRunning = true
    const startedMs = clock.monotonic()
    const { store, exchangeRetentionMs: keepMs } = options
    const order: RoundOrder = { store, nowMs: clock.now(), keepMs }
    const thread = new Worker(new URL('./bookkeeping-worker.ts', import.meta.url), {
      workerData: order,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    })
    threads.add(thread)
    /** False where it has ended before: a thread that has told its last result still exits. */
    const end = (): boolean => {
      if (!threads.delete(thread)) return false
      isRunning = false
      return true
    }
    thread.on('message', (result: RoundResult) => {
      if (result.isLast ? !end() : !threads.has(thread)) return
      if (result.kind === 'audit') onAudit(result.audit, clock.monotonic() - startedMs)
      else onRetention(result.report)
    })
    const fail = (error: unknown): void => {
      if (end()) onError(error)
    }
    thread.on('error', fail)
    thread.on('exit', () => fail(new Error('the thread ended before the round was over')))
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
