/** The chains of sealed entries are the same on PostgreSQL, whose entries are not committed in their order. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { hourMs } from '../../src/base/clock.ts'
import { picos } from '../../src/base/money.ts'
import { credit } from '../../src/ledger/entry-store.ts'
import { sealHours } from '../../src/ledger/proof/sealing.ts'
import { openPostgresHarness, type PostgresHarness } from './postgres-harness.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { booksMasterKey as masterKey } from '../support/sealed-books.ts'
import { addCredit, findDifferences, makeAccount } from './ledger-harness.ts'
import { describeProofs } from './proofs-conformance.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describeProofs('sealed entries on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)

/** Draws the number of an entry and commits it only when it is told to. */
async function bookSlowly({ database, clock }: PostgresHarness, accountId: string) {
  const drawn = Promise.withResolvers<undefined>()
  const release = Promise.withResolvers<undefined>()
  const ended = database.transact(async (transaction) => {
    const booking = {
      accountId,
      kind: 'adjustment',
      amountPicos: picos(1n),
      atMs: clock.now(),
    } as const
    await credit(transaction, { ...booking, reference: 'slow' })
    drawn.resolve(undefined)
    await release.promise
  })
  await drawn.promise
  return async (): Promise<void> => {
    release.resolve(undefined)
    await ended
  }
}

async function withSlowEntry(
  run: (harness: PostgresHarness, commit: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const harness = await openPostgresHarness(await server.createDatabase())
  try {
    const slow = await makeAccount(harness)
    const quick = await makeAccount(harness)
    const commit = await bookSlowly(harness, slow)
    try {
      await addCredit(harness, quick, 2n)
      harness.clock.advance(hourMs)
      await run(harness, commit)
    } finally {
      await commit()
    }
  } finally {
    await harness.close()
  }
}

it('waits for a transaction that has drawn a smaller number and not committed it', () =>
  withSlowEntry(async ({ database, clock }, commit) => {
    let pauses = 0
    const pause = (): Promise<void> => (++pauses === 3 ? commit() : Promise.resolve())
    const sealed = await sealHours(database, { nowMs: clock.now(), masterKey, pause })
    assert.deepEqual(sealed, { entries: 2, heads: 2 })
    assert.deepEqual(await findDifferences(database), [])
  }))

it('seals an entry later whose transaction stays open for the whole round', () =>
  withSlowEntry(async ({ database, clock }, commit) => {
    const seal = () =>
      sealHours(database, { nowMs: clock.now(), masterKey, pause: () => Promise.resolve() })
    assert.deepEqual(await seal(), { entries: 1, heads: 1 })
    await commit()
    clock.advance(hourMs)
    assert.deepEqual(await seal(), { entries: 1, heads: 1 })
    assert.deepEqual(await findDifferences(database), [])
  }))
