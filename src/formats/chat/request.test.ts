import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { messagesCreate } from '../messages/index.ts'
import { chatCompletions } from './index.ts'

function amended(text: string, upstreamModel?: string): string {
  const body = Buffer.from(text)
  const options = { requireMaxTokens: false }
  const facts = chatCompletions.readRequest(body, options)
  if ('kind' in facts) assert.fail(facts.message)
  return chatCompletions.amend(body, facts, upstreamModel).toString()
}

const tail = '"model" : "m", "stream":true,"messages":[ 1.50, 1e2, "\\u0041é" ]}'

describe('requesting the usage chunk', () => {
  const cases: readonly [string, string, string][] = [
    ['no options', `{${tail}`, `{"stream_options":{"include_usage":true},${tail}`],
    [
      'null',
      `{"stream_options": null ,${tail}`,
      `{"stream_options": {"include_usage":true} ,${tail}`,
    ],
    [
      'an empty object',
      `{"stream_options":{ },${tail}`,
      `{"stream_options":{"include_usage":true },${tail}`,
    ],
    [
      'other options',
      `{"stream_options":{ "include_obfuscation":false},${tail}`,
      `{"stream_options":{"include_usage":true, "include_obfuscation":false},${tail}`,
    ],
    [
      'false',
      `{"stream_options":{"x":[1],"include_usage" : false },${tail}`,
      `{"stream_options":{"x":[1],"include_usage" : true },${tail}`,
    ],
    [
      'null within, under an escaped name',
      `{"stream_options":{"include_us\\u0061ge":null},${tail}`,
      `{"stream_options":{"include_us\\u0061ge":true},${tail}`,
    ],
  ]
  for (const [name, before, after] of cases) {
    test(`with ${name}`, () => {
      assert.equal(amended(before), after)
      JSON.parse(after)
    })
  }

  test('leaves a body unchanged that requests it already, or does not stream', () => {
    for (const text of [
      `{"stream_options":{"include_usage":true},${tail}`,
      `{${tail}`.replace('true', 'false'),
      `{"stream_options":{"include_usage":false},${tail}`.replace(':true,"m', ':false,"m'),
    ]) {
      const body = Buffer.from(text)
      const options = { requireMaxTokens: false }
      const facts = chatCompletions.readRequest(body, options)
      if ('kind' in facts) assert.fail(facts.message)
      assert.equal(chatCompletions.amend(body, facts, undefined), body)
      assert.equal(chatCompletions.amend(body, facts, 'm'), body)
    }
  })
})

describe('naming the model as the channel knows it', () => {
  test('replaces that one string', () => {
    const text = '{"stream":false, "model" : "m" ,"messages":["m"]}'
    assert.equal(amended(text, 'a "b"'), text.replace('"m" ,', '"a \\"b\\"" ,'))
  })

  test('works together with the usage chunk, in either order', () => {
    const first = '{"model":"m","stream":true,"stream_options":null,"messages":[1]}'
    const options = '{"include_usage":true}'
    assert.equal(amended(first, 'x'), first.replace('"m"', '"x"').replace('null', options))
    const last = '{"stream_options":null,"stream":true,"messages":[1],"model":"m"}'
    assert.equal(amended(last, 'x'), last.replace('"m"', '"x"').replace('null', options))
  })

  test('is the only edit of the messages format', () => {
    const body = Buffer.from('{"model":"m","stream":true,"max_tokens":5,"messages":["é"]}')
    const options = { requireMaxTokens: true }
    const facts = messagesCreate.readRequest(body, options)
    if ('kind' in facts) assert.fail(facts.message)
    assert.equal(messagesCreate.amend(body, facts, undefined), body)
    assert.equal(messagesCreate.amend(body, facts, 'm'), body)
    const renamed = messagesCreate.amend(body, facts, 'größe').toString()
    assert.equal(renamed, body.toString().replace('"m"', '"größe"'))
  })
})

test('changes the meaning of nothing else in random bodies', () => {
  const streamOptions = fc.option(
    fc.record(
      {
        include_usage: fc.option(fc.boolean()),
        include_obfuscation: fc.boolean(),
        x: fc.jsonValue(),
      },
      { requiredKeys: [] },
    ),
  )
  const fields = fc.record(
    {
      stream_options: streamOptions,
      metadata: fc.jsonValue(),
      user: fc.string({ unit: 'binary' }),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(
      fields,
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(0, 2),
      (extra, model, indent) => {
        const body = { ...extra, model: 'm', stream: true, messages: [1] }
        const result: unknown = JSON.parse(amended(JSON.stringify(body, undefined, indent), model))
        const options = { ...extra.stream_options, include_usage: true }
        const expected = { ...body, model, stream_options: options }
        assert.deepEqual(result, JSON.parse(JSON.stringify(expected)))
      },
    ),
  )
})
