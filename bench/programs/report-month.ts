/**
 * How long a report over a month of ten million requests takes: fills table report_day of a new store with
 * the rows that these requests leave, and asks for the month by several keys. It measures the operation, as
 * the command and the API call it, on SQLite and on PostgreSQL. Other programs disturb the times, and less so
 * the CPU time, which is without PostgreSQL's. Run: node bench/programs/report-month.ts
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { systemClock } from '../../src/base/clock.ts'
import { Secret } from '../../src/base/secret.ts'
import { reportAmountColumns, reportCountColumns } from '../../src/ledger/report-day.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { readReport } from '../../src/operations/reports/report.ts'
import { noCheck } from '../../src/operations/run-check.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openStore } from '../../src/storage/open.ts'
import { startPostgres } from '../../test/support/postgres.ts'

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

async function measure(store: string): Promise<void> {
  const database = await openStore(store)
  try {
    await migrate(database)
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
    const context: OperationContext = {
      database,
      clock: systemClock,
      actor: 'bench',
      masterKey: () => new Secret(''),
      environment: () => undefined,
      runCheck: noCheck,
    }
    for (const by of reports) {
      const times: number[] = []
      const before = process.cpuUsage()
      for (let run = 0; run < runs; run++) {
        const startedMs = performance.now()
        valueOf(
          await readReport(context, { by, from: '2026-11-01', to: '2026-11-30', limit: 1_000 }),
        )
        times.push(performance.now() - startedMs)
      }
      const { user, system } = process.cpuUsage(before)
      const cpuMs = (user + system) / 1_000 / runs
      times.sort((left, right) => left - right)
      const [least = 0] = times
      process.stdout.write(
        `  ${by}: ${least.toFixed(0)} to ${(times.at(-1) ?? 0).toFixed(0)} ms in ${runs} runs, ${cpuMs.toFixed(0)} ms of CPU each\n`,
      )
    }
  } finally {
    await database.close()
  }
}

const folder = mkdtempSync(join(tmpdir(), 'turnpike-reports-'))
const server = await startPostgres()
try {
  process.stdout.write(`${requests} requests of ${accounts} accounts in ${rows} rows\n`)
  for (const [name, store] of [
    ['SQLite', `sqlite:${join(folder, 'turnpike.db')}`],
    ['PostgreSQL', await server.createDatabase()],
  ] as const) {
    process.stdout.write(
      `${name}, load ${loadavg()
        .map((one) => one.toFixed(0))
        .join(' ')}\n`,
    )
    await measure(store)
  }
} finally {
  await server.close()
  rmSync(folder, { recursive: true })
}
