/** The master key's sources, on real files in a folder of the test's own. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Secret } from '../base/secret.ts'
import { loadMasterKey, makeMasterKey } from './master-key.ts'

const folder = mkdtempSync(join(tmpdir(), 'turnpike-master-key-'))
after(() => rmSync(folder, { recursive: true }))

const hexKey = '0123456789abcdef'.repeat(4)
const base64Key = Buffer.from(hexKey, 'hex').toString('base64')

test('the setting wins over the file and makes none', () => {
  const filePath = join(folder, 'setting', 'master.key')
  const key = loadMasterKey({ key: new Secret(base64Key), filePath })
  assert.equal(key.reveal(), base64Key)
  assert.ok(!existsSync(filePath))
})

test('a key means the same in hexadecimal and in base64', () => {
  const key = loadMasterKey({ key: new Secret(` ${hexKey.toUpperCase()}\n`), filePath: undefined })
  assert.equal(key.reveal(), base64Key)
  const bytes = Buffer.alloc(32, 0xfb)
  for (const spelling of ['base64', 'base64url'] as const) {
    const same = loadMasterKey({ key: new Secret(bytes.toString(spelling)), filePath: undefined })
    assert.equal(same.reveal(), bytes.toString('base64'))
  }
})

test('the first start makes a file that only its owner can read, later starts read it', () => {
  const filePath = join(folder, 'first', 'deep', 'master.key')
  const made = loadMasterKey({ key: undefined, filePath })
  makeMasterKey(made)
  assert.equal(statSync(filePath).mode & 0o777, 0o600)
  assert.equal(statSync(join(folder, 'first', 'deep')).mode & 0o777, 0o700)
  assert.equal(loadMasterKey({ key: undefined, filePath }).reveal(), made.reveal())
  assert.equal(readFileSync(filePath, 'utf8').trim(), made.reveal())
  assert.deepEqual(readdirSync(join(folder, 'first', 'deep')), ['master.key'])
})

test('a key whose file is missing is made by nobody who only reads, and found once it is back', () => {
  const filePath = join(folder, 'mislaid', 'master.key')
  const key = loadMasterKey({ key: undefined, filePath })
  assert.throws(
    () => key.reveal(),
    (error: Error) => error.message.startsWith(`The master key file ${filePath} is missing`),
  )
  assert.ok(!existsSync(join(folder, 'mislaid')))
  mkdirSync(join(folder, 'mislaid'))
  writeFileSync(filePath, base64Key, { mode: 0o600 })
  assert.equal(key.reveal(), base64Key)
  makeMasterKey(key)
  assert.equal(readFileSync(filePath, 'utf8'), base64Key)
})

test('a file that others can read is refused with the command that mends it', () => {
  const filePath = join(folder, 'open.key')
  writeFileSync(filePath, base64Key)
  chmodSync(filePath, 0o644)
  assert.throws(() => loadMasterKey({ key: undefined, filePath }), /chmod 600/)
  chmodSync(filePath, 0o400)
  assert.equal(loadMasterKey({ key: undefined, filePath }).reveal(), base64Key)
})

test('without a setting and without a place for a file the error says how to make a key', () => {
  assert.throws(() => loadMasterKey({ key: undefined, filePath: undefined }), /openssl rand/)
})

test('a file that cannot be made or read is an error that names the file', () => {
  const filePath = join(folder, 'blocked', 'master.key')
  writeFileSync(join(folder, 'blocked'), '')
  assert.throws(
    () => loadMasterKey({ key: undefined, filePath }),
    (error: Error) => error.message.includes(filePath),
  )
})

test('a key of the wrong form is refused without being shown', () => {
  for (const text of ['hunter2', hexKey.slice(1), base64Key.slice(0, -2)])
    assert.throws(
      () => loadMasterKey({ key: new Secret(text), filePath: undefined }),
      (error: Error) => /openssl rand/.test(error.message) && !error.message.includes(text),
    )
})

test('processes that start at the same moment agree on one key', async () => {
  const filePath = join(folder, 'race', 'master.key')
  const script =
    `import { loadMasterKey, makeMasterKey } from ${JSON.stringify(import.meta.resolve('./master-key.ts'))}\n` +
    `const key = loadMasterKey({ filePath: ${JSON.stringify(filePath)} })\n` +
    'makeMasterKey(key)\nprocess.stdout.write(key.reveal())'
  const keys = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script])
      let output = ''
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
      await once(child, 'close')
      return output
    }),
  )
  assert.equal(new Set(keys).size, 1)
  assert.equal(keys[0], readFileSync(filePath, 'utf8').trim())
})
