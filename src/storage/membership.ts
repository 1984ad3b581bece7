/**
 * Membership of the gateways that use one store: the identity of this node, its heartbeat, its
 * leases, and the eviction of nodes that are gone. Knows neither channels nor money; they join.
 *
 *     heartbeat     every 5 s in the store; a node without one for 15 s is gone and is evicted
 *     task lease    at most one node has the lease on a task, by the store's time
 *     hold lease    PostgreSQL: while it lasts, the holds of this process are valid
 *
 * Invariant: a node never believes that it has a lease for longer than the store does.
 * No request waits for membership. When the store does not answer, everything is tried again.
 */
import { every, type Clock, type Timer } from '../base/clock.ts'
import { invariant } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { Database, Transaction } from './database.ts'
import {
  insertHoldLease,
  isRunning,
  listNodes,
  nodeTimeoutMs,
  readStoreTime,
  recordUncleanStop,
  releaseTaskLeases,
  removeHoldLease,
  removeNode,
  renewHoldLease,
  saveNode,
  takeTaskLease,
  withdrawUncleanStop,
  type HoldLeaseTerm,
} from './node-store.ts'
import type { PostgresPool } from './postgres/pool.ts'

export interface MembershipOptions {
  readonly clock: Clock
  readonly database: Database
  /** The operator's name for this node; two nodes may have the same. */
  readonly name: string
  readonly region: string
  /** The running program. */
  readonly build: { readonly version: string; readonly commit: string | null }
  /** No other process can use the store: every other node is gone. */
  readonly isAlone?: boolean
  /** For stores whose holds are rows (PostgreSQL). */
  readonly holdLease?: {
    readonly pool: PostgresPool
    /** The longest time from a node's death until its holds are free. */
    readonly leaseMs: number
  }
  /** The store's time where a test controls it. */
  readonly readTime?: () => number
  readonly onError: (error: unknown) => void
  /** A round has succeeded. */
  readonly onRound?: () => void
}

/** One exchange with the store. In a round with a heartbeat a member has to call `transact`. */
export interface Round {
  /** The store's time. */
  readonly nowMs: number
  readonly isHeartbeat: boolean
  /** Runs one transaction, with the heartbeat in it where one is due. */
  transact(
    work: (transaction: Transaction, heartbeat: Heartbeat | undefined) => Promise<void>,
  ): Promise<void>
}

export interface Heartbeat {
  /** Nodes that this heartbeat has evicted. */
  readonly evicted: readonly string[]
  /** Other nodes had evicted this one: its published data is gone. */
  readonly wasEvicted: boolean
}

export interface Member {
  /** The tasks that one node at a time does. */
  readonly tasks: readonly string[]
  /** Exchanges data with the store; runs about once a second. */
  exchange(round: Round): Promise<void>
}

const roundIntervalMs = 1_000
const heartbeatIntervalMs = 5_000

/** Rejects where the store does not answer. */
export async function openMembership(options: MembershipOptions): Promise<Membership> {
  const membership = new Membership(options)
  await membership.holdLease?.start()
  return membership
}

export class Membership {
  /** This process; a restart gets another id. */
  readonly node: string
  readonly holdLease: HoldLease | undefined
  readonly #options: MembershipOptions
  /** The store's time of the first round. */
  #startedAtMs: number | undefined
  #member: Member | undefined
  #timer: Timer | undefined
  /** Monotonic times. */
  #heartbeatDueMs = Number.NEGATIVE_INFINITY
  readonly #leasedUntilMs = new Map<string, number>()
  #rounds: Promise<void> | undefined
  #isRoundWanted = false
  #isStoreOut = false
  #hasLeft = false
  readonly #unlistedProxies: string[] = []
  readonly #tasks: string[] = []
  #isDraining = false

  constructor(options: MembershipOptions) {
    const { clock, name, holdLease, readTime, onError } = options
    this.#options = options
    this.node = newId('node', clock.now())
    if (holdLease !== undefined)
      this.holdLease = new HoldLease({ clock, name, readTime, onError, ...holdLease })
  }

  /** Only this process can use the store. */
  get isAlone(): boolean {
    return this.#options.isAlone === true
  }

