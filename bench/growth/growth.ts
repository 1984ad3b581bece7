/**
 * How the cost of a charge, of `/v1/usage` and of the books grows with the past of a store, on either
 * engine. The same store grows from size to size; at each size the real ledger is opened on it and
 * asked. At the end old exchanges go, beside charges. Writes no figure that it has not measured.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock, type Clock } from '../../src/base/clock.ts'
import type { Ledger, UsagePeriod } from '../../src/ledger/ledger.ts'
import { auditLedger, auditSinceCheckpoints } from '../../src/operations/audit.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { Histogram } from '../measure/statistics.ts'
import type { GrowthPlan } from '../options.ts'
import { Charging } from './charges.ts'
import { historyShape, type Growth, type GrowthFigures, type RetentionFigures } from './figures.ts'
import { checkpointScript, dayMs } from './history-sql.ts'
import { beginHistory, type History } from './history.ts'
import { measureRetention } from './retention.ts'
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
      let past = await begin(store)
      for (const requests of plan.requests) {
        past = await extend(store, past, requests)
        figures.push(await measureAt(store, past, plan))
      }
      const cutMs = (await store.countTables()) > 1 ? secondOfNextMonth(startMs) : startMs + dayMs
      retention.push(
        await withLedger(store, past, (ledger, clock) =>
          measureRetention({ store, past, cutMs, charging: chargingOf(ledger, clock, past) }),
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

async function extend(store: GrowthStore, past: History, requests: number): Promise<History> {
  console.error(`bench: growth: ${store.name}: making ${requests.toLocaleString('en')} requests`)
  return store.writeInBulk(async (writer) => {
    const extended = await past.extendTo(writer, requests)
    // Where the hourly audits of that time would have left it.
    await writer.run(checkpointScript(extended.untilMs - 2 * dayMs))
    return extended
  })
}

async function measureAt(
  store: GrowthStore,
  past: History,
  plan: GrowthPlan,
): Promise<GrowthFigures> {
  const bytesPerRequest = (await store.sizeBytes()) / past.requests
  const tables = await store.countTables()
  const charged = await withLedger(store, past, async (ledger, clock) => {
    const charging = chargingOf(ledger, clock, past)
    // Each account is read once before, as in a gateway that runs.
    await charging.oneByOne((count) => count === chargesToWarmUp)
    const alone = await charging.oneByOne((count) => count === chargesAlone)
    const togetherMs = await charging.together(chargesTogether, atOnce)
    return {
      chargeP50Ms: alone.percentile(50) / 1_000,
      chargeP99Ms: alone.percentile(99) / 1_000,
      chargeTogetherUs: (togetherMs * 1_000) / chargesTogether,
      ...(await measureUsage(ledger, past)),
    }
  })
  return {
    store: store.name,
    requests: past.requests,
    days: past.days,
    tables,
    bytesPerRequest,
    ...charged,
    ...(await measureAudits(store, past, plan)),
  }
}

function chargingOf(ledger: Ledger, clock: Clock, past: History): Charging {
  return new Charging(ledger, clock, past.accountIds.slice(0, accountsCharged))
}

/** Where months are tables, so the first one goes as a whole and a day of the next by its rows. */
function secondOfNextMonth(atMs: number): number {
  const date = new Date(atMs)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 2)
}

/** At the end of the last day, so that figures of today are those of a whole day. */
async function withLedger<Result>(
  store: GrowthStore,
  past: History,
  work: (ledger: Ledger, clock: Clock) => Promise<Result>,
): Promise<Result> {
  const clock = { ...systemClock, now: () => past.untilMs - 1 }
  const ledger = await store.openLedger(clock)
  try {
    return await work(ledger, clock)
  } finally {
    await ledger.close()
  }
}

/** The periods take turns, so that whatever else the machine does meets all of them. */
async function measureUsage(
  ledger: Ledger,
  past: History,
): Promise<Pick<GrowthFigures, 'usageDayP50Us' | 'usageMonthP50Us' | 'usageTotalP50Us'>> {
  const taken = {
    day: new Histogram(longestUsageUs),
    month: new Histogram(longestUsageUs),
    total: new Histogram(longestUsageUs),
  } satisfies Record<UsagePeriod, Histogram>
  for (let round = 0; round < usageRounds; round++) {
    for (const period of ['day', 'month', 'total'] as const) {
      for (let call = 0; call < usageCallsPerRound; call++) {
        const accountId = past.accountIds[call % past.accountIds.length] ?? ''
        const startedMs = performance.now()
        await ledger.usage(accountId, period, past.untilMs - 1)
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
  past: History,
  plan: GrowthPlan,
): Promise<Pick<GrowthFigures, 'auditSinceMs' | 'auditFullSeconds' | 'isClean'>> {
  const database = await store.openDatabase()
  try {
    const startedMs = performance.now()
    const since = await auditSinceCheckpoints(database, past.untilMs - 1)
    const auditSinceMs = performance.now() - startedMs
    if (past.requests > plan.fullAuditMax)
      return { auditSinceMs, auditFullSeconds: Number.NaN, isClean: since.clean }
    const fullMs = performance.now()
    const full = await auditLedger({ database })
    const auditFullSeconds = (performance.now() - fullMs) / 1_000
    return { auditSinceMs, auditFullSeconds, isClean: since.clean && full.clean }
  } finally {
    await database.close()
  }
}
