/**
 * Records exchanges that nothing is charged for, in batches beside the path of requests. No client and no
 * charge waits for it. Invariants: a flood writes a bounded number of rows per minute and keeps a bounded
 * number in memory; every exchange is counted by a row or as dropped. Unwritten rows are lost where
 * the process is killed.
 */
import { minuteMs, type Clock, type Timer } from '../base/clock.ts'
import type { FreeExchange, FreeExchangeRow } from './free-exchange-store.ts'

export interface FreeExchangeLogParts {
  readonly clock: Clock
  /** Writes at most 200 rows; a row that is there gets its new count. */
  readonly save: (rows: readonly FreeExchangeRow[]) => Promise<void>
  /** The store refuses the rows; called once until it takes rows again. */
  readonly onError: (error: unknown) => void
}

/** What relays need of the log. */
export type FreeExchanges = Pick<FreeExchangeLog, 'record'>

type WaitingRow = { -readonly [Field in keyof FreeExchangeRow]: FreeExchangeRow[Field] }

/** The exchanges of one minute that one key made and that ended in one way. */
interface Group {
  count: number
  /** Counts those that have no row for themselves. */
  sum?: WaitingRow
}

/** How many exchanges of a group have a row for themselves. */
export const rowsPerGroup = 20
/** Of all groups together, per minute. */
export const rowsMax = 3_000
/** Each has at most one further row, which counts the rest. */
export const groupsMax = 3_000
/** Rows that wait while the store is away: those of two minutes at most. */
const waitingMax = 2 * (rowsMax + groupsMax)
const batchDelayMs = 1_000
/** A charge that waits for the store waits for one of these at most. */
const rowsPerBatch = 200

export class FreeExchangeLog {
  readonly #parts: FreeExchangeLogParts
  readonly #groups = new Map<string, Group>()
  #minuteStartMs = Number.NEGATIVE_INFINITY
  #rowsInMinute = 0
  /** By id: a row whose count grows while it waits is written once. */
  readonly #waiting = new Map<string, WaitingRow>()
  #timer: Timer | undefined
  #writing: Promise<void> = Promise.resolve()
  #isFailing = false
  #droppedCount = 0

  constructor(parts: FreeExchangeLogParts) {
    this.#parts = parts
  }

  /** Exchanges without a row that counts them, since the start. */
  get droppedCount(): number {
    return this.#droppedCount
  }

  /** Returns at once; the row is written about a second later. */
  record(exchange: FreeExchange): void {
    this.#startMinute()
    const group = this.#groupOf(exchange)
    const isFull = this.#waiting.size >= waitingMax
    if (group === undefined || (isFull && !this.#isWaiting(group.sum))) this.#droppedCount++
    else if (group.count < rowsPerGroup && this.#rowsInMinute < rowsMax) {
      group.count++
      this.#rowsInMinute++
      this.#add({ ...exchange, standsFor: 1 })
    } else if (group.sum === undefined) this.#add((group.sum = { ...exchange, standsFor: 1 }))
    else {
      group.sum.standsFor++
      group.sum.endedAtMs = exchange.endedAtMs
      this.#add(group.sum)
    }
  }

  #isWaiting(row: WaitingRow | undefined): boolean {
    return row !== undefined && this.#waiting.has(row.exchangeId)
  }

  /** Writes the waiting rows; resolves when that has been tried. */
  flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    return (this.#writing = this.#writing.then(() => this.#write()))
  }

  /** Writes the rest. Nothing may be recorded afterwards. */
  async close(): Promise<void> {
    await this.flush()
    this.#timer?.cancel()
  }

  #startMinute(): void {
    const nowMs = this.#parts.clock.monotonic()
    if (nowMs - this.#minuteStartMs < minuteMs) return
    this.#minuteStartMs = nowMs
    this.#rowsInMinute = 0
    this.#groups.clear()
  }

  #groupOf({ accountId, keyId, code, operation, status }: FreeExchange): Group | undefined {
    const name = [accountId, keyId, code ?? operation ?? '', status].join(' ')
    let group = this.#groups.get(name)
    if (group === undefined && this.#groups.size < groupsMax)
      this.#groups.set(name, (group = { count: 0 }))
    return group
  }

  #add(row: WaitingRow): void {
    this.#waiting.set(row.exchangeId, row)
    this.#timer ??= this.#parts.clock.after(batchDelayMs, () => void this.flush())
  }

  async #write(): Promise<void> {
    while (this.#waiting.size > 0) {
      const rows = [...this.#waiting.values().take(rowsPerBatch)]
      for (const { exchangeId } of rows) this.#waiting.delete(exchangeId)
      try {
        // Copies, because a count may grow while they are written.
        const batch = rows.map((row) => ({ ...row }))
        await this.#parts.save(batch)
        this.#isFailing = false
      } catch (error) {
        if (!this.#isFailing) this.#parts.onError(error)
        this.#isFailing = true
        for (const row of rows) this.#add(row)
        return
      }
    }
  }
}
