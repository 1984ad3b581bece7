/**
 * Background work on the ledger of a running gateway: soon after the start, and then every interval, it
 * audits what is new and removes exchanges whose retention has passed. Each round is a worker thread with
 * bounded memory; at most one runs. It reports results and does not judge them.
 */
import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { RetentionReport } from '../../ledger/exchange-retention.ts'
import type { AuditView } from './audit.ts'

export interface BookkeepingOptions {
  readonly clock: Clock
  readonly random: Random
  /** The `store` setting. */
  readonly store: string
  readonly auditIntervalMs: number
  /** How long exchanges are kept. */
  readonly requestRetentionMs: number
  readonly onAudit: (audit: AuditView, durationMs: number) => void
  readonly onRetention: (report: RetentionReport) => void
  /** A round failed before its audit was over. The next round runs as planned. */
  readonly onAuditFailed: (error: unknown) => void
  /** A round failed after its audit. */
  readonly onError: (error: unknown) => void
}

/** What a thread gets when it starts. */
export interface RoundOrder {
  readonly store: string
  readonly nowMs: number
  readonly keepMs: number
}

export type RoundResult = { readonly isLast: boolean } & (
  | { readonly kind: 'audit'; readonly audit: AuditView }
  | { readonly kind: 'retention'; readonly report: RetentionReport }
)

export interface Bookkeeping {
  /** Stops a running round. The next round repeats its work. */
  close(): Promise<void>
}

/** The first round comes later, so that it does not slow down the start. */
const firstRoundMs = 5_000
const firstRoundSpreadMs = 15_000
/** Random spread, so that nodes that start together do not audit together. */
const spread = 0.2
const heapMb = 256

export function startBookkeeping(options: BookkeepingOptions): Bookkeeping {
  const { clock, random, auditIntervalMs, onAudit, onAuditFailed, onRetention, onError } = options
  const threads = new Set<Worker>()
  let isRunning = false
  let timer: Timer = clock.after(firstRoundMs + Math.round(random() * firstRoundSpreadMs), begin)

  function begin(): void {
    timer = clock.after(Math.round(auditIntervalMs * (1 + spread * (random() - 0.5))), begin)
    // Where a round takes longer than the interval, the next one is skipped.
    if (isRunning) return
    isRunning = true
    const startedMs = clock.monotonic()
    const { store, requestRetentionMs: keepMs } = options
    const order: RoundOrder = { store, nowMs: clock.now(), keepMs }
    const thread = new Worker(new URL('./bookkeeping-worker.ts', import.meta.url), {
      workerData: order,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    })
    threads.add(thread)
    let isAudited = false
    /** Returns false where the round has ended before: a thread exits after its last result. */
    const end = (): boolean => {
      if (!threads.delete(thread)) return false
      isRunning = false
      return true
    }
    thread.on('message', (result: RoundResult) => {
      if (result.isLast ? !end() : !threads.has(thread)) return
      if (result.kind === 'audit') {
        isAudited = true
        onAudit(result.audit, clock.monotonic() - startedMs)
      } else onRetention(result.report)
    })
    const fail = (error: unknown): void => {
      if (end()) (isAudited ? onError : onAuditFailed)(error)
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
