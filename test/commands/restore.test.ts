/**
 * What `turnpike restore` makes of files that are not tidy backups: a store whose process died, with
 * its last charges in the log beside the file, files of a newer program, files of something else.
 */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { failure, json, newFolder, runWithin } from '../support/command-line.ts'

const names = ['turnpike.db', 'turnpike.db-wal'] as const

/**
 * As a process leaves a store that is killed: what it wrote last is in the log alone. A second
 * connection is open meanwhile, because the last one to close a store moves the log into its file.
 */
async function leaveUnsettled(): Promise<string> {
  const folder = newFolder()
  await json(folder, 'migrate')
  const other = new DatabaseSync(join(folder, 'data', 'turnpike.db'))
  other.exec('SELECT name FROM sqlite_schema')
  await json(folder, 'account create acme --balance 10')
  mkdirSync(join(folder, 'old'))
  for (const name of names) copyFileSync(join(folder, 'data', name), join(folder, 'old', name))
  other.close()
  return join(folder, 'old')
}

/** What is where the store would be, but for the lock. */
function leftIn(folder: string): readonly string[] {
  return readdirSync(join(folder, 'data')).filter((name) => !name.endsWith('.lock'))
}

describe('restore', () => {
  it('restores the WAL beside the file too, and changes neither', async () => {
    const old = await leaveUnsettled()
    const before = names.map((name) => readFileSync(join(old, name)))
    const folder = newFolder()
    const restored = await json(folder, `restore ${join(old, 'turnpike.db')}`)
    const { counts } = restored['audit'] as { counts: { accounts: number; entries: number } }
    assert.equal(counts.accounts, 1)
    assert.equal(counts.entries, 1)
    assert.deepEqual(leftIn(folder), ['turnpike.db'])
    assert.equal((await json(folder, 'account show acme'))['balance_usd'], 10)
    assert.deepEqual(readdirSync(old), names)
    assert.deepEqual(
      names.map((name) => readFileSync(join(old, name))),
      before,
    )
  })

  it('refuses a store that a newer program has used', async () => {
    const folder = newFolder()
    const newer = newFolder()
    await json(newer, 'migrate')
    const path = join(newer, 'data', 'turnpike.db')
    const database = new DatabaseSync(path)
    database.exec(
      "INSERT INTO schemaversion (version, name, md5, run_at) VALUES (9999, 'later', '', '')",
    )
    database.close()
    const refused = await failure(folder, `restore ${path}`)
    assert.equal(refused.exit, 1)
    assert.match(refused.message, /schema version 9999, this program knows \d+/)
    assert.deepEqual(leftIn(folder), [])
  })

  it('says to move an existing store away first', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme')
    const refused = await failure(folder, 'restore data/turnpike.db')
    assert.deepEqual([refused.exit, refused.code], [1, 'operations.conflict'])
    assert.match(refused.message, /turnpike\.db already exists, .* Move the old store away first/)
    await json(folder, 'backup copy.db')
    const taken = await failure(folder, 'backup copy.db')
    assert.match(taken.message, /copy\.db already exists, .* Name another file\.$/)
  })

  it('names the place that has no room, and leaves nothing there', async () => {
    const old = await leaveUnsettled()
    const folder = newFolder()
    for (const blocks of [0, 100]) {
      const ran = await runWithin(folder, `restore ${join(old, 'turnpike.db')}`, blocks)
      assert.equal(ran.code, 1)
      const { error } = JSON.parse(ran.out) as { error: { message: string } }
      assert.match(error.message, /no (room|space) left/)
      assert.match(error.message, /Make room/)
      assert.ok(error.message.includes(join(folder, 'data')), error.message)
      assert.ok(!error.message.includes(old), 'the file that is only read is not to blame')
      assert.deepEqual(leftIn(folder), [])
    }
  })

  it('does the same for a backup', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme')
    const ran = await runWithin(folder, 'backup copies/one.db', 100)
    assert.equal(ran.code, 1)
    const { error } = JSON.parse(ran.out) as { error: { message: string } }
    assert.match(error.message, /copies has no space left/)
    assert.deepEqual(readdirSync(join(folder, 'copies')), [])
  })

  it('names a file that it cannot use, and leaves nothing of it', async () => {
    const folder = newFolder()
    const other = new DatabaseSync(join(folder, 'other.db'))
    other.exec('PRAGMA journal_mode = WAL; CREATE TABLE song (name TEXT)')
    other.close()
    assert.match((await failure(folder, 'restore other.db')).message, /not a store of Turnpike/)
    writeFileSync(join(folder, 'garbage.db'), 'no database at all, whatever its name says')
    for (const [name, exit, said] of [
      ['garbage.db', 1, 'The file FILE cannot be used: '],
      ['missing.db', 2, 'FILE does not exist'],
      ['.', 2, 'FILE is a folder'],
    ] as const) {
      const refused = await failure(folder, `restore ${name}`)
      assert.equal(refused.exit, exit)
      assert.ok(refused.message.startsWith(said.replace('FILE', join(folder, name))), name)
      assert.doesNotMatch(refused.message, /\n/)
    }
    assert.deepEqual(leftIn(folder), [])
  })
})
