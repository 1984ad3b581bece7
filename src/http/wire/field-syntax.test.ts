/** Fields of a head: what is read, and that nothing doubtful is. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe, it } from 'node:test'
import { hasListMember, isFieldValue, isToken, parseFields, KnownNames } from './field-syntax.ts'

describe('fields', () => {
  it('are read as received, without white space around values', () => {
    const text = 'first line\r\nA: b\r\nX-Empty:\r\nx-tab:\t a b \t\r\nA:c\r\n__proto__: \xe9\r\n'
    const fields = ['A', 'b', 'X-Empty', '', 'x-tab', 'a b', 'A', 'c', '__proto__', '\xe9']
    assert.deepEqual(parseFields(text, 12, 10), fields)
    assert.deepEqual(parseFields('first\r\n', 7, 10), [])
  })

  const doubtful: Readonly<Record<string, string>> = {
    'no colon': 'a b\r\n',
    'no colon but one in the next line': 'ab\r\nc: d\r\n',
    'no name': ': b\r\n',
    'a space before the colon': 'a : b\r\n',
    'a tab before the colon': 'a\t: b\r\n',
    'a folded line': 'a: b\r\n c\r\n',
    'a line that begins with a space': ' a: b\r\n',
    'a bare LF': 'a: b\nc: d\r\n',
    'a bare CR': 'a: b\rc: d\r\n',
    'a NUL': 'a: b\0\r\n',
    'a vertical tab': 'a: \vb\r\n',
    'a delete character': 'a: b\x7f\r\n',
    'a name that is no ASCII': 'caf\xe9: b\r\n',
    'a name with a separator': 'a(b): c\r\n',
    'an empty line': '\r\na: b\r\n',
    'an unfinished line': 'a: b\r\nc: d',
  }
  for (const [name, text] of Object.entries(doubtful))
    it(`with ${name} are refused`, () => assert.equal(parseFields(text, 0, 10), 'malformed'))

  it('are bounded in number', () => {
    assert.equal(parseFields('a: b\r\n'.repeat(10), 0, 10).length, 20)
    assert.equal(parseFields('a: b\r\n'.repeat(11), 0, 10), 'too_many')
  })

  it('are read back as any fields were written', () => {
    const token = fc.stringMatching(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/)
    const value = fc.stringMatching(
      /^([\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/,
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(token, value), { maxLength: 20 }), (pairs) => {
        const text = pairs.map(([name, content]) => `${name}: ${content}\r\n`).join('')
        assert.deepEqual(parseFields(text, 0, 20), pairs.flat())
      }),
    )
  })
})

describe('the characters', () => {
  it('of a token are those of RFC 9110 and no others', () => {
    const allowed = new Set(
      "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    )
    for (let code = 0; code < 256; code++) {
      const character = String.fromCharCode(code)
      assert.equal(isToken(character), allowed.has(character), `code ${code}`)
      assert.equal(isToken(`a${character}`), allowed.has(character), `code ${code} behind another`)
    }
    assert.equal(isToken(''), false)
  })

  it('of a value are printable ASCII, the tab and bytes beyond ASCII', () => {
    for (let code = 0; code < 300; code++) {
      const isAllowed = code === 9 || (code >= 0x20 && code <= 0xff && code !== 0x7f)
      assert.equal(isFieldValue(`a${String.fromCharCode(code)}b`), isAllowed, `code ${code}`)
    }
  })

  it('of a list member are compared whole and in any case', () => {
    assert.ok(hasListMember('Close', 'close'))
    assert.ok(hasListMember('x-a , CLOSE', 'close'))
    assert.ok(!hasListMember('closed, not-close', 'close'))
  })
})

describe('known names', () => {
  it('are found in place, whole and in their own case', () => {
    const names = new KnownNames(['host', 'accept'])
    assert.equal(names.find('host: a', 0, 4), 'host')
    assert.equal(names.find('x-host: a', 2, 6), 'host')
    assert.equal(names.find('hosts: a', 0, 5), undefined)
    assert.equal(names.find('Host: a', 0, 4), undefined)
    assert.equal(names.find('hos', 0, 4), undefined)
    assert.ok(names.has('accept'))
    assert.ok(!names.has('accep'))
  })

  it('are replaced by newer ones of their length, so that a peer cannot fill memory', () => {
    const names = new KnownNames(['host'])
    const invented = Array.from(
      { length: 1_000 },
      (_, index) => `x${String(index).padStart(3, '0')}`,
    )
    for (const name of invented) names.add(name)
    const kept = invented.filter((name) => names.has(name))
    assert.ok(kept.length < 100 && kept.includes('x999'), `${kept.length} are kept`)
    assert.ok(!names.has('host'))
    names.add('host')
    assert.ok(names.has('host'))
  })

  it('are not kept when they are very long', () => {
    const names = new KnownNames()
    const long = 'x'.repeat(10_000)
    assert.equal(names.add(long), long)
    assert.ok(!names.has(long))
  })
})
