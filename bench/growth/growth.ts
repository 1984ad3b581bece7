/**
 * Measures how the cost of a charge, of `/v1/usage` and of audits grows with the history of a store, on
 * both engines. One store grows from size to size; at each size the real ledger runs on it. At the end
 * the benchmark deletes old exchanges while it makes charges.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock, type Clock } from '../../src/base/clock.ts'
import type { Ledger, UsagePeriod } from '../../src/ledger/ledger.ts'
import { auditLedger, auditSinceCheckpoints } from '../../src/operations/store/audit.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { Histogram } from '../measure/statistics.ts'
import type { GrowthPlan } from '../options.ts'
import { Charging, measureRetention } from './charges.ts'
import { historyShape, type Growth, type GrowthFigures, type RetentionFigures } from './report.ts'
import { beginHistory, checkpointScript, dayMs, type History } from './history.ts'
import { embeddedStore, serverStore, type GrowthStore } from './store.ts'

const startMs = Date.parse('2025-12-01')
const accountsCharged = 50
const chargesToWarmUp = 200
const chargesAlone = 1_000
const chargesTogether = 4_096
const atOnce = 64
const usageRounds = 10
const usageCallsPerRound = 200
const longestUsageUs = 100_000

export async function measureGrowth(plan: GrowthPlan, workFolder: string): Promise<Growth> {
  const folder = join(workFolder, 'growth')
  mkdirSync(folder)
  const figures: GrowthFigures[] = []
  const retention: RetentionFigures[] = []
  for (const open of [() => embeddedStore(folder), () => serverStore(workFolder)]) {
    const store = await open()
    try {
      let history = await begin(store)
      for (const requests of plan.requests) {
        history = await extend(store, history, requests)
        figures.push(await measureAt(store, history, plan))
      }
      const cutMs = (await store.countTables()) > 1 ? secondOfNextMonth(startMs) : startMs + dayMs
      retention.push(
        await withLedger(store, history, (ledger, clock) =>
          measureRetention({ store, history, cutMs, charging: chargingOf(ledger, clock, history) }),
        ),
      )
    } finally {
      await store.close()
    }
  }
  return { figures, retention }
}

async function begin(store: GrowthStore): Promise<History> {
  const database = await store.openDatabase()
  try {
    await migrate(database)
    return await beginHistory(database, historyShape, startMs)
  } finally {
    await database.close()
  }
}

async function extend(store: GrowthStore, history: History, requests: number): Promise<History> {
  console.error(`bench: growth: ${store.name}: creating ${requests.toLocaleString('en')} requests`)
  return store.writeInBulk(async (writer) => {
    const extended = await history.extendTo(writer, requests)
    // The checkpoint that hourly audits would have written.
    await writer.run(checkpointScript(extended.untilMs - 2 * dayMs))
    return extended
  })
}

async function measureAt(
  store: GrowthStore,
  history: History,
  plan: GrowthPlan,
): Promise<GrowthFigures> {
  const bytesPerRequest = (await store.sizeBytes()) / history.requests
  const tables = await store.countTables()
  const charged = await withLedger(store, history, async (ledger, clock) => {
    const charging = chargingOf(ledger, clock, history)
    // Reads each account once, as a running gateway has done.
    await charging.oneByOne((count) => count === chargesToWarmUp)
    const alone = await charging.oneByOne((count) => count === chargesAlone)
    const togetherMs = await charging.together(chargesTogether, atOnce)
    return {
      chargeP50Ms: alone.percentile(50) / 1_000,
      chargeP99Ms: alone.percentile(99) / 1_000,
      chargeTogetherUs: (togetherMs * 1_000) / chargesTogether,
      ...(await measureUsage(ledger, history)),
    }
  })
  return {
    store: store.name,
    requests: history.requests,
    days: history.days,
    tables,
    bytesPerRequest,
    ...charged,
    ...(await measureAudits(store, history, plan)),
  }
}

function chargingOf(ledger: Ledger, clock: Clock, history: History): Charging {
  return new Charging(ledger, clock, history.accountIds.slice(0, accountsCharged))
}

/** Drops the first month as a table, and one day of the next month row by row. */
function secondOfNextMonth(atMs: number): number {
  const date = new Date(atMs)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 2)
}

/** The clock stands at the end of the last day, so that today's figures cover a whole day. */
async function withLedger<Result>(
  store: GrowthStore,
  history: History,
  work: (ledger: Ledger, clock: Clock) => Promise<Result>,
): Promise<Result> {
  const clock = { ...systemClock, now: () => history.untilMs - 1 }
  const ledger = await store.openLedger(clock)
  try {
    return await work(ledger, clock)
  } finally {
    await ledger.close()
  }
}

/** Measures the periods in turn, so that other load on the machine affects all alike. */
async function measureUsage(
  ledger: Ledger,
  history: History,
): Promise<Pick<GrowthFigures, 'usageDayP50Us' | 'usageMonthP50Us' | 'usageTotalP50Us'>> {
  const taken = {
    day: new Histogram(longestUsageUs),
    month: new Histogram(longestUsageUs),
    total: new Histogram(longestUsageUs),
  } satisfies Record<UsagePeriod, Histogram>
  for (let round = 0; round < usageRounds; round++) {
    for (const period of ['day', 'month', 'total'] as const) {
      for (let call = 0; call < usageCallsPerRound; call++) {
        const accountId = history.accountIds[call % history.accountIds.length] ?? ''
        const startedMs = performance.now()
        await ledger.usage(accountId, period, history.untilMs - 1)
        taken[period].record((performance.now() - startedMs) * 1_000)
      }
    }
  }
  return {
    usageDayP50Us: taken.day.percentile(50),
    usageMonthP50Us: taken.month.percentile(50),
    usageTotalP50Us: taken.total.percentile(50),
  }
}

async function measureAudits(
  store: GrowthStore,
  history: History,
  plan: GrowthPlan,
): Promise<Pick<GrowthFigures, 'auditSinceMs' | 'auditFullSeconds' | 'isClean'>> {
  const database = await store.openDatabase()
  try {
    const startedMs = performance.now()
    const since = await auditSinceCheckpoints(database, history.untilMs - 1)
    const auditSinceMs = performance.now() - startedMs
    if (history.requests > plan.fullAuditMax)
      return { auditSinceMs, auditFullSeconds: Number.NaN, isClean: since.clean }
    const fullMs = performance.now()
    const full = await auditLedger({ database })
    const auditFullSeconds = (performance.now() - fullMs) / 1_000
    return { auditSinceMs, auditFullSeconds, isClean: since.clean && full.clean }
  } finally {
    await database.close()
  }
}
