/** What is read of requests for embeddings and of their answers, whatever the size of these. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import type { AnswerReading, MeterReading } from '../answer.ts'
import type { RequestFacts } from '../format.ts'
import { parseJson } from '../json.ts'
import { embeddings } from './index.ts'
import { edgesOf } from '../answer-edges.ts'
import { readEmbeddings, readEmbeddingsEdges } from './answer.ts'

const options = { requireMaxTokens: true }

function factsOf(fields: object): RequestFacts {
  const facts = embeddings.readRequest(Buffer.from(JSON.stringify(fields)), options)
  assert.ok(!('kind' in facts), JSON.stringify(facts))
  return facts
}

function faultOf(fields: object): string {
  const facts = embeddings.readRequest(Buffer.from(JSON.stringify(fields)), options)
  assert.ok('kind' in facts)
  return facts.message
}

describe('a request for embeddings', () => {
  test('has input and no output', () => {
    const facts = factsOf({ model: 'e', input: 'x'.repeat(420), encoding_format: 'base64' })
    assert.equal(facts.model, 'e')
    assert.equal(facts.isStream, false)
    assert.equal(facts.choiceCount, 1)
    assert.equal(facts.prompt.likely, 100)
    assert.ok(facts.prompt.most >= 2_420)
    assert.equal(factsOf({ model: 'e', input: 'x', n: 5, stream: true }).choiceCount, 1)
  })

  test('has the tokens that it names, exactly, whatever their digits', () => {
    for (const [input, count] of [
      [[1, 200_000, 3], 3],
      [[[1], [], [22, 333_333]], 3],
    ] as const) {
      const facts = factsOf({ model: 'e', input })
      assert.equal(facts.prompt.likely, count)
    }
  })

  test('estimates many texts like one', () => {
    const input = Array.from({ length: 100 }, () => 'word'.repeat(21))
    assert.equal(factsOf({ model: 'e', input }).prompt.likely, 2_000)
  })

  test('is refused without a usable input, and with too many texts', () => {
    for (const input of [undefined, null, [], 5, {}, ['a', 1], [{ image: 'x' }]])
      assert.match(faultOf({ model: 'e', input }), /^`input` is required and must be a string/)
    const many = Array.from({ length: 2_049 }, () => 'a')
    assert.equal(faultOf({ model: 'e', input: many }), '`input` has more than 2048 texts.')
    assert.equal(factsOf({ model: 'e', input: many.slice(1) }).choiceCount, 1)
    assert.match(faultOf({ input: 'a' }), /`model` is required/)
    assert.match(faultOf({ model: 'e', input: 'a', models: ['f'] }), /leave `models` out/)
    const twice = Buffer.from('{"model":"e","input":"a","input":[1]}')
    const read = embeddings.readRequest(twice, options)
    assert.match('kind' in read ? read.message : '', /`input` occurs twice/)
    const other = Buffer.from('{"model":"e","input":"a","Input":[1]}')
    assert.ok('kind' in embeddings.readRequest(other, options))
  })
})

function readingOf(body: string): MeterReading {
  return mustRead(readEmbeddings(parseJson(body)))
}

function mustRead(answer: AnswerReading | undefined): MeterReading {
  assert.ok(answer !== undefined)
  assert.ok(answer.kind === 'answer')
  return answer.reading
}

/** As JSON.parse reads it, in the terms of a reading. */
function expected(body: string): unknown {
  const { data, model, usage } = JSON.parse(body) as {
    readonly data: readonly unknown[]
    readonly model: string
    readonly usage: { readonly prompt_tokens: number }
  }
  return [data.length > 0, model, usage.prompt_tokens]
}

function shown({ hasOutput, model, usage }: MeterReading): unknown {
  return [hasOutput, model, usage?.reported.inputTokens]
}

