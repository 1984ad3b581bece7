/** What is read of requests for completions and of their answers, streamed and whole. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import type { MeterReading } from '../answer.ts'
import type { RequestFacts, RequestFault } from '../format.ts'
import { completions } from './index.ts'

function read(fields: object, requireMaxTokens = false): RequestFacts | RequestFault {
  return completions.readRequest(Buffer.from(JSON.stringify(fields)), { requireMaxTokens })
}

function factsOf(fields: object): RequestFacts {
  const facts = read(fields)
  assert.ok(!('kind' in facts), JSON.stringify(facts))
  return facts
}

function faultOf(fields: object, requireMaxTokens = false): string {
  const facts = read(fields, requireMaxTokens)
  assert.ok('kind' in facts)
  return facts.message
}

const plain = { model: 'm', prompt: 'hello' }

describe('a request for completions', () => {
  test('makes as many choices as the vendor bills: the best of, for each prompt', () => {
    const choices = (fields: object): number => factsOf({ ...plain, ...fields }).choiceCount
    assert.equal(choices({}), 1)
    assert.equal(choices({ n: 3 }), 3)
    assert.equal(choices({ n: 2, best_of: 5 }), 5)
    assert.equal(choices({ n: 5, best_of: null }), 5)
    assert.equal(choices({ prompt: ['a', 'b', 'c'], best_of: 4 }), 12)
    assert.equal(choices({ prompt: [[1, 2], [3]], n: 2 }), 4)
    assert.equal(choices({ prompt: [1, 2, 3] }), 1)
  })

  test('counts tokens of the prompt exactly, and texts as text', () => {
    assert.equal(factsOf({ ...plain, prompt: [1, 2, 333_333] }).prompt.likely, 3)
    assert.equal(factsOf({ ...plain, prompt: 'x'.repeat(42) }).prompt.likely, 10)
    const suffix = 'x'.repeat(84)
    assert.equal(factsOf({ ...plain, prompt: 'x'.repeat(42), suffix }).prompt.likely, 30)
    for (const prompt of [undefined, null])
      assert.equal(factsOf({ model: 'm', prompt }).choiceCount, 1)
  })

  test('may leave the limit out or set it to zero', () => {
    assert.deepEqual(factsOf(plain).outputLimits, {})
    assert.deepEqual(factsOf({ ...plain, max_tokens: 0, echo: true }).outputLimits, {
      max_tokens: 0,
    })
    const { asksNoOutput, echoesPrompt } = factsOf({ ...plain, max_tokens: 9, echo: true }).extras
    assert.deepEqual([asksNoOutput, echoesPrompt], [false, true])
    assert.deepEqual(factsOf({ ...plain, max_tokens: 9 }).outputLimits, { max_tokens: 9 })
    assert.match(faultOf(plain, true), /`max_tokens` is required/)
  })

  test('is refused for fields of another type, and for too many prompts', () => {
    for (const [fields, message] of [
      [{ prompt: 5 }, /`prompt` must be a string/],
      [{ prompt: [] }, /`prompt` must be a string/],
      [{ prompt: Array(2_049).fill('a') }, /`prompt` has more than 2048 texts/],
      [{ max_tokens: -1 }, /`max_tokens` must be an integer of at least 0/],
      [{ best_of: 0 }, /`best_of` must be an integer from 1 to 128/],
      [{ best_of: '2' }, /`best_of` must be/],
      [{ n: 129 }, /`n` must be/],
      [{ stream: 'yes' }, /`stream` must be/],
      [{ stream_options: 5 }, /`stream_options` must be an object/],
      [{ models: ['other'] }, /leave `models` out/],
    ] as const)
      assert.match(faultOf({ ...plain, ...fields }), message)
    for (const name of ['prompt', 'best_of', 'max_tokens'])
      for (const other of [name, name.toUpperCase()]) {
        const body = `{"model":"m","${name}":1,"${other}":2}`
        const facts = completions.readRequest(Buffer.from(body), { requireMaxTokens: false })
        assert.match('kind' in facts ? facts.message : '', /occurs (twice )?in/)
      }
  })

  test('asks for the usage chunk where the client does not', () => {
    const body = Buffer.from('{"model":"m","stream":true,"prompt":"hello"}')
    const facts = completions.readRequest(body, { requireMaxTokens: false })
    assert.ok(!('kind' in facts))
    assert.deepEqual(JSON.parse(String(completions.amend(body, facts, 'other'))), {
      stream_options: { include_usage: true },
      model: 'other',
      stream: true,
      prompt: 'hello',
    })
  })
})

const base = { id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm' }
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }

function chunk(text: string, finish_reason: string | null = null, index = 0): object {
  return { ...base, choices: [{ text, index, logprobs: null, finish_reason }] }
}

function frame(data: object | string): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

function shown({ usage, isFinal, hasOutput, output, model }: MeterReading): unknown {
  return [usage?.parts[0]?.counts, isFinal, hasOutput, output.text, model]
}

describe('an answer with completions', () => {
  const events = [chunk('Hel'), chunk('lö'), chunk('', 'stop')]
  const usageChunk = { ...base, choices: [], usage }
  const expected = [{ input: 5, output: 3 }, true, true, 'Hellö', 'm']

  test('is read the same whole and streamed, however it is cut', () => {
    const whole = {
      ...base,
      choices: [{ text: 'Hellö', index: 0, finish_reason: 'stop' }],
      usage,
    }
    const answer = completions.readAnswer(whole, factsOf(plain))
    assert.ok(answer.kind === 'answer')
    assert.deepEqual(shown(answer.reading), expected)
    const shownBytes = events.map(frame).join('')
    const bytes = Buffer.from(shownBytes + frame(usageChunk) + frame('[DONE]'))
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length })), fc.boolean(), (cuts, asks) => {
        const meter = completions.openMeter(
          factsOf({ ...plain, stream: true, stream_options: { include_usage: asks } }),
        )
        const passed: Buffer[] = []
        let from = 0
        for (const cut of [...cuts.sort((a, b) => a - b), bytes.length]) {
          passed.push(...meter.push(bytes.subarray(from, cut)))
          from = cut
        }
        meter.end(true)
        assert.deepEqual(shown(meter.reading()), expected)
        assert.equal(meter.isTerminated, true)
        const seen = shownBytes + (asks ? frame(usageChunk) : '')
        assert.equal(Buffer.concat(passed).toString(), seen)
        assert.equal(Buffer.concat(meter.held).toString(), frame('[DONE]'))
      }),
    )
  })

  test('without its end has its text for an estimate', () => {
    const meter = completions.openMeter(factsOf({ ...plain, stream: true }))
    meter.push(Buffer.from(frame(chunk('Hel'))))
    assert.deepEqual(shown(meter.reading()), [undefined, false, true, 'Hel', 'm'])
  })

  test('is complete without [DONE] once every choice has its finish reason', () => {
    const meter = completions.openMeter(factsOf({ ...plain, n: 2, stream: true }))
    meter.push(Buffer.from(frame(chunk('a', 'stop'))))
    meter.push(Buffer.from(frame(chunk('b', 'length', 1))))
    meter.end(true)
    assert.equal(meter.isTerminated, true)
  })

  test('that begins with an error is none', () => {
    const meter = completions.openMeter(factsOf({ ...plain, stream: true }))
    meter.push(Buffer.from(frame({ error: { message: 'x', code: 'server_error' } })))
    assert.equal(meter.hasStarted, false)
    assert.equal(meter.error?.code, 'server_error')
  })
})
