/** What is extracted of a JSON text in parts, compared with what JSON.parse reads of all of it. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { asArray, asObject } from './json.ts'
import { JsonExtract, keptTextBytesMax, LongText } from './json-extract.ts'

const wanted = new Set(['a', 'b', 'é'])

function extract(bytes: Buffer, cuts: readonly number[]): unknown {
  const extracted = new JsonExtract(wanted, 'a')
  let at = 0
  for (let turn = 0; at < bytes.length; turn++) {
    const end = Math.min(bytes.length, at + (cuts[turn % cuts.length] ?? 1))
    extracted.push(bytes, at, end)
    at = end
  }
  return extracted.end()
}

/** The same by the rules that `json-extract.ts` states. */
function kept(value: unknown, name?: string): unknown {
  const elements = asArray(value)
  if (elements !== undefined)
    return elements
      .filter((element) => typeof element === 'object' && element !== null)
      .map((element) => kept(element))
  const fields = asObject(value)
  if (fields !== undefined) {
    const members = Object.entries(fields).filter(([name]) => wanted.has(name))
    return Object.fromEntries(members.map(([name, member]) => [name, kept(member, name)]))
  }
  if (typeof value !== 'string') return value
  const written = JSON.stringify(value).slice(1, -1)
  if (Buffer.byteLength(written) <= keptTextBytesMax) return value
  const id = name !== 'a' || written.includes('\\') ? undefined : hash('sha256', value, 'base64url')
  return new LongText(Buffer.byteLength(written), id)
}

const name = fc.constantFrom('a', 'b', 'é', 'x', '"', 'a\\', '__proto__')
const longText = fc
  .tuple(fc.constantFrom('x', 'é', '👋', 'a"', '\\'), fc.integer({ min: 250, max: 1_100 }))
  .map(([unit, count]) => unit.repeat(count))
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, false, 0, -1.5e-7, 1e21, '', 'a', 'é"\\/\n\u0000{}[],:'),
    longText,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(name, tie('json'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

test('extracts of any object, in any parts, what is wanted of it', () => {
  const object = fc.dictionary(name, json, { maxKeys: 5, noNullPrototype: true })
  const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(object, fc.constantFrom(0, 1), sizes, (value, indent, cuts) => {
      const bytes = Buffer.from(`${JSON.stringify(value, undefined, indent)}\n\n`)
      assert.deepEqual(extract(bytes, cuts), kept(value))
    }),
  )
})

test('reads nothing of a text that ends too early, or that is no object', () => {
  for (const text of [
    '',
    '{',
    '{"a":1',
    '{"a":"b',
    '{"a":[{}',
    '1',
    '"a"',
    '{}}',
    '{}{}',
    '{"a":x}',
  ])
    assert.equal(extract(Buffer.from(text), [1]), undefined, text)
})

test('keeps neither long texts nor more elements than an answer has', () => {
  const texts = Buffer.from(`{"a":[${`{"a":"${'x'.repeat(10_000)}"},`.repeat(500)}{}]}`)
  const { a } = extract(texts, [65_536]) as { a: { a: LongText }[] }
  assert.equal(a.length, 501)
  assert.deepEqual(a[7]?.a, new LongText(10_000, hash('sha256', 'x'.repeat(10_000), 'base64url')))
  const many = Buffer.from(`{"a":[${'{},'.repeat(200_000)}{}],"b":7}`)
  const extracted = extract(many, [65_536]) as { a: object[]; b: number }
  assert.deepEqual([extracted.a.length, extracted.b], [50_000, 7])
  assert.equal(extract(Buffer.from('['.repeat(2_000)), [100]), undefined)
})
