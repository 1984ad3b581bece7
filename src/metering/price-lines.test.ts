/** The text of a bill in the ledger: short, and exact when it is read again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { picos } from '../base/money.ts'
import { formatPriceLines, parsePriceLines, priceLine, readBill } from './price-lines.ts'

const line = priceLine('input', 10, picos(3n))
const plain = {
  parts: [{ model: 'm', isLongContext: false, modifiers: [], lines: [line] }],
  feePicos: picos(0n),
  multiplierPpm: 1_000_000,
  capPicos: undefined,
}

test('a bill leaves out what is zero or unchanged, and has the rest', () => {
  const text = '{"parts":[{"model":"m","lines":[["input",10,"3"]]}]}'
  assert.equal(formatPriceLines(plain), text)
  const whole = {
    parts: [
      {
        model: 'm',
        isLongContext: true,
        modifiers: [{ kind: 'tier', name: 'flex', ppm: 500_000 } as const],
        lines: [line],
      },
    ],
    feePicos: picos(7n),
    multiplierPpm: 2_000_000,
    capPicos: picos(9n),
  }
  const part =
    '{"model":"m","long":true,"modifiers":[["tier","flex",500000]],"lines":[["input",10,"3"]]}'
  const all = `{"parts":[${part}],"fee":"7","multiplier":2000000,"cap":"9"}`
  assert.equal(formatPriceLines(whole), all)
  for (const bill of [plain, whole]) assert.deepEqual(parsePriceLines(formatPriceLines(bill)), bill)
  assert.deepEqual(readBill(text), { amountPicos: 30n, counts: [{ input: 10 }] })
  // Half of thirty and the fee, twice, limited.
  assert.equal(readBill(all).amountPicos, 9n)
  assert.equal(readBill(all.replace('"cap":"9"', '"cap":"99"')).amountPicos, 44n)
})

test('a text that is no bill is refused', () => {
  const bill = (price: string) => `{"parts":[{"model":"m","lines":[["input",10,"${price}"]]}]}`
  assert.equal(readBill(bill('3')).amountPicos, 30n)
  for (const price of ['', 'x3', '3x', '-3', '1.5', '9'.repeat(41)])
    assert.throws(() => readBill(bill(price)), price)
})
