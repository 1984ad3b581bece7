/**
 * An earlier program on a store that a newer one has migrated: every command refuses it and changes
 * nothing.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { failure, json, newFolder } from '../support/command-line.ts'

const lines = [
  'account list',
  'account create other',
  'apply -f catalog.yaml --dry-run',
  'migrate',
  'audit',
  'backup copy.db',
  'serve',
  'doctor',
]

describe('a store of a newer version', () => {
  it('is refused by every command, with the way out, and stays as it is', async () => {
    const folder = newFolder({ 'catalog.yaml': 'channels: {}\n' })
    await json(folder, 'account create acme --balance 5')
    const path = join(folder, 'data', 'turnpike.db')
    const database = new DatabaseSync(path)
    database.exec(
      "INSERT INTO schemaversion (version, name, md5, run_at) VALUES (9999, 'later', '', '')",
    )
    database.close()
    const before = hashOf(path)
    for (const line of lines) {
      const { exit, code, message } = await failure(folder, line, {
        TURNPIKE_LISTEN: '127.0.0.1:0',
        TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
      })
      assert.deepEqual([line, exit, code], [line, 1, 'operations.conflict'])
      assert.match(
        message,
        /schema version 9999, this program knows \d+: a newer Turnpike has used it\. Run that version, or restore/,
      )
    }
    assert.equal(hashOf(path), before)
  })
})

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
