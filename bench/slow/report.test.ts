/** Tests of the report of the measurements with a slow vendor: medians, ratios, aims, tables, picture. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IdleRound, SlowFigures, SlowRound } from './figures.ts'
import { compareWithSlowAims } from './aims.ts'
import { drawCores } from './picture.ts'
import { formatSlow } from './report.ts'
import { compareCores, summarizeSlow } from './summary.ts'

function round(target: SlowRound['target'], cpuUs: number, changes: Partial<SlowRound> = {}) {
  return {
    part: 'slow',
    load: '2,000/s',
    target,
    title: target,
    ratePerSecond: 2_000,
    durationUs: 2e6,
    requests: 4_000,
    events: 0,
    failures: 0,
    proxyCpuUs: cpuUs * 4_000,
    busiestThreadUs: 1,
    storeCpuUs: 0,
    transactions: Number.NaN,
    firstP50Us: 500_000,
    firstP99Us: 500_000,
    lastP50Us: 500_000,
    lastP99Us: 501_000,
    slips: 0,
    ...changes,
  } as const
}

const idleRound: IdleRound = {
  target: 'turnpike',
  title: 'Turnpike, SQLite',
  streams: 9_800,
  restBytes: 115e6,
  runningBytes: 310e6,
  afterBytes: 140e6,
}

const rounds: readonly SlowRound[] = [
  round('none', 0),
  round('nginx', 40),
  round('turnpike', 100, { lastP50Us: 503_000, transactions: 400 }),
  round('turnpike', 140, { lastP50Us: 505_000, transactions: 800 }),
  // Its server's CPU counts.
  round('postgres', 100, { storeCpuUs: 4_000 * 100, lastP50Us: 506_000 }),
  round('portkey', 700, { ratePerSecond: 500 }),
]

const figures: SlowFigures = {
  machine: {
    date: '2026-01-02 03:04 UTC',
    commit: '0123456789ab',
    processor: 'a processor',
    cores: 2,
    memoryGib: 8,
    kernel: '6.1',
    node: '26.0.0',
    sqlite: '3.53',
    nginx: '1.22',
    haproxy: undefined,
    portkey: '1.15.2',
    workFileSystem: 'ext4',
  },
  mode: 'default',
  plan: {
    rates: [2_000],
    formats: ['chat'],
    bodyBytes: [],
    rounds: 2,
    windowMs: 2_000,
    idleStreams: [10_000],
    restMs: 1,
    afterMs: 1,
  },
  python: { litellm: '1.2.3' },
  postgres: '15.18 (Debian)',
  rounds,
  idle: [idleRound],
  money: [{ what: 'a lost charge', isRight: false }],
}

test('computes medians, ratios to nginx, and the time that a proxy adds', () => {
  const [, , ours, onServer] = summarizeSlow(rounds)
  assert.equal(ours?.cpuUs, 120)
  assert.deepEqual([ours?.cpuUsLowest, ours?.cpuUsHighest], [100, 140])
  assert.equal(ours?.cpuRatio, 3)
  assert.equal(ours?.lastAddedP50Ms, 4)
  assert.equal(ours?.commitsPerRequest.toFixed(2), '0.15')
  assert.equal(onServer?.cpuUs, 200)
})

test('computes the cost of an event where there are events', () => {
  const [row] = summarizeSlow([round('nginx', 40, { part: 'short-streams', events: 8_000 })])
  assert.equal(row?.cpuUs, 20)
  assert.equal(row?.eventsPerSecond, 4_000)
})

test('compares with the aims, each from one run', () => {
  const aims = compareWithSlowAims(summarizeSlow(rounds), [idleRound])
  assert.deepEqual(
    aims.map(({ measured, unit, isMet }) => [Number(measured.toFixed(2)), unit, isMet]),
    [
      [3, '×', true],
      [4, 'ms', true],
      [1.67, '×', false],
      [5.83, '×', true],
      [115, 'MB', true],
      [310, 'MB', false],
      [25, 'MB', true],
    ],
  )
})

test('leaves out aims with one side not measured', () => {
  const alone = rounds.filter(({ target }) => target === 'turnpike')
  assert.deepEqual(compareWithSlowAims(summarizeSlow(alone), []), [])
})

test('compares a slow peer at the rate that it can do', () => {
  assert.deepEqual(
    compareCores(summarizeSlow(rounds)).map(({ target, requestsPerCore }) => [
      target,
      Math.round(requestsPerCore),
    ]),
    [
      ['nginx', 25_000],
      ['turnpike', 8_333],
      ['postgres', 5_000],
      ['portkey', 1_429],
    ],
  )
})

test('prints the command, the versions, the tables and wrong money', () => {
  const report = formatSlow(figures, 'npm run bench')
  assert.match(
    report,
    /^Made by `npm run bench` on 2026-01-02 03:04 UTC, commit 0123456789ab; 2 rounds\./,
  )
  assert.match(report, /PostgreSQL 15\.18; nginx 1\.22; Portkey gateway 1\.15\.2\./)
  assert.match(report, /\| 2,000\/s +\| turnpike +\| +2,000 \| +3\.00 × \|/)
  assert.match(report, /\| Turnpike, SQLite \| +115 \| +9,800 \| +310 \| +19\.9 \| +140 \|/)
  assert.match(report, /- \*\*WRONG\*\*: a lost charge\n/)
  assert.doesNotMatch(report, /A quick run/)
})

test('draws a bar for each gateway, the longest first, and ours in another colour', () => {
  const picture = drawCores(
    [
      { target: 'turnpike', title: 'Turnpike <1>', requestsPerCore: 5_000.4 },
      { target: 'nginx', title: 'nginx', requestsPerCore: 10_000 },
    ],
    'Today.',
  )
  assert.match(picture, /<desc id="desc">nginx: 10,000; Turnpike &lt;1>: 5,000\.<\/desc>/)
  const bars = [...picture.matchAll(/<rect class="(\w+)".* width="(\d+)"/g)]
  assert.deepEqual(
    bars.map(([, kind, width]) => [kind, width]),
    [
      ['peer', '540'],
      ['ours', '270'],
    ],
  )
})
