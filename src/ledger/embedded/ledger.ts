/**
 * The ledger on SQLite, for one gateway process per store: admission is decided in memory, a thread
 * writes charges in batches, and the event loop never waits on a disk. After a crash the holds are
 * gone and the charges are there. The caller owns the store's lock and its schema.
 *
 *     const ledger = await createEmbeddedLedger({ path, clock, onFatal, onFault })
 */
import type { Clock } from '../../base/clock.ts'
import type { Picos } from '../../base/money.ts'
import { openError } from '../../storage/open-error.ts'
import {
  closedError,
  type CountRequest,
  type ExchangeRecord,
  type Headroom,
  type HeadroomQuestion,
  type Hold,
  type HoldRefusal,
  type HoldRequest,
  type Ledger,
  type UsageSummary,
  type UsagePeriod,
} from '../ledger.ts'
import { SettlementQueue, type EngineOptions, type Settlement } from '../settlement-queue.ts'
import { Admission } from './admission.ts'
import type { Booked } from './booking.ts'
import { LedgerWriter, type OpenWriter } from './writer.ts'

export interface EmbeddedLedgerOptions extends EngineOptions {
  /** The store's file, migrated already. */
  readonly path: string
  /** The disk, the file or the thread failed: the process has to end and start again. */
  readonly onFatal: (error: Error) => void
  /** The file may grow to this many pages of 4 KB; without a limit by default. */
  readonly pagesMax?: number
  /** Where the writer runs; a separate thread by default. */
  readonly openWriter?: OpenWriter
}

/** Rejects where the store cannot be opened. */
export async function createEmbeddedLedger(options: EmbeddedLedgerOptions): Promise<Ledger> {
  const ledger = new SqliteLedger(options)
  try {
    await ledger.started
  } catch (error) {
    throw openError(options.path, error)
  }
  return ledger
}

const batchSizeMax = 256
const secondBatchSize = 64
const retryMs = { first: 250, last: 5_000 }
/** Tries to load an account for one day while loads for other days interfere. */
const loadsMax = 3
/** Accounts per question, so that a refresh of very many does not delay charges for long. */
const accountsPerRefresh = 500

class SqliteLedger implements Ledger {
  readonly started: Promise<void>
  readonly #clock: Clock
  readonly #writer: LedgerWriter
  readonly #queue: SettlementQueue<Booked>
  readonly #admission = new Admission()
  readonly #loading = new Map<string, Promise<boolean>>()
  #refreshing: Promise<void> | undefined
  #nextRefresh: Promise<void> | undefined
  #isClosing = false

