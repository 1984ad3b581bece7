/**
 * The ledger on PostgreSQL, for any number of gateway processes on one store: holds are rows, placed
 * and freed by the server under its own locks, so that no two nodes can spend the same money. What
 * this process remembers (its open holds, the last seen request windows) decides nothing.
 *
 *     const ledger = await openPostgresLedger({ location, database, clock, nodeName, leaseMs, … })
 */
import type { Clock } from '../../base/clock.ts'
import { GatewayError } from '../../base/errors.ts'
import { addPicos, picos, zeroPicos, type Picos } from '../../base/money.ts'
import type { Database } from '../../storage/database.ts'
import type { PostgresLocation } from '../../storage/postgres-location.ts'
import { PostgresPool } from '../../storage/postgres-pool.ts'
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
import { readUsage } from '../usage.ts'
import { Lane, Trips } from './groups.ts'
import { HeadroomBook } from './headroom-book.ts'
import { NodeLease } from './lease.ts'
import { isOutage, Settling, type Settlement } from './settling.ts'
import { placeHolds, type Decision, type UnmeteredRequest, type Wish } from './statements.ts'

export interface PostgresLedgerOptions {
  readonly location: PostgresLocation
  /** The same store, migrated already; figures are read through it. */
  readonly database: Database
  readonly clock: Clock
  /** How this node is called; for people. Two of one name do no harm. */
  readonly nodeName: string
  /** From a node's death until any other has freed its holds, at most. */
  readonly leaseMs: number
  /** How long the end of an answer waits for a server that takes its charge. */
  readonly settleTimeoutMs: number
  /** The store refused one exchange for good: a programmer's error. Its hold stays until the end. */
  readonly onFault: (error: Error, exchangeId: string) => void
  /** The store did not answer; it is tried again. */
  readonly onError: (error: unknown) => void
  /** Charges can be stored again after some could not. */
  readonly onRecovered?: () => void
  /** Time of the store where a test holds it still; the server's own otherwise. */
  readonly readTime?: () => number
}

export interface PostgresLedger extends Ledger {
  /** Renews the lease and frees what dead nodes held, as the timer does. */
  tick(): Promise<void>
  /** Drops everything as a process that is killed; for tests of other nodes. */
  abandon(): Promise<void>
}

/** Rejects where no server answers, or the one that does breaks the ledger's promises. */
export async function openPostgresLedger(options: PostgresLedgerOptions): Promise<PostgresLedger> {
  const ledger = new ServerLedger(options)
  try {
    await ledger.start()
  } catch (error) {
    await ledger.abandon()
    throw error
  }
  return ledger
}

/** Two trips at once; where something was refused, each takes two. */
const moneyConnectionsMax = 4
/** After which a statement is taken for lost; a client waits for it. */
const answerTimeoutMs = 5_000

interface Asked {
  readonly wish: Wish
  resolve(decision: Decision | undefined): void
}

class ServerLedger implements PostgresLedger {
  readonly #options: PostgresLedgerOptions
  readonly #pool: PostgresPool
  readonly #lease: NodeLease
  readonly #placing: Lane<Asked>
  readonly #settling: Settling
  readonly #trips: Trips
  readonly #headroom = new HeadroomBook()
  /** Holds of this process that have not ended durably, those being placed included. */
  readonly #open = new Map<string, Picos>()
  /** Being decided: no exchange is asked about twice at once. */
  readonly #placements = new Map<string, Promise<Hold | HoldRefusal>>()
  readonly #settlements = new Map<string, Promise<void>>()
  /** The same, by account. */
  readonly #underWay = new Map<string, Set<Promise<void>>>()
  #isClosing = false

