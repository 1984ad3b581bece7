/** The master key's sources, on real files in a folder of the test's own. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import * as fc from 'fast-check'
import { Secret } from '../base/secret.ts'
import { isSealed, keyIdOf, loadMasterKey, makeMasterKey, seal, unseal } from './master-key.ts'

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

test('reading does not create a missing key file, and finds it when it is back', () => {
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

const masterKey = new Secret('0123456789abcdef0123456789abcdef')
const place = { owner: 'alpha-main', field: 'credential' }

test('any text comes back as it was sealed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const opened = unseal(masterKey, place, seal(masterKey, place, new Secret(text)))
      assert.equal(opened.kind === 'unsealed' && opened.secret.reveal(), text)
    }),
    { numRuns: 50 },
  )
})

test('the same secret never seals to the same text, and the text shows nothing of it', () => {
  const texts = new Set(
    Array.from({ length: 50 }, () => seal(masterKey, place, new Secret('sk-plain'))),
  )
  assert.equal(texts.size, 50)
  for (const text of texts) {
    assert.ok(isSealed(text))
    assert.ok(!text.includes('sk-plain'))
    assert.ok(!Buffer.from(text.split('.')[2] ?? '', 'base64url').includes('sk-plain'))
  }
})

test('a sealed text is unreadable in the place of another owner or field', () => {
  const text = seal(masterKey, place, new Secret('s'))
  for (const other of [
    { owner: 'alpha-reserve', field: 'credential' },
    { owner: 'alpha-main', field: 'webhook' },
  ])
    assert.equal(unseal(masterKey, other, text).kind, 'unreadable')
})

test('with another master key the reason names both keys', () => {
  const otherKey = new Secret('another-master-key-of-enough-length')
  const opened = unseal(otherKey, place, seal(masterKey, place, new Secret('s')))
  assert.ok(opened.kind === 'unreadable')
  assert.ok(opened.reason.includes(keyIdOf(masterKey)))
  assert.ok(opened.reason.includes(keyIdOf(otherKey)))
})

test('a change of any single character makes it unreadable and never throws', () => {
  const text = seal(masterKey, place, new Secret('secret'))
  for (let index = 0; index < text.length; index++) {
    const changed = text.slice(0, index) + (text[index] === 'A' ? 'B' : 'A') + text.slice(index + 1)
    const opened = unseal(masterKey, place, changed)
    // The last base64 character carries unused bits: a change of those alone is the same bytes.
    if (opened.kind === 'unsealed') assert.equal(opened.secret.reveal(), 'secret')
    else assert.ok(opened.reason.length > 0)
  }
  for (const broken of ['', 'sealed:', 'sealed:v1.00000000.', 'sealed:v2.x.y', text.slice(0, -30)])
    assert.equal(unseal(masterKey, place, broken).kind, 'unreadable')
})
