import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvRow } from '../base/csv.ts'
import { formatFields, formatTable } from './output.ts'

test('shows small amounts without an exponent', () => {
  assert.equal(formatFields({ cost: 2.2e-7, least: 1e-12, correction: -2e-8 }).match(/e-/), null)
  assert.equal(formatTable(['USD'], [[2.2e-7]], ''), 'USD\n0.00000022')
  assert.equal(formatTable(['USD'], [[1e-12]], ''), 'USD\n0.000000000001')
  assert.equal(formatTable(['USD'], [[10]], ''), 'USD\n10')
  assert.equal(csvRow([-2e-8, 'a']), '-0.00000002,a\r\n')
})

const heading = ['channel', 'state', 'why']
const rows = [
  ['alpha-main', 'off', 'the vendor refused the credential, and then the reserve'],
  ['alpha-reserve', 'on', null],
]

test('fits a table into a terminal by wrapping its last columns', () => {
  const table = formatTable(heading, rows, '', 48)
  assert.equal(
    table,
    [
      'channel        state  why',
      'alpha-main     off    the vendor refused the',
      '                      credential, and then the',
      '                      reserve',
      'alpha-reserve  on     –',
    ].join('\n'),
  )
})

test('keeps one line per row where the output is no terminal', () => {
  assert.equal(formatTable(heading, rows, '').split('\n').length, 3)
  assert.equal(formatTable(heading, rows, '', 200), formatTable(heading, rows, ''))
})

test('shows one block per row where not even the longest words fit', () => {
  const table = formatTable(heading, rows, '', 20)
  assert.match(
    table,
    /^channel {2}alpha-main\nstate {4}off\nwhy {6}the vendor .* reserve\n\nchannel/,
  )
})

test('loses no character at any width', () => {
  const long = 'x'.repeat(90)
  for (let width = 10; width < 140; width += 1) {
    const table = formatTable(heading, [...rows, ['c', long, `${long}, end`]], '', width)
    assert.equal(table.match(/x/g)?.length, 180)
    for (const word of ['credential,', 'reserve', 'alpha-main', 'end'])
      assert.match(table, RegExp(word))
    const isTable = /^channel +state/.test(table)
    if (isTable) for (const line of table.split('\n')) assert.ok(line.length <= width)
  }
})
