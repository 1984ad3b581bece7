/**
 * How long a list of requests takes: fills table exchange of a new store with 200,000 requests of 200
 * accounts, ten of them with a rare model, channel and status, and asks for the newest 100 by several
 * filters. It measures the operation, as the command and the API call it, on SQLite and on PostgreSQL. The
 * CPU time is without PostgreSQL's. Run: node bench/programs/request-lists.ts
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { systemClock } from '../../src/base/clock.ts'
import { newId } from '../../src/base/id.ts'
import { Secret } from '../../src/base/secret.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { listRequests } from '../../src/operations/requests/requests.ts'
import { noCheck } from '../../src/operations/run-check.ts'
import type { Database } from '../../src/storage/database.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openStore } from '../../src/storage/open.ts'
import { startPostgres } from '../../test/support/postgres.ts'

const requests = 200_000
const accounts = 200
const rowsPerStatement = 1_000
const rareEvery = 20_000
const apartMs = 10_000
const runs = 5
const filters = [
  {},
  { account: 'account-7' },
  { model: 'rare-1' },
  { channel: 'rare' },
  { status: '502' },
  { account: 'account-7', model: 'rare-1' },
  { account: 'account-7', status: '502' },
]

const usage = JSON.stringify({
  parts: [{ counts: { input: 10, output: 20 }, promptTokens: 10 }],
  reported: { inputTokens: 10, outputTokens: 20, cacheTokens: 0 },
})

function requestRow(index: number, startedMs: number): string {
  const [model, channel, ending, status] =
    index % rareEvery === 7
      ? ['rare-1', 'rare', 'failed', 502]
      : [`model-${index % 5}`, `channel-${index % 60}`, 'completed', 200]
  return `('acc_${index % accounts}', '${newId('ex', startedMs)}', 'key_${index % accounts}', 'alpha',
    '${model}', 'messages.create', 1, '${channel}', ${startedMs}, ${startedMs + 900}, '${ending}',
    ${status}, 1, 100, '${usage}')`
}

async function fill(database: Database): Promise<void> {
  await migrate(database)
  for (let index = 0; index < accounts; index++)
    await database.query('INSERT INTO account (id, name, created_at_ms) VALUES ($1, $2, 0)', [
      `acc_${index}`,
      `account-${index}`,
    ])
  const firstMs = systemClock.now() - requests * apartMs
  for (let from = 0; from < requests; from += rowsPerStatement) {
    const rows = Array.from({ length: rowsPerStatement }, (_, offset) =>
      requestRow(from + offset, firstMs + (from + offset) * apartMs),
    )
    await database.query(
      `INSERT INTO exchange (account_id, exchange_id, key_id, vendor, model, operation, is_stream, channel,
         started_at_ms, ended_at_ms, ending, status, attempt_count, amount_picos, usage)
       VALUES ${rows.join(', ')}`,
    )
  }
  // PostgreSQL does it by itself within minutes.
  await database.query('ANALYZE exchange')
}

async function measure(store: string): Promise<void> {
  const database = await openStore(store)
  try {
    await fill(database)
    const context = {
      database,
      clock: systemClock,
      actor: 'bench',
      masterKey: () => new Secret(''),
      environment: () => undefined,
      runCheck: noCheck,
    }
    for (const filter of filters) {
      const times: number[] = []
      const before = process.cpuUsage()
      for (let run = 0; run < runs; run++) {
        const startedMs = performance.now()
        valueOf(await listRequests(context, filter))
        times.push(performance.now() - startedMs)
      }
      const { user, system } = process.cpuUsage(before)
      const cpuMs = (user + system) / 1_000 / runs
      const [least, most] = [Math.min(...times), Math.max(...times)].map((time) => time.toFixed(1))
      process.stdout.write(
        `  ${JSON.stringify(filter)}: ${least} to ${most} ms in ${runs} runs, ${cpuMs.toFixed(1)} ms of CPU each\n`,
      )
    }
  } finally {
    await database.close()
  }
}

const folder = mkdtempSync(join(tmpdir(), 'turnpike-lists-'))
const server = await startPostgres()
try {
  process.stdout.write('SQLite\n')
  await measure(`sqlite:${join(folder, 'turnpike.db')}`)
  process.stdout.write('PostgreSQL\n')
  await measure(await server.createDatabase())
} finally {
  await server.close()
  rmSync(folder, { recursive: true })
}
