/** What is extracted of a JSON text in parts, compared with what JSON.parse reads of all of it. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { asArray, asObject, type WantedJson } from './json.ts'
import { JsonExtract } from './json-extract.ts'
import { LongText } from './long-text.ts'

const textBytesMax = 1_000
const wanted: WantedJson = { names: new Set(['a', 'b', 'é']), hashed: 'a', textBytesMax }

function extract(bytes: Buffer, cuts: readonly number[]): unknown {
  const extracted = new JsonExtract(wanted)
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
  if (elements !== undefined) return elements.map((element) => kept(element))
  const fields = asObject(value)
  if (fields !== undefined) {
    const members = Object.entries(fields).filter(([name]) => wanted.names.has(name))
    return Object.fromEntries(members.map(([name, member]) => [name, kept(member, name)]))
  }
  if (typeof value !== 'string') return value
  const bytes = Buffer.byteLength(value)
  if (bytes <= textBytesMax) return value
  return {
    bytes,
    ...(name === 'a' && { id: hash('sha256', value, 'base64url') }),
    isBeginning: true,
  }
}

/** The same of what was extracted. */
function shown(value: unknown, whole: unknown): unknown {
  if (value instanceof LongText) {
    const { bytes, text, id } = value
    const isBeginning = typeof whole === 'string' && whole.startsWith(text)
    assert.ok(Buffer.byteLength(text) >= textBytesMax)
    return { bytes, ...(id !== undefined && { id }), isBeginning }
  }
  const elements = asArray(value)
  if (elements !== undefined) return elements.map((one, at) => shown(one, asArray(whole)?.[at]))
  const fields = asObject(value)
  if (fields === undefined) return value
  const members = Object.entries(fields)
  return Object.fromEntries(
    members.map(([name, one]) => [name, shown(one, asObject(whole)?.[name])]),
  )
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
      assert.deepEqual(shown(extract(bytes, cuts), value), kept(value))
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
  const long = a[7]?.a
  assert.deepEqual(
    [long?.bytes, long?.id],
    [10_000, hash('sha256', 'x'.repeat(10_000), 'base64url')],
  )
  const many = Buffer.from(`{"a":[${'{},'.repeat(200_000)}{}],"b":7}`)
  const extracted = extract(many, [65_536]) as { a: object[]; b: number }
  assert.deepEqual([extracted.a.length, extracted.b], [10_000, 7])
  assert.equal(extract(Buffer.from('['.repeat(2_000)), [100]), undefined)
})
