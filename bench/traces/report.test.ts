/** The table of what traces cost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatTraces } from './report.ts'

test('shows the median round of each setting, and all its failures', () => {
  const round = { requestsPerSecond: 1_000, bytesPerRequest: 700, failedCount: 1 }
  const rounds = [300, 100, 200].map((cpuUsPerRequest) => ({
    ...round,
    setting: 'every request',
    cpuUsPerRequest,
  }))
  const report = formatTraces(rounds, { command: 'npm run bench', date: '2026-11-23' })
  assert.match(report, /^`npm run bench` on 2026-11-23\.\n\n\| traced/)
  assert.match(report, /\| every request \| +200 \| +100–300 \| +1,000 \| +700 \| +3 \|/)
})
