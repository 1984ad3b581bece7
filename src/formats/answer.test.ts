// Answers that come whole, and counts no transcript has.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { plainFacts } from '../../test/transcripts/replay.ts'
import { chatCompletions } from './chat/index.ts'
import type { MeterReading } from './answer.ts'
import type { ForwardedOperation } from './format.ts'
import { parseJson } from './json.ts'
import { messagesCreate } from './messages/index.ts'
import { responsesCreate } from './responses/index.ts'
import { readVendorError } from './vendor-error.ts'

function readingOf(
  operation: ForwardedOperation,
  answer: object,
  facts = plainFacts,
): MeterReading {
  const read = operation.readAnswer(parseJson(JSON.stringify(answer)), facts)
  if (read.kind !== 'answer') assert.fail('not the format')
  return read.reading
}

/** Reads events to the end of their stream. */
function streamed(operation: ForwardedOperation, events: readonly object[]): MeterReading {
  const meter = operation.openMeter(plainFacts)
  for (const event of events) meter.push(Buffer.from(`data: ${JSON.stringify(event)}\n\n`))
  meter.push(Buffer.from('data: [DONE]\n\n'))
  meter.end(true)
  return meter.reading()
}

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'large-1',
  content: [{ type: 'text', text: 'Hellö' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 12, output_tokens: 6 },
}

const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-x',
  service_tier: 'flex',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Hellö' }, finish_reason: 'stop' },
    { index: 1, message: { role: 'assistant', content: '!' }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 12, completion_tokens: 6, total_tokens: 18 },
}

describe('a whole messages answer', () => {
  test('gives its counts and its text', () => {
    const { usage, isFinal, hasOutput, output, model } = readingOf(messagesCreate, message)
    assert.deepEqual(usage?.parts, [
      { model: 'large-1', counts: { input: 12, output: 6 }, promptTokens: 12 },
    ])
    assert.deepEqual(usage?.reported, { inputTokens: 12, outputTokens: 6, cacheTokens: 0 })
    assert.deepEqual(
      [isFinal, hasOutput, output.text, output.bytes, model],
      [true, true, 'Hellö', 6, 'large-1'],
    )
  })

  test('without usage is not final and has its text for an estimate', () => {
    for (const usage of [undefined, null, {}]) {
      const reading = readingOf(messagesCreate, { ...message, usage })
      assert.equal(reading.isFinal, false)
      assert.equal(reading.output.text, 'Hellö')
    }
  })

  test('without content has no output', () => {
    assert.equal(readingOf(messagesCreate, { ...message, content: [] }).hasOutput, false)
    const empty = [{ type: 'text', text: '' }]
    assert.equal(readingOf(messagesCreate, { ...message, content: empty }).hasOutput, false)
  })

  test('that ended at a stop sequence has output, even without content', () => {
    const stopped = { ...message, content: [], stop_reason: 'stop_sequence', stop_sequence: 'A' }
    const { hasOutput, output } = readingOf(messagesCreate, stopped)
    assert.deepEqual([hasOutput, output.text], [true, ''])
    const unstopped = readingOf(messagesCreate, { ...stopped, stop_sequence: null })
    assert.equal(unstopped.hasOutput, false)
  })

  test('that refuses before any output is a refusal, after output it is not', () => {
    const refused = { ...message, stop_reason: 'refusal' }
    assert.equal(readingOf(messagesCreate, { ...refused, content: [] }).isRefusal, true)
    assert.equal(readingOf(messagesCreate, refused).isRefusal, false)
  })

  test('counts tools, thinking and unknown blocks as output', () => {
    for (const block of [
      { type: 'tool_use', name: 'f', input: {} },
      { type: 'thinking', thinking: '', signature: 'abc' },
      { type: 'redacted_thinking', data: 'abc' },
      { type: 'never_seen' },
    ]) {
      const reading = readingOf(messagesCreate, { ...message, content: [block] })
      assert.equal(reading.hasOutput, true, block.type)
    }
    const tool = { type: 'tool_use', name: 'f', input: { a: 1 } }
    const reading = readingOf(messagesCreate, { ...message, content: [tool] })
    assert.equal(reading.output.text, 'f{"a":1}')
  })

  const others: readonly string[] = [
    JSON.stringify(message).slice(0, -1),
    JSON.stringify(message) + '}',
    '{"type":"error","error":{"type":"api_error","message":"x"}}',
    JSON.stringify({ ...message, error: { message: 'x' } }),
    JSON.stringify(completion),
    '<html>',
    '[]',
    'null',
    '{}',
    '',
  ]
  test('counts searches with results, and no failed ones', () => {
    const asked = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }
    const answered = { type: 'web_search_tool_result', tool_use_id: 's', content: [] }
    const failed = { ...answered, content: { type: 'web_search_tool_result_error' } }
    const content = [asked, answered, asked, failed, asked, answered, asked]
    assert.equal(readingOf(messagesCreate, { ...message, content }).webSearches, 2)
    assert.equal(readingOf(messagesCreate, message).webSearches, 0)
  })

  test('is not the format when cut off, invalid, an error or something else', () => {
    for (const body of others) {
      const read = messagesCreate.readAnswer(parseJson(body), plainFacts)
      assert.equal(read.kind, 'not_the_format', body)
    }
  })
})

