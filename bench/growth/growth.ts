/**
 * How the cost of a charge, of `/v1/usage` and of the books grows with the past of a store. The same
 * store grows from size to size; at each size the real ledger is opened on it and asked. Writes no
 * figure that it has not measured.
 */
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.ts'
import { newId } from '../../src/base/id.ts'
import { picos, zeroPicos } from '../../src/base/money.ts'
import { createEmbeddedLedger } from '../../src/ledger/embedded/ledger.ts'
import type { ExchangeRecord, Ledger, UsagePeriod } from '../../src/ledger/ledger.ts'
import { auditLedger, auditSinceCheckpoints } from '../../src/operations/audit.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openSqlite } from '../../src/storage/sqlite.ts'
import { median } from '../measure/statistics.ts'
import type { GrowthPlan } from '../options.ts'
import { formatFigure, formatTable, type Column } from '../report/table.ts'
import { makeHistory, type History } from './history.ts'

export interface GrowthFigures {
  readonly requests: number
  readonly days: number
  readonly bytesPerRequest: number
  /** One after the other, from the hold to the durable charge. */
  readonly chargeP50Ms: number
  /** 64 at once, each. */
  readonly chargeTogetherUs: number
  readonly usageDayP50Us: number
  readonly usageTotalP50Us: number
  /** From checkpoints, an hour after the one before. */
  readonly auditSinceMs: number
  readonly auditFullSeconds: number
  readonly isClean: boolean
}

const shape = { accounts: 200, keysPerAccount: 3, models: 4, requestsPerDay: 27_400 }
const startMs = Date.parse('2025-11-21')
const charges = 400
const chargesTogether = 4_096
const atOnce = 64
const usageCalls = 2_000

export async function measureGrowth(
  plan: GrowthPlan,
  workFolder: string,
): Promise<readonly GrowthFigures[]> {
  const folder = join(workFolder, 'growth')
  mkdirSync(folder)
  const path = join(folder, 'turnpike.db')
  const database = openSqlite(path)
  await migrate(database)
  await database.close()
  let past = makeHistory(path, shape, startMs)
  const figures: GrowthFigures[] = []
  for (const requests of plan.requests) {
    console.error(`bench: growth: making ${requests} requests`)
    past = past.extendTo(requests)
    figures.push(await measureAt(path, past))
  }
  return figures
}

async function measureAt(path: string, past: History): Promise<GrowthFigures> {
  const bytesPerRequest = statSync(path).size / past.requests
  const clock = { ...systemClock, now: () => past.untilMs }
  const fail = (error: Error): void => {
    throw error
  }
  const ledger = await createEmbeddedLedger({ path, clock, onFatal: fail, onFault: fail })
  const accounts = past.accountIds.slice(0, 50)
  // Each account is read once before, as in a gateway that runs.
  for (const accountId of accounts) await chargeOnce(ledger, accountId, past.untilMs)
  const single: number[] = []
  for (let index = 0; index < charges; index++) {
    const startedMs = performance.now()
    await chargeOnce(ledger, accounts[index % accounts.length] ?? '', past.untilMs)
    single.push(performance.now() - startedMs)
  }
  const togetherMs = await chargeTogether(ledger, accounts, past.untilMs)
  const usage = (period: UsagePeriod): Promise<number> => measureUsage(ledger, past, period)
  const usageDayP50Us = await usage('day')
  const usageTotalP50Us = await usage('total')
  await ledger.close()
  return {
    requests: past.requests,
    days: Math.round((past.untilMs - startMs) / 86_400_000),
    bytesPerRequest,
    chargeP50Ms: median(single),
    chargeTogetherUs: (togetherMs * 1_000) / chargesTogether,
    usageDayP50Us,
    usageTotalP50Us,
    ...(await measureAudits(path, past)),
  }
}

