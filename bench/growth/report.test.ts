/** Tests of the growth report. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatGrowth, type GrowthFigures, type RetentionFigures } from './report.ts'

const figures: GrowthFigures = {
  store: 'sqlite',
  requests: 1_000_000,
  days: 37,
  tables: 1,
  bytesPerRequest: 780,
  chargeP50Ms: 0.6,
  chargeP99Ms: 2.4,
  chargeTogetherUs: 97,
  usageDayP50Us: 35,
  usageMonthP50Us: 45,
  usageTotalP50Us: 46,
  auditSinceMs: 1_800,
  auditFullSeconds: 33,
  isClean: true,
}
const retention: RetentionFigures = {
  store: 'postgres',
  requests: 10_000_000,
  months: 1,
  monthsMs: 12,
  rows: 27_400,
  rowsSeconds: 5,
  chargeP50Ms: 1.2,
  chargeP99Ms: 4,
  chargeHighestMs: 30,
}
const made = { command: 'npm run bench', date: '2026-11-21', commit: 'abc' }

function rowsOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => /^\| (SQLite|PostgreSQL) /.test(line))
}

test('prints one row for each store and size', () => {
  const report = formatGrowth(
    { figures: [figures, { ...figures, store: 'postgres', tables: 3 }], retention: [retention] },
    made,
  )
  assert.match(report, /^Made by `npm run bench` on 2026-11-21, commit abc\./)
  const cells = rowsOf(report).map((row) => row.split('|').map((cell) => cell.trim()))
  const sqlite = 'SQLite 1,000,000 37 1 780 0.60 2.40 97.0'
  assert.deepEqual(cells[0]?.slice(1, 9), sqlite.split(' '))
  assert.deepEqual(cells[1]?.slice(1, 5), ['PostgreSQL', '1,000,000', '37', '3'])
  assert.deepEqual(cells[2]?.slice(1, 6), ['PostgreSQL', '10,000,000', '1', '12.0', '27,400'])
})

test('prints a dash for a missing figure and marks a failed audit', () => {
  const report = formatGrowth(
    {
      figures: [{ ...figures, auditFullSeconds: Number.NaN, isClean: false }],
      retention: [{ ...retention, store: 'sqlite', months: 0, monthsMs: Number.NaN }],
    },
    made,
  )
  const [grown, kept] = rowsOf(report)
  assert.match(grown ?? '', /\| +– \| \*\*FAILED\*\* +\|$/)
  assert.match(kept ?? '', /\| +0 \| +– \|/)
})
