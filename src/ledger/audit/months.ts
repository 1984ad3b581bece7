/**
 * Audits the sums of months against those of their days, and the totals against the months:
 *
 *     report_day ──▶ usage_month     ──▶ total    of each model
 *     report_day ──▶ usage_key_month ──▶ total    of each key, its cost only
 *
 * Keeps the sums of one account at a time in memory.
 */
import type { Queryable, Row } from '../../storage/database.ts'
import { usageOf, type ReportSums } from '../report-day.ts'
import {
  addUsage,
  noUsage,
  readUsageSums,
  readPicos,
  totalMonth,
  type UsageSums,
} from '../usage.ts'
import { report, usd, type Findings } from './findings.ts'

/** By month and by model or key. */
type SumsByName = Map<string, UsageSums>

/** What the days of an account add up to. */
export interface MonthSums {
  readonly models: SumsByName
  readonly keys: SumsByName
}

export function noMonths(): MonthSums {
  return { models: new Map(), keys: new Map() }
}

/** Adds a row of `report_day`. */
export function addToMonths({ models, keys }: MonthSums, row: Row, day: ReportSums): void {
  const month = String(row['day']).slice(0, 7)
  const usage = usageOf(day)
  addTo(models, nameOf(month, row['model']), usage)
  addTo(keys, nameOf(month, row['key_id']), { ...noUsage, costPicos: usage.costPicos })
}

export interface MonthsQuestion {
  readonly accountId: string
  /** Complete from `sinceMonth` on. */
  readonly sums: MonthSums
  readonly sinceMonth: string
}

export async function auditMonths(
  snapshot: Queryable,
  { sums, ...question }: MonthsQuestion,
  findings: Findings,
): Promise<void> {
  await auditTable(snapshot, { ...question, ...ofModels, sums: sums.models }, findings)
  await auditTable(snapshot, { ...question, ...ofKeys, sums: sums.keys }, findings)
}

interface MonthTable {
  readonly table: 'usage_month' | 'usage_key_month'
  readonly of: 'model' | 'key_id'
  readonly read: (row: Row) => UsageSums
  readonly describe: (usage: UsageSums) => string
}

const ofModels: MonthTable = {
  table: 'usage_month',
  of: 'model',
  read: readUsageSums,
  describe: ({ requests, inputTokens, outputTokens, cacheTokens, costPicos }) =>
    `${requests} requests, ${inputTokens} + ${outputTokens} + ${cacheTokens} tokens, ${usd(costPicos)}`,
}

const ofKeys: MonthTable = {
  table: 'usage_key_month',
  of: 'key_id',
  read: (row) => ({ ...noUsage, costPicos: readPicos(row, 'cost_picos') }),
  describe: ({ costPicos }) => usd(costPicos),
}

type TableQuestion = MonthTable & {
  readonly accountId: string
  readonly sums: SumsByName
  readonly sinceMonth: string
}

async function auditTable(
  snapshot: Queryable,
  { table, of, read, describe, accountId, sums, sinceMonth }: TableQuestion,
  findings: Findings,
): Promise<void> {
  const months: SumsByName = new Map()
  const totals: SumsByName = new Map()
  const derivedTotals: SumsByName = new Map()
  for (const row of await snapshot.query(`SELECT * FROM ${table} WHERE account_id = $1`, [
    accountId,
  ])) {
    const month = String(row['month'])
    const usage = read(row)
    const total = nameOf(totalMonth, row[of])
    if (month === totalMonth) totals.set(total, usage)
    else addTo(derivedTotals, total, usage)
    if (month !== totalMonth && month >= sinceMonth) months.set(nameOf(month, row[of]), usage)
  }
  const compare = (stored: SumsByName, derived: SumsByName): void => {
    for (const name of new Set([...stored.keys(), ...derived.keys()])) {
      const found = stored.get(name)
      const storedText = describe(found ?? noUsage)
      const derivedText = describe(derived.get(name) ?? noUsage)
      if (storedText === derivedText) continue
      const key = name.split('\0').join(', ')
      report(findings, {
        kind: table,
        accountId,
        row: `${table} ${key}`,
        text: `figures of ${table} for ${key}`,
        stored: found === undefined ? 'nothing' : storedText,
        derived: derivedText,
      })
    }
  }
  compare(months, sums)
  compare(totals, derivedTotals)
}

function nameOf(month: string, of: unknown): string {
  return `${month}\0${String(of)}`
}

function addTo(sums: SumsByName, name: string, added: UsageSums): void {
  const sum = sums.get(name)
  if (sum === undefined) sums.set(name, { ...added })
  else addUsage(sum, added)
}
