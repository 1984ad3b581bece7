/**
 * How long a report over a month of ten million requests takes: fills table report_day of a new store with
 * the rows that these requests leave, and asks for the month by several keys. It measures the operation, as
 * the command and the API call it, on SQLite and on PostgreSQL. Other programs disturb the times, and less so
 * the CPU time, which is without PostgreSQL's. Run: node bench/programs/report-month.ts
 */
import { reportAmountColumns, reportCountColumns } from '../../src/ledger/report-day.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { readReport } from '../../src/operations/reports/report.ts'
import type { Database } from '../../src/storage/database.ts'
import { benchContext, measureRuns, onBothStores } from '../measure/operations.ts'

const requests = 10_000_000
const accounts = 2_000
const days = 30
/** Keys, models and channels that one account uses on one day, together. */
const rowsPerAccountAndDay = 5
const channels = 60
const rows = accounts * days * rowsPerAccountAndDay
const runs = 5
const reports = [
  'total',
  'day',
  'account',
  'key',
  'model',
  'channel',
  'day,channel',
  'account,model',
  'model,channel',
  'day,account,key,model,channel',
  'channel,model,key,account,day',
]

async function fill(database: Database): Promise<void> {
  const columns = [...reportCountColumns, ...reportAmountColumns]
  const day = `1 + n / ${rows / days}`
  await database.query(
    `INSERT INTO report_day (day, account_id, key_id, model, channel, ${columns.join(', ')})
     WITH RECURSIVE place (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM place WHERE n + 1 < ${rows})
     SELECT CASE WHEN ${day} < 10 THEN '2026-11-0' ELSE '2026-11-' END || (${day}),
       'acc_' || (n / ${rowsPerAccountAndDay} % ${accounts}), 'key_' || (n / 2 % ${accounts * 2}),
       'model-' || (n % ${rowsPerAccountAndDay}), 'channel-' || (n % ${channels}),
       ${columns.map(() => Math.round(requests / rows)).join(', ')}
     FROM place`,
  )
  // PostgreSQL does it by itself within minutes.
  await database.query('ANALYZE report_day')
}

process.stdout.write(`${requests} requests of ${accounts} accounts in ${rows} rows\n`)
await onBothStores(async (database) => {
  await fill(database)
  const context = benchContext(database)
  for (const by of reports)
    await measureRuns(by, runs, async () => {
      valueOf(await readReport(context, { by, from: '2026-11-01', to: '2026-11-30', limit: 1_000 }))
    })
})
