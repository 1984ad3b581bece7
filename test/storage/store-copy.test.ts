/** Moving from SQLite to PostgreSQL: everything arrives, whatever breaks it off, and nothing is mixed. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { newId } from '../../src/base/id.ts'
import { picos, zeroPicos } from '../../src/base/money.ts'
import { saveFreeExchanges } from '../../src/ledger/free-exchange-store.ts'
import { formatPriceLines, priceLine } from '../../src/metering/price-lines.ts'
import { verifyStatement } from '../../src/operations/reports/verify-statement.ts'
import { auditLedger } from '../../src/operations/store/audit.ts'
import type { Database } from '../../src/storage/database.ts'
import { migrate, schemaVersion } from '../../src/storage/migrate.ts'
import { openStore } from '../../src/storage/open.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { openEmbedded, type EmbeddedHarness } from './embedded-harness.ts'
import {
  addCredit,
  freeExchange,
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
} from './ledger-harness.ts'
import { copyStoreTo } from '../support/operations.ts'
import { sealNextHour, verifiableOf } from '../support/sealed-books.ts'

const script = join(import.meta.dirname, 'copying-process.ts')
/** More than two pages of exchanges and entries. */
const chargeCount = 1_100
const tables = [
  'account',
  'entry',
  'exchange',
  'free_exchange',
  'usage_month',
  'usage_key_month',
  'report_day',
  'label_day',
  'answer_state',
  'sealed_entry',
  'sealed_head',
  'signing_key',
  'seal_mark',
]

