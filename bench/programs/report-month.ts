/**
 * How long a report over a month of ten million requests takes: fills table report_day of a new embedded
 * store with the rows that these requests leave, and asks for the month by each key. It measures the
 * operation, as the command and the API call it. Run: node bench/programs/report-month.ts
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
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

const requests = 10_000_000
const accounts = 2_000
const days = 30
/** Keys, models and channels that one account uses on one day, together. */
const rowsPerAccountAndDay = 5
const channels = 60
const rows = accounts * days * rowsPerAccountAndDay
const runs = 5

const folder = mkdtempSync(join(tmpdir(), 'turnpike-reports-'))
const database = await openStore(`sqlite:${join(folder, 'turnpike.db')}`)
try {
  await migrate(database)
  const columns = [...reportCountColumns, ...reportAmountColumns]
  await database.query(
    `INSERT INTO report_day (day, account_id, key_id, model, channel, ${columns.join(', ')})
     WITH RECURSIVE place (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM place WHERE n + 1 < ${rows})
     SELECT date('2026-11-01', '+' || (n / ${rows / days}) || ' days'),
       'acc_' || (n / ${rowsPerAccountAndDay} % ${accounts}), 'key_' || (n / 2 % ${accounts * 2}),
       'model-' || (n % ${rowsPerAccountAndDay}), 'channel-' || (n % ${channels}),
       ${columns.map(() => Math.round(requests / rows)).join(', ')}
     FROM place`,
  )
  const context: OperationContext = {
    database,
    clock: systemClock,
    actor: 'bench',
    masterKey: () => new Secret(''),
    environment: () => undefined,
    runCheck: noCheck,
  }
  process.stdout.write(`${requests} requests of ${accounts} accounts in ${rows} rows\n`)
  for (const by of [
    'total',
    'day',
    'account',
    'model',
    'channel',
    'day,channel',
    'account,model',
  ]) {
    const times: number[] = []
    for (let run = 0; run < runs; run++) {
      const startedMs = performance.now()
      valueOf(await readReport(context, { by, from: '2026-11-01', to: '2026-11-30', limit: 1_000 }))
      times.push(performance.now() - startedMs)
    }
    times.sort((left, right) => left - right)
    const [least = 0] = times
    process.stdout.write(
      `${by}: ${least.toFixed(0)} to ${(times.at(-1) ?? 0).toFixed(0)} ms in ${runs} runs\n`,
    )
  }
} finally {
  await database.close()
  rmSync(folder, { recursive: true })
}
