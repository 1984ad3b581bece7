/** Tests of the report of the measurements with a slow vendor: medians, ratios, aims, tables, picture. */
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { describeMachine } from '../machine.ts'
import { drawCores } from './picture.ts'
import { formatRelay } from './report.ts'
import { compareCores, summarize, type IdleRound, type RelayFigures, type Round } from './rounds.ts'

function round(target: Round['target'], cpuUs: number, changes: Partial<Round> = {}) {
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
    targetCpuUs: cpuUs * 4_000,
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
  restCpuMs: 12.5,
  runningBytes: 310e6,
  afterBytes: 140e6,
}

const rounds: readonly Round[] = [
  round('none', 0),
  round('nginx', 40),
  round('lean', 60),
  round('turnpike', 100, { lastP50Us: 503_000, transactions: 400 }),
  round('turnpike', 140, { lastP50Us: 505_000, transactions: 800 }),
  // Its server's CPU counts.
  round('postgres', 100, { storeCpuUs: 4_000 * 100, lastP50Us: 506_000 }),
  round('portkey', 700, { ratePerSecond: 500 }),
]

const machine = describeMachine(import.meta.dirname, tmpdir())
const money = [{ what: 'a lost charge', isRight: false }]
const idle = [idleRound]
const made = { machine, mode: 'default', roundCount: 2 } as const
const figures: RelayFigures = { ...made, postgres: '15.14', rounds, idle, money }

test('computes medians, ratios to the floors, and the time that a proxy adds', () => {
  const [, , , ours, onServer] = summarize(rounds)
  assert.equal(ours?.cpuUs, 120)
  assert.deepEqual([ours?.cpuUsLowest, ours?.cpuUsHighest], [100, 140])
  assert.deepEqual([ours?.cpuRatio, ours?.leanRatio], [3, 2])
  assert.equal(ours?.lastAddedP50Ms, 4)
  assert.equal(ours?.commitsPerRequest.toFixed(2), '0.15')
  assert.equal(onServer?.cpuUs, 200)
})

test('computes the cost of an event where there are events', () => {
  const [row] = summarize([round('nginx', 40, { part: 'short-streams', events: 8_000 })])
  assert.equal(row?.cpuUs, 20)
  assert.equal(row?.eventsPerSecond, 4_000)
})

test('compares a slow peer at the rate that it can do', () => {
  const cores = compareCores(summarize(rounds))
  assert.deepEqual(
    cores.map(({ target, requestsPerCore }) => `${target} ${Math.round(requestsPerCore)}`),
    ['nginx 25000', 'lean 16667', 'turnpike 8333', 'postgres 5000', 'portkey 1429'],
  )
})

test('prints the command, the versions, the tables and wrong money', () => {
  const report = formatRelay(figures, 'npm run bench')
  assert.match(report, /^Made by `npm run bench` on \d{4}-.* UTC, commit .*; rounds: 2\./)
  assert.match(report, /, PostgreSQL 15\.14, /)
  assert.match(report, /\| 2,000\/s +\| turnpike +\| +2,000 \| +3\.00 × \|/)
  assert.match(
    report,
    /\| Turnpike, SQLite \| +115 \| +12\.5 \| +9,800 \| +310 \| +19\.9 \| +140 \|/,
  )
  assert.match(report, /- \*\*WRONG\*\*: a lost charge\n/)
  assert.doesNotMatch(report, /A quick run/)
})

test('draws a bar for each gateway, the longest first, and ours in another colour', () => {
  const ours = { target: 'turnpike', title: 'Turnpike <1>', requestsPerCore: 5_000.4 }
  const peer = { target: 'nginx', title: 'nginx', requestsPerCore: 10_000 }
  const picture = drawCores([ours, peer], 'Today.')
  assert.match(picture, /<desc id="desc">nginx: 10,000; Turnpike &lt;1>: 5,000\.<\/desc>/)
  const bars = [...picture.matchAll(/<rect class="(\w+)".* width="(\d+)"/g)]
  assert.deepEqual(
    bars.map(([, kind, width]) => `${kind} ${width}`),
    ['peer 540', 'ours 270'],
  )
})
