/**
 * A store that exists and cannot be used: its disk is full, or this user has no permission. Goal: no
 * message says that the store is missing or damaged, and each says what to do. A shell that lets no file
 * grow simulates the full disk.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Diagnosis } from '../../src/operations/store/doctor.ts'
import { failure, json, newFolder, runWithin, type Ran } from '../support/command-line.ts'

const program = new URL('../../src/cli.ts', import.meta.url).pathname
const start = new URL('../../src/start.ts', import.meta.url).pathname

interface Told {
  readonly error: { readonly code: string; readonly message: string }
}

describe('on a disk without room', () => {
  it('commands and the gateway report it and end with 1', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme')
    const lines = ['audit', 'account list', 'account credit acme 5 --reference r', 'serve']
    for (const line of lines) {
      const ran = await runWithin(folder, line, 0)
      const { error } = JSON.parse(ran.out) as Told
      assert.deepEqual([ran.code, error.code], [1, 'ledger.unavailable'], line)
      assert.match(
        error.message,
        /turnpike\.db cannot be opened: there is no space left\. Make room/,
        line,
      )
    }
    const strangers = readdirSync(join(folder, 'data')).filter(
      (name) => !name.startsWith('turnpike.db'),
    )
    assert.deepEqual(strangers, [], 'what was tried has left nothing')
    assert.equal((await json(folder, 'audit'))['clean'], true)
  })

  it('the doctor reports it as a finding', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme')
    const ran = await runWithin(folder, 'doctor', 0)
    const { ok, findings } = JSON.parse(ran.out) as Diagnosis
    assert.deepEqual([ran.code, ok], [1, false])
    const [store] = findings
    assert.deepEqual([store?.area, store?.status], ['store', 'problem'])
    assert.match(store?.message ?? '', /there is no space left\. Make room/)
  })
})

describe('a store in a folder that cannot be made', () => {
  it(
    'ends every command at once with the reason',
    { skip: process.platform !== 'linux' },
    async () => {
      const folder = newFolder()
      for (const line of ['serve', 'account create acme']) {
        const refused = await failure(folder, line, { TURNPIKE_STORE: 'sqlite:/proc/foo/t.db' })
        assert.deepEqual([refused.exit, refused.code], [2, 'operations.invalid'], line)
        assert.match(refused.message, /\/proc\/foo is on a file system that takes no new folders\./)
      }
    },
  )
})

describe('a store that this user may not open', () => {
  it('is not reported as missing', async () => {
    const folder = newFolder()
    symlinkSync('turning.db', join(folder, 'turning.db'))
    for (const line of ['audit', 'account create acme']) {
      const refused = await failure(folder, line, { TURNPIKE_STORE: 'sqlite:turning.db' })
      assert.match(refused.message, /turning\.db cannot be opened: ELOOP/)
    }
  })

  it('is reported with the user who may open it', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme')
    const data = join(folder, 'data')
    chmodSync(data, 0o000)
    const ran = await runAsOther([program, 'audit', '--json'], {
      TURNPIKE_STORE: `sqlite:${join(data, 'turnpike.db')}`,
    })
    chmodSync(data, 0o700)
    const { error } = JSON.parse(ran.out) as Told
    assert.deepEqual([ran.code, error.code], [1, 'operations.conflict'])
    assert.match(
      error.message,
      /turnpike\.db is not accessible to this user\. Run it as the user who owns/,
    )
  })
})

describe('npm start with a store that cannot be made', () => {
  const anyPorts = { TURNPIKE_LISTEN: '127.0.0.1:0', TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0' }
  const startOn = (path: string): Promise<Ran> =>
    runAsOther([start], { ...anyPorts, TURNPIKE_STORE: `sqlite:${path}` })

  it('ends with one sentence where this user may not write', async () => {
    const folder = newFolder()
    chmodSync(join(folder, '..'), 0o755)
    chmodSync(folder, 0o555)
    const ran = await startOn(join(folder, 'data', 'turnpike.db'))
    chmodSync(folder, 0o755)
    assert.match(
      ran.error,
      /^The store .* cannot be opened: .*data is not accessible to this user\. Run it as the user who owns the store\.\n$/,
    )
    assert.deepEqual([ran.code, ran.out], [1, ''])
  })

  it('ends with one sentence below /proc', { skip: process.platform !== 'linux' }, async () => {
    const ran = await startOn('/proc/foo/t.db')
    assert.match(
      ran.error,
      /^The store .*\/proc\/foo is on a file system that takes no new folders\.\n$/,
    )
    assert.deepEqual([ran.code, ran.out], [1, ''])
  })
})

/** As a user whom modes of files concern: root is let in everywhere. */
function runAsOther(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ran> {
  const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const options = { cwd: '/', env: { PATH: process.env['PATH'], ...environment }, ...identity }
  return new Promise((resolve) => {
    execFile(process.execPath, words, options, (fault, out, error) =>
      resolve({ code: typeof fault?.code === 'number' ? fault.code : 0, out, error }),
    )
  })
}
