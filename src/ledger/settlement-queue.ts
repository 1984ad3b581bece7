/**
 * The settlement queue (group commit) of both engines: collects ended exchanges into batches, has the
 * engine commit each batch, and reports the outcome of each exchange. Knows no SQL and no balance.
 *
 *     running ── batch not stored ──▶ blocked ── trial batch stored ──▶ running
 *        └───────────── fail ────────────┴──▶ failed    (final; the process ends)
 *
 * Invariants: an exchange is acknowledged only after its batch is durable. An exchange that is not
 * acknowledged is committed again until it is; committing it twice stores it once. After its deadline
 * its answer is withheld: the client never gets the end, and the exchange is stored without a charge.
 */
import type { Clock, Timer } from '../base/clock.ts'
import { GatewayError } from '../base/errors.ts'
import { addPicos, zeroPicos } from '../base/money.ts'
import type { ExchangeRecord } from './ledger.ts'

/** One ended exchange on its way into the store. */
export interface Settlement {
  /** Becomes an uncharged one when its answer is withheld. */
  record: ExchangeRecord
  /** Monotonic; until then the client waits for the end of its answer. */
  readonly deadlineMs: number
  resolve(): void
  reject(error: Error): void
}

export interface CommitOutcome<Booked> {
  /** How many exchanges, from the first on, are stored or refused. */
  readonly decidedCount: number
  /** By index: the store will never accept these. */
  readonly refused: ReadonlyMap<number, Error>
  /** By index: stored without a charge, because their hold had expired and the money is gone. */
  readonly withheld?: ReadonlySet<number>
  /** The engine's report about the stored exchanges. */
  readonly booked: Booked
  /** Why the rest was not stored; it is committed again. */
  readonly outage?: Error
}

/** One attempt to commit ended exchanges. */
export interface CommitSummary {
  readonly exchangeCount: number
  readonly durationMs: number
  readonly isStored: boolean
}

/** What a ledger on either engine takes beside its store. */
export interface EngineOptions {
  readonly clock: Clock
  /** The store will never accept this exchange: a fault of ours. Its hold stays until the end. */
  readonly onFault: (error: Error, exchangeId: string) => void
  /** Charges can be stored again after some could not. */
  readonly onRecovered?: () => void
  /** Called after each commit with exchanges in it, for metrics. */
  readonly onCommit?: ((summary: CommitSummary) => void) | undefined
}

export interface SettlementQueueOptions<Booked> extends Pick<EngineOptions, 'clock' | 'onCommit'> {
  /**
   * Commits a batch and calls `done` once, as soon as the outcome is known and before anything newer is
   * read from the store. Called with an empty batch where only `otherCount` has something to commit.
   */
  readonly commit: (
    batch: readonly Settlement[],
    done: (outcome: CommitOutcome<Booked>) => void,
  ) => void
  readonly batchSizeMax: number
  /** While one batch is in flight, a second one is sent only from this size on. */
  readonly secondBatchSize: number
  /** Other items that wait to share the next commit. */
  readonly otherCount?: () => number
  /** How many exchanges are running or wait here: some of them may end soon. */
  readonly soonCount: () => number
  /** How long the end of an answer waits for its charge; 0 = it is withheld at once. */
  readonly settleTimeoutMs: number
  /** From `first`, doubled after each failure up to `last`. */
  readonly retryMs: { readonly first: number; readonly last: number }
  /** How long `close` goes on trying. */
  readonly closeTimeoutMs: number
  /** These exchanges are durable; called before any of their promises is resolved. */
  readonly onBooked: (settlements: readonly Settlement[], booked: Booked) => void
  /** The store will never accept this one; its hold must stay. */
  readonly onRefused: (record: ExchangeRecord, error: Error) => void
  /** A batch could not be stored; called once per outage. */
  readonly onOutage?: (error: Error) => void
  /** A batch is stored after others were not; called once per outage. */
  readonly onRecovered: () => void
}

