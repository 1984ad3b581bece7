// Where a chunk has its usage: its own, that of a choice, or that of a member beside the choices.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { plainFacts } from '../../../test/transcripts/replay.ts'
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
