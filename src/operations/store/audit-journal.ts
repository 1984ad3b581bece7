/**
 * Audits of a gateway's schedule on their way into the store: one that cannot be written now waits in memory,
 * because the next audit is an hour later. The newest ones are kept, and the others are lost.
 */
import { every, type Clock, type Timer } from '../../base/clock.ts'
import { GatewayError } from '../../base/errors.ts'
import type { Database } from '../../storage/database.ts'
import { runOf, saveRun, type EndedAudit } from './audit-runs.ts'
import type { AuditRun } from './audit-store.ts'

export interface AuditJournalParts {
  readonly clock: Clock
  readonly database: Database
  /** Rows have been written. */
  readonly onRecorded: () => void
  readonly onError: (error: unknown) => void
}

const waitingMax = 10
const retryMs = 5_000

export class AuditJournal {
  readonly #parts: AuditJournalParts
  readonly #timer: Timer
  #waiting: readonly AuditRun[] = []
  #writing: Promise<void> | undefined

  constructor(parts: AuditJournalParts) {
    this.#parts = parts
    this.#timer = every(parts.clock, retryMs, () => this.#write(), parts.onError)
  }

  add(ended: EndedAudit): void {
    this.#waiting = [...this.#waiting, runOf(ended)].slice(-waitingMax)
    void this.#write()
  }

  /** Waits for a write that runs; the rest is lost. */
  async close(): Promise<void> {
    this.#timer.cancel()
    this.#waiting = []
    await this.#writing
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      const [run] = this.#waiting
      if (run === undefined) return
      try {
        await saveRun(this.#parts.database, run)
      } catch (error) {
        this.#parts.onError(error)
        // Any other fault would come again.
        if (error instanceof GatewayError && error.code === 'ledger.unavailable') return
      }
      this.#waiting = this.#waiting.filter((one) => one !== run)
      this.#parts.onRecorded()
    }
  }
}
