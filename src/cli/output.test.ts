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

test('keeps one line per row where the output is no terminal', () => {
  assert.equal(formatTable(heading, rows, '').split('\n').length, 3)
  assert.equal(formatTable(heading, rows, '', 200), formatTable(heading, rows, ''))
})

test('shows one block per row, with every character, where the terminal is too narrow', () => {
  const table = formatTable(heading, rows, '', 48)
  assert.equal(
    table,
    [
      'channel  alpha-main',
      'state    off',
      'why      the vendor refused the credential, and then the reserve',
      '',
      'channel  alpha-reserve',
      'state    on',
      'why      –',
    ].join('\n'),
  )
})
