/**
 * How long a list of requests takes: fills table exchange of a new store with 200,000 requests of 200
 * accounts, ten of them with a rare model, channel and status, and asks for the newest 100 by several
 * filters. It measures the operation, as the command and the API call it, on SQLite and on PostgreSQL. The
 * CPU time is without PostgreSQL's. Run: node bench/programs/request-lists.ts
 */
import { systemClock } from '../../src/base/clock.ts'
import { newId } from '../../src/base/id.ts'
import { formatUsage } from '../../src/ledger/stored-usage.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { listRequests } from '../../src/operations/requests/requests.ts'
import type { Database } from '../../src/storage/database.ts'
import { benchContext, measureRuns, onBothStores } from '../measure/operations.ts'

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

const usage = formatUsage({
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

await onBothStores(async (database) => {
  await fill(database)
  const context = benchContext(database)
  for (const filter of filters)
    await measureRuns(JSON.stringify(filter), runs, async () => {
      valueOf(await listRequests(context, filter))
    })
})
