/** Ledgers on PostgreSQL for tests: one server per file, time held still by hand for all its nodes. */
import { openPostgresLedger, type PostgresLedger } from '../../src/ledger/postgres/ledger.ts'
import { systemClock } from '../../src/base/clock.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { parsePostgresUrl } from '../../src/storage/postgres-location.ts'
import { openPostgres, type PostgresDatabase } from '../../src/storage/postgres.ts'
import { ManualClock } from '../support/manual-clock.ts'
import type { LedgerHarness } from './ledger-harness.ts'

export interface PostgresHarness extends LedgerHarness {
  readonly ledger: PostgresLedger
  readonly database: PostgresDatabase
  /** What the ledger has reported, and the exchanges the store refused. */
  readonly errors: readonly unknown[]
  readonly faults: readonly string[]
  /** How often it has said that charges can be stored again. */
  recoveredCount(): number
  restart(): Promise<PostgresHarness>
  /** One more node on the same store, with the same clock. */
  openNode(): Promise<PostgresLedger>
}

export const testLeaseMs = 30_000

export interface PostgresHarnessOptions {
  /** The ledger lives in real time; the harness's clock tells nothing but when requests were made. */
  readonly isRealTime?: boolean
  readonly settleTimeoutMs?: number
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
  const others: PostgresLedger[] = []
  const open = (): Promise<PostgresLedger> =>
    openPostgresLedger({
      location,
      database,
      clock: options.isRealTime === true ? systemClock : clock,
      nodeName: 'test',
      leaseMs: testLeaseMs,
      settleTimeoutMs: options.settleTimeoutMs ?? 600_000,
      ...(options.isRealTime === true ? {} : { readTime: () => clock.now() }),
      onFault: (_error, exchangeId) => faults.push(exchangeId),
      onError: (error) => errors.push(error),
      onRecovered: () => void recoveredCount++,
    })
  const around = (ledger: PostgresLedger): PostgresHarness => ({
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
