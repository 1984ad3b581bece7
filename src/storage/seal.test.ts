/** Sealing is judged from outside: what goes in comes out, and only in its own place with its own key. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Secret } from '../base/secret.ts'
import { isSealed, keyIdOf, seal, unseal } from './seal.ts'

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