  /** Starts the rounds. Each failure of the store goes to `onError` once, until a round succeeds. */
  join(member: Member): void {
    const { clock, onError } = this.#options
    this.#member = member
    this.#timer = every(clock, roundIntervalMs, () => this.exchange(), onError)
    void this.exchange()
  }

  /** Runs a round now, or once more after the one that runs; resolves when no round is left. */
  exchange(): Promise<void> {
    if (this.#hasLeft) return Promise.resolve()
    if (this.#rounds === undefined) this.#rounds = this.#runRounds()
    else this.#isRoundWanted = true
    return this.#rounds
  }

  /** Adds a task that one node at a time does, beside those of the member; takes effect at a heartbeat. */
  addTask(task: string): void {
    this.#tasks.push(task)
    this.#heartbeatDueMs = Number.NEGATIVE_INFINITY
  }

  /** Returns whether this node is the one that does the task. */
  hasTask(task: string): boolean {
    return this.#options.clock.monotonic() < (this.#leasedUntilMs.get(task) ?? 0)
  }

  /** Publishes in the next round that this node accepts no new requests. */
  noteDraining(): void {
    this.#isDraining = true
    this.#heartbeatDueMs = Number.NEGATIVE_INFINITY
  }

  /** Publishes in the next round that the address forwards and is not a trusted proxy's. */
  noteUnlistedProxy(address: string): void {
    this.#unlistedProxies.push(address)
    this.#heartbeatDueMs = Number.NEGATIVE_INFINITY
  }

  /** Runs a last round, then marks this node as ended and releases its task leases. */
  async leave(): Promise<void> {
    this.#timer?.cancel()
    await this.#rounds
    await this.exchange()
    this.#hasLeft = true
    this.#leasedUntilMs.clear()
    const nowMs = await this.#readTime()
    await this.#options.database.transact(async (transaction) => {
      await saveNode(transaction, { ...this.#describe(nowMs), endedAtMs: nowMs })
      await releaseTaskLeases(transaction, this.node)
    })
  }

  async #runRounds(): Promise<void> {
    try {
      do {
        this.#isRoundWanted = false
        await this.#runRound()
      } while (this.#isRoundWanted)
      this.#isStoreOut = false
      this.#options.onRound?.()
    } catch (error) {
      if (!this.#isStoreOut) this.#options.onError(error)
      this.#isStoreOut = true
    } finally {
      this.#rounds = undefined
    }
  }

  async #runRound(): Promise<void> {
    const startMs = this.#options.clock.monotonic()
    const nowMs = await this.#readTime()
    this.#startedAtMs ??= nowMs
    const isHeartbeat = startMs >= this.#heartbeatDueMs
    await this.#member?.exchange({
      nowMs,
      isHeartbeat,
      transact: async (work) => {
        const { database } = this.#options
        if (!isHeartbeat) return database.transact((transaction) => work(transaction, undefined))
        const leased = await database.transact(async (transaction) => {
          await work(transaction, await this.#beat(transaction, nowMs))
          return this.#takeLeases(transaction, nowMs)
        })
        this.#heartbeatDueMs = startMs + heartbeatIntervalMs
        // Counted from before the store was asked, so never longer than the store counts.
        for (const [task, isLeased] of leased)
          this.#leasedUntilMs.set(task, isLeased ? startMs + nodeTimeoutMs : 0)
      },
    })
  }

  async #beat(transaction: Transaction, nowMs: number): Promise<Heartbeat> {
    const nodes = await listNodes(transaction)
    await saveNode(transaction, this.#describe(nowMs))
    const others = nodes.filter(({ id }) => id !== this.node)
    const gone = others.filter((node) => this.isAlone || !isRunning(node, nowMs))
    for (const node of gone) {
      if (node.endedAtMs === undefined) await recordUncleanStop(transaction, node, nowMs)
      await removeNode(transaction, node.id)
    }
    const wasEvicted = !nodes.some(({ id }) => id === this.node)
    if (wasEvicted) await withdrawUncleanStop(transaction, this.node)
    return { evicted: gone.map(({ id }) => id), wasEvicted }
  }

  async #takeLeases(transaction: Transaction, nowMs: number): Promise<[string, boolean][]> {
    const leased: [string, boolean][] = []
    for (const task of [...(this.#member?.tasks ?? []), ...this.#tasks])
      leased.push([task, await takeTaskLease(transaction, { task, node: this.node, nowMs })])
    return leased
  }

  #describe(nowMs: number) {
    const { name, region, build } = this.#options
    const startedAtMs = this.#startedAtMs ?? nowMs
    const unlistedProxies = this.#unlistedProxies
    return {
      id: this.node,
      name,
      region,
      startedAtMs,
      seenAtMs: nowMs,
      endedAtMs: undefined,
      unlistedProxies,
      version: build.version,
      commit: build.commit ?? '',
      isDraining: this.#isDraining,
    }
  }

  async #readTime(): Promise<number> {
    const { database, clock, readTime } = this.#options
    return readTime?.() ?? readStoreTime(database, clock)
  }
}

export interface HoldLeaseOptions {
  readonly pool: PostgresPool
  readonly clock: Clock
  readonly name: string
  readonly leaseMs: number
  readonly readTime: (() => number) | undefined
  readonly onError: (error: unknown) => void
}

/** A survivor looks every sixth; a lease lasts five sixths: together never more than `leaseMs`. */
const renewalsPerLease = 6

/**
 * The lease on this process's holds. It is renewed by one short statement on a separate
 * connection, never inside a transaction: another node that is paused in the middle of a transaction, or an
 * operator's long one, must not cost this node its holds.
 */
export class HoldLease {
  readonly #options: HoldLeaseOptions
  #boot: bigint | undefined
  #timer: Timer | undefined
  /** Monotonic times. */
  #renewedAtMs = 0
  #unbrokenSinceMs = 0
  #onRenewed: (() => Promise<void>) | undefined

