import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { ManualClock } from '../support/manual-clock.ts'
import { readRevisions, watchRevisions, type RevisionWatch } from '../../src/storage/changes.ts'
import type { Database, Queryable, RevisionArea } from '../../src/storage/database.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { watchCommits } from '../../src/storage/sqlite/commit-watch.ts'
import { openSqliteThread } from '../../src/storage/sqlite/thread.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'

describe('the watch over changes', () => {
  let folder: string
  /** The gateway's own connection, and a command's. */
  let database: Database
  let command: Database
  let clock: ManualClock
  let watch: RevisionWatch | undefined
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-changes-'))
    database = await openSqliteThread(join(folder, 'store.db'))
    await migrate(database)
    command = openSqlite(join(folder, 'store.db'))
    clock = new ManualClock()
  })
  afterEach(async () => {
    watch?.close()
    await command.close()
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Watches and returns what one poll after the next has reported. */
  async function startWatch({
    reader = database,
    take = () => Promise.resolve(),
  }: {
    readonly reader?: Queryable
    /** What the caller does with a change. */
    readonly take?: (area: RevisionArea) => Promise<void>
  } = {}) {
    const seen: string[] = []
    const errors: unknown[] = []
    const recovered: RevisionArea[] = []
    watch = watchRevisions({
      database: reader,
      clock,
      since: await readRevisions(database),
      onChange(area, revision) {
        seen.push(`${area} ${revision}`)
        return take(area)
      },
      onError: (error) => errors.push(error),
      onRecovered: (area) => recovered.push(area),
      mayHaveChanged: watchCommits(join(folder, 'store.db')),
    })
    const poll = async (): Promise<string[]> => {
      clock.advance(250)
      while (clock.pendingCount === 0) await new Promise((resolve) => setImmediate(resolve))
      return seen.splice(0)
    }
    return { poll, seen, errors, recovered }
  }

  const addAccount = (where: Database, id: string): Promise<unknown> =>
    where.query('INSERT INTO account (id, name, created_at_ms) VALUES ($1, $1, 0)', [id])

  it('reports the changes of commands and of the gateway itself once', async () => {
    const { poll, errors } = await startWatch()
    assert.deepEqual(await poll(), [])
    await addAccount(command, 'acc_1')
    await addAccount(database, 'acc_2')
    assert.deepEqual(await poll(), ['accounts 2'])
    assert.deepEqual(await poll(), [])
    await command.query(
      `INSERT INTO key (id, kind, account_id, head, secret_hash, created_at_ms)
       VALUES ('key_1', 'client', 'acc_1', 'cr_ab', 'hash', 0)`,
    )
    await command.query(
      `INSERT INTO vendor (name, format, credential) VALUES ('alpha', 'messages', 'x-api-key')`,
    )
    await command.query(
      `INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms)
       VALUES ('acc_1', 'credit', 'r', 5, 0)`,
    )
    assert.deepEqual(await poll(), ['access 1', 'balances 1', 'catalogue 1'])
    assert.deepEqual(errors, [])
  })

  it('asks nothing of a store in which nothing was committed', async () => {
    let askedCount = 0
    const reader: Queryable = {
      query: (sql, parameters) => {
        askedCount++
        return database.query(sql, parameters)
      },
    }
    const { poll } = await startWatch({ reader })
    // One look more than there are changes: a second commit may have the time of the first.
    for (let polls = 0; polls < 10; polls++) await poll()
    assert.equal(askedCount, 2)
    await addAccount(command, 'acc_1')
    assert.deepEqual(await poll(), ['accounts 1'])
    for (let polls = 0; polls < 10; polls++) await poll()
    assert.equal(askedCount, 4)
  })

  it('finds a commit with the time of the one before it', async () => {
    const looks = watchCommits(join(folder, 'store.db'))
    const log = join(folder, 'store.db-wal')
    looks()
    const { atime, mtime } = statSync(log)
    utimesSync(log, atime, mtime)
    assert.equal(looks(), true)
    await addAccount(command, 'acc_1')
    utimesSync(log, atime, mtime)
    assert.equal(looks(), true)
    assert.equal(looks(), false)
    assert.equal(looks(), false)
  })

  it('does not report charges as changes', async () => {
    await addAccount(command, 'acc_1')
    const { poll } = await startWatch()
    await command.query(
      `INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms)
       VALUES ('acc_1', 'charge', 'ex_1', -5, 0)`,
    )
    await command.query('UPDATE account SET balance_picos = -5')
    assert.deepEqual(await poll(), [])
  })

  it('goes on after a poll that failed and misses nothing', async () => {
    let isOut = true
    const reader: Queryable = {
      query: async (sql, parameters) => {
        if (isOut) throw new Error('out of order')
        return database.query(sql, parameters)
      },
    }
    const { poll, errors } = await startWatch({ reader })
    await addAccount(command, 'acc_1')
    assert.deepEqual(await poll(), [])
    assert.equal(errors.length, 1)
    isOut = false
    assert.deepEqual(await poll(), ['accounts 1'])
  })

  it('reports a change again until it is followed, and reports the error and the recovery once', async () => {
    let isOut = true
    const take = async (): Promise<void> => {
      if (isOut) throw new Error('out of order')
    }
    const { poll, errors, recovered } = await startWatch({ take })
    await addAccount(command, 'acc_1')
    for (let polls = 0; polls < 3; polls++) assert.deepEqual(await poll(), ['accounts 1'])
    await addAccount(command, 'acc_2')
    assert.deepEqual(await poll(), ['accounts 2'])
    assert.deepEqual([errors.length, recovered], [1, []])
    isOut = false
    assert.deepEqual(await poll(), ['accounts 2'])
    assert.deepEqual(await poll(), [])
    assert.deepEqual([errors.length, recovered], [1, ['accounts']])
    isOut = true
    await addAccount(command, 'acc_3')
    assert.deepEqual(await poll(), ['accounts 3'])
    assert.deepEqual([errors.length, recovered], [2, ['accounts']])
  })

  it('catches up at once with what is stored, also where an earlier change is still followed', async () => {
    const slow = Promise.withResolvers<void>()
    const { poll, seen } = await startWatch({ take: () => slow.promise })
    await addAccount(command, 'acc_1')
    assert.deepEqual(await poll(), ['accounts 1'])
    await addAccount(command, 'acc_2')
    const caughtUp = watch?.catchUp()
    slow.resolve()
    await caughtUp
    assert.deepEqual(seen, ['accounts 2'])
  })

  it('catches up without an error where a change cannot be followed', async () => {
    const { errors } = await startWatch({ take: () => Promise.reject(new Error('out of order')) })
    await addAccount(command, 'acc_1')
    await watch?.catchUp()
    assert.equal(errors.length, 1)
  })

  it('reports an area again only after its last change was followed, and others meanwhile', async () => {
    const slow = Promise.withResolvers<void>()
    const take = (area: RevisionArea): Promise<void> =>
      area === 'accounts' ? slow.promise : Promise.resolve()
    const { poll, errors } = await startWatch({ take })
    await addAccount(command, 'acc_1')
    assert.deepEqual(await poll(), ['accounts 1'])
    await addAccount(command, 'acc_2')
    await command.query(
      `INSERT INTO vendor (name, format, credential) VALUES ('alpha', 'messages', 'x-api-key')`,
    )
    assert.deepEqual(await poll(), ['catalogue 1'])
    slow.resolve()
    assert.deepEqual(await poll(), ['accounts 2'])
    assert.deepEqual(await poll(), [])
    assert.deepEqual(errors, [])
  })

  it('says nothing any more once closed', async () => {
    await startWatch()
    await addAccount(command, 'acc_1')
    watch?.close()
    assert.equal(clock.pendingCount, 0)
  })
})
