/**
 * The ledger on PostgreSQL, for any number of gateway processes on one store: holds are rows, placed
 * and freed by the server under its own locks, so that two nodes cannot spend the same money. What
 * this process keeps in memory (open holds, the last request windows) decides nothing.
 *
 *     const ledger = await openPostgresLedger({ pool, lease, database, clock, … })
 */
import { addPicos, picos, zeroPicos, type Picos } from '../../base/money.ts'
import type { Database } from '../../storage/database.ts'
import type { HoldLease } from '../../storage/membership.ts'
import type { PostgresPool } from '../../storage/postgres/pool.ts'
import {
  closedError,
  tighterOf,
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
import {
  SettlementQueue,
  type EngineOptions,
  unavailable,
  type CommitOutcome,
  type Settlement,
} from '../settlement-queue.ts'
import { readSum, readUsage, sumOf } from '../usage.ts'
import { bookBatch, decided, isOutage, isRefusal } from './booking.ts'
import { ensurePartitions, maintainHolds, releaseUnknownHolds } from './hold-maintenance.ts'
import { RequestWindows } from './request-windows.ts'
import {
  countsAsRequest,
  decideRequests,
  isAboutMoney,
  type AdmissionRequest,
  type Decision,
} from './statements.ts'

export interface PostgresLedgerOptions extends EngineOptions {
  /** Connections for holds and charges alone; see `moneyPoolOptions`. */
  readonly pool: PostgresPool
  readonly lease: HoldLease
  /** The same store, migrated already; usage is read through it. */
  readonly database: Database
  /** How long the end of an answer waits for a server that takes its charge. */
  readonly settleTimeoutMs: number
  /** The store did not answer; it is tried again. */
  readonly onError: (error: unknown) => void
}

/** Rejects where no server answers, or the one that does breaks the ledger's promises. */
export async function openPostgresLedger(options: PostgresLedgerOptions): Promise<Ledger> {
  const ledger = new ServerLedger(options)
  await ledger.start()
  return ledger
}

/** Two batches at once; where something was refused, each needs two connections. */
const connectionsMax = 4
/** A client waits for the statement; after this time its connection counts as lost. */
const answerTimeoutMs = 5_000
export const moneyPoolOptions = { connectionsMax, answerTimeoutMs }

const batchSizeMax = 128
const secondBatchSize = 32
const retryMs = { first: 250, last: 250 }
/** How long a process that ends waits for a server to take the remaining charges. */
const closeTimeoutMs = 15_000

/** A request that waits for its decision. */
interface Pending {
  readonly request: AdmissionRequest
  readonly resolve: (decision: Decision) => void
}

/** Goes to the store in one call. */
interface Group {
  readonly pending: readonly Pending[]
  readonly records?: readonly ExchangeRecord[]
  /** An earlier call may have decided some of them. */
  readonly isRepeat?: boolean
}

class ServerLedger implements Ledger {
  readonly #options: PostgresLedgerOptions
  readonly #queue: SettlementQueue<void>
  #pending: Pending[] = []
  readonly #windows = new RequestWindows()
  /** Holds of this process that have not ended durably, including those being placed. */
  readonly #open = new Map<string, Picos>()
  /** Placements in flight: an exchange has at most one. */
  readonly #placements = new Map<string, Promise<Hold | HoldRefusal>>()
  readonly #settlements = new Map<string, Promise<void>>()
  /** The same, by account. */
  readonly #settlementsOf = new Map<string, Set<Promise<void>>>()
  #isClosing = false

  constructor(options: PostgresLedgerOptions) {
    this.#options = options
    this.#queue = new SettlementQueue({
      clock: options.clock,
      commit: (batch, done) => void this.#commit(batch, done),
      batchSizeMax,
      secondBatchSize,
      otherCount: () => this.#pending.length,
      soonCount: () => this.#open.size,
      settleTimeoutMs: options.settleTimeoutMs,
      retryMs,
      closeTimeoutMs,
      onBooked: (settlements) => {
        for (const { record } of settlements) {
          this.#open.delete(record.exchangeId)
          this.#forgetSettlement(record)
        }
      },
      onRefused: (record, error) => {
        this.#forgetSettlement(record)
        options.onFault(error, record.exchangeId)
      },
      onOutage: options.onError,
      onRecovered: () => options.onRecovered?.(),
      onCommit: options.onCommit,
    })
  }

  async start(): Promise<void> {
    const { pool, lease, clock } = this.#options
    await ensurePartitions({ pool, lease, now: () => clock.now() })
    lease.subscribe(() => maintainHolds(this.#holdParts()))
  }

  place(request: HoldRequest): Promise<Hold | HoldRefusal> {
    const running = this.#placements.get(request.exchangeId)
    if (running !== undefined) return running
    const placement = this.#placeOnce(request)
    this.#placements.set(request.exchangeId, placement)
    return placement
  }

  async check(request: HoldRequest): Promise<HoldRefusal | undefined> {
    const { verdict } = await this.#decide({ ...request, kind: 'check' })
    return verdict.kind === 'admitted' ? undefined : verdict
  }

  async count(request: CountRequest): Promise<HoldRefusal | undefined> {
    const { verdict } = await this.#ask({ ...request, kind: 'count' })
    return verdict.kind === 'admitted' ? undefined : verdict
  }

  settle(hold: Hold, record: ExchangeRecord): Promise<void> {
    const running = this.#settlements.get(hold.exchangeId)
    if (running !== undefined) return running
    if (this.#isClosing) return Promise.reject(closedError())
    const settling = this.#queue.add(record)
    this.#settlements.set(hold.exchangeId, settling)
    const ofAccount = this.#settlementsOf.get(record.accountId)
    if (ofAccount === undefined) this.#settlementsOf.set(record.accountId, new Set([settling]))
    else ofAccount.add(settling)
    return settling
  }

  usage(accountId: string, period: UsagePeriod, atMs: number): Promise<UsageSummary | undefined> {
    return this.#options.database.snapshot((snapshot) =>
      readUsage(snapshot, { accountId, period, atMs }),
    )
  }

  headroom({ accountId, keyId, keyLimits }: HeadroomQuestion): Headroom | undefined {
    const nowMs = this.#options.clock.monotonic()
    const ofKey = keyLimits.rpm === 0 ? undefined : this.#windows.read(keyId, nowMs)
    return tighterOf(this.#windows.read(accountId, nowMs), ofKey)
  }

  openHolds(): { readonly count: number; readonly heldPicos: Picos } {
    let heldPicos = zeroPicos
    for (const amountPicos of this.#open.values()) heldPicos = addPicos(heldPicos, amountPicos)
    return { count: this.#open.size, heldPicos }
  }

  async readHeld(accountIds: readonly string[]): Promise<ReadonlyMap<string, Picos>> {
    if (accountIds.length === 0) return new Map()
    const places = accountIds.map((_, index) => `$${index + 1}`).join(', ')
    const rows = await this.#options.database.query(
      `SELECT account_id, ${sumOf('amount_picos')} FROM hold
        WHERE account_id IN (${places}) GROUP BY account_id`,
      [...accountIds],
    )
    return new Map(rows.map((row) => [String(row['account_id']), readSum(row)]))
  }

  /** Nothing that decides is kept in memory: the server reads every account anew. */
  refresh(): Promise<void> {
    return Promise.resolve()
  }

  isAvailable(): boolean {
    return this.#options.pool.isAvailable() && !isRefusal(this.#queue.outage) && !this.#isClosing
  }

  async close(): Promise<void> {
    if (this.#isClosing) return
    this.#isClosing = true
    await this.#queue.close()
    this.#open.clear()
    await releaseUnknownHolds(this.#holdParts())
  }

  #holdParts() {
    const { pool, lease, clock } = this.#options
    const isOpen = (exchangeId: string): boolean => this.#open.has(exchangeId)
    return { pool, lease, now: () => clock.now(), isOpen }
  }

  async #placeOnce(request: HoldRequest): Promise<Hold | HoldRefusal> {
    const { exchangeId, accountId, keyId } = request
    const wasOpen = this.#open.get(exchangeId)
    this.#open.set(exchangeId, wasOpen ?? request.amountPicos)
    const { verdict } = await this.#decide({ ...request, kind: 'place' })
    this.#placements.delete(exchangeId)
    if (verdict.kind === 'admitted') {
      const { isUncovered } = verdict
      const amountPicos = picos(verdict.amountPicos)
      this.#open.set(exchangeId, amountPicos)
      return { kind: 'hold', exchangeId, accountId, keyId, amountPicos, isUncovered }
    }
    if (wasOpen === undefined) this.#open.delete(exchangeId)
    return verdict
  }

  /**
   * A hold may be refused for lack of money that settlements in flight of the same account are about
   * to free. Then it is decided once more after they have landed.
   */
  async #decide(request: AdmissionRequest): Promise<Decision> {
    const inFlight = [...(this.#settlementsOf.get(request.accountId) ?? [])]
    const first = await this.#ask(request)
    if (inFlight.length === 0 || !isAboutMoney(first.verdict)) return first
    await Promise.allSettled(inFlight)
    return this.#ask(request)
  }

  #forgetSettlement({ exchangeId, accountId }: ExchangeRecord): void {
    const settling = this.#settlements.get(exchangeId)
    if (settling === undefined) return
    this.#settlements.delete(exchangeId)
    const ofAccount = this.#settlementsOf.get(accountId)
    ofAccount?.delete(settling)
    if (ofAccount?.size === 0) this.#settlementsOf.delete(accountId)
  }

  async #ask(request: AdmissionRequest): Promise<Decision> {
    if (!this.isAvailable()) return noDecision
    const { promise, resolve } = Promise.withResolvers<Decision>()
    this.#pending.push({ request, resolve })
    this.#queue.itemCame()
    const decision = await promise
    if (decision !== noDecision && countsAsRequest(request)) {
      const nowMs = this.#options.clock.monotonic()
      this.#windows.note(request.accountId, decision.window, nowMs)
      if (request.keyLimits.rpm > 0) this.#windows.note(request.keyId, decision.keyWindow, nowMs)
    }
    return decision
  }

  /** Commits holds and charges that wait at the same time with one statement. Never rejects. */
  async #commit(
    batch: readonly Settlement[],
    done: (outcome: CommitOutcome<void>) => void,
  ): Promise<void> {
    const pending = this.#pending.slice(0, batchSizeMax)
    this.#pending = this.#pending.slice(batchSizeMax)
    const records = batch.map(({ record }) => record)
    if (records.length === 0) {
      await this.#place({ pending })
      done(decided(0))
    } else if (pending.length === 0) done(await bookBatch(this.#options, records))
    else await this.#commitBoth(pending, records, done)
  }

  async #commitBoth(
    pending: readonly Pending[],
    records: readonly ExchangeRecord[],
    done: (outcome: CommitOutcome<void>) => void,
  ): Promise<void> {
    let decisions: readonly Decision[] | undefined
    try {
      decisions = await this.#placeAll({ pending, records })
    } catch (error) {
      if (isOutage(error)) {
        done(decided(0, unavailable(error)))
        await this.#answer({ pending }, () => Promise.reject(error))
      } else {
        // The store refused one of them. Apart, holds and charges do not affect each other.
        const placing = this.#place({ pending })
        done(await bookBatch(this.#options, records))
        await placing
      }
      return
    }
    done(decided(records.length))
    await this.#answer({ pending }, async () => decisions ?? (await this.#renewAndPlace(pending)))
  }

  #place(group: Group): Promise<void> {
    return this.#answer(
      group,
      async () => (await this.#placeAll(group)) ?? (await this.#renewAndPlace(group.pending)),
    )
  }

  /** Where the store refuses one of a group, it decides each alone: the others must not suffer. */
  async #answer(
    { pending, isRepeat = false }: Group,
    decide: () => Promise<readonly Decision[] | undefined>,
  ): Promise<void> {
    try {
      const decisions = await decide()
      for (const [index, { resolve }] of pending.entries())
        resolve(decisions?.[index] ?? noDecision)
    } catch (error) {
      if (!isRepeat && !isOutage(error)) {
        for (const one of pending) await this.#place({ pending: [one], isRepeat: true })
        return
      }
      this.#options.onError(error)
      for (const { resolve } of pending) resolve(noDecision)
    }
  }

  #placeAll({
    pending,
    records = [],
    isRepeat = false,
  }: Group): Promise<readonly Decision[] | undefined> {
    const { pool, lease } = this.#options
    const requests = pending.map(({ request }) => request)
    let tries = 0
    return pool.useIdempotently((connection) => {
      const isAgain = isRepeat || tries++ > 0
      return decideRequests(connection, lease, { requests, ended: records, isRepeat: isAgain })
    })
  }

  /** The lease had expired, after an outage or a long pause of this process. */
  async #renewAndPlace(pending: readonly Pending[]): Promise<readonly Decision[] | undefined> {
    await this.#options.lease.renew()
    return this.#placeAll({ pending, isRepeat: true })
  }
}

const noDecision: Decision = {
  verdict: { kind: 'unavailable' },
  window: undefined,
  keyWindow: undefined,
}
