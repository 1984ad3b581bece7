/** Tests of the report of a run: medians, ratios, tables, and the file that keeps it. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Figures, RequestRound, StreamRound } from '../measure/figures.ts'
import { compareWithBaseline } from './aims.ts'
import { formatFigure, formatRatio, formatTable, writeFigures, writeReport } from './document.ts'
import { formatReport } from './markdown.ts'
import { summarize } from './summary.ts'

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

test('computes medians of the rounds of a row', () => {
  const { requests, streams } = summarize(figures)
  assert.deepEqual(
    requests.map(({ cpuUs, requestsPerSecond }) => [cpuUs, requestsPerSecond]),
    [
      [18, 50_000],
      [36, 31_000],
      [600, 1_550],
      [20, 60_000],
    ],
  )
  assert.equal(streams.length, 3)
})

test('compares with the baseline at each number of connections and streams', () => {
  const at = (connections: number, name: string, cpuUs: number): RequestRound => ({
    ...requestRound(name === 'baseline, chat' ? 'baseline' : 'turnpike', cpuUs, 1_000),
    name,
    connections,
  })
  const requests = [
    at(4, 'Turnpike, chat', 30),
    at(4, 'baseline, chat', 60),
    at(32, 'Turnpike, chat', 20),
    at(32, 'baseline, chat', 10),
    at(256, 'Turnpike, chat', 20),
  ]
  const streams = [streamRound('turnpike', 30), streamRound('baseline', 20)]
  const ratios = compareWithBaseline(summarize({ ...figures, requests, streams }))
  assert.deepEqual(
    ratios.filter(({ what }) => what.includes('CPU')),
    [
      { what: 'Turnpike, chat, 4 connections: CPU per request', ratio: 0.5 },
      { what: 'Turnpike, chat, 32 connections: CPU per request', ratio: 2 },
      { what: '1000 streams: CPU per event', ratio: 1.5 },
    ],
  )
  assert.deepEqual(compareWithBaseline(summarize(figures)), [])
})

test('prints the command, the versions, the tables and wrong money', () => {
  const report = formatReport(figures, 'npm run bench')
  assert.match(report, /^Made by `npm run bench` on 2026-01-02 03:04 UTC, commit 0123456789ab\.\n/)
  assert.match(report, /Portkey gateway 1\.15\.2 on the same Node with NODE_ENV=production/)
  assert.match(report, /\| turnpike +\| +32 \| +2\.00 × \| +36\.0 \|/)
  assert.match(report, /\| no proxy +\| +1,000 \| +– \| +– \|/)
  assert.match(report, /- right: one charge each\n- \*\*WRONG\*\*: a lost charge\n/)
})

test('keeps the last report of a kind, with its figures', () => {
  const root = mkdtempSync(join(tmpdir(), 'turnpike-results-'))
  try {
    writeReport(root, 'old\n', 'slow')
    writeReport(root, 'of streams\n', 'instant')
    const path = writeReport(root, 'new\n\n', 'slow')
    assert.equal(readFileSync(path, 'utf8'), '# slow\n\nnew\n')
    const kept = JSON.parse(readFileSync(writeFigures(root, figures, 'slow'), 'utf8')) as Figures
    assert.deepEqual(kept.money, figures.money)
    const names = readdirSync(join(root, 'bench', 'results'))
    assert.deepEqual(names.toSorted(), ['instant.md', 'slow.json', 'slow.md'])
  } finally {
    rmSync(root, { recursive: true })
  }
})

test('pads columns to their widest cell and aligns figures right', () => {
  const table = formatTable<readonly [string, number]>(
    [
      { heading: 'proxy', align: 'left', cell: ([name]) => name },
      { heading: 'µs', align: 'right', cell: ([, value]) => formatFigure(value) },
    ],
    [
      ['nginx', 17.14],
      ['Turnpike, chat', 1_234.5],
    ],
  )
  assert.equal(
    table,
    '| proxy          |    µs |\n' +
      '| -------------- | ----: |\n' +
      '| nginx          |  17.1 |\n' +
      '| Turnpike, chat | 1,235 |\n',
  )
})

test('prints decimals by the size of a figure', () => {
  assert.equal(formatFigure(0.123), '0.12')
  assert.equal(formatFigure(12.34), '12.3')
  assert.equal(formatFigure(123.4), '123')
  assert.equal(formatFigure(1_234_567), '1,234,567')
  assert.equal(formatFigure(Number.NaN), '–')
})

test('prints a dash for an undefined ratio', () => {
  assert.equal(formatRatio(2.306), '2.31 ×')
  assert.equal(formatRatio(1 / 0), '–')
})
