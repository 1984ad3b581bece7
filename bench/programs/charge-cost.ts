/**
 * The CPU time of booking charges on the embedded store: batches of charges of random accounts, on a
 * connection such as the writer's, with SQLite's usual cache and with the writer's. Commits are durable;
 * moving pages from the log into the file is not counted. Run: node bench/programs/charge-cost.ts
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

const accountCounts = [1, 1_000, 10_000]
const cacheMegabytes = [2, 16]
const batchSize = 16
const charges = 8_000
const rounds = 4
const pageBytes = 4_120 // with its head in the log

const random = seededRandom(1)
let nowMs = Date.parse('2026-11-21T12:00:00Z')
let count = 0

const folder = mkdtempSync(join(tmpdir(), 'turnpike-charges-'))
try {
  for (const accounts of accountCounts) {
    const runs = await Promise.all(cacheMegabytes.map((megabytes) => openRun(accounts, megabytes)))
    // In turn, because other programs use the machine too.
    for (let round = 0; round < rounds; round++) for (const run of runs) run.book(accounts)
    for (const run of runs) run.report(accounts)
  }
} finally {
  rmSync(folder, { recursive: true })
}

async function openRun(accounts: number, megabytes: number) {
  const path = join(folder, `${accounts}-${megabytes}.db`)
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
    book(accountCount: number): void {
      const batches = Array.from({ length: charges / batchSize }, () =>
        Array.from({ length: batchSize }, () => makeCharge(accountCount)),
      )
      const before = process.cpuUsage()
      for (const batch of batches) booking.book(batch)
      const { user, system } = process.cpuUsage(before)
      times.push((user + system) / charges)
    },
    report(accountCount: number): void {
      const pages = statSync(`${path}-wal`).size / pageBytes / (charges * rounds)
      const sorted = times.toSorted((left, right) => left - right).map((time) => time.toFixed(0))
      process.stdout.write(
        `${accountCount} accounts, ${megabytes} MB cache: ${sorted.join(', ')} µs a charge, ${pages.toFixed(1)} pages\n`,
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
        class: 'ok',
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
