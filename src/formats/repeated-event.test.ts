/**
 * Events that repeat the one before are read by their bytes. Goal: a stream gives the same reading as one in
 * which a comment stands between all events, so that none repeats another, and every event is parsed.
 */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { cutAt, fuzzRuns, places } from '../../test/support/pieces.ts'
import { plainFacts } from '../../test/transcripts/replay.ts'
import type { StreamMeter } from './answer.ts'
import { chatCompletions } from './chat/index.ts'
import { messagesCreate } from './messages/index.ts'
import { responsesCreate } from './responses/index.ts'

const operations = { messages: messagesCreate, chat: chatCompletions, responses: responsesCreate }
type Name = keyof typeof operations

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const named = (type: string, rest: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`

/** An event of the format with this piece of output. */
const plain: Readonly<Record<Name, (text: string, number: number) => string>> = {
  messages: (text, number) =>
    named('content_block_delta', {
      index: number % 2,
      delta: { type: 'text_delta', text },
    }).replace('}}', `}${' '.repeat(number % 5)}}`),
  chat: (content, number) =>
    data({
      model: 'm',
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
      obfuscation: 'x'.repeat(number % 7),
    }),
  responses: (delta, number) =>
    named('response.output_text.delta', { sequence_number: number, output_index: 0, delta }),
}

const callOf: Readonly<Record<Name, (text: string) => string>> = {
  messages: (text) =>
    named('content_block_delta', {
      index: 1,
      delta: { type: 'input_json_delta', partial_json: text },
    }),
  chat: (text) =>
    data({
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: text } }] } }],
    }),
  responses: (delta) => named('response.function_call_arguments.delta', { output_index: 1, delta }),
}

const others: readonly string[] = [
  ': comment\n\n',
  named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }),
  named('message_stop', {}),
  named('ping', {}),
  data({ model: 'other', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  data({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } }),
  data({ choices: [{ index: 0, delta: { content: 'a', audio: { data: 'QUJD' } } }] }),
  data({ choices: [{ index: 0, delta: { content: 'a' } }], usage: { completion_tokens: 9 } }),
  'data: [DONE]\n\n',
  named('response.completed', { response: { output: [], usage: { output_tokens: 2 } } }),
  named('error', { error: { message: 'no' } }),
  'data: {"choices":[{"delta":{"content":"cut\n\n',
]

const texts = fc.oneof(
  fc.constantFrom('a', ' word', '', ':', ',', '{"a":', '\\', '"', 'ö', '\u{1f600}', '\ufffd', '0'),
  fc.string({ unit: 'binary', maxLength: 8 }),
)

/** Some of them twice in a row. */
function framesOf(name: Name): fc.Arbitrary<readonly string[]> {
  const frame = fc.oneof(
    { weight: 6, arbitrary: fc.tuple(texts, fc.nat(20)).map((made) => plain[name](...made)) },
    { weight: 2, arbitrary: texts.map(callOf[name]) },
    { weight: 2, arbitrary: fc.constantFrom(...others) },
  )
  const frames = fc.tuple(frame, fc.integer({ min: 1, max: 2 }))
  return fc
    .array(frames, { maxLength: 20 })
    .map((all) => all.flatMap(([one, times]) => Array.from({ length: times }, () => one)))
}

/** Feeds a meter as an attempt does, and returns its result. */
function feed(meter: StreamMeter, pieces: readonly Buffer[]): object {
  const passed: Buffer[] = []
  for (const piece of pieces) {
    const at = meter.passRepeats(piece, 0, piece.length)
    passed.push(piece.subarray(0, at))
    if (at < piece.length) passed.push(...meter.push(piece.subarray(at)))
  }
  passed.push(...meter.end(true), ...meter.held)
  const { output, ...reading } = meter.reading()
  const { text, bytes, audioBytes } = output
  const { eventCount, error, hasStarted, isTerminated } = meter
  const read = { ...reading, text, bytes, audioBytes, eventCount, error, hasStarted, isTerminated }
  return { read, passed: Buffer.concat(passed).toString('latin1').replaceAll(': between\n\n', '') }
}

describe('events that repeat the one before', () => {
  for (const name of ['messages', 'chat', 'responses'] as const) {
    const open = (): StreamMeter => operations[name].openMeter({ ...plainFacts, isStream: true })

    test(`are read as when each is parsed, in ${name}`, () => {
      fc.assert(
        fc.property(framesOf(name), places(2_000), (frames, cuts) => {
          const parsed = frames.map((frame) => Buffer.from(`${frame}: between\n\n`))
          const expected = feed(open(), parsed)
          assert.deepEqual(
            feed(
              open(),
              frames.map((frame) => Buffer.from(frame)),
            ),
            expected,
          )
          assert.deepEqual(feed(open(), cutAt(Buffer.from(frames.join('')), cuts)), expected)
        }),
        { numRuns: fuzzRuns },
      )
    })

    test(`pass without a parse and without a copy, in ${name}`, (context: TestContext) => {
      const meter = open()
      meter.push(Buffer.from(plain[name]('Oh. ', 2)))
      const parse = context.mock.method(JSON, 'parse')
      const two = Buffer.from(`..${plain[name]('one', 4)}${plain[name]('two', 16)}..`)
      const behindTwo = two.length - 2
      assert.equal(meter.passRepeats(two, 2, behindTwo), behindTwo)
      assert.equal(meter.passRepeats(two, 2, two.length), behindTwo)
      assert.equal(meter.passRepeats(two, 0, two.length), 0)
      const behindOne = two.indexOf('\n\n') + 2
      assert.equal(meter.passRepeats(two, 2, behindTwo - 1), behindOne)
      assert.equal(meter.reading().output.text, 'Oh. onetwoonetwoone')
      assert.deepEqual([parse.mock.callCount(), meter.eventCount], [0, 6])
    })
  }

  test('are not sought where their text stands twice in the event', () => {
    const meter = chatCompletions.openMeter(plainFacts)
    const twice = (text: string, id: string): Buffer =>
      Buffer.from(data({ id, choices: [{ index: 0, delta: { content: text } }] }))
    meter.push(twice('same', 'same'))
    meter.push(twice('same', 'other'))
    assert.equal(meter.reading().output.text, 'samesame')
  })
})
