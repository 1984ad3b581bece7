/** Tests of the report of a run: ratios within the run, aims, and its place in the documentation. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Figures, RequestRound, StreamRound } from '../measure/figures.ts'
import { compareWithAims } from './aims.ts'
import { formatReport } from './markdown.ts'
import { summarize } from './summary.ts'
import { replaceBetweenMarks } from './write.ts'

function requestRound(proxy: RequestRound['proxy'], cpuUs: number, rate: number): RequestRound {
  return {
    proxy,
    name: proxy,
    connections: 32,
    isFree: false,
    requests: 1_000,
    failures: 0,
    cpuUsPerRequest: cpuUs,
    busiestThreadUsPerRequest: cpuUs / 2,
    requestsPerSecond: rate,
    coreShare: 0.9,
    p50Us: 500,
    p99Us: 1_500,
  }
}

function streamRound(proxy: StreamRound['proxy'], cpuUs: number): StreamRound {
  return {
    proxy,
    streams: 1_000,
    events: 10_000,
    eventsPerSecond: 14_000,
    cpuUsPerEvent: cpuUs,
    coreShare: 0.4,
    residentBytesPerStream: 10_240,
    delayP50Us: 70,
    delayP99Us: 300,
    firstByteP50Us: 200,
    firstByteP99Us: 900,
    slips: 0,
  }
}

const figures: Figures = {
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
  mode: 'quick',
  requests: [
    requestRound('nginx', 16, 50_000),
    requestRound('turnpike', 30, 30_000),
    requestRound('portkey', 600, 1_700),
    requestRound('nginx', 20, 50_000),
    requestRound('turnpike', 42, 32_000),
    requestRound('portkey', 600, 1_400),
    // No aim speaks of what costs nothing.
    { ...requestRound('turnpike', 20, 60_000), name: 'nothing charged', isFree: true },
  ],
  streams: [streamRound('none', Number.NaN), streamRound('nginx', 20), streamRound('turnpike', 44)],
  health: [
    {
      proxy: 'turnpike',
      streams: 1_000,
      questions: 200,
      p50Us: 300,
      p99Us: 4_000,
      highestUs: 9_000,
    },
  ],
  money: [
    { what: 'one charge each', isRight: true },
    { what: 'a lost charge', isRight: false },
  ],
}

test('ratios are between the medians of one run', () => {
  const aims = compareWithAims(summarize(figures))
  assert.deepEqual(
    aims.map(({ measured, isMet }) => [Number(measured.toFixed(2)), isMet]),
    [
      [2, true],
      [20, true],
      [2.2, false],
      [4, true],
    ],
  )
})

test('requests have their aims at every number of connections that shares commits', () => {
  const at = (connections: number, slowness: number): RequestRound[] => [
    { ...requestRound('nginx', 20, 40_000), connections },
    { ...requestRound('turnpike', 20 * slowness, 10_000), connections },
  ]
  const requests = [...at(4, 20), ...at(32, 5), ...at(256, 3)]
  const aims = compareWithAims(summarize({ ...figures, requests, streams: [], health: [] }))
  assert.deepEqual(
    aims.map(({ aim, isMet }) => [aim, isMet]),
    [
      ['turnpike, 32 connections: at most 3.5 × the CPU of nginx per request', false],
      ['turnpike, 256 connections: at most 3.5 × the CPU of nginx per request', true],
    ],
  )
})

test('an aim of which one side was not measured is left out', () => {
  const alone = figures.requests.filter((round) => round.proxy === 'turnpike')
  assert.deepEqual(
    compareWithAims(summarize({ ...figures, requests: alone, streams: [], health: [] })),
    [],
  )
})

test('the report tells the command, the versions, the tables and wrong money', () => {
  const report = formatReport(figures, 'npm run bench')
  assert.match(report, /^Made by `npm run bench` on 2026-01-02 03:04 UTC, commit 0123456789ab\.\n/)
  assert.match(report, /Portkey gateway 1\.15\.2 on the same Node with NODE_ENV=production/)
  assert.match(report, /\| turnpike +\| +32 \| +2\.00 × \| +36\.0 \|/)
  assert.match(report, /\| no proxy +\| +1,000 \| +– \| +– \|/)
  assert.match(report, /- right: one charge each\n- \*\*WRONG\*\*: a lost charge\n/)
})

test('a new report takes the place of the former one and nothing else changes', () => {
  const text = 'before\n<!-- bench:begin -->\n\nold\n<!-- bench:end -->\nafter\n'
  const once = replaceBetweenMarks(text, 'new\n')
  assert.equal(once, 'before\n<!-- bench:begin -->\n\nnew\n\n<!-- bench:end -->\nafter\n')
  assert.equal(replaceBetweenMarks(once, 'new\n'), once)
  assert.throws(() => replaceBetweenMarks('no marks', 'new'), /are not in the text/)
})
