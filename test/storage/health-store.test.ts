import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { migrate } from '../../src/storage/migrate.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'
import type { SavedHealth } from '../../src/channels/health/health-store.ts'
import { readHealth, replaceHealth } from '../../src/channels/health/health-store.ts'

const off: SavedHealth = {
  channel: 'main',
  model: 'large-1',
  mode: 'off',
  why: 'run',
  sinceMs: 1_000,
  savedAtMs: 2_000,
  detail: '{}',
}

test('reads exactly the health that was stored last', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-'))
  const database = openSqlite(join(folder, 'store.db'))
  t.after(async () => {
    await database.close()
    await rm(folder, { recursive: true })
  })
  await migrate(database)
  assert.deepEqual(await readHealth(database), [])
  const slow: SavedHealth = { ...off, model: 'small-1', mode: 'slow', detail: '{"relapse":2}' }
  await database.transact((transaction) => replaceHealth(transaction, [off, slow]))
  assert.deepEqual(await readHealth(database), [off, slow])
  await database.transact((transaction) => replaceHealth(transaction, [slow]))
  assert.deepEqual(await readHealth(database), [slow])

  const many = Array.from({ length: 250 }, (_, n) => ({
    ...off,
    model: `m${String(n).padStart(3, '0')}`,
  }))
  await database.transact((transaction) => replaceHealth(transaction, many))
  assert.deepEqual(await readHealth(database), many)
  const kept = many.filter((_, n) => n % 2 === 0)
  await database.transact((transaction) => replaceHealth(transaction, kept))
  assert.deepEqual(await readHealth(database), kept)
})