const batchesInFlightMax = 2
/**
 * A commit costs about the same for one exchange and for thirty, so a batch waits for exchanges that are
 * about to end. Where few others run there is little to share, and an answer that is ready would wait for
 * nothing. Under load the next ones are in the next turns of the event loop: the batch waits until
 * `quietTurns` turns have brought none, or `gatheringTurnsMax` have passed.
 */
const quietTurns = 2
const gatheringTurnsMax = 16
const othersWorthWaiting = 5
/**
 * Slow vendors spread the ends over time. While the last few items came at most `gatherMs` apart on average,
 * a quiet batch waits until its oldest exchange is `gatherMs` old. ADR 33 has the gains and the costs.
 */
const gatherMs = 3
const paceItems = 8
const paceWindowMs = (paceItems - 1) * gatherMs

export class SettlementQueue<Booked> {
  readonly #options: SettlementQueueOptions<Booked>
  /** Bounded by the number of holds: while this cannot shrink, nothing is admitted. */
  #waiting: Settlement[] = []
  readonly #inFlight = new Set<readonly Settlement[]>()
  /** Settlements in these batches. */
  #inFlightCount = 0
  #isScheduled = false
  /** Set while a batch waits for `gatherMs`. */
  #gatherTimer: Timer | undefined
  /** When the last `paceItems` items came, the oldest first. Monotonic. */
  readonly #arrivalsMs: number[] = []
  /** Set while blocked: why the last batch failed. */
  #outage: Error | undefined
  #retryTimer: Timer | undefined
  #retryMs: number
  /** Set when nothing can be committed any more. */
  #end: Error | undefined
  /** Monotonic; set by `close`. */
  #closeByMs = Infinity
  #onQuiet: (() => void) | undefined

  constructor(options: SettlementQueueOptions<Booked>) {
    this.#options = options
    this.#retryMs = options.retryMs.first
  }

  /** Why the last batch failed, until one is stored. */
  get outage(): Error | undefined {
    return this.#outage
  }