  constructor(options: HoldLeaseOptions) {
    this.#options = options
  }

  /** The number that the holds of this process carry. */
  get boot(): bigint {
    invariant(this.#boot !== undefined, 'the lease has been started')
    return this.#boot
  }

  /** Time for the server's functions; null = the server's own. */
  get nowMs(): number | null {
    return this.#options.readTime?.() ?? null
  }

  /**
   * Whether this node may evict others: only after its own lease has lasted a whole term without a
   * gap. After an outage of the server all leases have expired, and each node needs time to renew.
   */
  get mayEvict(): boolean {
    const { clock, leaseMs } = this.#options
    return clock.monotonic() - this.#unbrokenSinceMs >= leaseMs
  }

  async start(): Promise<void> {
    const { pool, clock, leaseMs, onError } = this.#options
    this.#boot = await pool.useIdempotently((connection) => insertHoldLease(connection, this.#term))
    this.#renewedAtMs = this.#unbrokenSinceMs = clock.monotonic()
    this.#timer = every(clock, leaseMs / renewalsPerLease, () => this.tick(), onError)
  }

  /** `work` runs after each renewal by the timer. */
  subscribe(work: () => Promise<void>): void {
    this.#onRenewed = work
  }

  /** Renews the lease and runs the subscribed work, as the timer does. */
  async tick(): Promise<void> {
    await this.renew()
    await this.#onRenewed?.()
  }

  async renew(): Promise<void> {
    const { pool, clock, leaseMs } = this.#options
    const startMs = clock.monotonic()
    await pool.useIdempotently((connection) => renewHoldLease(connection, this.boot, this.#term))
    if (startMs - this.#renewedAtMs > leaseMs) this.#unbrokenSinceMs = startMs
    this.#renewedAtMs = startMs
  }

  /** Ends the lease at once where the server answers; otherwise it expires. */
  async end(): Promise<void> {
    this.abandon()
    const { pool } = this.#options
    await pool
      .useIdempotently((connection) => removeHoldLease(connection, this.boot))
      .catch(() => undefined)
  }

  /** Stops renewing, as a process that is killed. */
  abandon(): void {
    this.#timer?.cancel()
  }

  get #term(): HoldLeaseTerm {
    const { name, leaseMs } = this.#options
    const termMs = Math.floor((leaseMs / renewalsPerLease) * (renewalsPerLease - 1))
    return { name, nowMs: this.nowMs, termMs }
  }
}
