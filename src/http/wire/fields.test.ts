/** Fields of a head: what is read, and that nothing doubtful is. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe, it } from 'node:test'
import { fieldNames, isToken, numberAt, numberOf, otherName } from './field-names.ts'
import { fieldsOf, hasListMember, isFieldValue, parseFields, type Fields } from './fields.ts'

function read(text: string, start: number, countMax = 20): Fields {
  const fields = parseFields(text, start, countMax)
  assert.ok(typeof fields !== 'string')
  return fields
}

describe('fields', () => {
  it('are read as received, without white space around values', () => {
    const text = 'first line\r\nA: b\r\nX-Empty:\r\nx-tab:\t a b \t\r\nA:c\r\n__proto__: \xe9\r\n'
    const fields = ['A', 'b', 'X-Empty', '', 'x-tab', 'a b', 'A', 'c', '__proto__', '\xe9']
    assert.deepEqual(read(text, 12).flat(), fields)
    assert.deepEqual(read('first\r\n', 7).flat(), [])
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
    assert.equal(read('a: b\r\n'.repeat(10), 0, 10).numbers.length, 10)
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
        assert.deepEqual(read(text, 0).flat(), pairs.flat())
        assert.deepEqual(fieldsOf(pairs.flat()).flat(), pairs.flat())
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

describe('the names of fields', () => {
  it('have a number in any case, where the table has them', () => {
    for (const [number, name] of fieldNames.entries()) {
      if (number === otherName) continue
      for (const spelling of [
        name,
        name.toUpperCase(),
        name.replace(/^./, (one) => one.toUpperCase()),
      ])
        for (let times = 0; times < 2; times++)
          assert.equal(numberAt(`..${spelling}:`, 2, 2 + spelling.length), number, spelling)
      assert.equal(numberOf(name), number)
    }
  })

  it('that are no part of the table have the same number, whatever they resemble', () => {
    for (const name of ['hos', 'hosts', 'content_type', 'x-host', '__proto__', 'x'.repeat(10_000)])
      for (let times = 0; times < 2; times++)
        assert.equal(numberAt(`${name}: host`, 0, name.length), otherName, name)
  })

  it('are found whatever names a peer has invented before', () => {
    for (let index = 0; index < 20_000; index++) {
      const name = `x-${index.toString(36)}-y`
      assert.equal(numberAt(name, 0, name.length), otherName)
    }
    assert.equal(numberAt('Host', 0, 4), numberOf('host'))
    assert.equal(numberAt('Ho t', 0, 4), -1)
    assert.equal(numberAt(':', 0, 0), -1)
  })

  it('are asked for by name, known or not', () => {
    const fields = read('Host: a\r\nX-Mine: 1\r\nhost: b\r\nx-mine: 2\r\n', 0)
    for (const [name, ...values] of [
      ['host', 'a', 'b'],
      ['x-mine', '1', '2'],
      ['accept'],
      ['x-other'],
    ] as const) {
      assert.equal(fields.find(name), values[0])
      assert.deepEqual(fields.values(name), values)
    }
    const others = fields.filter((index) => !fields.isNamed(index, 'x-mine'))
    assert.deepEqual(others.flat(), ['Host', 'a', 'host', 'b'])
    assert.equal(fields.line(1), 'X-Mine: 1\r\n')
    assert.equal(
      fields.linesOf((index) => index !== 2),
      'Host: a\r\nX-Mine: 1\r\nx-mine: 2\r\n',
    )
  })
})
