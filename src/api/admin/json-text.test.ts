import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseJsonObject } from './json-text.ts'

function parse(text: string) {
  return parseJsonObject(Buffer.from(text))
}

function refusalOf(text: string): string {
  const parsed = parse(text)
  return parsed.kind === 'refusal' ? `${parsed.code}: ${parsed.message}` : 'accepted'
}

test('reads what JSON.parse reads', () => {
  const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 4 }))
  fc.assert(
    fc.property(object, fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent)
      assert.deepEqual(parse(text), { kind: 'body', value: JSON.parse(text) as unknown })
    }),
  )
})

test('a name that stands twice in one object is refused, however it is written', () => {
  for (const text of [
    '{"a":1,"a":2}',
    String.raw`{"a":1,"\u0061":2}`,
    String.raw`{"a\"":{},"x":[{"b":1,"c":":","b":2}]}`,
    String.raw`{"a\\":1,"a\\":2}`,
  ])
    assert.match(refusalOf(text), /^operations\.invalid: The name "\S+" stands twice/, text)
  for (const text of ['{"a":{"a":{"a":1}}}', '{"a":[{"b":1},{"b":2}],"b":"{\\"a\\":1,"}'])
    assert.equal(refusalOf(text), 'accepted', text)
})

test('only an object of few levels is accepted', () => {
  const nested = (levels: number): string =>
    `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  assert.equal(refusalOf(nested(32)), 'accepted')
  for (const text of [nested(33), nested(100_000), '['.repeat(1_000_000), '{"a":'.repeat(100_000)])
    assert.equal(refusalOf(text), 'operations.invalid: The body may have at most 32 levels.')
  for (const text of ['[]', '1', 'null', '"a"'])
    assert.equal(refusalOf(text), 'operations.invalid: The body must be a JSON object.')
})

test('a text that is not JSON in UTF-8 is malformed', () => {
  const malformed = 'http.malformed: The body is not valid JSON in UTF-8.'
  for (const text of ['', '{', '}', ':', '{"a":1', '{"a', '{"a":"\\', '{:1}', '{"a" 1}', '{a:1}'])
    assert.equal(refusalOf(text), malformed, text)
  const parsed = parseJsonObject(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]))
  assert.equal(parsed.kind === 'refusal' ? parsed.code : '', 'http.malformed')
})
