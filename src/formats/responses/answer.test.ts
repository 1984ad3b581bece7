// What is known of a response: its output, its uses of the vendor's tools, and the state that it leaves.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import { plainFacts } from '../../../test/transcripts/replay.ts'
import { LongText } from '../long-text.ts'
import { GatheredResponse, rememberedMax } from './answer.ts'

interface Read {
  readonly envelopes?: readonly object[]
  readonly items?: readonly object[]
  readonly storesAnswer?: boolean
}

function readingOf({ envelopes = [], items = [], storesAnswer = true }: Read) {
  const gathered = new GatheredResponse({ ...plainFacts, storesAnswer })
  for (const envelope of envelopes) gathered.readEnvelope({ ...envelope })
  for (const item of items) {
    gathered.endItem({ ...item })
    gathered.readItem({ ...item })
  }
  return gathered.reading(true)
}

test('a reading has only what the answer names', () => {
  const { output, ...rest } = readingOf({})
  assert.deepEqual([output.text, output.bytes], ['', 0])
  assert.deepEqual(rest, {
    usage: undefined,
    isFinal: false,
    isImplausible: false,
    hasOutput: false,
    isRefusal: false,
    webSearches: 0,
    model: undefined,
  })
  const named = { model: 'm', service_tier: 'flex', incomplete_details: { reason: 'length' } }
  const { model, tier, finishReasons } = readingOf({ envelopes: [named, {}] })
  assert.deepEqual([model, tier, finishReasons], ['m', 'flex', ['length']])
})

test('its counts have the names of responses', () => {
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens: 5,
    output_tokens_details: { audio_tokens: 2 },
  }
  const { usage: counted, isFinal } = readingOf({ envelopes: [{ usage }] })
  const counts = { input: 6, cache_read: 4, output: 3, output_audio: 2 }
  assert.deepEqual([counted?.parts[0]?.counts, isFinal], [counts, true])
})

describe('the output', () => {
  const outputOf = (item: object) => {
    const { hasOutput, output } = readingOf({ items: [item] })
    return [hasOutput, output.text, output.audioBytes]
  }

  test('is a message by its text, and anything else by itself', () => {
    assert.deepEqual(outputOf({ type: 'message' }), [false, '', 0])
    assert.deepEqual(outputOf({ type: 'message', content: [null, 'x', {}] }), [false, '', 0])
    assert.deepEqual(outputOf({ type: 'reasoning' }), [true, '', 0])
    assert.deepEqual(outputOf({}), [true, '', 0])
  })

  test('is all that the model has written', () => {
    const written = { name: 'a', arguments: 'b', input: 'c', code: 'd' }
    assert.deepEqual(outputOf({ type: 'x', ...written }), [true, 'abcd', 0])
    assert.deepEqual(outputOf({ operation: { diff: 'e' } }), [true, 'e', 0])
    assert.deepEqual(outputOf({ action: { commands: ['f', 'g'] } }), [true, 'fg', 0])
    const parts = { summary: [{ text: 'h' }], content: [{ text: 'i' }, { refusal: 'j' }] }
    assert.deepEqual(outputOf(parts), [true, 'hij', 0])
    const audio = { type: 'output_audio', transcript: 'k', data: 'QUJD' }
    assert.deepEqual(outputOf({ type: 'message', content: [audio] }), [true, 'k', 4])
    const file = { type: 'output_file', data: 'QUJD' }
    assert.deepEqual(outputOf({ type: 'message', content: [file] }), [false, '', 0])
  })

  test('that was filtered before it came is a refusal, unless the vendor counted tokens', () => {
    const filtered = { incomplete_details: { reason: 'content_filter' } }
    const isRefusal = (output_tokens: number | undefined, items: readonly object[] = []) =>
      readingOf({ envelopes: [{ ...filtered, usage: { output_tokens } }], items }).isRefusal
    assert.deepEqual([isRefusal(0), isRefusal(undefined), isRefusal(5)], [true, true, false])
    assert.equal(isRefusal(0, [{ type: 'reasoning' }]), false)
    assert.equal(readingOf({ envelopes: [{ usage: { output_tokens: 0 } }] }).isRefusal, false)
  })
})

