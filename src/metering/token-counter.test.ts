import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { cutSlices, estimateTokens } from './token-estimate.ts'
import { createTokenCounter } from './token-counter.ts'

let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'token-counter-'))
})
after(() => rm(folder, { recursive: true }))

/** A thread with another program, for what the real one never does. */
async function programOf(name: string, source: string): Promise<URL> {
  const path = join(folder, `${name}.mjs`)
  await writeFile(path, source)
  return pathToFileURL(path)
}

const sentence = 'When a client leaves in the middle of a stream, it pays for what it was given. '

describe('the token counter', () => {
  test('counts with the real vocabulary, off this thread', async (t) => {
    const counter = createTokenCounter({ clock: new ManualClock() })
    t.after(() => counter.close())
    const [short, long, none] = await Promise.all([
      counter.count(sentence),
      counter.count(sentence.repeat(100)),
      counter.count(''),
    ])
    assert.equal(short, countTokens(sentence))
    const whole = countTokens(sentence.repeat(100))
    assert.ok(Math.abs(long - whole) <= whole * 0.005)
    assert.equal(none, 0)
  })

  test('treats control tokens spelled in a text as text', async (t) => {
    const counter = createTokenCounter({ clock: new ManualClock() })
    t.after(() => counter.close())
    const expected = countTokens('<|endoftext|>', { disallowedSpecial: new Set() })
    assert.equal(await counter.count('<|endoftext|>'), expected)
  })

  test('counts a hostile run without a space slice by slice, and lone surrogates', async (t) => {
    const counter = createTokenCounter({ clock: new ManualClock() })
    t.after(() => counter.close())
    // The tokenizer's work grows with the square of a run; slices bound it.
    const run = 'abc'.repeat(2_000)
    let tokens = 0
    for (const slice of cutSlices(run)) tokens += countTokens(slice)
    assert.notEqual(tokens, countTokens(run))
    assert.equal(await counter.count(run), tokens)
    assert.ok((await counter.count('\ud800x\udfff')) > 0)
  })

  test('estimates a text that is too long for its queue', async (t) => {
    const counter = createTokenCounter({ clock: new ManualClock() })
    t.after(() => counter.close())
    const text = sentence.repeat(20_000)
    assert.equal(await counter.count(text), estimateTokens(text))
  })

  test('estimates a text that does not fit into a full queue', async (t) => {
    const workerUrl = await programOf(
      'silent',
      "import('node:worker_threads').then(({ parentPort }) => parentPort.on('message', () => {}))",
    )
    const counter = createTokenCounter({ clock: new ManualClock(), workerUrl })
    t.after(() => counter.close())
    const waiting: Promise<number>[] = []
    for (let index = 0; index < 256; index++) waiting.push(counter.count(sentence))
    assert.equal(await counter.count('one more'), estimateTokens('one more'))
    await counter.close()
    assert.equal((await Promise.all(waiting)).length, 256)
  })

  test('estimates when the thread does not answer in time', async (t) => {
    const clock = new ManualClock()
    const workerUrl = await programOf(
      'mute',
      "import('node:worker_threads').then(({ parentPort }) => parentPort.on('message', () => {}))",
    )
    const counter = createTokenCounter({ clock, workerUrl })
    t.after(() => counter.close())
    const counted = counter.count(sentence)
    clock.advance(5_000)
    assert.equal(await counted, estimateTokens(sentence))
    assert.equal(clock.pendingCount, 0)
  })

  test('estimates when the thread dies, reports it, and stops restarting it after some starts', async (t) => {
    const workerUrl = await programOf('dying', "throw new Error('no vocabulary')")
    const lost: unknown[] = []
    const onWorkerLost = (error: unknown): void => void lost.push(error)
    const counter = createTokenCounter({ clock: new ManualClock(), workerUrl, onWorkerLost })
    t.after(() => counter.close())
    for (let index = 0; index < 8; index++)
      assert.equal(await counter.count(sentence), estimateTokens(sentence))
    assert.equal(lost.length, 5)
    assert.match(String(lost[0]), /no vocabulary/)
  })

  test('answers waiting counts with estimates when it closes, and later ones too', async () => {
    const counter = createTokenCounter({ clock: new ManualClock() })
    const counted = counter.count(sentence)
    await counter.close()
    assert.equal(await counted, estimateTokens(sentence))
    assert.equal(await counter.count(sentence), estimateTokens(sentence))
    await counter.close()
  })
})
