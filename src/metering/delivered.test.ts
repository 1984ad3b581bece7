/** Estimates of the output that a client has got, against the limit of its request. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateDelivered, withinLimit } from './delivered.ts'

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
