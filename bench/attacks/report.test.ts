/** The table of attacks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatAttacks } from './report.ts'

test('shows each attack with both versions', () => {
  const figures = { healthMs: 1.5, requestMs: 7_700, failedCount: 2, highestMegabytes: 150.4 }
  const row = { attack: 'large bodies', ...figures, afterwardsMegabytes: 120 }
  const made = { command: 'npm run bench', date: '2026-11-22' }
  const rows = [
    { ...row, program: 'old' },
    { ...row, program: 'new', healthMs: Number.NaN },
  ]
  const report = formatAttacks(rows, made)
  assert.match(report, /^`npm run bench` on 2026-11-22\.\n\n\| attack/)
  assert.match(report, /\| large bodies \| old +\| +1\.50 \| +7,700 \| +2 \| +150 \| +120 \|/)
  assert.match(report, /\| large bodies \| new +\| +– \|/)
})
