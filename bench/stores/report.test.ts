/** Tests of the report of the stores part: medians, added latency, aims, money. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  compareStoreAims,
  formatStores,
  type StoreFigures,
  type StoreRound,
  summarizeStores,
} from './report.ts'

type RoundOptions = Partial<StoreRound> & Pick<StoreRound, 'place'>

function round(options: RoundOptions): StoreRound {
  return {
    accounts: ['none', 'nginx', 'free'].includes(options.place) ? 0 : 1,
    connections: 4,
    requests: 1_000,
    failures: 0,
    requestsPerSecond: 1_000,
    p50Us: 500,
    p99Us: 1_500,
    gatewayCpuUs: 200_000,
    serverCpuUs: 0,
    transactions: 250,
    ...options,
  }
}

function aimsOf(...rounds: readonly StoreRound[]): readonly (readonly [string, boolean])[] {
  return compareStoreAims(summarizeStores(rounds), [1, 4, 32]).map(
    ({ measured, isMet }) => [measured, isMet] as const,
  )
}

test('makes rows of medians, by place, accounts and connections', () => {
  const rows = summarizeStores([
    round({ place: 'postgres', p50Us: 900, transactions: 500, failures: 1 }),
    round({ place: 'postgres', p50Us: 700, transactions: 250 }),
    round({ place: 'postgres', p50Us: 800, transactions: 200, failures: 2 }),
    round({ place: 'postgres', accounts: 1_000, p50Us: 5_000 }),
    round({ place: 'postgres', connections: 32, p50Us: 6_000 }),
  ])
  assert.deepEqual(
    rows.map(({ p50Ms, requestsPerTransaction, failures }) => [
      p50Ms,
      requestsPerTransaction,
      failures,
    ]),
    [
      [0.8, 4, 3],
      [5, 4, 0],
      [6, 4, 0],
    ],
  )
})

test('compares latency with a free request, and the rate with SQLite at many connections', () => {
  const floors = [1, 4].flatMap((connections) => [
    round({ place: 'none', connections, p50Us: 100 }),
    round({ place: 'nginx', connections, p50Us: 200 }),
    round({ place: 'free', connections, p50Us: 100 * connections }),
  ])
  const measured = (p50Us: number, rate: number) => [
    ...floors,
    round({ place: 'postgres', connections: 1, p50Us: p50Us - 1_000 }),
    round({ place: 'postgres', p50Us }),
    round({ place: 'sqlite', connections: 32, requestsPerSecond: 2_000 }),
    round({ place: 'postgres', connections: 32, requestsPerSecond: rate }),
  ]
  assert.deepEqual(aimsOf(...measured(2_400, 1_000)), [
    ['1.30 ms', true],
    ['2.00 ms', true],
    ['0.50 ×', true],
  ])
  assert.deepEqual(aimsOf(...measured(3_500, 980)), [
    ['2.40 ms', false],
    ['3.10 ms', false],
    ['0.49 ×', false],
  ])
})

test('does not meet an aim with one side not measured', () => {
  assert.deepEqual(aimsOf(round({ place: 'postgres' })), [
    ['NaN ms', false],
    ['NaN ms', false],
    ['NaN ×', false],
  ])
})

test('prints added latency, requests per commit, and wrong money', () => {
  const figures: StoreFigures = {
    machine: {
      date: '2026-11-21 10:00 UTC',
      commit: '0123456789ab',
      processor: 'Processor',
      cores: 2,
      memoryGib: 8,
      kernel: '6.1',
      node: '26.0.0',
      sqlite: '3.50',
      nginx: '1.22',
      haproxy: undefined,
      portkey: undefined,
      workFileSystem: 'ext4',
    },
    plan: { connections: [1, 4, 32], accounts: 1_000, rounds: 1, seconds: 1, warmUpSeconds: 1 },
    server: '15.14',
    rounds: [
      round({ place: 'none', p50Us: 100, gatewayCpuUs: 0, transactions: Number.NaN }),
      round({ place: 'postgres-two', p50Us: 1_350, serverCpuUs: 150_000 }),
    ],
    money: [
      { what: 'sqlite, all of it', isRight: true },
      { what: 'postgres, some of it', isRight: false },
    ],
  }
  const report = formatStores(figures, 'npm run bench -- --only stores')
  const [floor, store] = report
    .split('\n')
    .filter((line) => /^\| (no proxy|PostgreSQL, two)/.test(line))
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    )
  assert.deepEqual(floor?.slice(4), ['0.10', '1.50', '–', '–', '–', '–', '–', '–', '0'])
  assert.deepEqual(store?.slice(4), [
    '1.35',
    '1.50',
    '1.25',
    '0.00',
    '4.00',
    '0.25',
    '200',
    '150',
    '0',
  ])
  assert.match(report, /^- right: sqlite, all of it$/m)
  assert.match(report, /^- \*\*WRONG\*\*: postgres, some of it$/m)
})