describe('a whole chat answer', () => {
  test('gives its counts and the text of all choices', () => {
    const { usage, isFinal, output, model } = readingOf(chatCompletions, completion)
    assert.deepEqual(usage?.parts, [
      { model: 'gpt-x', counts: { input: 12, output: 6 }, promptTokens: 12, tier: 'flex' },
    ])
    assert.deepEqual([isFinal, output.text, model], [true, 'Hellö!', 'gpt-x'])
  })

  test('reads every field that contains output', () => {
    const said = [
      { content: 'a' },
      { content: null, refusal: 'b' },
      { content: null, tool_calls: [{ function: { name: 'c', arguments: '{}' } }] },
      { content: null, function_call: { name: 'd', arguments: '[]' } },
      { content: '', reasoning_content: 'e' },
      { content: '', reasoning: 'f' },
      { content: [{ type: 'text', text: 'g' }] },
      { content: null, audio: { id: 'x', data: 'AAAA', transcript: 'h' } },
    ]
    const choices = said.map((message, index) => ({ index, message, finish_reason: 'stop' }))
    const reading = readingOf(chatCompletions, { ...completion, choices })
    assert.equal(reading.output.text, 'abc{}d[]efgh')
  })

  test('without usage is not final', () => {
    for (const usage of [undefined, null]) {
      const reading = readingOf(chatCompletions, { ...completion, usage })
      assert.equal(reading.usage, undefined)
      assert.equal(reading.isFinal, false)
    }
  })

  test('counts the audio beside the text', () => {
    const audio = { id: 'a', data: 'QUJD'.repeat(800), transcript: 'Hi' }
    const choices = [{ message: { audio } }, { message: { audio } }]
    const { output } = readingOf(chatCompletions, { ...completion, choices })
    assert.deepEqual([output.text, output.bytes, output.audioBytes], ['HiHi', 4, 6400])
  })

  test('counts the audio of a stream, in frames of any size', () => {
    const meter = chatCompletions.openMeter(plainFacts)
    const sizes = [400, 40_000, 2_000_000]
    for (const size of sizes) {
      const audio = { id: 'a', data: 'A'.repeat(size) }
      const chunk = { ...completion, choices: [{ index: 0, delta: { audio } }] }
      meter.push(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`))
    }
    const { output } = meter.reading()
    assert.equal(output.bytes, 0)
    const whole = sizes.reduce((sum, size) => sum + size)
    assert.ok(output.audioBytes >= whole && output.audioBytes < whole + 500)
    const text = { ...completion, choices: [{ index: 0, delta: { content: 'A'.repeat(2e6) } }] }
    meter.push(Buffer.from(`data: ${JSON.stringify(text)}\n\n`))
    assert.ok(meter.reading().output.bytes >= 2e6)
  })

  test('filtered before any output is a refusal', () => {
    const choices = [{ index: 0, message: { content: '' }, finish_reason: 'content_filter' }]
    const isRefusal = (usage: object | undefined) =>
      readingOf(chatCompletions, { ...completion, choices, usage }).isRefusal
    const counted = { prompt_tokens: 12, completion_tokens: 0 }
    assert.equal(isRefusal(counted), true)
    assert.equal(isRefusal(undefined), true)
    assert.equal(isRefusal({ ...counted, completion_tokens: 6 }), false)
  })

  test('is not the format when cut off, invalid, an error or something else', () => {
    const bodies = [
      JSON.stringify(completion).slice(0, -1),
      '{"error":{"message":"x","code":429}}',
      JSON.stringify({ ...completion, error: { message: 'x' } }),
      JSON.stringify(message),
      '{}',
      '',
    ]
    for (const body of bodies) {
      const read = chatCompletions.readAnswer(parseJson(body), plainFacts)
      assert.equal(read.kind, 'not_the_format', body)
    }
  })
})

describe('counts that cannot be', () => {
  const odd: readonly unknown[] = [-1, 1.5, 2 ** 53, '12', true, [], {}]

  test('make a messages reading implausible', () => {
    for (const value of odd) {
      for (const field of ['input_tokens', 'output_tokens', 'cache_read_input_tokens']) {
        const usage = { ...message.usage, [field]: value }
        assert.equal(readingOf(messagesCreate, { ...message, usage }).isImplausible, true)
      }
      const iterations = [{ type: 'message', input_tokens: value, output_tokens: 1 }]
      const usage = { ...message.usage, iterations }
      assert.equal(readingOf(messagesCreate, { ...message, usage }).isImplausible, true)
    }
  })

  test('make a chat reading implausible', () => {
    for (const value of odd) {
      for (const field of ['prompt_tokens', 'completion_tokens']) {
        const usage = { ...completion.usage, [field]: value }
        assert.equal(readingOf(chatCompletions, { ...completion, usage }).isImplausible, true)
      }
    }
    for (const details of [
      { prompt_tokens_details: { audio_tokens: 13 } },
      { prompt_tokens_details: { cached_tokens: 13, audio_tokens: 13 } },
      { prompt_tokens_details: { cached_tokens: 7, audio_tokens: 6 } },
      { prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 4, audio_tokens: 5 } },
      { completion_tokens_details: { audio_tokens: 7 } },
    ]) {
      const usage = { ...completion.usage, ...details }
      assert.equal(readingOf(chatCompletions, { ...completion, usage }).isImplausible, true)
    }
  })

  test('are not final, whatever counts came before', () => {
    const start = { type: 'message_start', message: { ...message, content: [] } }
    const text = { type: 'content_block_delta', delta: { type: 'text_delta', text: 'Hi' } }
    const delta = (usage: object) => ({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage,
    })
    const stop = { type: 'message_stop' }
    const chunk = (usage: object) => ({
      ...completion,
      choices: [{ delta: { content: 'a' } }],
      usage,
    })
    const whole = { output_tokens: 9 }
    for (const value of odd) {
      const run = { type: 'message', input_tokens: 5, output_tokens: 9 }
      const iterations = [run, { ...run, output_tokens: value }]
      for (const last of [{ output_tokens: value }, { ...whole, iterations }]) {
        const wrong = [start, text, delta(whole), delta(last), stop]
        assert.equal(streamed(messagesCreate, wrong).isFinal, false, JSON.stringify(last))
      }
      const mended = [start, delta({ output_tokens: value }), delta(whole), stop]
      assert.equal(streamed(messagesCreate, mended).isFinal, true)
      const wrong = { ...completion.usage, completion_tokens: value }
      assert.equal(
        streamed(chatCompletions, [chunk(completion.usage), chunk(wrong)]).isFinal,
        false,
      )
      assert.equal(streamed(chatCompletions, [chunk(wrong), chunk(completion.usage)]).isFinal, true)
    }
  })

  test('do not count cached audio twice', () => {
    const details = {
      cached_tokens: 7,
      audio_tokens: 9,
      cached_tokens_details: { audio_tokens: 4 },
    }
    const usage = { ...completion.usage, prompt_tokens_details: details }
    const reading = readingOf(chatCompletions, { ...completion, usage })
    assert.equal(reading.isImplausible, false)
    assert.deepEqual(reading.usage?.parts[0]?.counts, {
      input: 0,
      output: 6,
      cache_read: 3,
      cache_read_audio: 4,
      input_audio: 5,
    })
  })

  test('accept null, missing counters, and reasoning that is counted separately', () => {
    const usage = {
      ...completion.usage,
      prompt_tokens_details: null,
      completion_tokens_details: { reasoning_tokens: 5000, audio_tokens: null },
    }
    assert.equal(readingOf(chatCompletions, { ...completion, usage }).isImplausible, false)
    const nulls = {
      ...message.usage,
      cache_creation: null,
      iterations: null,
      server_tool_use: null,
    }
    assert.equal(readingOf(messagesCreate, { ...message, usage: nulls }).isImplausible, false)
  })
})

describe('cache writes', () => {
  const write = (total: number, split?: readonly [number, number]) => ({
    ...message,
    usage: {
      ...message.usage,
      cache_creation_input_tokens: total,
      ...(split !== undefined && {
        cache_creation: {
          ephemeral_5m_input_tokens: split[0],
          ephemeral_1h_input_tokens: split[1],
        },
      }),
    },
  })
  const countsOf = (answer: object, isLong: boolean) => {
    const facts = { ...plainFacts, cacheWrite: isLong ? ('long' as const) : ('short' as const) }
    const counts = readingOf(messagesCreate, answer, facts).usage?.parts[0]?.counts
    return [counts?.cache_write_5m ?? 0, counts?.cache_write_1h ?? 0]
  }

  test('follow the split, and the rest has five minutes', () => {
    assert.deepEqual(countsOf(write(30, [10, 20]), false), [10, 20])
    assert.deepEqual(countsOf(write(35, [10, 20]), false), [15, 20])
    assert.deepEqual(countsOf(write(35, [10, 20]), true), [15, 20])
  })

  test('that exceed their total are implausible, unless there is no total', () => {
    const isImplausible = (answer: object) => readingOf(messagesCreate, answer).isImplausible
    assert.equal(isImplausible(write(60, [50, 60])), true)
    assert.equal(isImplausible(write(110, [50, 60])), false)
    assert.equal(isImplausible(write(0, [50, 60])), false)
    assert.deepEqual(countsOf(write(0, [50, 60]), false), [50, 60])
  })

  test('of several iterations are compared with the total of their iteration', () => {
    const of = (total: number) => {
      // The totals describe the last run only; the split may still be that of the first one.
      const { usage } = write(30, [100, 200])
      const run = { type: 'message', input_tokens: 5, output_tokens: 2 }
      const { usage: written } = write(total, [10, 20])
      return { ...message, usage: { ...usage, iterations: [run, { ...run, ...written }] } }
    }
    assert.equal(readingOf(messagesCreate, of(30)).isImplausible, false)
    assert.equal(readingOf(messagesCreate, of(29)).isImplausible, true)
  })

  test('are the final ones after a fallback', () => {
    const run = { type: 'message', input_tokens: 50, output_tokens: 5 }
    const iterations = [
      { ...run, output_tokens: 0, cache_creation_input_tokens: 70 },
      { ...run, type: 'fallback_message', model: 'b', cache_creation_input_tokens: 20 },
    ]
    const split = { ephemeral_5m_input_tokens: 70, ephemeral_1h_input_tokens: 0 }
    const begun = { ...write(70, [70, 0]).usage, output_tokens: 1 }
    const ended = { ...run, cache_creation_input_tokens: 20, iterations }
    const meter = messagesCreate.openMeter(plainFacts)
    for (const event of [
      { type: 'message_start', message: { ...message, content: [], usage: begun } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: ended },
      { type: 'message_stop' },
    ])
      meter.push(Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
    const { usage } = meter.reading()
    assert.deepEqual(
      usage?.parts.map(({ counts }) => counts),
      [{ input: 50, output: 5, cache_write_5m: 20 }],
    )
    assert.equal(usage?.reported.cacheTokens, 20)
    const whole = { ...message, usage: { ...ended, cache_creation: split } }
    assert.equal(readingOf(messagesCreate, whole).usage?.reported.cacheTokens, 20)
  })

  test('without a split have the lifetime that the request asked for', () => {
    assert.deepEqual(countsOf(write(30), false), [30, 0])
    assert.deepEqual(countsOf(write(30), true), [0, 30])
  })
})

test('searches are counted once, in the last iteration', () => {
  const entry = (model: string) => ({ type: 'message', model, input_tokens: 5, output_tokens: 2 })
  const usage = {
    ...message.usage,
    server_tool_use: { web_search_requests: 3 },
    iterations: [entry('a'), entry('b')],
  }
  const parts = readingOf(messagesCreate, { ...message, usage }).usage?.parts ?? []
  assert.deepEqual(
    parts.map((part) => [part.model, part.counts.web_search ?? 0]),
    [
      ['a', 0],
      ['b', 3],
    ],
  )
})

test('chat classes are disjoint and add up to the vendor’s totals', () => {
  const counts = fc.record({
    cached: fc.nat(1000),
    written: fc.nat(1000),
    audio: fc.nat(1000),
    plain: fc.nat(1000),
    spoken: fc.nat(1000),
    text: fc.nat(1000),
  })
  fc.assert(
    fc.property(counts, ({ cached, written, audio, plain, spoken, text }) => {
      const prompt = cached + written + audio + plain
      const usage = {
        prompt_tokens: prompt,
        completion_tokens: spoken + text,
        prompt_tokens_details: {
          cached_tokens: cached,
          cache_write_tokens: written,
          audio_tokens: audio,
        },
        completion_tokens_details: { audio_tokens: spoken, reasoning_tokens: text },
      }
      const reading = readingOf(chatCompletions, { ...completion, usage })
      const part = reading.usage?.parts[0]
      const { input = 0, cache_read = 0, cache_write_5m = 0, input_audio = 0 } = part?.counts ?? {}
      assert.equal(input + cache_read + cache_write_5m + input_audio, prompt)
      assert.equal((part?.counts.output ?? 0) + (part?.counts.output_audio ?? 0), spoken + text)
      assert.equal(reading.isImplausible, false)
    }),
  )
})

test('no bytes from a vendor make a reader throw', () => {
  const names = fc.constantFrom(
    'type',
    'message',
    'delta',
    'usage',
    'choices',
    'content',
    'content_block',
    'error',
    'model',
    'text',
    'tool_calls',
    'function',
    'iterations',
    'cache_creation',
    'details',
    'code',
    'input',
  )
  const { payload } = fc.letrec((tie) => ({
    payload: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('error', 'message_start', 'content_block_delta', 'message_delta', 'fallback'),
      fc.constantFrom(null, 0, -1, 1e300, true, '', 'x'),
      fc.array(tie('payload'), { maxLength: 3 }),
      fc.dictionary(names, tie('payload'), { maxKeys: 5 }),
    ),
  }))
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 5 }), (payloads) => {
      for (const operation of [messagesCreate, chatCompletions, responsesCreate]) {
        const meter = operation.openMeter(plainFacts)
        for (const one of payloads) {
          const text = JSON.stringify(one)
          readVendorError(one)
          operation.readAnswer(one, plainFacts)
          meter.push(Buffer.from(`data: ${text}\n\n`))
        }
        assert.equal(typeof meter.reading().output.text, 'string')
      }
    }),
    { numRuns: 500 },
  )
})
