/** What is read of a JSON body, compared with what JSON.parse reads. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { findField } from './field-names.ts'
import { asArray, asObject, asText } from './json.ts'
import {
  elementsMax,
  nestingDepthMax,
  readJson,
  TextLength,
  type JsonReading,
  type Wanted,
} from './json-reader.ts'
import { TooManySteps } from './json-tokens.ts'

const wanted: Wanted = { fields: new Set(['model', 'n']), longLifetime: '1h' }

function read(text: string, names = wanted): JsonReading {
  const bytes = Buffer.from(text)
  return readJson(bytes, bytes.toString('latin1'), names)
}

function mustRead(text: string, names = wanted): Extract<JsonReading, { kind: 'value' }> {
  const reading = read(text, names)
  if (reading.kind !== 'value') assert.fail(`${text}: ${JSON.stringify(reading)}`)
  return reading
}

test('gives the span of each wanted value, without the space around it', () => {
  const text = ' { "x" : [1, {"model": 2}], "model" :  "v,}" , "n":\t{"c":[]} }'
  const { spans, firstMember } = mustRead(text).members
  const texts = [...spans].map(([name, { start, end }]) => [name, text.slice(start, end)])
  assert.deepEqual(texts, [
    ['model', '"v,}"'],
    ['n', '{"c":[]}'],
  ])
  assert.equal(firstMember, 2)
})

test('finds a second member of the same name in any spelling', () => {
  const duplicate = (text: string): string | undefined => mustRead(text).members.duplicate
  assert.equal(duplicate('{"n":1,"model":2,"\\u006e":3}'), 'n')
  assert.equal(duplicate('{"n":1,"x":{"n":2},"model":[{"model":1}]}'), undefined)
  assert.equal(duplicate('{"x":1,"x":2}'), undefined)
})

test('finds a name in another letter case in any spelling, and U+0000 in a name', () => {
  const names = { fields: new Set(['system', 'n', 'tokens_k', 'thinking']) }
  const otherCase = (name: string): string | undefined =>
    mustRead(`{"x":{"${name}":1},"n":2,"${name}":3}`, names).members.otherCase
  for (const name of ['SYSTEM', 'System', '\u017fy\u017ftem', 'sy\\u017ftem', '\\u0053ystem'])
    assert.equal(otherCase(name), 'system', name)
  assert.equal(otherCase('Thin\u212aing'), 'thinking')
  assert.equal(otherCase('thin\\u212Aing'), 'thinking')
  const others = [
    'system',
    '\\u0073ystem',
    'SYSTEMS',
    'S_YSTEM',
    ' System',
    'SYSTÉM',
    '\\n0053ystem',
  ]
  for (const name of others) assert.equal(otherCase(name), undefined, name)
  assert.equal(otherCase('\\u00c5\\u00bfystem'), undefined)
  const hasNulName = (name: string): boolean => mustRead(`{"${name}":"\\u0000"}`).members.hasNulName
  assert.equal(hasNulName(`model\\u0000${'x'.repeat(300)}`), true)
  assert.equal(hasNulName('model\\u00001'), true)
  assert.equal(hasNulName('model\\u00010'), false)
})

test('bounds the depth', () => {
  const nested = (depth: number): string =>
    '{"a":' + '['.repeat(depth - 1) + ']'.repeat(depth - 1) + '}'
  assert.equal(read(nested(nestingDepthMax)).kind, 'value')
  assert.equal(read(nested(nestingDepthMax + 1)).kind, 'too_deep')
  assert.equal(read(`{"a":"${'['.repeat(1000)}"}`).kind, 'value')
})

test('reads so many elements that say something, and no more', () => {
  const blocks = (count: number): string =>
    `{"messages":[{"content":[${Array.from({ length: count }, () => '{"text":"a"}').join()}]}]}`
  assert.equal(read(blocks(elementsMax - 1)).kind, 'value')
  assert.equal(read(blocks(elementsMax)).kind, 'too_many_elements')
})

test('finds numbers that overflow at any place', () => {
  for (const number of ['1e309', '-1E+400', '9'.repeat(310), '1.5e999', '1e0309', '12e308'])
    for (const text of [`{"x":[{"y":${number}}]}`, `{"n":${number}}`])
      assert.equal(mustRead(text).hasHugeNumber, true, text)
  for (const number of ['1e308', '1e-400', '-1.5E+10', '9'.repeat(308), '0', '0e999', '0.1e309'])
    assert.equal(mustRead(`{"x":${number},"n":${number}}`).hasHugeNumber, false, number)
  assert.equal(mustRead('{"x":"1e999"}').hasHugeNumber, false)
})

const isFieldName = (name: string): boolean => findField(name) !== undefined

/** What is left of a parsed value, by the rules that `json-reader.ts` states. */
function kept(value: unknown, isNameList = false): unknown {
  const elements = asArray(value)
  if (elements !== undefined) {
    const isText = (element: unknown): boolean => typeof element === 'string' && !isNameList
    const saying = elements.filter((element) => !isText(element) && says(element, isNameList))
    const texts = elements.filter(isText).join('')
    const all = saying.map((element) => kept(element, isNameList))
    if (texts !== '') all.push(new TextLength(texts.length))
    return elements.length > 0 && all.length === 0 ? [null] : all
  }
  const fields = asObject(value)
  if (fields === undefined) return value
  const members = Object.entries(fields).filter(([name]) => isFieldName(name))
  return Object.fromEntries(
    members.map(([name, member]) => [name, kept(member, name === 'models')]),
  )
}