describe('a copy of the store', () => {
  let server: PostgresServer
  let harness: EmbeddedHarness
  let from: string
  let to: string
  let accountIds: readonly string[]
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.close())

  beforeEach(async () => {
    harness = await openEmbedded()
    from = `sqlite:${harness.path}`
    to = await server.createDatabase()
    const rich = await makeAccount(harness, { balancePicos: 10_000_000n })
    const poor = await makeAccount(harness, { balancePicos: 5n })
    accountIds = [rich, poor]
    // Months apart, so that more than one partition is needed.
    for (let month = 0; month < 3; month++) {
      await Promise.all(Array.from({ length: Math.ceil(chargeCount / 3) }, () => charge(rich)))
      harness.clock.advance(30 * 86_400_000)
    }
    await sealNextHour(harness)
    await saveFreeExchanges(harness.database, [freeExchange(rich, harness.clock.now())])
    await harness.ledger.close()
  })
  afterEach(() => harness.close())

  /** Seven pico-dollars, with a bill that the operators' audit can add up. */
  async function charge(accountId: string): Promise<void> {
    const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 7n))
    const lines = [priceLine('input', 3, picos(1n)), priceLine('output', 4, picos(1n))]
    const usage = {
      parts: [{ counts: { input: 3, output: 4 }, promptTokens: 3 }],
      reported: { inputTokens: 3, outputTokens: 4, cacheTokens: 0 },
    }
    const priceLines = formatPriceLines({
      parts: [{ model: 'large-1', isLongContext: false, modifiers: [], lines }],
      feePicos: zeroPicos,
      multiplierPpm: 1_000_000,
      capPicos: undefined,
    })
    const endedAtMs = harness.clock.now()
    const keys = [{ kind: 'response', id: `resp_${hold.exchangeId}` }] as const
    const made = { keys, expiresAtMs: endedAtMs + 1, inputTokens: 3, outputTokens: 4 }
    await harness.ledger.settle(hold, recordOf(hold, 7n, { endedAtMs, usage, priceLines, made }))
  }

  const copy = (onPage: () => void = () => undefined) => copyStoreTo({ from, to, onPage })

  async function withTarget<Result>(look: (target: Database) => Promise<Result>): Promise<Result> {
    const target = await openStore(to)
    try {
      return await look(target)
    } finally {
      await target.close()
    }
  }

  async function assertArrived(): Promise<void> {
    await withTarget(async (target) => {
      assert.deepEqual((await auditLedger({ database: target })).differences, [])
      for (const table of tables) {
        const sql = `SELECT * FROM ${table}`
        const rows = async (store: Database): Promise<readonly string[]> =>
          (await store.query(sql)).map((row) => comparable({ ...row })).sort()
        assert.deepEqual(await rows(target), await rows(harness.database), table)
      }
      const [default_] = await target.query('SELECT COUNT(*) AS rows FROM exchange_default')
      assert.equal(default_?.['rows'], 0n)
    })
  }

  async function assertEmpty(): Promise<void> {
    await withTarget(async (target) => {
      for (const table of tables)
        assert.deepEqual(await target.query(`SELECT * FROM ${table} LIMIT 1`), [], table)
    })
  }

  /** A row as text, without what only one engine has. */
  function comparable({ held_picos: _held, ...row }: Record<string, unknown>): string {
    const entries = Object.entries(row).sort(([left], [right]) => (left < right ? -1 : 1))
    return JSON.stringify(entries, (_key, value: unknown) =>
      typeof value === 'bigint' ? `${value}n` : value,
    )
  }

  it('copies everything, continues the numbers, and refuses a second run', async () => {
    const { audit } = await copy()
    assert.equal(audit.clean, true)
    await assertArrived()
    await withTarget(async (target) => {
      await addCredit({ ...harness, database: target }, accountIds[0] ?? '', 1n)
      const [row] = await target.query('SELECT COUNT(*) = MAX(sequence) AS is_next FROM entry')
      assert.equal(row?.['is_next'], 1n)
    })
    await assert.rejects(copy(), { code: 'operations.conflict' })
  })

  it('keeps the books verifiable, and continues their chains', async () => {
    const [rich = ''] = accountIds
    const older = await verifiableOf(harness, rich)
    await copy()
    await withTarget(async (database) => {
      const books = { ...harness, database }
      await addCredit(books, rich, 1n)
      assert.deepEqual(await sealNextHour(books), { entries: 1, heads: 1 })
      const checked = verifyStatement(await verifiableOf(books, rich), { older })
      assert.deepEqual(checked.problems, [])
      assert.deepEqual([checked.sealed, checked.bills], [chargeCount + 3, chargeCount + 1])
      assert.deepEqual((await auditLedger({ database })).differences, [])
    })
  })

  it('leaves nothing after a kill at any page, and can be run again', async () => {
    let kills = 0
    for (let pages = 2; ; pages *= 2) {
      const child = spawn(process.execPath, [script, from, to, String(pages)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
      if (signal === null) {
        assert.equal(code, 0)
        break
      }
      kills++
      await assertEmpty()
    }
    assert.ok(kills >= 3, `it was killed ${kills} times`)
    await assertArrived()
  })

  it('copies what the old store has booked since a copy was broken off', async () => {
    const broken = new Error('broken off')
    await assert.rejects(
      copy(() => {
        throw broken
      }),
      broken,
    )
    await assertEmpty()
    await addCredit(harness, accountIds[1] ?? '', 1n)
    await copy()
    await assertArrived()
  })

  it('is refused where the database has a table of another program, new or migrated', async () => {
    const name = new URL(to).pathname.slice(1)
    await server.run('CREATE SCHEMA shop CREATE TABLE song (name TEXT)', name)
    const database = await openStore(to)
    try {
      const refusal = { code: 'operations.invalid', message: /another program: song\. Nothing/ }
      await assert.rejects(copy(), refusal)
      await assert.rejects(migrate(database), refusal)
      assert.equal(await schemaVersion(database, 'postgres'), 0)
      // A table of an extension belongs to the server, so it is no obstacle.
      await server.run('ALTER EXTENSION plpgsql ADD TABLE shop.song', name)
      await migrate(database)
      await server.run('ALTER EXTENSION plpgsql DROP TABLE shop.song', name)
      await assert.rejects(copy(), refusal)
      await assertEmpty()
    } finally {
      await database.close()
    }
  })

  it('is refused while a gateway serves the old store, or where the new one is in use', async () => {
    const { lockStore } = await import('../../src/storage/sqlite/lock.ts')
    const lock = lockStore(harness.path)
    await assert.rejects(copy(), { code: 'operations.conflict', message: /Another gateway/ })
    lock.close()
    await copy()
    to = to.replace(/\w+$/, 'unknown')
    await assert.rejects(copy(), /does not exist/)
    to = await server.createDatabase()
    await withTarget(async (target) => {
      const { migrate } = await import('../../src/storage/migrate.ts')
      await migrate(target)
      await target.query(
        `INSERT INTO account (id, name, created_at_ms) VALUES ('${newId('acc', 1)}', 'other', 1)`,
      )
    })
    await assert.rejects(copy(), { code: 'operations.conflict', message: /new store is not empty/ })
  })
})