describe('uses of the vendor’s tools', () => {
  const usesOf = (...items: readonly object[]) => {
    const { webSearches, vendorToolUses } = readingOf({ items })
    return { webSearches, ...vendorToolUses }
  }

  test('are counted once by their id, and never where they failed', () => {
    const item = { type: 'web_search_call', id: 'a', status: 'completed' }
    const search = { ...item, action: { type: 'search' } }
    assert.deepEqual(usesOf(search, search, { ...search, id: 'b' }), { webSearches: 2 })
    assert.deepEqual(usesOf(item), { webSearches: 1 })
    assert.deepEqual(usesOf({ ...item, action: { type: 'open_page' } }), { webSearches: 0 })
    assert.deepEqual(usesOf({ ...search, status: 'failed' }), { webSearches: 0 })
  })

  test('are searches of files, images, and containers in which code ran', () => {
    const code = { type: 'code_interpreter_call', id: 'a', container_id: 'c' }
    const uses = usesOf(
      { type: 'file_search_call', id: 'a' },
      { type: 'image_generation_call', id: 'a' },
      code,
      { ...code, id: 'b' },
      { ...code, container_id: null },
    )
    const counted = { file_search: 1, image_generation: 1, code_interpreter: 2 }
    assert.deepEqual(uses, { webSearches: 0, ...counted })
  })

  test('are counted up to a bound', () => {
    const items = Array.from({ length: rememberedMax + 2 }, (_, id) => ({
      type: 'file_search_call',
      id,
    }))
    assert.deepEqual(usesOf(...items), { webSearches: 0, file_search: rememberedMax })
  })

  test('are as many searches as the vendor bills, where it says so', () => {
    const billed = (num_requests: unknown) => ({ tool_usage: { web_search: { num_requests } } })
    const items = [{ type: 'web_search_call', id: 'a' }]
    const searches = (...counts: readonly unknown[]) =>
      readingOf({ envelopes: counts.map(billed), items }).webSearches
    assert.deepEqual([searches(0), searches(3), searches('3')], [0, 3, 1])
    assert.equal(searches(3, undefined), 3)
  })
})

describe('the state', () => {
  const madeBy = (read: Read) => readingOf(read).made?.map(({ kind, id }) => `${kind} ${id}`)

  test('has each response, item, container and encrypted content once', () => {
    const item = { id: 'i', container_id: 'c', encrypted_content: 'secret' }
    const long = { id: 'j', encrypted_content: new LongText(9, 'x', 'hash') }
    const made = madeBy({ envelopes: [{ id: 'r' }, { id: 'r' }], items: [item, item, long] })
    const encrypted = `encrypted ${hash('sha256', 'secret', 'base64url')}`
    const expected = ['response r', 'item i', encrypted, 'container c', 'item j', 'encrypted hash']
    assert.deepEqual(made, expected)
  })

  test('has nothing without a name', () => {
    for (const name of ['', undefined, null, 5])
      assert.equal(
        madeBy({
          envelopes: [{ id: name }],
          items: [{ id: name, container_id: name, encrypted_content: name }],
        }),
        undefined,
      )
  })

  test('has only what does not depend on storing where the answer is not stored', () => {
    const item = { id: 'i', container_id: 'c' }
    const stored = ['response r', 'item i', 'container c']
    const read = { envelopes: [{ id: 'r' }], items: [item] }
    assert.deepEqual(madeBy(read), stored)
    assert.deepEqual(madeBy({ ...read, storesAnswer: false }), ['container c'])
    const says = (store: boolean) => ({ ...read, envelopes: [{ id: 'r', store }] })
    assert.deepEqual(madeBy({ ...says(true), storesAnswer: false }), stored)
    assert.deepEqual(madeBy(says(false)), ['container c'])
  })
})
