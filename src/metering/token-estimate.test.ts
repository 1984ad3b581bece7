import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { cutSlices, estimateTokens, sliceUnitsMax } from './token-estimate.ts'

const samples: Readonly<Record<string, string>> = {
  English:
    'The gateway reads the counts of an answer as its bytes pass. When a client leaves in the ' +
    'middle of a stream, it pays for what it was given and for nothing else. ',
  code: 'export function addPicos(left: Picos, right: Picos): Picos {\n  return (left + right)\n}\n',
  'JSON without spaces':
    '{"location":"Paris","unit":"celsius","days":[1,2,3],"options":{"verbose":true,"lang":"fr"}}',
  German: 'Über den großen Fluss führt eine schöne Brücke, die früher nur Fußgängern diente. ',
  Russian: 'Быстрая коричневая лиса прыгает через ленивую собаку, пока идёт дождь. ',
  Chinese: '人工智能正在改变我们生活和工作的方式，未来的发展令人期待。',
  Japanese: '東京は日本の首都であり、世界でも有数の大都市です。明日はいい天気になるでしょう。',
  numbers: '48213 90177 33 8121 47 99.25 10000 7 61803 27182 ',
  base64: `${Buffer.from('a value without meaning: \u0001\u0002\u00ff\u0080 and so on').toString('base64')} `,
}

describe('estimateTokens', () => {
  for (const [name, sample] of Object.entries(samples))
    test(`is within a factor of 1.6 of the tokenizer for ${name}`, () => {
      const text = sample.repeat(20)
      const ratio = estimateTokens(text) / countTokens(text)
      assert.ok(ratio > 1 / 1.6 && ratio < 1.6, `ratio ${ratio}`)
    })

  test('counts at least one token for any text, and none for an empty one', () => {
    assert.equal(estimateTokens(''), 0)
    fc.assert(fc.property(fc.string({ minLength: 1 }), (text) => estimateTokens(text) >= 1))
  })
})

describe('cutSlices', () => {
  const anyText = fc
    .array(
      fc.oneof(fc.constantFrom('😀', ' ', 'word ', 'é', '界'), fc.string({ unit: 'binary' })),
      {
        maxLength: 40,
      },
    )
    .chain((pieces) => fc.nat(60).map((times) => pieces.join('').repeat(times)))

  test('keeps every character, within the bound, and splits no surrogate pair', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const slices = cutSlices(text)
        assert.equal(slices.join(''), text)
        for (const slice of slices) {
          assert.ok(slice.length > 0 && slice.length <= sliceUnitsMax)
          assert.equal(slice.isWellFormed(), true)
        }
      }),
    )
  })

  test('cuts before a space, so that words stay whole', () => {
    for (const slice of cutSlices('lorem ipsum dolor '.repeat(400)).slice(1))
      assert.equal(slice[0], ' ')
  })

  test('changes the count very little', () => {
    const text = (samples['English'] ?? '').repeat(100)
    let sliced = 0
    for (const slice of cutSlices(text)) sliced += countTokens(slice)
    assert.ok(Math.abs(sliced - countTokens(text)) <= countTokens(text) * 0.005)
  })
})
