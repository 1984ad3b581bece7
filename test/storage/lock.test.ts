import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { lockStore } from '../../src/storage/sqlite/lock.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'

const lockModule = JSON.stringify(import.meta.resolve('../../src/storage/sqlite/lock.ts'))

describe('the store lock', () => {
  let path: string
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-lock-'))
    path = join(folder, 'store.db')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('is refused to a second process, with advice', () => {
    const lock = lockStore(path)
    const code = `import { lockStore } from ${lockModule}
      try { lockStore(${JSON.stringify(path)}) } catch (error) { console.log(error.code, error.message) }`
    const second = spawnSync(process.execPath, ['--input-type=module', '-e', code])
    lock.close()
    assert.match(
      second.stdout.toString(),
      /^operations\.conflict Another gateway process .*store\.db.* Stop that process, or set TURNPIKE_STORE/,
    )
  })

  it('is refused a second time within one process, until it is given back', () => {
    const lock = lockStore(path)
    assert.throws(() => lockStore(path), { code: 'operations.conflict' })
    lock.close()
    lockStore(path).close()
  })

  it('ends with its process, even one that was killed', async (test) => {
    const code = `import { lockStore } from ${lockModule}
      const lock = lockStore(${JSON.stringify(path)})
      console.log('locked'); setInterval(() => lock, 1000)`
    const holder = spawn(process.execPath, ['--input-type=module', '-e', code])
    test.after(() => holder.kill('SIGKILL'))
    await once(holder.stdout, 'data')
    assert.throws(() => lockStore(path), { code: 'operations.conflict' })
    holder.kill('SIGKILL')
    await once(holder, 'close')
    lockStore(path).close()
  })

  it('is one lock for one file, whatever name it is reached by', () => {
    writeFileSync(path, '')
    const alias = join(folder, 'alias.db')
    symlinkSync(path, alias)
    const lock = lockStore(path)
    assert.throws(() => lockStore(alias), { code: 'operations.conflict' })
    lock.close()
  })

  it('is one lock for a file that is yet to be made, whatever link leads to it', () => {
    const [near, far] = [join(folder, 'near.db'), join(folder, 'far.db')]
    symlinkSync('far.db', near)
    symlinkSync(path, far)
    const lock = lockStore(path)
    assert.throws(() => lockStore(near), { code: 'operations.conflict' })
    lock.close()
    const other = lockStore(near)
    assert.throws(() => lockStore(path), { code: 'operations.conflict' })
    other.close()
    assert.equal(existsSync(path), false)
  })

  it('is refused where its file cannot be made, with the reason', () => {
    writeFileSync(path, '')
    assert.throws(() => lockStore(join(path, 'store.db')), { code: 'operations.invalid' })
  })

  it('leaves the store itself open to commands', async () => {
    const lock = lockStore(path)
    const database = openSqlite(path)
    await database.query('CREATE TABLE note (text TEXT)')
    await database.close()
    lock.close()
  })
})
