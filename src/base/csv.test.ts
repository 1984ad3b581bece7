/** Rows of CSV, read by a parser that spreadsheets agree with. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import * as fc from 'fast-check'
import { csvRow } from './csv.ts'

/** Reads one row of text. */
function read(row: string): unknown {
  const rows: unknown = parse(row)
  assert.ok(Array.isArray(rows))
  assert.equal(rows.length, 1)
  return rows[0]
}

test('a text that a spreadsheet would run begins with an apostrophe, and any other comes back', () => {
  for (const text of [
    '=1+1',
    '+1+1',
    '-1+1',
    '@SUM(A1)',
    '\tx',
    '\rx',
    '\nx',
    '  =1',
    '＝1',
    '＠x',
  ])
    assert.deepEqual(read(csvRow([text, 'b'])), [`'${text}`, 'b'])
  for (const text of ['a=1', "it's", 'a;b', 'a\tb', 'a"b,c', 'a\r\nb', '-5', '12.50', '-0.000001'])
    assert.deepEqual(read(csvRow([text, 'b'])), [text, 'b'])
})

test('numbers stay numbers, also the smallest ones, and null is an empty cell', () => {
  assert.equal(csvRow([-1.5, 0.000_000_22, null, 7]), '-1.5,0.00000022,,7\r\n')
})

test('every text comes back as it was, or behind an apostrophe', () => {
  const cell = fc.string({ unit: 'grapheme', minLength: 1 })
  fc.assert(
    fc.property(fc.array(cell, { minLength: 2, maxLength: 4 }), (cells) => {
      const found = read(csvRow(cells))
      assert.ok(Array.isArray(found))
      assert.equal(found.length, cells.length)
      for (const [index, text] of cells.entries())
        assert.ok(found[index] === text || found[index] === `'${text}`, JSON.stringify(text))
    }),
  )
})