  /** Resolves when the exchange is durable; rejects when its answer must be withheld. */
  add(record: ExchangeRecord): Promise<void> {
    if (this.#end !== undefined) return Promise.reject(this.#end)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const deadlineMs = this.#options.clock.monotonic() + this.#options.settleTimeoutMs
    const settlement = { record, deadlineMs, resolve, reject }
    this.#waiting.push(settlement)
    if (this.#outage === undefined) this.itemCame()
    else if (this.#options.settleTimeoutMs === 0) withhold(settlement, unavailable(this.#outage))
    return promise
  }

  /** An exchange or one of the other items waits from now on. */
  itemCame(): void {
    this.#arrivalsMs.push(this.#options.clock.monotonic())
    if (this.#arrivalsMs.length > paceItems) this.#arrivalsMs.shift()
    if (this.#gatherTimer === undefined) this.#schedule()
    else if (!this.#isWorthWaiting()) this.#endGathering()
  }

  /** Commits after the events of this turn, so that everything that ends in it shares one batch. */
  #schedule(): void {
    if (this.#isScheduled || !this.#mayCommit()) return
    this.#isScheduled = true
    let turns = 0
    let lastGrowth = 0
    let length = this.#waiting.length
    const gather = (): void => {
      turns++
      if (this.#waiting.length > length) lastGrowth = turns
      length = this.#waiting.length
      const isWorthWaiting = this.#isWorthWaiting()
      const isQuiet = turns - lastGrowth >= quietTurns
      if (isWorthWaiting && !isQuiet && turns < gatheringTurnsMax) setImmediate(gather)
      else if (isWorthWaiting && isQuiet) this.#gatherOn()
      else this.#endGathering()
    }
    setImmediate(gather)
  }

  /** Waits for more items where they come fast enough, else commits. */
  #gatherOn(): void {
    const [firstMs = 0] = this.#arrivalsMs
    const nowMs = this.#options.clock.monotonic()
    const passedMs = nowMs - firstMs
    const hasPace =
      this.#arrivalsMs.length === paceItems && passedMs > 0 && passedMs <= paceWindowMs
    const oldestMs = (this.#waiting[0]?.deadlineMs ?? nowMs) - this.#options.settleTimeoutMs
    const waitMs = oldestMs + gatherMs - nowMs
    if (!hasPace || waitMs <= 0) this.#endGathering()
    else this.#gatherTimer = this.#options.clock.after(waitMs, () => this.#endGathering())
  }

  #endGathering(): void {
    this.#gatherTimer?.cancel()
    this.#gatherTimer = undefined
    this.#isScheduled = false
    this.#flush()
  }

  /** The engine is beyond use: rejects everything that is not acknowledged. */
  fail(error: Error): void {
    if (this.#end !== undefined) return
    this.#end = error
    this.#retryTimer?.cancel()
    this.#gatherTimer?.cancel()
    for (const settlement of [...this.#inFlight].flat()) settlement.reject(error)
    for (const settlement of this.#waiting) settlement.reject(error)
    this.#inFlight.clear()
    this.#inFlightCount = 0
    this.#waiting = []
    this.#onQuiet?.()
  }

  /** Commits the rest. Rejects where the store does not take it within the close timeout. */
  async close(): Promise<void> {
    if (this.#hasWork()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#onQuiet = resolve
      this.#closeByMs = this.#options.clock.monotonic() + this.#options.closeTimeoutMs
      if (this.#outage !== undefined) this.#retry()
      else this.#endGathering()
      await promise
    }
    this.#retryTimer?.cancel()
    this.#end ??= unavailable()
    for (const settlement of this.#waiting) withhold(settlement, this.#end)
    if (this.#waiting.length > 0)
      throw new GatewayError(
        'ledger.unavailable',
        `${this.#waiting.length} ended exchanges could not be stored; their answers were not completed.`,
      )
  }

  /** The other items wait for nothing: a request begins with them. */
  #isWorthWaiting(): boolean {
    const { otherCount, soonCount, secondBatchSize } = this.#options
    if ((otherCount?.() ?? 0) > 0 || this.#waiting.length >= secondBatchSize) return false
    return soonCount() - this.#waiting.length - this.#inFlightCount >= othersWorthWaiting
  }

  #mayCommit(): boolean {
    if (this.#end !== undefined) return false
    const { otherCount, secondBatchSize } = this.#options
    const count = (this.#outage === undefined ? this.#waiting.length : 0) + (otherCount?.() ?? 0)
    if (count === 0) return false
    if (this.#inFlight.size === 0) return true
    return this.#inFlight.size < batchesInFlightMax && count >= secondBatchSize
  }

  #flush(): void {
    while (this.#mayCommit()) this.#commit(this.#outage === undefined ? this.#take() : [])
  }

  #take(): readonly Settlement[] {
    const { batchSizeMax } = this.#options
    const waiting = this.#waiting
    if (waiting.length <= batchSizeMax) {
      this.#waiting = []
      return waiting
    }
    this.#waiting = waiting.slice(batchSizeMax)
    return waiting.slice(0, batchSizeMax)
  }

  #commit(batch: readonly Settlement[]): void {
    this.#inFlight.add(batch)
    this.#inFlightCount += batch.length
    const { clock, onCommit } = this.#options
    const sinceMs = clock.monotonic()
    this.#options.commit(batch, (outcome) => {
      // Not there any more after `fail`.
      if (!this.#inFlight.delete(batch)) return
      if (batch.length > 0)
        onCommit?.({
          exchangeCount: batch.length,
          durationMs: clock.monotonic() - sinceMs,
          isStored: outcome.outage === undefined,
        })
      this.#inFlightCount -= batch.length
      this.#complete(batch, outcome)
    })
  }

  #complete(batch: readonly Settlement[], outcome: CommitOutcome<Booked>): void {
    const { decidedCount, outage } = outcome
    const decided = decidedCount === batch.length ? batch : batch.slice(0, decidedCount)
    if (outage === undefined && batch.length > 0) this.#recover()
    if (decided.length > 0) this.#acknowledge(decided, outcome)
    if (outage !== undefined) this.#putBack(batch.slice(decidedCount), outage)
    this.#schedule()
    this.#reportQuiet()
  }

  #recover(): void {
    this.#retryMs = this.#options.retryMs.first
    // A batch that was in flight before the one that failed proves nothing; the trial batch does.
    if (this.#outage === undefined || this.#retryTimer !== undefined) return
    this.#outage = undefined
    this.#options.onRecovered()
  }

  #acknowledge(batch: readonly Settlement[], outcome: CommitOutcome<Booked>): void {
    const { onBooked, onRefused } = this.#options
    const { refused, withheld, booked } = outcome
    onBooked(refused.size === 0 ? batch : batch.filter((_, index) => !refused.has(index)), booked)
    for (const [index, settlement] of batch.entries()) {
      const cause = refused.get(index)
      if (cause === undefined) {
        if (withheld?.has(index) === true) settlement.reject(expiredHold())
        else settlement.resolve()
        continue
      }
      const message = 'The exchange could not be recorded.'
      const error = new GatewayError('gateway.internal', message, { cause })
      onRefused(settlement.record, error)
      settlement.reject(error)
    }
  }

  /** Puts a batch that was not stored back to the front; a timer tries again with one batch. */
  #putBack(batch: readonly Settlement[], error: Error): void {
    this.#waiting = [...batch, ...this.#waiting]
    if (this.#outage === undefined) this.#options.onOutage?.(error)
    this.#outage = error
    this.#withholdOverdue(error)
    if (this.#retryTimer !== undefined) return
    this.#retryTimer = this.#options.clock.after(this.#retryMs, () => this.#retry())
    this.#retryMs = Math.min(this.#retryMs * 2, this.#options.retryMs.last)
  }

  #retry(): void {
    this.#retryTimer?.cancel()
    this.#retryTimer = undefined
    if (this.#outage !== undefined && this.#waiting.length > 0 && this.#inFlightCount === 0)
      this.#commit(this.#take())
  }

  #withholdOverdue(error: Error): void {
    const nowMs = this.#options.clock.monotonic()
    for (const settlement of this.#waiting)
      if (settlement.deadlineMs <= nowMs) withhold(settlement, error)
  }

  #hasWork(): boolean {
    return this.#waiting.length > 0 || this.#inFlightCount > 0
  }

  #reportQuiet(): void {
    const isStuck =
      this.#outage !== undefined &&
      this.#inFlightCount === 0 &&
      this.#options.clock.monotonic() >= this.#closeByMs
    if (!this.#hasWork() || isStuck) this.#onQuiet?.()
  }
}

/**
 * Withholds the end of an answer whose charge is not durable. The client is not charged for it later:
 * only the operator's cost is still recorded. Withholding twice is the same as once.
 */
function withhold(settlement: Settlement, error: Error): void {
  settlement.record = {
    ...asWithheld(settlement.record),
    code: error instanceof GatewayError ? error.code : 'ledger.unavailable',
  }
  settlement.reject(error)
}

/**
 * Returns the record of an exchange whose client gets no end and pays nothing: the operator bears its charge.
 */
export function asWithheld(record: ExchangeRecord): ExchangeRecord {
  return {
    ...record,
    ending: 'failed',
    amountPicos: zeroPicos,
    usage: undefined,
    marks: [],
    priceLines: '',
    operatorCostPicos: addPicos(record.operatorCostPicos, record.amountPicos),
    code: 'ledger.unavailable',
    // The amount above stands for it.
    ownCostPicos: zeroPicos,
    isOwnCostKnown: false,
  }
}

function expiredHold(): GatewayError {
  return new GatewayError(
    'ledger.insufficient_balance',
    'The hold of the exchange had expired, and the balance no longer covers the charge.',
  )
}

/** Returns the error for callers while charges cannot be stored. */
export function unavailable(cause?: unknown): GatewayError {
  return new GatewayError('ledger.unavailable', 'The ledger cannot store charges at the moment.', {
    cause,
  })
}
