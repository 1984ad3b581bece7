/** What is kept of a vendor's error: its own words, and nothing that a client may have written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { reasonOf } from './vendor-reason.ts'

const unknown = { type: undefined, code: undefined, message: undefined }

function paramOf(param: string): string | null {
  return reasonOf({ ...unknown, type: 'x', param })?.param ?? null
}

test('keeps type, code and parameter, never the message', () => {
  const error = {
    type: 'invalid_request_error',
    code: 'unsupported_value',
    param: 'messages[0].content[1].image_url.url',
    message: 'secret',
  }
  const { message, ...kept } = error
  assert.deepEqual(reasonOf(error), kept)
  assert.equal(reasonOf({ ...unknown, message }), undefined)
})

test('cuts a parameter at the first segment that is no field of the format', () => {
  const cases: readonly (readonly [string, string | null])[] = [
    ['temperature', 'temperature'],
    ['messages.0.content', 'messages.0.content'],
    [
      'messages[12].tool_calls[0].function.arguments',
      'messages[12].tool_calls[0].function.arguments',
    ],
    ['tools[0].function.parameters.properties.patient_name', 'tools[0].function.parameters'],
    ['tools.0.input_schema.name', 'tools.0.input_schema'],
    ['response_format.json_schema.schema.text', 'response_format.json_schema.schema'],
    ['metadata.name', 'metadata'],
    ["messages[0]['my key'].content", null],
    ['messages[0].my key', 'messages[0]'],
    ['my_secret.messages', null],
    ['0', null],
    ['', null],
    [`messages${'[0]'.repeat(30)}`, null],
  ]
  for (const [param, kept] of cases) assert.equal(paramOf(param), kept, param)
})

test('keeps no word with a space, a sign or a letter beyond ASCII, and none above 64 characters', () => {
  for (const word of ['Bad Request', 'a b', 'a/b', 'ä', '', 'x'.repeat(65), 'a\n', '"x"'])
    assert.equal(reasonOf({ ...unknown, type: 'ok', code: word })?.code, null, word)
  assert.equal(reasonOf({ ...unknown, code: 'word_'.repeat(12) })?.code?.length, 60)
  assert.equal(reasonOf({ ...unknown, code: 'word_'.repeat(13) }), undefined)
  assert.equal(reasonOf({ ...unknown, code: '400' })?.code, '400')
})

test('keeps no word that may be a secret, an account or an id', () => {
  const words = [
    `sk-ant-api03-${'aB3'.repeat(8)}`,
    'sk-short1',
    `cr_${'x7Q'.repeat(12)}`,
    ['AKIA', 'IOSFODNN7EXAMPLE'].join(''),
    'org-abcdefgh1234',
    'proj_abcdefgh',
    '5b1d8a4e-0c3f-4c7e-9f1a-2b3c4d5e6f70',
    'd41d8cd98f00b204e9800998ecf8427e',
    'file.ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJ',
  ]
  for (const word of words) {
    assert.equal(reasonOf({ ...unknown, type: 'ok', code: word })?.code, null, word)
    assert.equal(reasonOf({ ...unknown, type: word }), undefined, word)
  }
  const own = ['context_length_exceeded', 'DataInspectionFailed', 'InvalidParameter.Model', '1210']
  for (const word of own) assert.equal(reasonOf({ ...unknown, code: word })?.code, word)
})

test('shows nothing of a segment that a client may have named, wherever it stands', () => {
  const segment = fc.string({ unit: 'grapheme', maxLength: 20 })
  const field = fc.constantFrom('messages', 'tools[3]', 'function', '7', 'metadata', 'content[0]')
  fc.assert(
    fc.property(fc.array(fc.oneof(field, segment), { maxLength: 6 }), (segments) => {
      const kept = paramOf(segments.join('.'))
      if (kept === null) return
      assert.match(kept, /^[\w.[\]-]{1,64}$/)
      assert.ok(segments.join('.').startsWith(kept))
      for (const part of kept.split('.'))
        assert.equal(paramOf(`messages.${part}`), `messages.${part}`)
    }),
  )
})
