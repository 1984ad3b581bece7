/**
 * CSV in both directions. What is written comes back cell by cell and runs in no spreadsheet; what operators
 * bring, exports of vendors and of Stripe, is read as written, or refused by the row that is wrong.
 */
import assert from 'node:assert/strict'
import { csvRow } from '../../../src/base/csv.ts'
import { formatUsd, parseUsd, picos, type Picos } from '../../../src/base/money.ts'
import { comparePayments } from '../../../src/operations/payments/compare.ts'
import { readVendorCounts } from '../../../src/operations/reconcile/vendor-counts.ts'
import { readVendorFile, type VendorFile } from '../../../src/operations/reconcile/vendor-files.ts'
import { fuzzContext } from '../store.ts'
import type { FuzzTarget } from '../target.ts'

export const csvTarget: FuzzTarget = {
  name: 'csv',
  words: [
    ',',
    ';',
    '\t',
    '"',
    '""',
    '\r\n',
    '\n',
    '\r',
    '=1+1',
    '+1',
    '-1',
    '@A1',
    '\uff1d1',
    ' =1',
    "'=1",
    'date',
    'usage_date_utc',
    'model',
    'input_tokens',
    'output_tokens',
    'start_time',
    'end_time',
    'starting_at',
    'ending_at',
    'has_more',
    'data',
    'results',
    'amount',
    'num_model_requests',
    'object',
    '__proto__',
    'constructor',
    'toString',
    '2026-11-01',
    '1798761600',
    '99999999999',
    '1e999',
    '\ufeff',
    'payment_intent_id',
    'reporting_category',
    'currency',
    'gross',
    'usd',
    'eur',
    'charge',
    'refund',
    'pi_1',
    '10.00',
    '-3.50',
    '1e3',
    '0.0000000000001',
    '',
    ' ',
    'cache_creation',
  ],
  testRuns: 1_000,
  async check(input) {
    const text = input.toString('utf8')
    checkWriting(text)
    checkVendorFile(text)
    await checkPayments(text)
  },
}

/** Reads CSV as RFC 4180 has it; undefined for any other text. */
function readRows(text: string): readonly (readonly string[])[] | undefined {
  const rows: string[][] = [[]]
  let at = 0
  const cell = /"((?:[^"]|"")*)"|([^",\r\n]*)/y
  while (at <= text.length) {
    cell.lastIndex = at
    const [whole = '', quoted, plain = ''] = cell.exec(text) ?? []
    rows.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    at += whole.length
    if (at === text.length) return rows
    if (text[at] === ',') at++
    else if (text.startsWith('\r\n', at)) {
      at += 2
      if (at === text.length) return rows
      rows.push([])
    } else return undefined
  }
  return undefined
}

const runsInSpreadsheets = /^(?:\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])/
const plainNumber = /^-?\d+(?:\.\d+)?$/

/** The cells of two rows come back, and none of them runs. */
function checkWriting(text: string): void {
  const cells = text.split(/[|,]/).slice(0, 50)
  const rows = readRows(csvRow(cells) + csvRow(['end', 1]))
  assert.equal(rows?.length, 2, 'a row is a row')
  assert.deepEqual(rows[1], ['end', '1'])
  assert.equal(rows[0]?.length, cells.length, 'a cell is a cell')
  for (const [index, cell] of (rows[0] ?? []).entries()) {
    const given = cells[index] ?? ''
    assert.ok(
      cell === given || (cell === `'${given}` && runsInSpreadsheets.test(given)),
      'a cell comes back',
    )
    assert.ok(
      !runsInSpreadsheets.test(cell) || plainNumber.test(cell),
      `${cell} runs in a spreadsheet`,
    )
  }
}

function checkMistake(mistake: string): void {
  assert.match(
    mistake,
    /^(?:file \d+: )?\S[^\r\n]*[^\s.]$/,
    'a mistake is one line without its full stop',
  )
}

/** 1970 to 2100: all rows that name a time in it count. */
const period = { fromMs: 0, toMs: 4_102_444_800_000 }
const lastMoment = 8_640_000_000_000_000

function checkVendorFile(text: string): void {
  const file = readVendorFile(text)
  if (typeof file === 'string') return checkMistake(file)
  for (const { fields, bucket } of file.rows) {
    assert.equal(
      Object.getPrototypeOf(fields),
      Object.prototype,
      'a column is a column, whatever its name',
    )
    if (bucket === undefined) continue
    assert.ok(bucket.fromMs < bucket.toMs, 'a period has a length')
    assert.ok(
      Math.abs(bucket.fromMs) <= lastMoment && Math.abs(bucket.toMs) <= lastMoment,
      'times are times',
    )
  }
  if (!/^\s*[[{]/.test(text.replace(/^\uFEFF/, ''))) checkRoundTrip(file)
  const counts = readVendorCounts([text], period)
  if (typeof counts === 'string') return checkMistake(counts)
  for (const { byName } of counts.counts)
    for (const [name, count] of byName) {
      assert.equal(typeof name, 'string', 'a count has a name')
      assert.ok(Number.isInteger(count) && count >= 0, 'a sum is a count')
    }
}

/** Written again, with every cell in quotes, it is the same file. */
function checkRoundTrip(file: VendorFile): void {
  const names = Object.keys(file.rows[0]?.fields ?? {})
  if (names.length === 0) return
  const lines = [names, ...file.rows.map(({ fields }) => names.map((name) => String(fields[name])))]
  const text = lines.map((cells) =>
    cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','),
  )
  assert.deepEqual(
    readVendorFile(`\ufeff${text.join('\r\n')}\r\n`),
    file,
    'written again it is the same',
  )
}

const moving = new Set(
  [
    'charge',
    'charge_failure',
    'refund',
    'refund_failure',
    'partial_capture_reversal',
    'dispute',
  ].concat('dispute_reversal'),
)

async function checkPayments(text: string): Promise<void> {
  const context = await fuzzContext()
  const outcome = await comparePayments(context, { text })
  if (outcome.kind === 'refusal') {
    assert.match(outcome.message, /^text: \S[^\r\n]*[^\s.]$/)
    const [, number] = /row (\d+)/.exec(outcome.message) ?? []
    const rows = readRows(text)?.filter((row) => row.length > 1)
    const column = rows?.[0]?.indexOf('gross') ?? -1
    if (number !== undefined && rows !== undefined && column >= 0)
      assert.equal(
        parseUsd((rows[Number(number)]?.[column] ?? '').trim()),
        undefined,
        'that row is wrong',
      )
    return
  }
  const expected = sumOf(text)
  if (expected !== undefined)
    assert.equal(outcome.value.stripe_usd, expected, 'all payments are added up')
}

/** What Stripe has moved in USD, by a second reading; undefined where the text is unusual. */
function sumOf(text: string): string | undefined {
  const [heading, ...rows] = readRows(text) ?? []
  if (heading === undefined || text.includes('\ufeff') || new Set(heading).size < heading.length)
    return undefined
  if (rows.some((row) => row.length !== heading.length)) return undefined
  const cellOf = (row: readonly string[], name: string): string => row[heading.indexOf(name)] ?? ''
  const counted = rows.filter(
    (row) =>
      cellOf(row, 'payment_intent_id') !== '' && moving.has(cellOf(row, 'reporting_category')),
  )
  if (counted.some((row) => cellOf(row, 'currency').toLowerCase() !== 'usd')) return undefined
  const amounts = counted.map((row) => parseUsd(cellOf(row, 'gross').trim()))
  return formatUsd(picos(amounts.reduce<bigint>((sum, one) => sum + (one ?? (0n as Picos)), 0n)))
}
