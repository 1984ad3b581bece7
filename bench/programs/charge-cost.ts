/**
 * The CPU time of booking charges on the embedded store: batches of charges of random accounts, on a
 * connection such as the writer's, with SQLite's usual cache and with the writer's; then batches of several
 * sizes. Commits are durable; moving pages from the log into the file is not counted. Run:
 * node bench/programs/charge-cost.ts
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '../../src/base/id.ts'
import { picos, zeroPicos } from '../../src/base/money.ts'
import { seededRandom } from '../../src/base/random.ts'
import { Booking } from '../../src/ledger/embedded/booking.ts'
import { toEndedExchange, type EndedExchange } from '../../src/ledger/exchange-row.ts'
import { openConnection } from '../../src/storage/sqlite/connection.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'

interface Setting {
  readonly accounts: number
  readonly megabytes: number
  readonly batchSize: number
  /** In a round. */
  readonly charges: number
}

const writerMegabytes = 16
/** Those of one group are measured in turn, because other programs use the machine too. */
const groups: readonly (readonly Setting[])[] = [
  ...[1, 1_000, 10_000].map((accounts) =>
    [2, writerMegabytes].map((megabytes) => ({
      accounts,
      megabytes,
      batchSize: 16,
      charges: 8_000,
    })),
  ),
  [1, 3, 6, 12].map((batchSize) => ({
    accounts: 1,
    megabytes: writerMegabytes,
    batchSize,
    charges: 2_400,
  })),
]
const rounds = 4
const pageBytes = 4_120 // with its head in the log

const random = seededRandom(1)
let nowMs = Date.parse('2026-11-21T12:00:00Z')
let count = 0

const folder = mkdtempSync(join(tmpdir(), 'turnpike-charges-'))
try {
  for (const group of groups) {
    const runs = await Promise.all(group.map(openRun))
    for (let round = 0; round < rounds; round++) for (const run of runs) run.book()
    for (const run of runs) run.report()
  }
} finally {
  rmSync(folder, { recursive: true })
}

async function openRun({ accounts, megabytes, batchSize, charges }: Setting) {
  const path = join(folder, `${accounts}-${megabytes}-${batchSize}.db`)
  const database = openSqlite(path)
  await migrate(database)
  await database.query(
    `INSERT INTO account (id, name, created_at_ms, balance_picos)
     WITH RECURSIVE place (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM place WHERE n + 1 < ${accounts})
     SELECT 'acc_' || n, 'account ' || n, 0, 1000000000000000000 FROM place`,
  )
  await database.close()
  const cacheBytes = megabytes * 1_048_576
  const connection = openConnection(path, { autoCheckpoint: false, cacheBytes })
  const booking = new Booking(connection)
  const times: number[] = []
  return {
    book(): void {
      const batches = Array.from({ length: charges / batchSize }, () =>
        Array.from({ length: batchSize }, () => makeCharge(accounts)),
      )
      const before = process.cpuUsage()
      for (const batch of batches) booking.book(batch)
      const { user, system } = process.cpuUsage(before)
      times.push((user + system) / charges)
    },
    report(): void {
      const pages = statSync(`${path}-wal`).size / pageBytes / (charges * rounds)
      const sorted = times.toSorted((left, right) => left - right).map((time) => time.toFixed(0))
      process.stdout.write(
        `${accounts} accounts, ${megabytes} MB cache, batches of ${batchSize}: ${sorted.join(', ')} µs a charge, ${pages.toFixed(1)} pages\n`,
      )
      connection.close()
    },
  }
}

function makeCharge(accounts: number): EndedExchange {
  nowMs += 1
  const account = Math.floor(random() * accounts)
  return toEndedExchange({
    exchangeId: newId('ex', nowMs),
    accountId: `acc_${account}`,
    keyId: `key_${account}`,
    vendor: 'alpha',
    model: 'large-1',
    operation: 'messages.create',
    isStream: true,
    channel: 'alpha-main',
    startedAtMs: nowMs - 300,
    endedAtMs: nowMs,
    ending: 'completed',
    status: 200,
    attemptCount: 1,
    amountPicos: picos(546_000_000n),
    usage: {
      parts: [{ counts: { input: 12, output: 34 }, promptTokens: 12 }],
      reported: { inputTokens: 12, outputTokens: 34, cacheTokens: 0 },
    },
    marks: [],
    priceLines: '{"parts":[{"lines":[["input",12,"3000000"],["output",34,"15000000"]]}]}',
    // Vendors draw theirs at random.
    vendorRequestId: `req_${Math.floor(random() * 2 ** 52).toString(36)}${++count}`,
    operatorCostPicos: zeroPicos,
    firstEventMs: 120,
    attempts: [
      {
        channel: 'alpha-main',
        status: 200,
        class: 'answered',
        startedMs: 2,
        firstEventMs: 120,
        durationMs: 300,
      },
    ],
    code: undefined,
    client: 'openai-python',
    address: 'ipv4',
    ownCostPicos: zeroPicos,
    isOwnCostKnown: false,
  })
}
