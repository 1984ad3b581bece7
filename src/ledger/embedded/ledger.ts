/**
 * The ledger on SQLite, for one gateway process per store: admission is decided in memory, charges
 * are written by a thread in groups, and the event loop never waits on a disk. After a crash the
 * holds are gone and the charges are there. The caller owns the store's lock and its schema.
 *
 *     const ledger = await createEmbeddedLedger({ path, clock, onFatal, onFault })
 */
import type { Clock } from '../../base/clock.ts'
import { GatewayError } from '../../base/errors.ts'
import { openError } from '../../storage/open-error.ts'
import type {
  ExchangeRecord,
  Headroom,
  Hold,
  HoldRefusal,
  HoldRequest,
  Ledger,
  UsageFigures,
  UsagePeriod,
} from '../ledger.ts'
import { Admission } from './admission.ts'
import type { Booked } from './booking.ts'
import type { OpenWriterLink } from './messages.ts'
import { LedgerWriter, type Settlement } from './writer.ts'

export interface EmbeddedLedgerOptions {
  /** The store's file, migrated already. */
  readonly path: string
  readonly clock: Clock
  /** The store failed for good (disk, file, thread): the process has to end and be started anew. */
  readonly onFatal: (error: Error) => void
  /** The store refused one exchange for good: a programmer's error. Its hold stays until the end. */
  readonly onFault: (error: Error, exchangeId: string) => void
  /** Charges can be stored again after some could not. */
  readonly onRecovered?: () => void
  /** Charges do not let the file grow beyond this many pages of 4 KB; no bound unless told. */
  readonly pagesMax?: number
  /** Where the writer runs; a thread of its own unless told. */
  readonly openLink?: OpenWriterLink
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

/** A load that keeps being overtaken by other days' loads is given up. */
const loadsMax = 3
/** Accounts per question, so that a refresh of very many never keeps charges waiting for long. */
const accountsPerRefresh = 500

class SqliteLedger implements Ledger {
  readonly started: Promise<void>
  readonly #clock: Clock
  readonly #onFault: (error: Error, exchangeId: string) => void
  readonly #writer: LedgerWriter
  readonly #admission = new Admission()
  readonly #loading = new Map<string, Promise<boolean>>()
  #refreshing: Promise<void> | undefined
  #nextRefresh: Promise<void> | undefined
  #isClosing = false

  constructor(options: EmbeddedLedgerOptions) {
    this.#clock = options.clock
    this.#onFault = options.onFault
    const openCount = (): number => this.#admission.openCount
    this.#writer = new LedgerWriter(
      { ...options, openCount },
      {
        onBooked: (batch, booked) => this.#book(batch, booked),
        onRefused: (settlement, error) => this.#refuse(settlement, error),
        onRecovered: () => options.onRecovered?.(),
        onDead: options.onFatal,
      },
    )
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
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#admission.settling(hold.exchangeId, record.amountPicos, promise)
    this.#writer.add({ record, resolve, reject })
    return promise
  }

  async admitUnmetered(request: {
    accountId: string
    atMs: number
  }): Promise<HoldRefusal | undefined> {
    if (!this.isAvailable()) return unavailable
    const decide = (nowMs: number): HoldRefusal | null | undefined =>
      this.#admission.admitUnmetered(request, nowMs)
    const decided = decide(this.#clock.monotonic())
    const answer = decided === undefined ? await this.#afterLoading(request, decide) : decided
    return answer ?? undefined
  }

  usage(accountId: string, period: UsagePeriod, atMs: number): Promise<UsageFigures | undefined> {
    return this.#writer.ask({ kind: 'usage', accountId, period, atMs })
  }

  headroom(accountId: string): Headroom | undefined {
    return this.#admission.headroom(accountId, this.#clock.monotonic())
  }

  openHolds(): { readonly count: number; readonly heldPicos: Hold['amountPicos'] } {
    return this.#admission.openHolds()
  }

  isAvailable(): boolean {
    return this.#writer.isRunning && !this.#isClosing
  }

  refresh(): Promise<void> {
    // One runs and at most one waits: whoever asks meanwhile is served by the one that waits.
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
    await this.#writer.close()
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

  async #afterLoading<Decision>(
    request: { readonly accountId: string; readonly atMs: number },
    decide: (nowMs: number) => Decision | undefined,
  ): Promise<Decision | HoldRefusal> {
    for (let attempt = 0; attempt < loadsMax; attempt++) {
      try {
        if (!(await this.#load(request))) return { kind: 'unknown_account' }
      } catch {
        // Why the store did not answer has been reported by the writer; here it only means "no".
        return unavailable
      }
      if (!this.isAvailable()) return unavailable
      const decided = decide(this.#clock.monotonic())
      if (decided !== undefined) return decided
    }
    return unavailable
  }

  /** False where there is no such account. Those who ask at once share one question. */
  #load(request: { readonly accountId: string; readonly atMs: number }): Promise<boolean> {
    const { accountId } = request
    const running = this.#loading.get(accountId)
    if (running !== undefined) return running
    const loading = this.#readAccount(request).finally(() => this.#loading.delete(accountId))
    this.#loading.set(accountId, loading)
    return loading
  }

  async #readAccount(request: {
    readonly accountId: string
    readonly atMs: number
  }): Promise<boolean> {
    const { accountId, atMs } = request
    const loaded = await this.#writer.ask({ kind: 'load', accountId, atMs }, (answer) => {
      if (answer !== undefined) this.#admission.put(answer, atMs, this.#clock.monotonic())
    })
    return loaded !== undefined
  }

  #book(batch: readonly Settlement[], booked: Booked): void {
    for (const { record } of batch) this.#admission.booked(record)
    for (const [accountId, balancePicos] of booked.balances)
      this.#admission.setBalance(accountId, balancePicos)
    // Counted once already, before this batch: only the store knows today's sum now.
    for (const accountId of booked.repeatedAccountIds) this.#admission.distrust(accountId)
  }

  #refuse(settlement: Settlement, error: Error): void {
    this.#admission.refused(settlement.record.exchangeId)
    this.#onFault(error, settlement.record.exchangeId)
  }
}

const unavailable: HoldRefusal = { kind: 'unavailable' }

function closedError(): GatewayError {
  return new GatewayError('ledger.unavailable', 'The ledger is closed.')
}
