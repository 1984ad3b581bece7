/**
 * A slip in the store's path. Goal: only what sets a store up makes one; everything else says that there
 * is none, and makes nothing; and every command refuses another program's database and leaves it as it is.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { failure, json, newFolder, run } from '../support/command-line.ts'

const readers = [
  'audit',
  'actions',
  'backup copy.db',
  'export',
  'doctor',
  'usage acme',
  'account list',
  'account show acme',
  'account statement acme',
  'key list acme',
  'token list acme',
  'admin-token list',
  'channel list',
  'channel show main',
  'channel history alpha-main',
  'channel check main',
  'channel reconcile all --from 2026-01-01 --to 2026-01-31',
  'price list',
]

/** They change what a store holds already, so none can have been meant. */
const changers = [
  'account suspend acme',
  'account resume acme',
  'account limits acme --rpm 1',
  'account credit acme 5 --reference r',
  'key create acme',
  'key find cr_ab12',
  'key revoke key_x',
  'token create acme',
  'token revoke key_x',
  'admin-token create',
  'admin-token revoke key_x',
  'channel off main',
  'channel on main',
  'price import list.json',
  'price import list.json --dry-run',
]

describe('where there is no store', () => {
  it('commands that read or change a store report it and create none', async () => {
    const folder = newFolder({ 'list.json': '{}' })
    await Promise.all(
      [...readers, ...changers].map(async (line) => {
        const refused = await failure(folder, line, { TURNPIKE_STORE: 'sqlite:typo/t.db' })
        assert.deepEqual([refused.exit, refused.code], [1, 'operations.not_found'], line)
        const place = join(folder, 'typo', 't.db')
        assert.match(
          refused.message,
          new RegExp(`^There is no store at ${place}\\. .*migrate`),
          line,
        )
      }),
    )
    assert.deepEqual(readdirSync(folder), ['list.json'])
  })

  it('a dry run of apply shows the changes and creates no store', async () => {
    const folder = newFolder({ 'catalog.yaml': 'vendors: { gamma: { format: chat } }\n' })
    const environment = { TURNPIKE_STORE: 'sqlite:typo/t.db' }
    const words = ['apply', '-f', 'catalog.yaml', '--dry-run', '--json']
    const ran = await run(folder, words, environment)
    assert.equal(ran.code, 0, ran.error)
    const { kind, diff } = JSON.parse(ran.out) as { kind: string; diff: { name: string }[] }
    assert.equal(kind, 'would_apply')
    assert.deepEqual(
      diff.map(({ name }) => name),
      ['gamma'],
    )
    assert.deepEqual(readdirSync(folder), ['catalog.yaml'])
  })

  it('an empty file is not a store until a command creates one in it', async () => {
    const folder = newFolder({ 'empty.db': '', 'turnpike.yaml': 'store: sqlite:./empty.db\n' })
    assert.equal((await failure(folder, 'audit')).code, 'operations.not_found')
    await json(folder, 'account create acme')
    assert.equal((await json(folder, 'audit'))['clean'], true)
  })

  it('store copy fails', async () => {
    const folder = newFolder()
    const line = 'store copy --from sqlite:typo/t.db --to postgres://nobody@127.0.0.1:1/none'
    assert.equal((await failure(folder, line)).code, 'operations.not_found')
    assert.deepEqual(readdirSync(folder), [])
  })
})

describe('a database of another program', () => {
  it('is refused by commands and by the gateway, and is not changed', async () => {
    const folder = newFolder({ 'turnpike.yaml': 'store: sqlite:./songs.db\n' })
    const path = join(folder, 'songs.db')
    const songs = new DatabaseSync(path)
    songs.exec('CREATE TABLE song (name TEXT)')
    songs.close()
    const before = readFileSync(path)
    for (const line of ['account list', 'account create acme', 'migrate', 'serve']) {
      const refused = await failure(folder, line)
      assert.deepEqual([refused.exit, refused.code], [2, 'operations.invalid'], line)
      assert.match(
        refused.message,
        /songs\.db is a database of another program: it contains song\./,
      )
    }
    assert.deepEqual(readFileSync(path), before)
    assert.equal(existsSync(`${path}-wal`), false)
  })
})
