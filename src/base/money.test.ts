import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  addPicos,
  formatUsd,
  maxPicos,
  minPicos,
  multiplyPicos,
  parseUsd,
  picos,
  picosPerUsd,
  subtractPicos,
  usdNumber,
  zeroPicos,
} from './money.ts'

const largest = 999_999_999_999_999_999_999_999n
const amounts = fc.bigInt({ min: -largest, max: largest }).map(picos)

test('parses amounts as written', () => {
  for (const [text, amount] of [
    ['0', 0n],
    ['-0', 0n],
    ['1', picosPerUsd],
    ['12.50', 12_500_000_000_000n],
    ['-3', -3_000_000_000_000n],
    ['0.000000000001', 1n],
    ['-0.000000000001', -1n],
    ['000001.5', 1_500_000_000_000n],
    ['999999999999.999999999999', largest],
  ] as const)
    assert.equal(parseUsd(text), amount, text)
})

test('refuses text that is not an exact amount', () => {
  const wrong = ['', ' ', '1 ', '+1', '1,5', '1e3', '.5', '5.', '--1', '0x10', 'NaN', '１']
  for (const text of [...wrong, '1.0000000000001', '1000000000000', '1_000', '1\n', '$1'])
    assert.equal(parseUsd(text), undefined, JSON.stringify(text))
})

test('formats amounts exactly and without trailing zeros', () => {
  for (const [amount, text] of [
    [0n, '0'],
    [1n, '0.000000000001'],
    [-1n, '-0.000000000001'],
    [picosPerUsd, '1'],
    [12_500_000_000_000n, '12.5'],
    [-3_100_000_000_000n, '-3.1'],
    [100n * picosPerUsd, '100'],
  ] as const)
    assert.equal(formatUsd(picos(amount)), text)
})

test('property: a formatted amount is parsed back unchanged', () => {
  fc.assert(
    fc.property(amounts, (amount) => {
      const text = formatUsd(amount)
      assert.equal(parseUsd(text), amount)
      assert.doesNotMatch(text, /\.$|\.\d*0$|^-0$/)
    }),
  )
})

test('property: the JSON number is the closest one', () => {
  fc.assert(
    fc.property(amounts, (amount) => {
      assert.equal(usdNumber(amount), Number(formatUsd(amount)))
    }),
  )
  assert.equal(usdNumber(picos(100_000_000_000n)), 0.1)
})

test('property: sums and products are exact', () => {
  fc.assert(
    fc.property(amounts, amounts, fc.nat(2 ** 31 - 1), (left, right, count) => {
      assert.equal(addPicos(left, right) - right, left)
      assert.equal(subtractPicos(left, right) + right, left)
      assert.equal(multiplyPicos(left, count), left * BigInt(count))
      assert.equal(addPicos(maxPicos(left, right), minPicos(left, right)), addPicos(left, right))
      assert.ok(maxPicos(left, right) >= minPicos(left, right))
      assert.equal(addPicos(left, zeroPicos), left)
    }),
  )
})

test('a fraction of a token throws and is not rounded', () => {
  assert.throws(() => multiplyPicos(picos(1n), 1.5), RangeError)
  assert.throws(() => multiplyPicos(picos(1n), Number.NaN), RangeError)
})