function says(value: unknown, isNameList: boolean): boolean {
  if (typeof value === 'string') return isNameList || value !== ''
  const elements = asArray(value)
  if (elements !== undefined) return elements.some((element) => says(element, isNameList))
  return Object.keys(asObject(value) ?? {}).some(isFieldName)
}

const name = fc.constantFrom(
  'model',
  'models',
  'content',
  'type',
  'x',
  'é',
  '"',
  '\\',
  'a\\"b',
  '__proto__',
)
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, false, 0, -1.5e-7, 1e21, '', 'a', 'é"\\/\n\u0000\ud800', 'input'),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(name, tie('json'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

test('keeps of every value what the rules read, as JSON.parse reads it', () => {
  fc.assert(
    fc.property(json, fc.constantFrom(0, 1, 3), (value, indent) => {
      for (const padding of ['', ' '.repeat(600)]) {
        const bytes = Buffer.from(JSON.stringify(value, undefined, indent) + padding)
        const text = bytes.toString('latin1')
        const reading = readJson(bytes, text, wanted)
        assert.ok(reading.kind === 'value')
        assert.deepEqual(reading.value, kept(JSON.parse(text)))
      }
    }),
  )
})

test('decides on random text what is JSON exactly as JSON.parse', () => {
  const part = fc.constantFrom(
    ...'"\\{}[]:,-+.019eEu \t\n\u0001'.split(''),
    'true',
    'null',
    '"a"',
    '\\u00e9',
    '1e5',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join('')
      let isJson = true
      try {
        JSON.parse(text)
      } catch {
        // Not being JSON is the outcome looked for.
        isJson = false
      }
      // A longer text is scanned in another way.
      for (const padding of ['', ' '.repeat(600)]) {
        const reading = read(text + padding)
        assert.equal(reading.kind === 'value', isJson, text)
        if (reading.kind === 'invalid') assert.ok(reading.at <= text.length + padding.length)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('reads long and short strings as JSON.parse, and finds what ends them too early', () => {
  const open = '{"model":"'
  const controls = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code))
  for (let length = 0; length < 70; length++) {
    const run = 'x'.repeat(length)
    for (const rest of ['', '\\n', '\\"', `\\\\${run}`, `\\u00e9${run}`, '\x7f']) {
      const text = `${open}${run}${rest}"}`
      assert.deepEqual(mustRead(text).value, JSON.parse(text), text)
    }
    for (const wrong of ['', ...controls.map((control) => `${control}"}`)])
      assert.deepEqual(read(`${open}${run}${wrong}`), {
        kind: 'invalid',
        at: open.length + length,
      })
    const at = open.length + length + 1
    assert.deepEqual(read(`${open}${run}\\x"}`), { kind: 'invalid', at })
  }
})

test('of a long text with escapes as much is right as rules read', () => {
  const part = fc.constantFrom(
    'a',
    'é',
    '\\',
    '"',
    '\n',
    '/',
    '\u0001',
    '\ud83d\ude00',
    'x'.repeat(400),
  )
  const text = fc.array(part, { maxLength: 40 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, text, fc.boolean(), (first, last, slashes) => {
      const whole = `${first}${'y'.repeat(600)}${last}`
      const json = JSON.stringify({
        url: whole,
        text: whole,
        encrypted_content: whole,
        content: [{ text: first }],
      })
      const bytes = Buffer.from(slashes ? json.replaceAll('/', '\\/') : json)
      const latin1 = bytes.toString('latin1')
      const exact = asObject(JSON.parse(latin1)) ?? {}
      const reading = readJson(bytes, latin1, wanted)
      assert.ok(reading.kind === 'value')
      const kept = asObject(reading.value) ?? {}
      const given = String(exact['url'])
      for (const name of ['url', 'text', 'encrypted_content'])
        assert.equal(asText(kept[name])?.length, given.length, name)
      assert.equal(asText(kept['url'])?.slice(0, 500), given.slice(0, 500))
      assert.equal(kept['encrypted_content'], given)
    }),
  )
})

test('finds a member that asks for a cache write, at any place and in any spelling', () => {
  const spelled = (word: string): fc.Arbitrary<string> =>
    fc
      .array(fc.boolean(), { minLength: word.length, maxLength: word.length })
      .map((isEscaped) =>
        word.replace(/./g, (letter, at: number) =>
          isEscaped[at] === true ? `\\u00${letter.charCodeAt(0).toString(16)}` : letter,
        ),
      )
  const word = fc.constantFrom('cache_control', 'ttl', 'cache_kontrol', 'TTL').chain(spelled)
  const value = fc.constantFrom('{}', '{"x":1}', '[]', 'null', '"5m"').map((text) => [text])
  const lifetime = fc.constantFrom('1h', '12h').chain(spelled)
  const values = fc.oneof(
    value,
    lifetime.map((text) => [`"${text}"`]),
  )
  fc.assert(
    fc.property(word, values, fc.constantFrom('x', 'messages'), (name, [text = ''], outer) => {
      const json = `{"${outer}" :[{"a\\n":"\\"ttl\\":\\"1h\\"", "${name}" : ${text}}]}`
      const decoded: unknown = JSON.parse(`"${name}"`)
      const given: unknown = JSON.parse(text)
      const isShort = decoded === 'cache_control' && asObject(given) !== undefined
      const isLong = decoded === 'ttl' && given === '1h'
      const expected = isLong ? 'long' : isShort ? 'short' : undefined
      assert.equal(mustRead(json).members.cacheWrite, expected, json)
    }),
    { numRuns: 500 },
  )
})

test('stops where more steps are needed than it may take, and else reads the same', () => {
  const shapes: readonly [string, string, number][] = [
    ['[1]', '1', 4],
    ['[{"text":"a"}]', '{"text":"a"}', 8],
    ['"a"', '\\u00e9', 1],
    ['"a"', '\\n', 0],
  ]
  for (const [form, piece, steps] of shapes) {
    const isText = form === '"a"'
    const inner = Array.from({ length: 1_000 }, () => piece).join(isText ? '' : ',')
    const bytes = Buffer.from(`{"messages":${isText ? `"${inner}"` : `[${inner}]`}}`)
    const text = bytes.toString('latin1')
    const needed = 8 + 1_000 * steps
    assert.deepEqual(readJson(bytes, text, wanted, needed), readJson(bytes, text, wanted))
    assert.throws(() => readJson(bytes, text, wanted, needed - 1), TooManySteps, form)
  }
})

test('counts the text of a container of which only the length counts', () => {
  const { value } = mustRead(
    '{"content":[{"input": {"any" : [1, {}, null, true, "a\\u00e9\\n"]}},{"input":"text"}]}',
  )
  const content = [{ input: new TextLength(3 + 1 + 4 + 3) }, { input: 'text' }]
  assert.deepEqual(value, { content })
})

test('no rule uses a name that is not kept', () => {
  const requests = ['messages/request.ts', 'chat/request.ts', 'responses/request.ts']
  const sources = ['fields.ts', 'peek.ts', ...requests, 'responses/state.ts']
  const used = sources.flatMap((file) => {
    const source = readFileSync(new URL(file, import.meta.url), 'utf8')
    return [...source.matchAll(/\['(\w+)'\]/g)].map((match) => match[1] ?? '')
  })
  assert.ok(used.length > 40)
  const noField = new Set(['kind'])
  assert.deepEqual(
    used.filter((one) => !isFieldName(one) && !noField.has(one)),
    [],
  )
})