describe('an answer with embeddings', () => {
  test('has its count, and is whole without output', () => {
    const body = { object: 'list', data: [{ embedding: [0.1] }], model: 'e-2', usage: {} }
    const reading = readingOf(JSON.stringify({ ...body, usage: { prompt_tokens: 7 } }))
    assert.deepEqual(reading.usage?.parts[0]?.counts, { input: 7, output: 0 })
    assert.equal(reading.model, 'e-2')
    assert.equal(reading.isFinal && reading.hasOutput && !reading.isRefusal, true)
    const total = readingOf(JSON.stringify({ ...body, usage: { total_tokens: 9 } }))
    assert.equal(total.usage?.reported.inputTokens, 9)
    const prompt_tokens_details = { cached_tokens: 4 }
    const cached = { ...body, usage: { prompt_tokens: 7, prompt_tokens_details } }
    const { usage } = readingOf(JSON.stringify(cached))
    assert.deepEqual(usage?.parts[0]?.counts, { input: 3, cache_read: 4, output: 0 })
    assert.equal(readingOf('{"data":[{}]}').usage, undefined)
    assert.equal(readingOf('{"data":[]}').hasOutput, false)
    assert.equal(readingOf('{"data":[{}],"usage":{"prompt_tokens":-1}}').isImplausible, true)
  })

  test('is another format where it has no list, or an error', () => {
    for (const body of ['', '[]', '{}', '{"data":{}}', '{"data":[],"error":{}}', '{"data":[]'])
      assert.equal(readEmbeddings(parseJson(body)).kind, 'not_the_format', body)
  })

  const text = fc
    .oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom('[', ']', '{', '}', '"', ',', ':', '\\', 'usage', 'data', '1'), {
        maxLength: 12,
      }),
    )
    .map((parts) => [parts].flat().join(''))
  const other = fc.dictionary(text, fc.oneof(text, fc.nat(), fc.array(text), fc.constant(null)), {
    maxKeys: 3,
  })
  const large = fc.record({
    object: fc.constantFrom('list', '"data":['),
    before: other,
    model: text.filter((name) => name !== ''),
    prompt_tokens: fc.nat(1_000_000),
    after: other,
    isUsageFirst: fc.boolean(),
    gap: fc.constantFrom('', ' ', '\n'),
    isBase64: fc.boolean(),
  })

  test('property: of a large one the edges say what JSON.parse says', () => {
    const numbers = Array.from({ length: 40_000 }, (_, index) => Math.sin(index))
    const base64 = 'QUJD'.repeat(100_000)
    fc.assert(
      fc.property(large, ({ object, before, model, prompt_tokens, after, ...form }) => {
        const vector = form.isBase64 ? base64 : numbers
        const data = [{ object: 'embedding', index: 0, embedding: vector }]
        const usage = { prompt_tokens, total_tokens: prompt_tokens }
        const own = { model, usage }
        const body = JSON.stringify(
          form.isUsageFirst
            ? { ...before, object, ...own, data, ...withoutOwn(after) }
            : { ...before, object, data, ...withoutOwn(after), ...own },
          null,
          form.gap,
        )
        const read = readEmbeddingsEdges(edgesOf([Buffer.from(body)]))
        // What the edges do not say is read from the whole.
        assert.deepEqual(
          shown(read === undefined ? readingOf(body) : mustRead(read)),
          expected(body),
        )
        const isPlainModel = !form.isUsageFirst || !model.includes('[')
        // A name that is a whole number comes first in the object, whatever its place here.
        const isBehind = Object.keys(after).every((name) => !/^\d+$/.test(name))
        const isInOrder = Object.keys(before).length === 0 && isBehind
        const isUsual = isInOrder && object === 'list' && isPlainModel
        if (isUsual) assert.ok(read !== undefined, body.slice(-200))
      }),
      { numRuns: 60 },
    )
  })

  const own = '"usage":{"prompt_tokens":8}'

  function ofEdges(beginning: string, end: string): AnswerReading | undefined {
    return readEmbeddingsEdges({ beginning: Buffer.from(beginning), end: Buffer.from(end) })
  }

  test('is read by its edges wherever these are cut and however they are spaced', () => {
    for (const beginning of ['{"data":[{', '{ "data" : [ 0.1', '{"model":"e",\n"data"\t:\n["'])
      for (const end of [`],${own}}`, `0.1] , ${own} }`, `[0.1]}],${own}}`, `]\n,\n${own}}`]) {
        const read = mustRead(ofEdges(beginning, end))
        assert.deepEqual([read.usage?.reported.inputTokens, read.hasOutput], [8, true], end)
      }
    assert.equal(mustRead(ofEdges(`{${own},"data":[{`, '{}]}')).usage?.reported.inputTokens, 8)
  })

  test('is read whole where its edges do not show its list and its end', () => {
    const end = `],${own}}`
    for (const beginning of [
      '',
      '{"data":',
      '{"data":[',
      '{"data":[]',
      '{"data":[ ]',
      '{"data":{"a":[0',
      '{"other":[0],"data":[0',
      '"data":[0',
      '["data":[0',
      '{"data" x:[0',
    ])
      assert.equal(ofEdges(beginning, end), undefined, beginning)
    const whole = `{${own},"data":[0`
    for (const cut of ['', '0', '0]0', ']', `0${own}}`, `],${own}`, `]x,${own}}`])
      assert.equal(ofEdges(whole, cut), undefined, cut)
    assert.equal(ofEdges('{"data":[0', ']}'), undefined)
  })

  test('is read whole where another field looks like its list', () => {
    const field = JSON.stringify({ '"data': [''] }).slice(1, -1)
    const vectors = Array(3_000).fill('{"embedding":[0.1]}').join(',')
    const body = `{${field},"data":[${vectors}],"usage":{"prompt_tokens":8}}`
    assert.equal(readEmbeddingsEdges(edgesOf([Buffer.from(body)])), undefined)
  })

  test('of 60 MB is read by 32 KiB of it', () => {
    const vector = Buffer.from(`{"embedding":[${Array(3_072).fill('0.012345').join(',')}]},`)
    const pieces = [
      Buffer.from('{"object":"list","data":['),
      ...Array<Buffer>(2_048).fill(vector),
      Buffer.from('{}],"model":"e","usage":{"prompt_tokens":8,"total_tokens":8}}'),
    ]
    const edges = edgesOf(pieces)
    assert.ok(edges.beginning.length + edges.end.length <= 32_768)
    assert.equal(mustRead(readEmbeddingsEdges(edges)).usage?.reported.inputTokens, 8)
  })
})

/** Members that would replace those of the answer. */
function withoutOwn(members: Readonly<Record<string, unknown>>): object {
  const own = new Set(['data', 'model', 'usage', 'object', 'error'])
  return Object.fromEntries(Object.entries(members).filter(([name]) => !own.has(name)))
}