async function chargeOnce(ledger: Ledger, accountId: string, atMs: number): Promise<void> {
  const exchangeId = newId('ex', atMs)
  const amountPicos = picos(1_000_000n)
  const request = { exchangeId, accountId, keyId: `key_${accountId}_0`, amountPicos, atMs }
  const hold = await ledger.place({ ...request, keyDailyLimitPicos: zeroPicos })
  if (hold.kind !== 'hold') throw new Error(`a charge was refused: ${hold.kind}`)
  const record: ExchangeRecord = {
    ...request,
    vendor: 'alpha',
    model: 'model-0',
    operation: 'messages.create',
    isStream: true,
    channel: 'alpha-main',
    startedAtMs: atMs,
    endedAtMs: atMs,
    ending: 'completed',
    status: 200,
    attemptCount: 1,
    usage: {
      parts: [{ promptTokens: 1, counts: { input: 1 } }],
      reported: { inputTokens: 1, outputTokens: 0, cacheTokens: 0 },
    },
    marks: [],
    priceLines: '{"parts":[{"model":"model-0","lines":[["input",1,"1000000"]]}]}',
    vendorRequestId: undefined,
    operatorCostPicos: zeroPicos,
  }
  await ledger.settle(hold, record)
}

async function chargeTogether(
  ledger: Ledger,
  accounts: readonly string[],
  atMs: number,
): Promise<number> {
  const startedMs = performance.now()
  await Promise.all(
    Array.from({ length: atOnce }, async (_, client) => {
      for (let index = client; index < chargesTogether; index += atOnce)
        await chargeOnce(ledger, accounts[index % accounts.length] ?? '', atMs)
    }),
  )
  return performance.now() - startedMs
}

async function measureUsage(ledger: Ledger, past: History, period: UsagePeriod): Promise<number> {
  const taken: number[] = []
  for (let index = 0; index < usageCalls; index++) {
    const accountId = past.accountIds[index % past.accountIds.length] ?? ''
    const startedMs = performance.now()
    await ledger.usage(accountId, period, past.untilMs)
    taken.push((performance.now() - startedMs) * 1_000)
  }
  return median(taken)
}

async function measureAudits(
  path: string,
  past: History,
): Promise<Pick<GrowthFigures, 'auditSinceMs' | 'auditFullSeconds' | 'isClean'>> {
  const database = openSqlite(path)
  const fullMs = performance.now()
  const full = await auditLedger({ database })
  const auditFullSeconds = (performance.now() - fullMs) / 1_000
  const first = await auditSinceCheckpoints(database, past.untilMs)
  const sinceMs = performance.now()
  const next = await auditSinceCheckpoints(database, past.untilMs)
  const auditSinceMs = performance.now() - sinceMs
  await database.close()
  return { auditFullSeconds, auditSinceMs, isClean: full.clean && first.clean && next.clean }
}

export function formatGrowth(
  figures: readonly GrowthFigures[],
  made: { readonly command: string; readonly date: string; readonly commit: string },
): string {
  const figure = (heading: string, valueOf: (row: GrowthFigures) => number) =>
    ({
      heading,
      align: 'right',
      cell: (row: GrowthFigures) => formatFigure(valueOf(row)),
    }) satisfies Column<GrowthFigures>
  const columns: readonly Column<GrowthFigures>[] = [
    {
      heading: 'requests so far',
      align: 'right',
      cell: (row) => row.requests.toLocaleString('en'),
    },
    figure('days', (row) => row.days),
    figure('store, bytes/request', (row) => row.bytesPerRequest),
    figure('a charge, p50 ms', (row) => row.chargeP50Ms),
    figure('64 at once, µs each', (row) => row.chargeTogetherUs),
    figure('usage of a day, p50 µs', (row) => row.usageDayP50Us),
    figure('usage in total, p50 µs', (row) => row.usageTotalP50Us),
    figure('hourly audit, ms', (row) => row.auditSinceMs),
    figure('full audit, s', (row) => row.auditFullSeconds),
    { heading: 'books', align: 'left', cell: (row) => (row.isClean ? 'agree' : '**DIFFER**') },
  ]
  const { accounts, keysPerAccount, models, requestsPerDay } = shape
  return (
    `Made by \`${made.command}\` on ${made.date}, commit ${made.commit}. One embedded store that ` +
    `grows: ${requestsPerDay.toLocaleString('en')} requests a day of ${accounts} accounts with ` +
    `${keysPerAccount} keys and ${models} models.\n\n${formatTable(columns, figures)}`
  )
}