  constructor(options: EmbeddedLedgerOptions) {
    this.#clock = options.clock
    this.#writer = new LedgerWriter({
      ...options,
      onDead: (error) => {
        this.#queue.fail(error)
        options.onFatal(error)
      },
    })
    this.#queue = new SettlementQueue({
      clock: options.clock,
      commit: (batch, done) => this.#writer.commit(batch, done),
      batchSizeMax,
      secondBatchSize,
      soonCount: () => this.#admission.openCount,
      // A full disk may stay full: no answer waits for it.
      settleTimeoutMs: 0,
      retryMs,
      closeTimeoutMs: 0,
      onBooked: (settlements, booked) => this.#applyBooked(settlements, booked),
      onRefused: ({ exchangeId }, error) => {
        this.#admission.refused(exchangeId)
        options.onFault(error, exchangeId)
      },
      onRecovered: () => options.onRecovered?.(),
      onCommit: options.onCommit,
    })
    this.started = this.#writer.started
  }

  place(request: HoldRequest): Hold | HoldRefusal | Promise<Hold | HoldRefusal> {
    if (!this.isAvailable()) return unavailable
    const decided = this.#admission.place(request, this.#clock.monotonic())
    if (decided !== undefined) return decided
    return this.#afterLoading(request, (nowMs) => this.#admission.place(request, nowMs))
  }

  settle(hold: Hold, record: ExchangeRecord): Promise<void> {
    const running = this.#admission.settlingOf(hold.exchangeId)
    if (running !== undefined) return running
    if (this.#isClosing) return Promise.reject(closedError())
    const settling = this.#queue.add(record)
    this.#admission.settling(hold.exchangeId, record.amountPicos, settling)
    return settling
  }

  check(request: HoldRequest): HoldRefusal | undefined | Promise<HoldRefusal | undefined> {
    return this.#decide(request, (nowMs) => this.#admission.check(request, nowMs))
  }

  async count(request: CountRequest): Promise<HoldRefusal | undefined> {
    return this.#decide(request, (nowMs) => this.#admission.count(request, nowMs))
  }

  usage(accountId: string, period: UsagePeriod, atMs: number): Promise<UsageSummary | undefined> {
    return this.#writer.ask({ kind: 'usage', accountId, period, atMs })
  }

  headroom(question: HeadroomQuestion): Headroom | undefined {
    return this.#admission.headroom(question, this.#clock.monotonic())
  }

  openHolds(): { readonly count: number; readonly heldPicos: Hold['amountPicos'] } {
    return this.#admission.openHolds()
  }

  readHeld(accountIds: readonly string[]): Promise<ReadonlyMap<string, Picos>> {
    return Promise.resolve(this.#admission.heldOf(accountIds))
  }

  isAvailable(): boolean {
    return this.#writer.isRunning && this.#queue.outage === undefined && !this.#isClosing
  }

  refresh(): Promise<void> {
    // One runs and at most one waits; all later calls share the one that waits.
    if (this.#refreshing === undefined) return this.#startRefresh()
    this.#nextRefresh ??= this.#refreshing.then(
      () => this.#startRefresh(),
      () => this.#startRefresh(),
    )
    return this.#nextRefresh
  }

  async close(): Promise<void> {
    if (this.#isClosing) return
    this.#isClosing = true
    try {
      await this.#queue.close()
    } finally {
      await this.#writer.close()
    }
  }

  #startRefresh(): Promise<void> {
    this.#nextRefresh = undefined
    const running = this.#readFacts().finally(() => {
      if (this.#refreshing === running) this.#refreshing = undefined
    })
    this.#refreshing = running
    return running
  }

  async #readFacts(): Promise<void> {
    const accountIds = this.#admission.accountIds()
    for (let start = 0; start < accountIds.length; start += accountsPerRefresh) {
      const chunk = accountIds.slice(start, start + accountsPerRefresh)
      await this.#writer.ask({ kind: 'refresh', accountIds: chunk }, (facts) => {
        for (const account of facts) this.#admission.update(account)
      })
    }
  }

  #decide(
    request: LoadRequest,
    decide: (nowMs: number) => HoldRefusal | null | undefined,
  ): HoldRefusal | undefined | Promise<HoldRefusal | undefined> {
    if (!this.isAvailable()) return unavailable
    const decided = decide(this.#clock.monotonic())
    if (decided !== undefined) return decided ?? undefined
    return this.#afterLoading(request, decide).then((answer) => answer ?? undefined)
  }

  async #afterLoading<Decision>(
    request: LoadRequest,
    decide: (nowMs: number) => Decision | undefined,
  ): Promise<Decision | HoldRefusal> {
    for (let attempt = 0; attempt < loadsMax; attempt++) {
      try {
        if (!(await this.#load(request))) return { kind: 'unknown_account' }
      } catch {
        // The writer has reported why the store did not answer.
        return unavailable
      }
      if (!this.isAvailable()) return unavailable
      const decided = decide(this.#clock.monotonic())
      if (decided !== undefined) return decided
    }
    return unavailable
  }

  /** Returns false where the account does not exist. Concurrent calls share one question. */
  #load(request: LoadRequest): Promise<boolean> {
    const name = `${request.accountId}\0${request.keyId}`
    const running = this.#loading.get(name)
    if (running !== undefined) return running
    const loading = this.#readAccount(request).finally(() => this.#loading.delete(name))
    this.#loading.set(name, loading)
    return loading
  }

  async #readAccount({ accountId, keyId, keyLimits, atMs }: LoadRequest): Promise<boolean> {
    const question = { kind: 'load', accountId, keyId, keyLimits, atMs } as const
    const loaded = await this.#writer.ask(question, (answer) => {
      if (answer !== undefined)
        this.#admission.put(answer, { atMs, nowMs: this.#clock.monotonic() })
    })
    return loaded !== undefined
  }

  #applyBooked(batch: readonly Settlement[], booked: Booked): void {
    const nowMs = this.#clock.monotonic()
    for (const { record } of batch) {
      const { exchangeId, endedAtMs, amountPicos } = record
      const tokens = tokensOf(record)
      this.#admission.booked({ exchangeId, endedAtMs, amountPicos, tokens }, nowMs)
    }
    for (const [accountId, balancePicos] of booked.balances)
      this.#admission.setBalance(accountId, balancePicos)
    // These were counted before this batch: only the store knows today's sum now.
    for (const accountId of booked.repeatedAccountIds) this.#admission.invalidate(accountId)
  }
}

/** The facts needed to load the amounts of an account and a key. */
type LoadRequest = Pick<HoldRequest, 'accountId' | 'keyId' | 'keyLimits' | 'atMs'>

/** As table token_minute counts them. */
function tokensOf({ usage }: ExchangeRecord): number {
  return usage === undefined ? 0 : usage.reported.inputTokens + usage.reported.outputTokens
}

const unavailable: HoldRefusal = { kind: 'unavailable' }
