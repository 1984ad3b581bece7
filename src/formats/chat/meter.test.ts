// What is read of chat chunks: their usage, output and end, and which of them begin the answer.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { plainFacts } from '../../../test/transcripts/replay.ts'
import { completions } from '../completions/index.ts'
import { reportedFailure } from '../finish-reason.ts'
import type { RequestFacts } from '../format.ts'
import { readableFrameBytesMax } from '../stream.ts'
import { chatCompletions } from './index.ts'

function counted(prompt: number) {
  return { prompt_tokens: prompt, completion_tokens: 5 }
}

function choice(usage?: object) {
  return { index: 0, delta: { content: 'a' }, finish_reason: 'stop', usage }
}

function read(...chunks: readonly object[]) {
  const meter = chatCompletions.openMeter(plainFacts)
  const passed = chunks.map((chunk) => {
    const frames = meter.push(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`))
    return frames.some(({ length }) => length > 0)
  })
  meter.end(true)
  return { input: meter.reading().usage?.parts[0]?.counts.input, passed }
}

describe('the usage of a chunk', () => {
  test('is its own, before that of a choice, before that of another member', () => {
    const vendor = { usage: counted(30) }
    const choices = [choice(counted(10)), choice(counted(20)), choice()]
    assert.equal(read({ choices, vendor, usage: counted(40) }).input, 40)
    assert.equal(read({ choices, vendor, usage: null }).input, 20)
    assert.equal(read({ choices: [choice()], vendor }).input, 30)
    assert.equal(read({ choices: [choice()], usage: null }).input, undefined)
  })

  test('replaces that of an earlier chunk, wherever each is', () => {
    const last = { choices: [], usage: counted(11) }
    assert.equal(read({ choices: [choice(counted(10))] }, last).input, 11)
  })

  test('is kept from a client that did not ask for it only where the chunk has nothing else', () => {
    const begun = { choices: [choice()] }
    assert.deepEqual(read(begun, { choices: [], usage: counted(1) }).passed, [true, false])
    assert.deepEqual(read(begun, { choices: [], vendor: { usage: counted(1) } }).passed, [
      true,
      true,
    ])
  })

  test('of a whole answer may be in the same places', () => {
    const answer = { choices: [{ message: { content: 'a' } }], vendor: { usage: counted(3) } }
    const whole = chatCompletions.readAnswer(answer, plainFacts)
    assert.ok(whole.kind === 'answer')
    assert.equal(whole.reading.usage?.reported.inputTokens, 3)
  })
})

const facts = { ...plainFacts, asksUsageChunk: true }

type Sent = object | string

/** A chunk whose choices have these members. */
function chunk(...choices: readonly object[]) {
  return { model: 'm', choices }
}

function said(content: unknown, finish_reason: string | null = null) {
  return { index: 0, delta: { content }, finish_reason }
}

function frame(data: Sent): string {
  return typeof data === 'string' ? data : `data: ${JSON.stringify(data)}\n\n`
}

/** Pushes chunks, and frames as they are. */
function opened(sent: readonly Sent[], read: RequestFacts = facts, operation = chatCompletions) {
  const meter = operation.openMeter(read)
  let passed = ''
  for (const one of sent) passed += Buffer.concat(meter.push(Buffer.from(frame(one)))).toString()
  return { meter, passed }
}

function readingOf(...sent: readonly Sent[]) {
  return opened(sent).meter.reading()
}

const done = 'data: [DONE]\n\n'
const counts = { choices: [], usage: counted(11) }

describe('an answer has not begun', () => {
  const hasStarted = (...sent: readonly Sent[]) => opened(sent).meter.hasStarted

  test('while its chunks have a role at most', () => {
    for (const nothing of [undefined, null, '', []]) {
      const delta = { role: 'assistant', content: nothing, tool_calls: nothing }
      const working = [chunk({ delta }), chunk({ delta: nothing }), chunk({ delta }, {}), chunk()]
      const { meter } = opened(working)
      assert.deepEqual([meter.hasStarted, meter.eventCount], [false, 4])
      const choice = { text: nothing, finish_reason: null }
      assert.equal(opened([chunk(choice)], facts, completions).meter.hasStarted, false)
    }
    assert.equal(hasStarted(chunk({ delta: {}, finish_reason: '' })), false)
    assert.equal(hasStarted('data:\n\n', ': comment\n\n', 'data: \n\n'), false)
    assert.equal(opened(['data:\n\n', 'event: ping\n\n']).meter.error, undefined)
  })

  test('until any choice says something, or has ended, or the counts come', () => {
    for (const content of ['a', 0, [{}], {}]) assert.equal(hasStarted(chunk(said(content))), true)
    assert.equal(hasStarted(chunk({ delta: { role: 'assistant', refusal: 'no' } })), true)
    assert.equal(hasStarted(chunk({ delta: {} }, said('a'))), true)
    assert.equal(hasStarted(chunk({ delta: {}, finish_reason: 'stop' })), true)
    assert.equal(hasStarted(chunk({ delta: 'a' })), true)
    assert.equal(hasStarted(counts), true)
    assert.equal(opened([chunk({ text: 'a' })], facts, completions).meter.hasStarted, true)
  })

  test('until its signs of work are more than is kept in memory', () => {
    const working = { ...chunk({ delta: { role: 'assistant' } }), padding: 'x'.repeat(300_000) }
    assert.equal(hasStarted(working), false)
    assert.equal(hasStarted(working, working), true)
  })
})

describe('an error', () => {
  test('is one by the name of its event, or by its member', () => {
    for (const sent of [
      'event: error\ndata: {"message":"x"}\n\n',
      { error: 'x' },
      { error: { message: 'x' }, choices: [] },
    ]) {
      const { meter } = opened([sent])
      assert.equal(meter.error?.message, 'x', JSON.stringify(sent))
      assert.deepEqual([meter.hasStarted, meter.eventCount], [false, 0])
    }
    for (const error of [null, '', 5]) {
      const { meter } = opened([{ ...chunk(said('a')), error }])
      assert.deepEqual([meter.error, meter.reading().output.text], [undefined, 'a'])
    }
  })

  test('is a finish reason that says so, and the client does not get its chunk', () => {
    const { meter, passed } = opened([chunk(said('a')), chunk(said('', 'error'))])
    assert.deepEqual(meter.error, reportedFailure)
    assert.deepEqual([meter.isErrorWithheld, passed], [true, frame(chunk(said('a')))])
    const answer = { choices: [{ message: { content: 'a' }, finish_reason: 'error' }] }
    const whole = chatCompletions.readAnswer(answer, plainFacts)
    assert.deepEqual(whole, { kind: 'error', error: reportedFailure })
  })
})

describe('the end', () => {
  test('is [DONE], which is an answer', () => {
    for (const end of [done, 'data:[DONE]\n\n', 'data: [DONE] \n\n']) {
      const { meter, passed } = opened([end])
      assert.deepEqual([meter.isTerminated, meter.hasStarted, meter.eventCount], [true, true, 1])
      assert.deepEqual([passed, Buffer.concat(meter.held).toString()], ['', end])
    }
  })

  test('may be followed by counts, of which the first are charged, and by anything else', () => {
    const later = { choices: [], usage: counted(99) }
    const { meter } = opened([chunk(said('a')), done, 'data: {broken\n\n', counts, later])
    assert.deepEqual([meter.error, meter.eventCount], [undefined, 2])
    const { usage, isFinal, output } = meter.reading()
    assert.deepEqual([usage?.reported.inputTokens, isFinal, output.text], [11, true, 'a'])
    const { usage: own } = readingOf({ ...chunk(said('a')), usage: counted(5) }, done, later)
    assert.equal(own?.reported.inputTokens, 5)
  })

  test('is announced by counts without choices once the answer has its finish reason', () => {
    const ended = chunk(said('a', 'stop'))
    const isFinal = (...sent: readonly Sent[]) => readingOf(...sent).isFinal
    assert.equal(isFinal(ended, counts), true)
    assert.equal(isFinal(ended, counts, { choices: [] }), true)
    assert.equal(isFinal(chunk(said('a')), counts), false)
    assert.equal(isFinal({ ...ended, usage: counted(1) }), false)
    assert.equal(isFinal(ended, counts, chunk(said('b'))), false)
    assert.equal(isFinal(ended), false)
  })

  test('needs no [DONE] where the body ends as announced', () => {
    const isEnded = (sent: readonly Sent[], choiceCount = 1) => {
      const { meter } = opened(sent, { ...facts, choiceCount })
      meter.end(true)
      return meter.isTerminated
    }
    assert.equal(isEnded([]), false)
    assert.equal(isEnded([chunk(said('a'))]), false)
    assert.equal(isEnded([chunk(said('a', 'stop'))]), true)
    assert.equal(isEnded([chunk(said('a')), counts]), true)
    const both = [said('a', 'stop'), { ...said('b', 'stop'), index: 1 }]
    assert.equal(isEnded([chunk(said('a', 'stop'))], 2), false)
    assert.equal(isEnded([chunk(...both)], 2), true)
  })

  test('passes a chunk without choices and without counts on', () => {
    const { passed } = opened([{ choices: [] }, counts], plainFacts)
    assert.equal(passed, frame({ choices: [] }))
  })
})

describe('the finish reasons', () => {
  test('are those of the requested choices, the first of each', () => {
    const ends = (...sent: readonly Sent[]) => readingOf(...sent).finishReasons
    assert.equal(ends(chunk(said('a'))), undefined)
    assert.deepEqual(ends(chunk(said('a', 'stop'))), ['stop'])
    assert.deepEqual(ends(chunk(said('a', 'stop')), chunk(said('', 'length'))), ['stop'])
    const two = opened([chunk(said('a', 'stop'), { index: 1, finish_reason: 'length' })], {
      ...facts,
      choiceCount: 2,
    })
    assert.deepEqual(two.meter.reading().finishReasons, ['stop', 'length'])
  })

  test('make a refusal only where the answer was filtered', () => {
    assert.equal(readingOf(chunk(said('', 'content_filter'))).isRefusal, true)
    assert.equal(readingOf(chunk(said('', 'stop'))).isRefusal, false)
  })
})

describe('the output of a chunk', () => {
  const outputOf = (delta: object, more: object = {}) => {
    const { hasOutput, output } = readingOf(chunk({ index: 0, delta, ...more }))
    return [hasOutput, output.text]
  }

  test('is what its delta has, whatever its form', () => {
    assert.deepEqual(outputOf({ tool_calls: [{}] }), [true, ''])
    assert.deepEqual(outputOf({ tool_calls: [{ custom: { name: 'f', input: 'i' } }] }), [
      true,
      'fi',
    ])
    assert.deepEqual(outputOf({ tool_calls: [null, 5] }), [false, ''])
    assert.deepEqual(outputOf({ content: [null, { type: 'image' }] }), [true, ''])
    assert.deepEqual(outputOf({}, { text: 'a' }), [false, ''])
  })

  test('is read the short way where it differs in its text alone, with all that it has', () => {
    const bytes = Buffer.from(frame(chunk(said('b'))))
    const { meter } = opened([chunk(said('a')), chunk(said('a'))])
    assert.equal(meter.passRepeats(bytes, 0, bytes.length), bytes.length)
    assert.equal(meter.reading().output.text, 'aab')
    const two = chunk(said('a'), { index: 1, delta: {} })
    const both = Buffer.from(frame(two))
    assert.equal(opened([two, two]).meter.passRepeats(both, 0, both.length), 0)
    const spoken = chunk({ delta: { content: 'a', audio: { data: 'QUJD' } } })
    assert.equal(readingOf(spoken, spoken, spoken).output.audioBytes, 12)
  })
})

describe('a chunk that is too large to be kept', () => {
  const long = 'x'.repeat(readableFrameBytesMax)

  test('passes where its beginning shows its choices, and counts as output', () => {
    for (const head of ['data: {"choices": [ {"a":"', 'data:{"choices":[{"a":"']) {
      const large = `${head}${long}"}]}\n\n`
      const { meter, passed } = opened([`data: ${JSON.stringify(chunk())}\n\n${large}`])
      assert.equal(passed, frame(chunk()) + large)
      assert.deepEqual([meter.isOverflown, meter.hasStarted, meter.eventCount], [false, true, 2])
      const { hasOutput, output } = meter.reading()
      assert.equal(hasOutput, true)
      assert.ok(output.bytes > long.length && output.bytes < long.length + 100)
    }
  })

  test('breaks the answer off where it may be anything', () => {
    for (const head of [
      `data: {"padding":"${'x'.repeat(5_000)}","choices":[{"a":"`,
      'data: {"usage":"',
      'event: x\ndata: {"choices":[{"a":"',
      ': {"choices":[{"a":"',
    ])
      assert.equal(opened([`${head}${long}"}]}\n\n`]).meter.isOverflown, true, head.slice(0, 40))
  })
})
