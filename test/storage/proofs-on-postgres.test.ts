/** The chains of sealed entries are the same on PostgreSQL, where commits have another order than numbers. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { hourMs } from '../../src/base/clock.ts'
import { insertRestored } from '../../src/ledger/entry-store.ts'
import { sealHours } from '../../src/ledger/proof/sealing.ts'
import { moneyPoolOptions } from '../../src/ledger/postgres/ledger.ts'
import type { SqlValue } from '../../src/storage/database.ts'
import { parsePostgresUrl } from '../../src/storage/location.ts'
import { PostgresPool } from '../../src/storage/postgres/pool.ts'
import { openPostgresHarness, type PostgresHarness } from './postgres-harness.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { booksMasterKey as masterKey } from '../support/sealed-books.ts'
import { charge, findDifferences, makeAccount } from './ledger-harness.ts'
import { describeProofs } from './proofs-conformance.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describeProofs('sealed entries on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)

/**
 * Draws the number of an entry and commits it only when it is told to. On a connection of its own, as charges
 * are booked: changes of operators wait for each other.
 */
async function bookSlowly({ clock }: PostgresHarness, pool: PostgresPool, accountId: string) {
  const drawn = Promise.withResolvers<undefined>()
  const release = Promise.withResolvers<undefined>()
  const ended = pool.use(async (connection) => {
    await connection.query('BEGIN')
    const transaction = {
      isTransaction: true,
      query: (sql: string, given: readonly SqlValue[] = []) => connection.query(sql, given),
      script: (sql: string) => connection.script(sql),
    } as const
    await insertRestored(transaction, { accountId, backupAtMs: 0, atMs: clock.now() })
    drawn.resolve(undefined)
    await release.promise
    await connection.query('COMMIT')
  })
  await Promise.race([drawn.promise, ended])
  return async (): Promise<void> => {
    release.resolve(undefined)
    await ended
  }
}

async function withSlowEntry(
  run: (harness: PostgresHarness, commit: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const url = await server.createDatabase()
  const harness = await openPostgresHarness(url)
  const pool = new PostgresPool({ location: parsePostgresUrl(url), ...moneyPoolOptions })
  try {
    const slow = await makeAccount(harness)
    const quick = await makeAccount(harness, { balancePicos: 100n })
    const commit = await bookSlowly(harness, pool, slow)
    try {
      await charge(harness, quick, 2n)
      harness.clock.advance(hourMs)
      await run(harness, commit)
    } finally {
      await commit()
    }
  } finally {
    await pool.close()
    await harness.close()
  }
}

it('waits for a transaction that has drawn a smaller number and not committed it', () =>
  withSlowEntry(async ({ database, clock }, commit) => {
    let pauses = 0
    const pause = (): Promise<void> => (++pauses === 3 ? commit() : Promise.resolve())
    const sealed = await sealHours(database, { nowMs: clock.now(), masterKey, pause })
    assert.deepEqual(sealed, { entries: 3, heads: 2 })
    assert.deepEqual(await findDifferences(database), [])
  }))

it('seals an entry later whose transaction stays open for the whole round', () =>
  withSlowEntry(async ({ database, clock }, commit) => {
    const seal = () =>
      sealHours(database, { nowMs: clock.now(), masterKey, pause: () => Promise.resolve() })
    assert.deepEqual(await seal(), { entries: 2, heads: 1 })
    await commit()
    clock.advance(hourMs)
    assert.deepEqual(await seal(), { entries: 1, heads: 1 })
    assert.deepEqual(await findDifferences(database), [])
  }))
