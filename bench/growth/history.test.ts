/** Tests of the history statements as text; test/storage runs them on stores. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DaysOfHistory, historyScript } from './history.ts'

const days: DaysOfHistory = {
  dialect: 'sqlite',
  shape: { accounts: 5, keysPerAccount: 2, models: 3, requestsPerDay: 40 },
  startMs: Date.parse('2025-12-24'),
  firstDay: 7,
  days: 2,
}

test('continues days and requests where the previous script ended', () => {
  const script = historyScript(days)
  assert.match(script, /SELECT CAST\(280 AS BIGINT\).*WHERE number < 359\b/)
  assert.match(script, /\(7, \d+, '2025-12-31', '2025-12'\), \(8, \d+, '2026-01-01', '2026-01'\)/)
})

test('creates month partitions on PostgreSQL only, for exactly these days', () => {
  assert.doesNotMatch(historyScript(days), /ensure_exchange_partitions/)
  const [, fromMs, toMs] =
    /ensure_exchange_partitions\((\d+), (\d+)\)/.exec(
      historyScript({ ...days, dialect: 'postgres' }),
    ) ?? []
  assert.equal(Number(fromMs), Date.parse('2025-12-31'))
  assert.equal(Number(toMs), Date.parse('2026-01-02') - 1)
})

test('drops every temporary table that it creates', () => {
  const script = historyScript(days)
  const made = [...script.matchAll(/CREATE TEMP TABLE (\w+)/g)].map(([, name]) => name)
  const dropped = [...script.matchAll(/DROP TABLE (\w+)/g)].map(([, name]) => name)
  assert.equal(made.length, 3)
  assert.deepEqual(new Set(dropped), new Set(made))
})

test('makes the cost of an answer the sum of its price lines', () => {
  const rows = [
    ...historyScript(days).matchAll(/\(\d+, 'model-\d', \d+, \d+, \d+, (\d+), '.*', '(\{.*\})'\)/g),
  ]
  assert.equal(rows.length, 16 * 3)
  for (const [, amount, lines = ''] of rows) {
    const counts = [...lines.matchAll(/,(\d+),"(\d+)"/g)]
    const sum = counts.reduce((total, [, count, price]) => total + Number(count) * Number(price), 0)
    assert.equal(sum, Number(amount))
  }
})
