/** What the ledger does when PostgreSQL goes away in the middle: nothing is lost, nothing doubled. */
import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { after, afterEach, before, describe, it } from 'node:test'
import { GatewayError } from '../../src/base/errors.ts'
import { parsePostgresUrl } from '../../src/storage/location.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { findDifferences, holdRequest, makeAccount, mustPlace, recordOf } from './ledger-harness.ts'
import { openPostgresHarness, type PostgresHarness } from './postgres-harness.ts'

/** So many charges are made at least, and go on until so many connections were cut. */
const chargesMin = 100
const cutsMin = 5
const chargesMax = 50_000

describe('the ledger on a PostgreSQL that fails', () => {
  let server: PostgresServer
  let url: string
  let harness: PostgresHarness
  before(async () => {
    server = await startPostgres()
    url = await server.createDatabase()
  })
  after(() => server.close())
  afterEach(async () => {
    try {
      assert.deepEqual(await findDifferences(harness.database), [])
    } finally {
      await harness.close()
    }
  })

  /** Places and settles `count` exchanges; resolves when all are booked. */
  async function chargeMany(accountId: string, count: number): Promise<void> {
    const holds = await Promise.all(
      Array.from({ length: count }, () =>
        mustPlace(harness.ledger, holdRequest(harness, accountId, 10n)),
      ),
    )
    const endedAtMs = harness.clock.now()
    await Promise.all(
      holds.map((hold) => harness.ledger.settle(hold, recordOf(hold, 3n, { endedAtMs }))),
    )
  }

  /** Asks again for as long as the answer is that no server is known to be there. */
  async function onceAvailable<Result>(ask: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await ask()
      } catch (error) {
        if (!(error instanceof GatewayError && error.code === 'ledger.unavailable')) throw error
        await setImmediate()
      }
    }
  }

  /** Cuts all connections again and again; works with the number of those cut, as long as there is work. */
  async function whileCut(work: (cutCount: number) => Promise<void> | undefined): Promise<void> {
    let cutCount = 0
    const over = new AbortController()
    const cutting = (async () => {
      while (!over.signal.aborted) cutCount += await server.terminateBackends()
    })()
    try {
      for (let next = work(cutCount); next !== undefined; next = work(cutCount)) await next
    } finally {
      over.abort()
      await cutting
    }
  }

  const balanceOf = async (accountId: string): Promise<bigint | undefined> =>
    (await harness.ledger.usage(accountId, 'day', harness.clock.now()))?.balancePicos

  it('books each charge once while its connections are cut again and again', async () => {
    harness = await openPostgresHarness(url, { isRealTime: true })
    const accountId = await makeAccount(harness, { balancePicos: 1_000_000n })
    const settling: Promise<void>[] = []
    const chargeOne = async (): Promise<void> => {
      const placed = await harness.ledger.place(holdRequest(harness, accountId, 10n))
      // The refusal comes at once: no connection is made meanwhile, and none can be cut.
      if (placed.kind !== 'hold') return setImmediate()
      const record = recordOf(placed, 3n, { endedAtMs: harness.clock.now() })
      settling.push(harness.ledger.settle(placed, record))
    }
    await whileCut((cutCount) => {
      assert.ok(settling.length < chargesMax, `${cutCount} were cut in ${settling.length} charges`)
      return settling.length < chargesMin || cutCount < cutsMin ? chargeOne() : undefined
    })
    await Promise.all(settling)
    const left = await onceAvailable(() => balanceOf(accountId))
    assert.equal(left, 1_000_000n - 3n * BigInt(settling.length))
    assert.equal(harness.ledger.openHolds().count, 0)
    // A hold whose answer was lost has no exchange; the next tick frees it.
    await onceAvailable(() => harness.ledger.tick())
    assert.deepEqual(
      await harness.database.query('SELECT 1 AS held FROM account WHERE held_picos <> 0'),
      [],
    )
  })

  it('refuses while the server is away and books what was in flight when it is back', async () => {
    harness = await openPostgresHarness(url, { isRealTime: true })
    const accountId = await makeAccount(harness, { balancePicos: 10_000n })
    const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 10n))
    await server.stop('immediate')
    const settling = harness.ledger.settle(
      hold,
      recordOf(hold, 4n, { endedAtMs: harness.clock.now() }),
    )
    const refused = await harness.ledger.place(holdRequest(harness, accountId, 10n))
    assert.deepEqual(refused, { kind: 'unavailable' })
    assert.equal(harness.ledger.isAvailable(), false)
    await server.start()
    await settling
    assert.equal(harness.ledger.isAvailable(), true)
    await chargeMany(accountId, 10)
    assert.equal(harness.recoveredCount(), 1)
    const left = await onceAvailable(() => balanceOf(accountId))
    assert.equal(left, 10_000n - 4n - 30n)
  })

  it('treats a server that returns with unsafe settings as down', async () => {
    harness = await openPostgresHarness(url, { isRealTime: true })
    const accountId = await makeAccount(harness, { balancePicos: 10_000n })
    const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 10n))
    await server.restart('fast', { fsync: 'off' })
    const settling = harness.ledger.settle(
      hold,
      recordOf(hold, 4n, { endedAtMs: harness.clock.now() }),
    )
    const refused = await harness.ledger.place(holdRequest(harness, accountId, 10n))
    assert.deepEqual(refused, { kind: 'unavailable' })
    assert.deepEqual(harness.faults, [])
    await server.restart('fast', {})
    await settling
    assert.equal(await onceAvailable(() => balanceOf(accountId)), 10_000n - 4n)
  })

  it('keeps charges while a table is missing', async () => {
    harness = await openPostgresHarness(url, { isRealTime: true })
    const accountId = await makeAccount(harness, { balancePicos: 10_000n })
    const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 10n))
    // As an upgrade does that a gateway of the former version lives through.
    await harness.database.query('ALTER TABLE exchange RENAME TO moved')
    const settling = harness.ledger.settle(
      hold,
      recordOf(hold, 4n, { endedAtMs: harness.clock.now() }),
    )
    while (harness.errors.length + harness.faults.length === 0) await setImmediate()
    await harness.database.query('ALTER TABLE moved RENAME TO exchange')
    await settling
    assert.deepEqual(harness.faults, [])
    assert.equal(await balanceOf(accountId), 10_000n - 4n)
  })

  it('keeps charges while the table of exchanges has a column that the gateway does not know', async () => {
    harness = await openPostgresHarness(url, { isRealTime: true })
    const accountId = await makeAccount(harness, { balancePicos: 10_000n })
    await chargeMany(accountId, 2)
    const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 10n))
    await harness.database.query('ALTER TABLE exchange ADD COLUMN later TEXT')
    const settling = harness.ledger.settle(
      hold,
      recordOf(hold, 4n, { endedAtMs: harness.clock.now() }),
    )
    while (harness.errors.length + harness.faults.length === 0) await setImmediate()
    await harness.database.query('ALTER TABLE exchange DROP COLUMN later')
    await settling
    assert.deepEqual(harness.faults, [])
    assert.equal(await balanceOf(accountId), 10_000n - 6n - 4n)
  })

  for (const code of ['0A000', '22P02', '25P01', '38000', '55000'])
    it(`keeps a charge for a store that refuses it with ${code}, which says nothing of its values`, async () => {
      harness = await openPostgresHarness(url, { isRealTime: true })
      const accountId = await makeAccount(harness, { balancePicos: 10_000n })
      const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 10n))
      await harness.database.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = '${code}'; END $$`)
      await harness.database.query(
        'CREATE TRIGGER refuse BEFORE INSERT ON exchange FOR EACH ROW EXECUTE FUNCTION refuse()',
      )
      const settling = harness.ledger.settle(
        hold,
        recordOf(hold, 4n, { endedAtMs: harness.clock.now() }),
      )
      while (harness.errors.length + harness.faults.length === 0) await setImmediate()
      await harness.database.query('DROP TRIGGER refuse ON exchange')
      await harness.database.query('DROP FUNCTION refuse')
      await settling
      assert.deepEqual(harness.faults, [])
      assert.equal(await balanceOf(accountId), 10_000n - 4n)
    })

  it('withholds the end of an answer after its deadline, and then charges nothing for it', async () => {
    harness = await openPostgresHarness(url, { isRealTime: true, settleTimeoutMs: 300 })
    const accountId = await makeAccount(harness, { balancePicos: 10_000n })
    const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 10n))
    await server.stop('immediate')
    await assert.rejects(
      harness.ledger.settle(hold, recordOf(hold, 4n, { endedAtMs: harness.clock.now() })),
      { code: 'ledger.unavailable' },
    )
    await server.start()
    // In good order: what is left to record is written before it closes.
    const former = harness
    harness = await onceAvailable(() => former.restart())
    const [row] = await onceAvailable(() =>
      harness.database.query(
        'SELECT ending, amount_picos, operator_cost_picos FROM exchange WHERE exchange_id = $1',
        [hold.exchangeId],
      ),
    )
    assert.deepEqual({ ...row }, { ending: 'failed', amount_picos: 0n, operator_cost_picos: 4n })
    assert.equal(await balanceOf(accountId), 10_000n)
  })

  it('books the rest of a batch in which the store refuses one', async () => {
    harness = await openPostgresHarness(url, { isRealTime: true })
    const accountId = await makeAccount(harness, { balancePicos: 10_000n })
    const holds = await Promise.all(
      Array.from({ length: 5 }, () =>
        mustPlace(harness.ledger, holdRequest(harness, accountId, 10n)),
      ),
    )
    const settled = await Promise.allSettled(
      holds.map((hold, index) =>
        harness.ledger.settle(
          hold,
          recordOf(hold, index === 2 ? -1n : 1n, { endedAtMs: harness.clock.now() }),
        ),
      ),
    )
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    )
    assert.deepEqual(harness.faults, [holds[2]?.exchangeId])
    assert.equal(await balanceOf(accountId), 10_000n - 4n)
  })

  it('places the others of a group in which the store refuses one', async () => {
    harness = await openPostgresHarness(url, { isRealTime: true })
    const accountId = await makeAccount(harness, { balancePicos: 10_000n })
    const unstorable = { exchangeId: 'no text of PostgreSQL has a \0 in it' }
    const placed = await Promise.all(
      [{}, unstorable, {}].map(async (changes) =>
        harness.ledger.place(holdRequest(harness, accountId, 10n, changes)),
      ),
    )
    assert.deepEqual(
      placed.map(({ kind }) => kind),
      ['hold', 'unavailable', 'hold'],
    )
  })

  it('places the holds of a batch in which the store refuses a charge', async () => {
    harness = await openPostgresHarness(url, { isRealTime: true })
    const accountId = await makeAccount(harness, { balancePicos: 10_000n })
    const bad = await mustPlace(harness.ledger, holdRequest(harness, accountId, 10n))
    const good = await mustPlace(harness.ledger, holdRequest(harness, accountId, 10n))
    const endedAtMs = harness.clock.now()
    const [refused, booked, placed] = await Promise.allSettled([
      harness.ledger.settle(bad, recordOf(bad, -1n, { endedAtMs })),
      harness.ledger.settle(good, recordOf(good, 4n, { endedAtMs })),
      mustPlace(harness.ledger, holdRequest(harness, accountId, 10n)),
    ])
    assert.equal(refused.status, 'rejected')
    assert.equal(booked.status, 'fulfilled')
    assert.equal(placed.status, 'fulfilled')
    assert.deepEqual(harness.faults, [bad.exchangeId])
    assert.equal(await balanceOf(accountId), 10_000n - 4n)
  })

  for (const [setting, value] of [
    ['synchronous_commit', 'off'],
    ['synchronous_commit', 'local'],
    ['fsync', 'off'],
    ['full_page_writes', 'off'],
  ] as const)
    it(`refuses a server with ${setting} = ${value} and says how to change it`, async () => {
      harness = await openPostgresHarness(url, { isRealTime: true })
      await server.restart('fast', { [setting]: value })
      try {
        await assert.rejects(openPostgres(parsePostgresUrl(url)), {
          code: 'operations.invalid',
          message: new RegExp(`${setting} = ${value}[^]*Set`),
        })
      } finally {
        await server.restart('fast', {})
      }
    })
})
