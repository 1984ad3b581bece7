/** Estimates of the output that a client has got, against the limit of its request. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutToDelivered, estimateDelivered, withDeliveredBound, withinLimit } from './delivered.ts'

const counter = { count: (text: string) => Promise.resolve(text.length), close: async () => {} }
const bounds = {
  promptTokensLikely: 10,
  inputTokensMax: 1_000,
  maxOutputTokens: 100,
  choiceCount: 2,
}
const output = (tokens: number) => ({ text: 'x'.repeat(tokens), bytes: tokens })

test('text beyond the limit of all choices counts in full, but for the error of the estimate', async () => {
  const textOf = async (tokens: number, more: object = {}): Promise<number> => {
    const facts = { format: 'chat', bounds: { ...bounds, ...more } } as const
    return withinLimit(await estimateDelivered(output(tokens), facts, counter), bounds).text
  }
  assert.equal(await textOf(150), 150)
  assert.equal(await textOf(266), 200)
  assert.equal(await textOf(267), 267)
  assert.equal(await textOf(267, { echoesPrompt: true }), 200)
})

test('sound beyond the limit is cut to it, because its tokens are only guessed', async () => {
  const facts = { format: 'chat', bounds: { ...bounds, asksAudioOutput: true } } as const
  const spoken = { ...output(50), audioBytes: 64_000_000 }
  const delivered = await estimateDelivered(spoken, facts, counter)
  assert.deepEqual(withinLimit(delivered, bounds), { text: 50, spoken: 150, isBeyondLimit: false })
})

test('text that was not kept counts like the kept text, or like English text', async () => {
  const facts = { format: 'chat', bounds } as const
  const textOf = async (text: string, bytes: number): Promise<number> =>
    (await estimateDelivered({ text, bytes }, facts, counter)).text
  assert.equal(await textOf('x'.repeat(10), 100), 100)
  assert.equal(await textOf('', 40), 10)
  assert.equal(await textOf('', 0), 0)
})

test('output beyond the limit is cut to what was delivered, that of the first parts first', () => {
  const part = (output: number, output_audio: number) => ({
    promptTokens: 5,
    counts: { input: 5, output, output_audio },
  })
  const usage = {
    parts: [part(100, 50), part(300_000, 40)],
    reported: { inputTokens: 10, outputTokens: 300_190, cacheTokens: 0 },
  }
  const delivered = { text: 170, spoken: 30, isBeyondLimit: true }
  const known = withDeliveredBound(bounds, delivered)
  assert.equal(known.deliveredTokens, 200)
  const cut = cutToDelivered(usage, delivered, known)
  assert.deepEqual(cut.parts, [part(100, 50), part(50, 0)])
  assert.deepEqual(cut.reported, { inputTokens: 10, outputTokens: 200, cacheTokens: 0 })
  assert.equal(cutToDelivered(usage, { ...delivered, isBeyondLimit: false }, known), usage)
})
