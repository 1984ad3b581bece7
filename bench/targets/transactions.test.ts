/** Tests of counting a store's transactions from outside. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openConnection } from '../../src/storage/sqlite/connection.ts'
import { readEmbeddedTransactions } from './turnpike.ts'

test('counts each commit that writes once, and does not count reads', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-transactions-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'turnpike.db')
  const connection = openConnection(path)
  t.after(() => connection.close())
  connection.script('CREATE TABLE line (number INTEGER)')
  const before = readEmbeddedTransactions(path)
  connection.script('INSERT INTO line VALUES (1)')
  connection.script('BEGIN; INSERT INTO line VALUES (2); INSERT INTO line VALUES (3); COMMIT')
  connection.script('SELECT count(*) FROM line')
  assert.equal(readEmbeddedTransactions(path) - before, 2)
})
