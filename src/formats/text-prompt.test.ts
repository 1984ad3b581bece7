/** Plain prompts in every form and spelling, compared with what JSON.parse makes of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { readTextPrompt } from './text-prompt.ts'

function read(json: string): ReturnType<typeof readTextPrompt> {
  const text = Buffer.from(`{"input":${json}}`).toString('latin1')
  return readTextPrompt(
    { text, spans: new Map([['input', { start: 9, end: text.length - 1 }]]) },
    'input',
  )
}

const tokens = fc.array(fc.integer({ min: -1, max: 200_000 }), { minLength: 1 })
const prompt = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }),
  tokens,
  fc.array(fc.array(fc.nat()), { minLength: 1 }),
)
const space = fc.constantFrom('', ' ', '\n\t')

test('property: texts and tokens of a prompt are counted, however it is written', () => {
  fc.assert(
    fc.property(prompt, space, (value, gap) => {
      const lists: readonly unknown[] = Array.isArray(value) ? value : [value]
      const isTokens = typeof lists[0] === 'number'
      const numbers = lists.flat().filter((one) => typeof one === 'number')
      assert.deepEqual(read(JSON.stringify(value, null, gap)), {
        texts: isTokens ? 1 : lists.length,
        tokens: numbers.length,
      })
    }),
  )
})

test('a string may contain anything', () => {
  assert.deepEqual(read('["a\\"],[1", "[", "\\\\"]'), { texts: 3, tokens: 0 })
})

test('anything else is no prompt', () => {
  for (const json of [
    '5',
    'null',
    '{}',
    'true',
    '[]',
    '[ ]',
    '["a", 1]',
    '[1, "a"]',
    '[1, [1]]',
    '[[1], 1]',
    '[["a"]]',
    '[[[1]]]',
    '[{"text": "a"}]',
    '["a", null]',
    '[null]',
    '[[1, null]]',
  ])
    assert.equal(read(json), undefined, json)
  assert.equal(readTextPrompt({ text: '{}', spans: new Map() }, 'input'), undefined)
})