  constructor(options: PostgresLedgerOptions) {
    this.#options = options
    const { location, clock } = options
    this.#pool = new PostgresPool({
      location,
      connectionsMax: moneyConnectionsMax,
      answerTimeoutMs,
    })
    this.#lease = new NodeLease({
      pool: this.#pool,
      clock,
      nodeName: options.nodeName,
      leaseMs: options.leaseMs,
      readTime: options.readTime,
      isOpen: (exchangeId) => this.#open.has(exchangeId),
      onError: options.onError,
    })
    this.#trips = new Trips(
      () => this.#placing.sendableCount + this.#settling.sendableCount,
      () => this.#travel(),
    )
    this.#placing = new Lane(() => this.#trips.schedule())
    this.#settling = new Settling({
      pool: this.#pool,
      clock,
      onBooked: (group) => {
        for (const { record } of group) {
          this.#open.delete(record.exchangeId)
          this.#landed(record)
        }
      },
      onRefused: ({ record }, error) => {
        this.#landed(record)
        options.onFault(error, record.exchangeId)
      },
      onOutage: options.onError,
      onRecovered: () => options.onRecovered?.(),
      onAdded: () => this.#trips.schedule(),
    })
  }

  async start(): Promise<void> {
    await this.#lease.start()
  }

  place(request: HoldRequest): Promise<Hold | HoldRefusal> {
    const running = this.#placements.get(request.exchangeId)
    if (running !== undefined) return running
    const placement = this.#placeOnce(request)
    this.#placements.set(request.exchangeId, placement)
    return placement
  }

  async admitUnmetered(request: UnmeteredRequest): Promise<HoldRefusal | undefined> {
    const { verdict } = await this.#ask(request)
    return verdict.kind === 'admitted' ? undefined : verdict
  }

  settle(hold: Hold, record: ExchangeRecord): Promise<void> {
    const running = this.#settlements.get(hold.exchangeId)
    if (running !== undefined) return running
    if (this.#isClosing) return Promise.reject(closedError())
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#settlements.set(hold.exchangeId, promise)
    const underWay = this.#underWay.get(record.accountId)
    if (underWay === undefined) this.#underWay.set(record.accountId, new Set([promise]))
    else underWay.add(promise)
    const deadlineMs = this.#options.clock.monotonic() + this.#options.settleTimeoutMs
    this.#settling.add({ record, deadlineMs, resolve, reject })
    return promise
  }

  usage(accountId: string, period: UsagePeriod, atMs: number): Promise<UsageFigures | undefined> {
    return this.#options.database.snapshot((snapshot) =>
      readUsage(snapshot, { accountId, period, atMs }),
    )
  }

  headroom(accountId: string): Headroom | undefined {
    return this.#headroom.read(accountId, this.#options.clock.monotonic())
  }

  openHolds(): { readonly count: number; readonly heldPicos: Picos } {
    let heldPicos = zeroPicos
    for (const amountPicos of this.#open.values()) heldPicos = addPicos(heldPicos, amountPicos)
    return { count: this.#open.size, heldPicos }
  }

  /** Nothing is remembered that decides: the server reads every account anew. */
  refresh(): Promise<void> {
    return Promise.resolve()
  }

  isAvailable(): boolean {
    return this.#pool.isAvailable() && !this.#isClosing
  }

  tick(): Promise<void> {
    return this.#lease.tick()
  }

  async abandon(): Promise<void> {
    this.#isClosing = true
    this.#lease.abandon()
    await this.#pool.close()
  }

  async close(): Promise<void> {
    if (this.#isClosing) return
    this.#isClosing = true
    try {
      await this.#settling.close()
      this.#open.clear()
      await this.#lease.end()
    } finally {
      await this.abandon()
    }
  }

  async #placeOnce(request: HoldRequest): Promise<Hold | HoldRefusal> {
    const { exchangeId, accountId, keyId } = request
    const wasOpen = this.#open.get(exchangeId)
    this.#open.set(exchangeId, wasOpen ?? request.amountPicos)
    const { verdict } = await this.#decide(request)
    this.#placements.delete(exchangeId)
    if (verdict.kind === 'admitted') {
      const amountPicos = picos(verdict.amountPicos)
      this.#open.set(exchangeId, amountPicos)
      return { kind: 'hold', exchangeId, accountId, keyId, amountPicos }
    }
    if (wasOpen === undefined) this.#open.delete(exchangeId)
    return verdict
  }

  /**
   * Where own charges of the account are on their way, a hold may be refused for money that they
   * are about to free: then the request is decided once more when they have landed.
   */
  async #decide(request: HoldRequest): Promise<Decision> {
    const underWay = [...(this.#underWay.get(request.accountId) ?? [])]
    const first = await this.#ask(request)
    if (underWay.length === 0 || !isAboutMoney(first.verdict)) return first
    await Promise.allSettled(underWay)
    return this.#ask(request)
  }

  #landed({ exchangeId, accountId }: ExchangeRecord): void {
    const promise = this.#settlements.get(exchangeId)
    if (promise === undefined) return
    this.#settlements.delete(exchangeId)
    const underWay = this.#underWay.get(accountId)
    underWay?.delete(promise)
    if (underWay?.size === 0) this.#underWay.delete(accountId)
  }

  async #ask(wish: Wish): Promise<Decision> {
    if (!this.isAvailable()) return unavailable
    const { promise, resolve } = Promise.withResolvers<Decision | undefined>()
    this.#placing.add({ wish, resolve })
    const decision = await promise
    if (decision === undefined) return unavailable
    this.#headroom.note(wish.accountId, decision.window, this.#options.clock.monotonic())
    return decision
  }

  /** Holds and charges that wait at the same time share one statement and one commit. */
  async #travel(): Promise<void> {
    const asked = this.#placing.take()
    const ended = this.#settling.take()
    try {
      if (ended.length === 0) await this.#place(asked)
      else if (asked.length === 0) await this.#settling.book(ended)
      else await this.#serveBoth(asked, ended)
    } finally {
      this.#placing.finish()
      this.#settling.finish()
    }
  }

  async #serveBoth(asked: readonly Asked[], ended: readonly Settlement[]): Promise<void> {
    const wishes = asked.map(({ wish }) => wish)
    const records = ended.map(({ record }) => record)
    let decisions
    try {
      decisions = await this.#placeAll(wishes, records)
    } catch (error) {
      if (isOutage(error)) {
        this.#settling.handBack(ended, error)
        await this.#answer(asked, () => Promise.reject(error))
      } else {
        // Something in it was refused; apart, neither kind suffers for the other.
        await Promise.all([this.#place(asked), this.#settling.book(ended)])
      }
      return
    }
    this.#settling.acknowledge(ended)
    await this.#answer(asked, async () => decisions ?? (await this.#placeRenewed(wishes)))
  }

  #place(asked: readonly Asked[]): Promise<void> {
    const wishes = asked.map(({ wish }) => wish)
    return this.#answer(
      asked,
      async () => (await this.#placeAll(wishes)) ?? (await this.#placeRenewed(wishes)),
    )
  }

  /** Where the store refuses one of a group, each is asked about alone: the others must not suffer for it. */
  async #answer(
    asked: readonly Asked[],
    decide: () => Promise<readonly Decision[] | undefined>,
  ): Promise<void> {
    try {
      const decisions = await decide()
      for (const [index, one] of asked.entries()) one.resolve(decisions?.[index])
    } catch (error) {
      if (asked.length > 1 && !isOutage(error)) {
        for (const one of asked) await this.#place([one])
        return
      }
      this.#options.onError(error)
      for (const one of asked) one.resolve(undefined)
    }
  }

  #placeAll(
    wishes: readonly Wish[],
    ended: readonly ExchangeRecord[] = [],
  ): Promise<readonly Decision[] | undefined> {
    const node = { boot: this.#lease.boot, nowMs: this.#lease.nowMs }
    return this.#pool.useAgain((connection) => placeHolds(connection, wishes, node, ended))
  }

  /** The lease had passed, after an outage or a long pause of this process. */
  async #placeRenewed(wishes: readonly Wish[]): Promise<readonly Decision[] | undefined> {
    await this.#lease.renew()
    return this.#placeAll(wishes)
  }
}

const unavailable: Decision = { verdict: { kind: 'unavailable' }, window: undefined }

function isAboutMoney({ kind }: Decision['verdict']): boolean {
  return kind === 'insufficient_balance' || kind === 'daily_limit'
}

function closedError(): GatewayError {
  return new GatewayError('ledger.unavailable', 'The ledger is closed.')
}
