import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { nestingDepthMax, plainStringEnd, scanMembers } from './scan.ts'

const wanted = new Set(['a', 'b'])

test('gives the span of each wanted value, without the space around it', () => {
  const text = ' { "x" : [1, {"a": 2}], "a" :  "v,}" , "b":\t{"c":[]} }'
  const { spans, firstMember } = scanMembers(text, 0, wanted)
  const texts = [...spans].map(([name, { start, end }]) => [name, text.slice(start, end)])
  assert.deepEqual(texts, [
    ['a', '"v,}"'],
    ['b', '{"c":[]}'],
  ])
  assert.equal(firstMember, 2)
})

test('finds a second member of the same name in any spelling', () => {
  assert.equal(scanMembers('{"a":1,"b":2,"\\u0061":3}', 0, wanted).duplicate, 'a')
  assert.equal(scanMembers('{"a":1,"x":{"a":2},"b":[{"b":1}]}', 0, wanted).duplicate, undefined)
  assert.equal(scanMembers('{"x":1,"x":2}', 0, wanted).duplicate, undefined)
})

test('finds a name in another letter case in any spelling', () => {
  const names = new Set(['ask', 'b'])
  const otherCase = (name: string): string | undefined => {
    const text = Buffer.from(`{"x":{"${name}":1},"b":2,"${name}":3}`).toString('latin1')
    return scanMembers(text, 0, names).otherCase
  }
  for (const name of [
    'ASK',
    'Ask',
    'a\u017fk',
    'AS\u212a',
    'a\\u017fk',
    'as\\u212A',
    '\\u0041\u017f\\u006b',
  ])
    assert.equal(otherCase(name), 'ask', name)
  for (const name of [
    'ask',
    '\\u0061sk',
    'ASKS',
    'A_SK',
    ' Ask',
    'ÅSK',
    'a\\u00c5\\u00bfk',
    '\u0131sk',
    '\\n0041sK',
    '\\uZZZZA',
  ])
    assert.equal(otherCase(name), undefined, name)
})

test('bounds the depth', () => {
  const nested = (depth: number) => '{"a":' + '['.repeat(depth - 1) + ']'.repeat(depth - 1) + '}'
  assert.equal(scanMembers(nested(nestingDepthMax), 0, wanted).isTooDeep, false)
  assert.equal(scanMembers(nested(nestingDepthMax + 1), 0, wanted).isTooDeep, true)
  assert.equal(scanMembers(`{"a":"${'['.repeat(1000)}"}`, 0, wanted).isTooDeep, false)
})

test('finds numbers that overflow at any place', () => {
  for (const number of ['1e309', '-1E+400', '9'.repeat(310), '1.5e999']) {
    assert.equal(scanMembers(`{"x":[{"y":${number}}]}`, 0, wanted).hasHugeNumber, true, number)
  }
  for (const number of ['1e308', '1e-400', '-1.5E+10', '9'.repeat(308), '0']) {
    assert.equal(scanMembers(`{"x":${number}}`, 0, wanted).hasHugeNumber, false, number)
  }
  assert.equal(scanMembers('{"x":"1e999"}', 0, wanted).hasHugeNumber, false)
})

test('agrees with JSON.parse on every object', () => {
  const key = fc.constantFrom('a', 'b', 'c', '"', '\\', 'a\\"b')
  fc.assert(
    fc.property(fc.dictionary(key, fc.jsonValue()), fc.constantFrom(0, 1, 3), (value, indent) => {
      const text = Buffer.from(JSON.stringify(value, undefined, indent)).toString('latin1')
      const { spans, duplicate } = scanMembers(text, 0, wanted)
      assert.equal(duplicate, undefined)
      for (const name of wanted) {
        const span = spans.get(name)
        assert.equal(span !== undefined, Object.hasOwn(value, name))
        if (span === undefined) continue
        const member: unknown = JSON.parse(
          Buffer.from(text.slice(span.start, span.end), 'latin1').toString(),
        )
        assert.equal(JSON.stringify(member), JSON.stringify(value[name]))
      }
    }),
  )
})

test('never throws and always ends on random text', () => {
  const junk = fc.array(fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', 'a', '1e', ' '))
  fc.assert(fc.property(junk, (parts) => void scanMembers(parts.join(''), 0, wanted)))
})

test('finds the end of a string after any run of backslashes', () => {
  assert.equal(plainStringEnd('abc"', 0), 3)
  assert.equal(plainStringEnd('\\"x"', 0), 3)
  assert.equal(plainStringEnd('\\\\"x"', 0), 2)
  assert.equal(plainStringEnd('x\\\\\\"', 1), -1)
  assert.equal(plainStringEnd('', 0), -1)
})
