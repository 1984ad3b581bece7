/** The table of attacks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatAttacks, type AttackRow } from './report.ts'

test('shows the medians of the rounds of each attack and version', () => {
  const row = (program: string, duringMs: number): AttackRow => ({
    attack: 'large bodies',
    program,
    quiet: { healthMs: 2, requestMs: 4, failedCount: 0 },
    during: { healthMs: duringMs, requestMs: 7_700, failedCount: 2 },
    answers: { 200: 1_500, 0: 1 },
    longestTurnMs: 12.34,
    highestMegabytes: 150.4,
  })
  const made = { command: 'npm run bench', date: '2026-11-22', commit: 'abc' }
  const rows = [row('old', 3), row('new', Number.NaN), row('old', 5), row('old', 4)]
  const report = formatAttacks(rows, made)
  assert.match(report, /^`npm run bench` on 2026-11-22\.\n\n\| attack/)
  const figures = /\| large bodies \| old +\| +2\.00 \| +4\.00 \| +2\.00 × \| +4\.00 \| +7,700 \|/
  assert.match(report, figures)
  assert.match(report, /\| +12\.3 \| +6 \| +150 \| cut: 3, 200: 4,500 *\|/)
  assert.match(report, /\| large bodies \| new +\| +2\.00 \| +– \|/)
})
