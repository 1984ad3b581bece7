/**
 * Background work on the ledger of a running gateway: soon after the start, and then every interval, it
 * audits new rows and removes exchanges whose retention has passed; an operator's full audit, and a copy of
 * the store, and the sealing of ended hours, run beside it. Each is a worker thread with bounded memory; at
 * most one of a kind runs. It reports results and does not judge them.
 */
import type { Clock, Timer } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Secret } from '../../base/secret.ts'
import { runInThread } from '../../base/thread.ts'
import type { RetentionReport } from '../../ledger/exchange-retention.ts'
import type { SealReport } from '../../ledger/proof/sealing.ts'
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

/** What a thread gets when it starts; `store` is the setting. */
export type BookkeepingOrder = { readonly store: string } & BookkeepingTask

export type BookkeepingTask =
  | { readonly kind: 'audit_new'; readonly nowMs: number }
  | { readonly kind: 'remove_old'; readonly nowMs: number; readonly keepMs: number }
  | { readonly kind: 'full_audit' }
  | { readonly kind: 'seal'; readonly nowMs: number; readonly masterKey: string }
  /** The file at `path` is empty. */
  | { readonly kind: 'copy'; readonly path: string }

export interface BookkeepingResults {
  readonly audit_new: AuditView
  readonly remove_old: RetentionReport
  readonly full_audit: AuditView
  readonly seal: SealReport
  readonly copy: Outcome<CheckedCopy>
}

export interface Bookkeeping {
  /** Audits the whole ledger. Refuses while such an audit runs; rejects where it fails or is stopped. */
  auditFully(): Promise<AuditView>
  /** Seals the hours that have ended. Rejects where it fails or is stopped. */
  seal(order: { readonly nowMs: number; readonly masterKey: Secret }): Promise<SealReport>
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
const heapMbMax = 256
const threadUrl = new URL('./bookkeeping-worker.ts', import.meta.url)

export function startBookkeeping(options: BookkeepingOptions): Bookkeeping {
  const { clock, random, store, auditIntervalMs } = options
  const tasks = new Tasks(store)
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
    const nowMs = clock.now()
    const startedMs = clock.monotonic()
    const times = (): AuditTimes => ({
      startedAtMs: nowMs,
      durationMs: clock.monotonic() - startedMs,
    })
    let isAudited = false
    try {
      const audit = await tasks.run({ kind: 'audit_new', nowMs })
      isAudited = true
      onAudit(audit, times())
      // After the audit, so that exchanges are audited before they are removed.
      onRetention(await tasks.run({ kind: 'remove_old', nowMs, keepMs }))
    } catch (error) {
      if (!tasks.isClosed) onError(error, { ...times(), isAudited })
    }
  }

  async function auditFully(): Promise<AuditView> {
    if (isAuditing)
      throw conflict(
        'A full audit is running on this gateway already. Wait until GET /admin/v1/audits shows its result.',
      )
    isAuditing = true
    try {
      return await tasks.run({ kind: 'full_audit' })
    } finally {
      isAuditing = false
    }
  }

  return {
    auditFully,
    seal: ({ nowMs, masterKey }) =>
      tasks.run({ kind: 'seal', nowMs, masterKey: masterKey.reveal() }),
    copyTo: async (path) => valueOf(await tasks.run({ kind: 'copy', path })),
    close() {
      timer.cancel()
      return tasks.close()
    },
  }
}

/** The tasks that run. After `close` none has a result. */
class Tasks {
  readonly #store: string
  readonly #stop = new AbortController()
  readonly #running = new Set<Promise<unknown>>()

  constructor(store: string) {
    this.#store = store
  }

  get isClosed(): boolean {
    return this.#stop.signal.aborted
  }

  /** Rejects where the thread fails or is stopped. */
  async run<Kind extends BookkeepingTask['kind']>(
    task: BookkeepingTask & { readonly kind: Kind },
  ): Promise<BookkeepingResults[Kind]> {
    const order: BookkeepingOrder = { store: this.#store, ...task }
    const { signal } = this.#stop
    const result = runInThread<BookkeepingResults[Kind]>(threadUrl, { order, heapMbMax, signal })
    this.#running.add(result)
    try {
      return await result
    } finally {
      this.#running.delete(result)
    }
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await Promise.allSettled(this.#running)
  }
}
