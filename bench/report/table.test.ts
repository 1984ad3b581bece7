/** Tests of how tables and figures are written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatFigure, formatRatio, formatTable } from './table.ts'

test('columns are padded to their widest cell, figures to the right', () => {
  const table = formatTable<readonly [string, number]>(
    [
      { heading: 'proxy', align: 'left', cell: ([name]) => name },
      { heading: 'µs', align: 'right', cell: ([, value]) => formatFigure(value) },
    ],
    [
      ['nginx', 17.14],
      ['Turnpike, chat', 1_234.5],
    ],
  )
  assert.equal(
    table,
    '| proxy          |    µs |\n' +
      '| -------------- | ----: |\n' +
      '| nginx          |  17.1 |\n' +
      '| Turnpike, chat | 1,235 |\n',
  )
})

test('figures have the decimals that their size deserves', () => {
  assert.equal(formatFigure(0.123), '0.12')
  assert.equal(formatFigure(12.34), '12.3')
  assert.equal(formatFigure(123.4), '123')
  assert.equal(formatFigure(1_234_567), '1,234,567')
  assert.equal(formatFigure(Number.NaN), '–')
})

test('a ratio that could not be formed is a dash', () => {
  assert.equal(formatRatio(2.306), '2.31 ×')
  assert.equal(formatRatio(1 / 0), '–')
})
