/** Amounts as text: rounded, never cut off, and with points that stand below each other in a column. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import '../support/console/words.ts'
import { parsePicos, subtractUsd } from '../../console/src/ui/exact.ts'
import { formatUsd, formatUsdExact, formatUsdFixed } from '../../console/src/ui/format.ts'
import { equationOf } from '../../console/src/ui/money-terms.ts'

test('rounds what it does not show', () => {
  const cases = [
    ['0.0868', '$0.087'],
    ['0.0049', '$0.0049'],
    ['0.00499', '$0.0050'],
    ['0.000040449', '$0.000040'],
    ['0.0999', '$0.10'],
    ['4.255', '$4.26'],
    ['1234.5', '$1,234.50'],
    ['-0.0868', '−$0.087'],
    ['0', '$0.00'],
    ['0.000000000001', '$0.000000000001'],
  ] as const
  for (const [usd, text] of cases) assert.equal(formatUsd(usd), text, usd)
})

test('keeps to the decimals of a column', () => {
  const cases = [
    ['4.25', 2, '$4.25'],
    ['0.0049', 2, '<$0.01'],
    ['0.005', 2, '$0.01'],
    ['-0.0049', 2, '−<$0.01'],
    ['0', 2, '$0.00'],
    ['0.00004', 6, '$0.000040'],
    ['0.0000004', 6, '<$0.000001'],
    ['12345.6789', 6, '$12,345.678900'],
  ] as const
  for (const [usd, places, text] of cases)
    assert.equal(formatUsdFixed(parsePicos(usd), places), text, usd)
})

const amount = fc.bigInt({ min: 0n, max: 10n ** 16n }).map((picos) => {
  const digits = picos.toString().padStart(13, '0')
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`
})

test('an equation adds up as it is read, and each term is within one unit of the exact one', () => {
  fc.assert(
    fc.property(amount, amount, amount, amount, amount, (spend, refunds, own, lost, unknown) => {
      const figures = {
        revenue_usd: spend,
        refunded_usd: refunds,
        own_cost_usd: own,
        estimated_cost_usd: lost,
        unknown_cost_revenue_usd: unknown,
        known_margin_usd: subtractUsd(spend, refunds, own, lost, unknown),
      }
      const terms = equationOf(figures)
      const places = terms.map(({ text }) => text.length - text.indexOf('.') - 1)
      assert.equal(new Set(places).size, 1)
      const unit = 10n ** BigInt(12 - (places[0] ?? 2))
      const shown = terms.map(({ text }) =>
        parsePicos(text.replaceAll(/[$,]/g, '').replace('−', '-')),
      )
      const [first = 0n, ...costs] = shown
      const margin = costs.pop()
      assert.equal(
        costs.reduce((left, cost) => left - cost, first),
        margin,
      )
      for (const [index, { usd, text }] of terms.entries()) {
        const off = (shown[index] ?? 0n) - parsePicos(usd)
        assert.ok((off < 0n ? -off : off) <= 2n * unit, `${text} for ${formatUsdExact(usd)}`)
      }
    }),
  )
})
