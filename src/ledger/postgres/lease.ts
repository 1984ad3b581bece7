/**
 * This process among the nodes of one store: its boot, the lease it renews, and the holds of nodes
 * that renewed no more. All by the server's clock, so that a node whose own is wrong harms nobody.
 *
 *     a boot's lease passes  →  any node frees its holds and records them as expired
 *
 * A node frees nothing before its own lease has lasted a whole term without a gap: after an outage of
 * the server all leases have passed, and each node needs that time to say that it lives.
 */
import { every, type Clock, type Timer } from '../../base/clock.ts'
import { invariant } from '../../base/errors.ts'
import type { PostgresPool } from '../../storage/postgres-pool.ts'
import { releaseHolds } from './statements.ts'

export interface LeaseOptions {
  readonly pool: PostgresPool
  readonly clock: Clock
  readonly nodeName: string
  /** From a node's death until its holds are free, at most. */
  readonly leaseMs: number
  /** Time held still by a test; the server's own otherwise. */
  readonly readTime: (() => number) | undefined
  /** Whether this process knows the hold; one it does not know was never told to anybody. */
  readonly isOpen: (exchangeId: string) => boolean
  readonly onError: (error: unknown) => void
}

/** A sixth to notice, five sixths to lose: together never more than the whole. */
const ticksPerLease = 6
const monthMs = 31 * 86_400_000

export class NodeLease {
  readonly #options: LeaseOptions
  #boot: bigint | undefined
  #timer: Timer | undefined
  /** Monotonic. */
  #renewedAtMs = 0
  #unbrokenSinceMs = 0

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  get boot(): bigint {
    invariant(this.#boot !== undefined, 'the lease has been started')
    return this.#boot
  }

  /** Time for the server's functions: null lets it take its own. */
  get nowMs(): number | null {
    return this.#options.readTime?.() ?? null
  }

  /** Registers this boot; rejects where no server answers. */
  async start(): Promise<void> {
    const { pool, nodeName, clock, leaseMs, onError } = this.#options
    const rows = await pool.useAgain((connection) =>
      connection.query(
        `INSERT INTO node (name, started_at_ms, lease_until_ms)
         SELECT $1, now_ms, now_ms + $3 FROM store_time($2) AS now_ms RETURNING boot`,
        [nodeName, this.nowMs, this.#termMs],
      ),
    )
    const boot = rows[0]?.['boot']
    invariant(typeof boot === 'bigint', 'a new boot has a number')
    this.#boot = boot
    this.#renewedAtMs = this.#unbrokenSinceMs = clock.monotonic()
    await this.#makePartitions()
    this.#timer = every(clock, leaseMs / ticksPerLease, () => this.tick(), onError)
  }

  /** What every tick does: renew, free what others left, forget what is out of every window. */
  async tick(): Promise<void> {
    await this.renew()
    await this.expireDead()
    await this.#releaseStrays()
    await this.#forgetWindows()
    await this.#makePartitions()
  }

  async renew(): Promise<void> {
    const { pool, clock, nodeName, leaseMs } = this.#options
    const askedAtMs = clock.monotonic()
    await pool.useAgain((connection) =>
      connection.query(
        `INSERT INTO node (boot, name, started_at_ms, lease_until_ms)
         SELECT $1, $2, now_ms, now_ms + $4 FROM store_time($3) AS now_ms
         ON CONFLICT (boot) DO UPDATE SET lease_until_ms = EXCLUDED.lease_until_ms`,
        [this.boot, nodeName, this.nowMs, this.#termMs],
      ),
    )
    if (askedAtMs - this.#renewedAtMs > leaseMs) this.#unbrokenSinceMs = askedAtMs
    this.#renewedAtMs = askedAtMs
  }

  /** Frees the holds of nodes that are gone; returns how many, none while it is too early to judge. */
  async expireDead(): Promise<number> {
    const { pool, clock, leaseMs } = this.#options
    if (clock.monotonic() - this.#unbrokenSinceMs < leaseMs) return 0
    const rows = await pool.useAgain((connection) =>
      connection.query('SELECT expire_holds($1, $2) AS expired', [this.nowMs, this.boot]),
    )
    return Number(rows[0]?.['expired'] ?? 0)
  }

  /** Gives up what this boot still holds, and the boot itself. */
  async end(): Promise<void> {
    this.#timer?.cancel()
    if (this.#boot === undefined) return
    await this.#releaseStrays()
    await this.#options.pool.useAgain((connection) =>
      connection.query('DELETE FROM node WHERE boot = $1', [this.boot]),
    )
  }

  /** Stops without a word, as a process that is killed. */
  abandon(): void {
    this.#timer?.cancel()
  }

  get #termMs(): number {
    return Math.floor((this.#options.leaseMs / ticksPerLease) * (ticksPerLease - 1))
  }

  /** Holds whose placing was not heard to have succeeded, but did. */
  async #releaseStrays(): Promise<void> {
    const { pool, isOpen } = this.#options
    const rows = await pool.useAgain((connection) =>
      connection.query('SELECT account_id, exchange_id FROM hold WHERE boot = $1', [this.boot]),
    )
    const strays = rows
      .map((row) => ({
        accountId: String(row['account_id']),
        exchangeId: String(row['exchange_id']),
      }))
      .filter(({ exchangeId }) => !isOpen(exchangeId))
    if (strays.length > 0) await pool.useAgain((connection) => releaseHolds(connection, strays))
  }

  async #forgetWindows(): Promise<void> {
    await this.#options.pool.useAgain((connection) =>
      connection.query(
        `DELETE FROM request_window w USING account a, store_time($1) AS now_ms
          WHERE a.id = w.account_id AND w.at_ms <= now_ms - a.window_minutes * 60000::bigint`,
        [this.nowMs],
      ),
    )
  }

  /** This month's and the next's, long before anybody needs them. */
  async #makePartitions(): Promise<void> {
    const { pool, clock } = this.#options
    const fromMs = this.nowMs ?? clock.now()
    await pool.useAgain((connection) =>
      connection.query('SELECT ensure_exchange_partitions($1, $2)', [fromMs, fromMs + monthMs]),
    )
  }
}
