/** The table of one process and two. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatSeveral, type SeveralFigures, type SeveralRound } from './report.ts'

const machine: SeveralFigures['machine'] = {
  date: '2026-11-23 16:00 UTC',
  commit: 'abc1234',
  processor: 'a processor',
  cores: 2,
  memoryGib: 4,
  kernel: '6',
  node: '26',
  sqlite: '3',
  nginx: '1',
  haproxy: undefined,
  portkey: undefined,
  workFileSystem: 'ext4',
}

function round(processCount: number, proxyCpuUs: number): SeveralRound {
  return {
    part: 'short-streams',
    load: 'messages',
    target: 'turnpike',
    title: '',
    ratePerSecond: 300,
    durationUs: 1e6,
    requests: 10,
    events: 500,
    failures: 1,
    proxyCpuUs,
    busiestThreadUs: proxyCpuUs,
    storeCpuUs: 1_000,
    transactions: 5,
    firstP50Us: 1_000,
    firstP99Us: 1_000,
    lastP50Us: 2_000,
    lastP99Us: 2_000,
    slips: 0,
    processCount,
  }
}

test('shows the CPU time of an event, and its ratio to one process in the same round', () => {
  const report = formatSeveral(
    {
      machine,
      plan: { rounds: 3, windowMs: 1, idleMs: 1 },
      server: '17',
      idle: [{ processCount: 2, cpuMsPerSecond: 3, bytes: 3e8, supervisorBytes: 8e7 }],
      rounds: [
        round(1, 5_000),
        round(2, 6_000),
        round(1, 10_000),
        round(2, 11_000),
        round(1, 10_000),
        round(2, 20_000),
      ],
      money: [],
    },
    'npm run bench',
  )
  assert.match(report, /\| events, messages \| +1 \| +20\.0 \| +1\.00 × \| +2\.00 \| +0\.50 \|/)
  assert.match(report, /\| events, messages \| +2 \| +22\.0 \| +1\.20 × \|.* \| +3 \|/)
  assert.match(report, /\| +2 \| +3\.00 \| +300 \| +80\.0 \|/)
})
