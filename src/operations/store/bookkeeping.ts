/**
 * Background work on the ledger of a running gateway: soon after the start, and then every interval, it
 * audits new rows and removes exchanges whose retention has passed; an operator's full audit, and a copy of
 * the store, run beside it. Each is a worker thread with bounded memory; at most one of a kind runs. It
 * reports results and does not judge them.
 */
import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../base/clock.ts'
import { errorCatalogue } from '../../base/error-catalogue.ts'
import { GatewayError, type ErrorCode } from '../../base/errors.ts'
import type { Random } from '../../base/random.ts'
import type { RetentionReport } from '../../ledger/exchange-retention.ts'
import { conflict, valueOf, type Outcome } from '../operation.ts'
import type { AuditView } from './audit-forms.ts'
import type { CheckedCopy } from './open-copy.ts'

export interface BookkeepingOptions {
  readonly clock: Clock
  readonly random: Random
  /** The `store` setting. */
  readonly store: string
  readonly auditIntervalMs: number
  /** How long exchanges are kept. */
  readonly requestRetentionMs: number
  readonly onAudit: (audit: AuditView, times: AuditTimes) => void
  readonly onRetention: (report: RetentionReport) => void
  /** A round failed. The next one runs as planned. */
  readonly onError: (error: unknown, failed: FailedRound) => void
}

interface AuditTimes {
  readonly startedAtMs: number
  readonly durationMs: number
}

interface FailedRound extends AuditTimes {
  /** Whether the audit of the round was over before it failed. */
  readonly isAudited: boolean
}

/** What a thread gets when it starts. */
export type BookkeepingOrder = RoundOrder | CopyOrder | FullAuditOrder

interface FullAuditOrder {
  readonly kind: 'full_audit'
  readonly store: string
}

export interface CopyOrder {
  readonly kind: 'copy'
  readonly store: string
  /** An empty file. */
  readonly path: string
}

export interface RoundOrder {
  readonly kind: 'round'
  readonly store: string
  readonly nowMs: number
  readonly keepMs: number
}

export type BookkeepingResult = { readonly isLast: boolean } & (
  | { readonly kind: 'audit'; readonly audit: AuditView }
  | { readonly kind: 'retention'; readonly report: RetentionReport }
  | { readonly kind: 'copy'; readonly outcome: Outcome<CheckedCopy> }
)

export interface Bookkeeping {
  /** Audits the whole ledger. Refuses while such an audit runs; rejects where it fails or is stopped. */
  auditFully(): Promise<AuditView>
  /** Copies a SQLite store into an empty file and audits the copy. Rejects where it fails or is stopped. */
  copyTo(path: string): Promise<CheckedCopy>
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
  const { clock, random, store, auditIntervalMs } = options
  const threads = new Threads()
  let isRunning = false
  let isAuditing = false
  let timer: Timer = clock.after(firstRoundMs + Math.round(random() * firstRoundSpreadMs), begin)

  function begin(): void {
    timer = clock.after(Math.round(auditIntervalMs * (1 + spread * (random() - 0.5))), begin)
    // Where a round takes longer than the interval, the next one is skipped.
    if (isRunning) return
    isRunning = true
    void runRound().finally(() => {
      isRunning = false
    })
  }

  async function runRound(): Promise<void> {
    const { requestRetentionMs: keepMs, onAudit, onRetention, onError } = options
    const startedAtMs = clock.now()
    const startedMs = clock.monotonic()
    const times = (): AuditTimes => ({ startedAtMs, durationMs: clock.monotonic() - startedMs })
    let isAudited = false
    try {
      await threads.run({ kind: 'round', store, nowMs: startedAtMs, keepMs }, (result) => {
        if (result.kind === 'retention') onRetention(result.report)
        if (result.kind !== 'audit') return
        isAudited = true
        onAudit(result.audit, times())
      })
    } catch (error) {
      if (!threads.isClosed) onError(error, { ...times(), isAudited })
    }
  }

  async function auditFully(): Promise<AuditView> {
    if (isAuditing)
      throw conflict(
        'A full audit is running on this gateway already. Wait until GET /admin/v1/audits shows its result.',
      )
    isAuditing = true
    try {
      const audits: AuditView[] = []
      await threads.run({ kind: 'full_audit', store }, (result) => {
        if (result.kind === 'audit') audits.push(result.audit)
      })
      const [audit] = audits
      if (audit === undefined) throw endedEarly()
      return audit
    } finally {
      isAuditing = false
    }
  }

  return {
    auditFully,
    copyTo: (path) => copyOn(threads, { kind: 'copy', store, path }),
    close() {
      timer.cancel()
      return threads.close()
    },
  }
}

async function copyOn(threads: Threads, order: CopyOrder): Promise<CheckedCopy> {
  const outcomes: Outcome<CheckedCopy>[] = []
  await threads.run(order, (result) => {
    if (result.kind === 'copy') outcomes.push(result.outcome)
  })
  const [outcome] = outcomes
  if (outcome === undefined) throw endedEarly()
  return valueOf(outcome)
}

function endedEarly(): Error {
  return new Error('the thread ended before its work was over')
}

/** An error loses its class between threads, and keeps its fields. */
function restored(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!(error instanceof Error) || !Object.hasOwn(errorCatalogue, code)) return error
  return new GatewayError(code as ErrorCode, error.message, { cause: error })
}

/** The threads that run. After `close` no result is passed on. */
class Threads {
  readonly #running = new Set<Worker>()
  #isClosed = false

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Resolves with the last result; rejects where the thread fails or ends before. */
  run(order: BookkeepingOrder, onResult: (result: BookkeepingResult) => void): Promise<void> {
    const thread = new Worker(new URL('./bookkeeping-worker.ts', import.meta.url), {
      workerData: order,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    })
    this.#running.add(thread)
    return new Promise((resolve, reject) => {
      thread.on('message', (result: BookkeepingResult) => {
        if (this.#isClosed) return
        onResult(result)
        if (result.isLast) resolve()
      })
      // A failure after the last result changes nothing: the promise is settled.
      thread.on('error', (error) => reject(restored(error)))
      thread.on('exit', () => {
        this.#running.delete(thread)
        reject(endedEarly())
      })
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#running].map((thread) => thread.terminate()))
  }
}
