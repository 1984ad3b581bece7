/** The last use of keys: noted in memory, written at most once a minute for each key. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createKeyUses } from '../../src/access/key-uses.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { eventually } from '../support/eventually.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { openNewStore } from '../support/test-store.ts'

test('a use is written by a timer, and an earlier or a recent one is not', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-uses-'))
  const database = await openNewStore(folder)
  t.after(async () => {
    await database.close()
    rmSync(folder, { recursive: true })
  })
  await migrate(database)
  const clock = new ManualClock()
  const faults: unknown[] = []
  const uses = createKeyUses({ clock, database, onError: (error) => faults.push(error) })
  const stored = async (): Promise<unknown> =>
    (await database.query("SELECT last_used_at_ms FROM key_use WHERE key_id = 'key_1'"))[0]?.[
      'last_used_at_ms'
    ]
  const startMs = clock.now()
  uses.note('key_1', startMs)
  assert.equal(await stored(), undefined)
  clock.advance(10_000)
  await eventually('the use is written', stored, (atMs) => Number(atMs) === startMs)
  uses.note('key_1', startMs + 59_999)
  await uses.close()
  assert.equal(Number(await stored()), startMs)
  const later = createKeyUses({ clock, database, onError: (error) => faults.push(error) })
  later.note('key_1', startMs + 60_000)
  await later.close()
  assert.equal(Number(await stored()), startMs + 60_000)
  const slow = createKeyUses({ clock, database, onError: (error) => faults.push(error) })
  slow.note('key_1', startMs + 1)
  await slow.close()
  assert.equal(Number(await stored()), startMs + 60_000)
  assert.deepEqual(faults, [])
})

test('the log of operators refuses edits', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-log-'))
  const database = await openNewStore(folder)
  t.after(async () => {
    await database.close()
    rmSync(folder, { recursive: true })
  })
  await migrate(database)
  await database.query(
    "INSERT INTO operator_action (at_ms, actor, action, subject) VALUES (1, 'a', 'b', 'c')",
  )
  for (const edit of ["UPDATE operator_action SET actor = 'x'", 'DELETE FROM operator_action'])
    await assert.rejects(database.query(edit), /append-only/)
})
