/** One suite for both ways to open a SQLite store: on this thread, and on a thread of its own. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { Database } from '../../src/storage/database.ts'
import {
  faultOf,
  openConnection,
  storeError,
  type SqliteFault,
} from '../../src/storage/sqlite/connection.ts'
import { outageReasonOf } from '../../src/base/errors.ts'
import { openSqliteThread } from '../../src/storage/sqlite/thread.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-sqlite-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const ways: readonly [string, (path: string) => Promise<Database>][] = [
  ['on the calling thread', async (path) => openSqlite(path)],
  ['on a thread of its own', (path) => openSqliteThread(path)],
]

for (const [way, open] of ways)
  describe(`a SQLite store ${way}`, () => {
    let path: string
    let database: Database
    beforeEach(async () => {
      path = join(folder, 'new', 'folder', 'store.db')
      database = await open(path)
      await database.query('CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT) STRICT')
    })
    afterEach(() => database.close())
    const add = (text: string): Promise<unknown> =>
      database.query('INSERT INTO note (text) VALUES ($1)', [text])
    const texts = async (): Promise<unknown[]> =>
      (await database.query('SELECT text FROM note ORDER BY id')).map((row) => row['text'])

    it('is readable only by its owner', () => {
      assert.equal(statSync(path).mode & 0o777, 0o600)
      assert.equal(statSync(join(folder, 'new')).mode & 0o777, 0o700)
    })

    it('keeps commits through a power cut, in WAL mode, with foreign keys', async () => {
      const pragma = async (name: string): Promise<unknown> =>
        Object.values((await database.query(`PRAGMA ${name}`))[0] ?? {})[0]
      assert.equal(await pragma('journal_mode'), 'wal')
      assert.equal(await pragma('synchronous'), 2n)
      assert.equal(await pragma('foreign_keys'), 1n)
      assert.equal(await pragma('trusted_schema'), 0n)
      assert.equal(await pragma('busy_timeout'), 5_000n)
    })

    it('moves commits into its file a few megabytes at a time', async () => {
      const megabyte = 'x'.repeat(1024 * 1024)
      for (let count = 0; count < 16; count++) await add(megabyte)
      assert.ok(statSync(`${path}-wal`).size < 8 * 1024 * 1024, 'the log is kept small')
      assert.ok(statSync(path).size > 8 * 1024 * 1024, 'the file has most of it')
    })

    it('takes numbered parameters in any order and leaves quoted text alone', async () => {
      const sql = `SELECT $2 AS second, $1 AS first, $2 AS again, '$1 it''s' AS quoted, -- $3
        "$4" FROM (SELECT 1 AS "$4") /* $5 */`
      assert.deepEqual(
        { ...(await database.query(sql, ['a', 9_007_199_254_740_993n]))[0] },
        {
          second: 9_007_199_254_740_993n,
          first: 'a',
          again: 9_007_199_254_740_993n,
          quoted: "$1 it's",
          $4: 1n,
        },
      )
    })

    it('refuses a second statement instead of ignoring it', async () => {
      await assert.rejects(
        database.query("INSERT INTO note (text) VALUES ('a'); DELETE FROM note"),
        /one statement at a time/,
      )
      await database.query("INSERT INTO note (text) VALUES ('a; b') ; ")
      assert.deepEqual(await texts(), ['a; b'])
    })

    it('commits a transaction and returns its result', async () => {
      const result = await database.transact(async (transaction) => {
        await transaction.query('INSERT INTO note (text) VALUES ($1)', ['one'])
        await transaction.script("INSERT INTO note (text) VALUES ('two'), ('three'); SELECT 1")
        return 'done'
      })
      assert.equal(result, 'done')
      assert.deepEqual(await texts(), ['one', 'two', 'three'])
    })

    it('rolls back a failed transaction and goes on', async () => {
      const failing = database.transact(async (transaction) => {
        await transaction.query('INSERT INTO note (text) VALUES ($1)', ['lost'])
        throw new Error('changed my mind')
      })
      await assert.rejects(failing, /changed my mind/)
      const mistaken = database.transact(async (transaction) => {
        await transaction.query('INSERT INTO note (text) VALUES ($1)', ['lost too'])
        await transaction.query('INSERT INTO no_table VALUES (1)')
      })
      await assert.rejects(mistaken, /no such table/)
      await add('kept')
      assert.deepEqual(await texts(), ['kept'])
    })

    it('runs no other statement inside an open transaction', async () => {
      const gate = Promise.withResolvers<void>()
      const first = database.transact(async (transaction) => {
        await transaction.query("INSERT INTO note (text) VALUES ('lost')")
        await gate.promise
        throw new Error('undone')
      })
      const outside = add('outside')
      const second = database.transact(async (transaction) => {
        const rows = await transaction.query('SELECT text FROM note')
        await transaction.query("INSERT INTO note (text) VALUES ('second')")
        return rows.length
      })
      gate.resolve()
      await assert.rejects(first, /undone/)
      await outside
      await second
      assert.deepEqual((await texts()).map(String).toSorted(), ['outside', 'second'])
    })

    it('refuses a statement after its transaction has ended', async () => {
      let kept: Parameters<Parameters<Database['transact']>[0]>[0] | undefined
      await database.transact(async (transaction) => {
        kept = transaction
      })
      await assert.rejects(async () => kept?.query('SELECT 1'), /The transaction is over/)
    })

    it('reads a snapshot as of one moment while others write', async () => {
      await add('before')
      const other = openSqlite(path)
      const counts = await database.snapshot(async (snapshot) => {
        const count = async (): Promise<number> =>
          (await snapshot.query('SELECT id FROM note')).length
        const first = await count()
        await other.query("INSERT INTO note (text) VALUES ('meanwhile')")
        return [first, await count()]
      })
      await other.close()
      assert.deepEqual(counts, [1, 1])
      assert.deepEqual(await texts(), ['before', 'meanwhile'])
    })

    it('passes on the error of a statement', async () => {
      await assert.rejects(database.query('SELEKT'), /syntax error/)
      await assert.rejects(
        database.query('INSERT INTO note (id) VALUES ($1)', ['x']),
        /datatype mismatch/,
      )
    })

    it('finishes accepted statements before it closes, and refuses later ones', async () => {
      const asked = Array.from({ length: 20 }, (_, index) => add(String(index)))
      await database.close()
      await Promise.all(asked)
      await assert.rejects(add('late'), { code: 'ledger.unavailable' })
      await assert.rejects(
        database.transact(async () => {}),
        { code: 'ledger.unavailable' },
      )
      database = await open(path)
      assert.equal((await texts()).length, 20)
    })
  })

describe('the store thread', () => {
  it('rejects everything that waits when it dies, and reports it', async () => {
    const posting = mock.method(Worker.prototype, 'postMessage')
    const deaths: Error[] = []
    const database = await openSqliteThread(join(folder, 'store.db'), (error) => deaths.push(error))
    try {
      assert.equal(database.isAvailable(), true)
      await database.query('SELECT 1')
      const worker = posting.mock.calls[0]?.this
      assert.ok(worker instanceof Worker)
      // The thread fails at this message, so it never comes to those behind it.
      worker.postMessage(null, [])
      const waiting = [database.query('CREATE TABLE never (x)'), database.transact(async () => {})]
      const rejected = waiting.map((one) => assert.rejects(one, { code: 'ledger.unavailable' }))
      await Promise.all(rejected)
      assert.equal(database.isAvailable(), false)
      assert.equal(deaths.length, 1)
      await assert.rejects(database.query('SELECT 1'), { code: 'ledger.unavailable' })
    } finally {
      posting.mock.restore()
      await database.close()
    }
  })

  it('says why a store cannot be opened', async () => {
    const path = join(folder, 'store.db')
    await openSqlite(path).close()
    const refusal = { code: 'operations.invalid', message: /cannot be opened: .*store\.db/ }
    await assert.rejects(openSqliteThread(join(path, 'inside')), refusal)
    assert.throws(() => openSqlite(join(path, 'inside')), refusal)
    const noStore = join(folder, 'letter.txt')
    writeFileSync(noStore, 'Dear reader, this is no database. '.repeat(100))
    await assert.rejects(openSqliteThread(noStore), {
      message: /letter\.txt cannot be opened: file is not a database/,
    })
  })
})

describe('a SQLite connection', () => {
  it('classifies faults by the next step', () => {
    const path = join(folder, 'store.db')
    const connection = openConnection(path, { busyTimeoutMs: 0, pagesMax: 20 })
    const other = openConnection(path, { busyTimeoutMs: 0 })
    const faultIn = (work: () => void): string => {
      try {
        work()
      } catch (error) {
        return faultOf(error)
      }
      return 'none'
    }
    try {
      connection.script('CREATE TABLE note (bytes BLOB)')
      other.script('BEGIN IMMEDIATE')
      assert.equal(
        faultIn(() => connection.script('BEGIN IMMEDIATE')),
        'busy',
      )
      other.script('ROLLBACK')
      assert.equal(
        faultIn(() => connection.script('SELEKT')),
        'statement',
      )
      const fill = (): void => connection.script('INSERT INTO note VALUES (zeroblob(900000))')
      assert.equal(
        faultIn(() => connection.transact(fill)),
        'full',
      )
      assert.equal(connection.isInTransaction, false)
    } finally {
      connection.close()
      other.close()
    }
  })

  it('adds the reason code of an outage to the message', () => {
    const cause = new Error('what SQLite says')
    const reasonOf = (fault: SqliteFault): string | undefined =>
      outageReasonOf(storeError(fault, cause))
    assert.deepEqual(
      [reasonOf('busy'), reasonOf('full'), reasonOf('broken')],
      ['locked', 'disk_full', 'unreadable'],
    )
    assert.equal(storeError('statement', cause), cause)
  })

  it('evicts the least recently used statements', () => {
    const connection = openConnection(join(folder, 'store.db'))
    for (let index = 0; index < 1_000; index++)
      assert.deepEqual(
        { ...connection.first(`SELECT ${index} AS number`) },
        {
          number: BigInt(index),
        },
      )
    assert.equal(connection.first('SELECT 0 AS number')?.['number'], 0n)
    connection.close()
  })
})
