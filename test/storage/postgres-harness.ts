/** Ledgers on PostgreSQL for tests: one server per file, time held still by hand for all its nodes. */
import { invariant } from '../../src/base/errors.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { moneyPoolOptions, openPostgresLedger } from '../../src/ledger/postgres/ledger.ts'
import { openMembership } from '../../src/storage/membership.ts'
import { PostgresPool } from '../../src/storage/postgres/pool.ts'
import { systemClock, type Clock, type Timer } from '../../src/base/clock.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { parsePostgresUrl } from '../../src/storage/location.ts'
import { openPostgres, type PostgresDatabase } from '../../src/storage/postgres/postgres.ts'
import { ManualClock } from '../support/manual-clock.ts'
import type { LedgerHarness } from './ledger-harness.ts'

/** A ledger with the lease on its holds, as one gateway has them. */
export interface TestNode extends Ledger {
  /** Renews the lease and frees what dead nodes held, as the timer does, which stands still by hand. */
  tick(): Promise<void>
  /** Renews the lease alone. */
  renew(): Promise<void>
  /** Drops everything, as a process that is killed. */
  abandon(): Promise<void>
}

export interface PostgresHarness extends LedgerHarness {
  readonly ledger: TestNode
  readonly database: PostgresDatabase
  /** What the ledger has reported, and the exchanges the store refused. */
  readonly errors: readonly unknown[]
  readonly faults: readonly string[]
  /** How often it has said that charges can be stored again. */
  recoveredCount(): number
  restart(): Promise<PostgresHarness>
  /** One more node on the same store, with the same clock. */
  openNode(): Promise<TestNode>
}

export const testLeaseMs = 30_000

export interface PostgresHarnessOptions {
  /** The ledger lives in real time; the harness's clock tells nothing but when requests were made. */
  readonly isRealTime?: boolean
  readonly settleTimeoutMs?: number
  /** Called after each commit of ended exchanges. */
  readonly onCommit?: () => void
}

export async function openPostgresHarness(
  url: string,
  options: PostgresHarnessOptions = {},
): Promise<PostgresHarness> {
  const location = parsePostgresUrl(url)
  const clock = new ManualClock()
  const database = await openPostgres(location, { connectionsMax: 2 })
  await migrate(database)
  const errors: unknown[] = []
  const faults: string[] = []
  let recoveredCount = 0
  const others: TestNode[] = []
  const open = async (): Promise<TestNode> => {
    const pool = new PostgresPool({ location, ...moneyPoolOptions })
    const nodeClock = options.isRealTime === true ? systemClock : clock
    const leaseClock = options.isRealTime === true ? systemClock : withoutTimers(clock)
    const onError = (error: unknown): void => void errors.push(error)
    const { holdLease: lease } = await openMembership({
      clock: leaseClock,
      database,
      name: 'test',
      region: 'test',
      build: { version: '1.2.3', commit: 'abc1234' },
      holdLease: { pool, leaseMs: testLeaseMs },
      onError,
      ...(options.isRealTime === true ? {} : { readTime: () => clock.now() }),
    })
    invariant(lease !== undefined, 'holds on PostgreSQL have a lease')
    const ledger = await openPostgresLedger({
      pool,
      lease,
      database,
      clock: nodeClock,
      settleTimeoutMs: options.settleTimeoutMs ?? 600_000,
      onFault: (_error, exchangeId) => faults.push(exchangeId),
      onError,
      onRecovered: () => void recoveredCount++,
      onCommit: options.onCommit,
    })
    const closeLedger = ledger.close.bind(ledger)
    let isAbandoned = false
    return Object.assign(ledger, {
      tick: () => lease.tick(),
      renew: () => lease.renew(),
      async abandon() {
        isAbandoned = true
        lease.abandon()
        await pool.close()
      },
      async close() {
        if (isAbandoned) return
        try {
          await closeLedger()
        } finally {
          await lease.end()
          await pool.close()
        }
      },
    })
  }
  const around = (ledger: TestNode): PostgresHarness => ({
    ledger,
    clock,
    database,
    errors,
    faults,
    recoveredCount: () => recoveredCount,
    becomeCurrent: () => Promise.resolve(),
    async openNode() {
      const other = await open()
      others.push(other)
      return other
    },
    async restart() {
      await ledger.close()
      return around(await open())
    },
    async close() {
      await Promise.all([ledger, ...others].map((one) => one.close()))
      await database.close()
    },
  })
  return around(await open())
}

/** A timer's statements run unseen beside those of the test, which could not know what they find. */
function withoutTimers(clock: Clock): Clock {
  const after = (): Timer => ({ cancel: () => undefined })
  return { now: () => clock.now(), monotonic: () => clock.monotonic(), after, onTick: after }
}
