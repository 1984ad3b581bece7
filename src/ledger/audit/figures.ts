/**
 * Audits the figures, each layer against the one below it:
 *
 *     charged exchanges ──▶ usage_day ──▶ usage_month ──▶ total
 *     charges of a day  ──▶ requests and cost of that day, also where exchanges are no longer kept
 *     refunds           ──▶ lower the cost of the day on which their charge was booked
 *
 * Keeps the sums of one account at a time in memory.
 */
import { utcDay } from '../../base/clock.ts'
import { subtractPicos, zeroPicos } from '../../base/money.ts'
import { eachRow, type Queryable, type Row } from '../../storage/database.ts'
import type { DaySum } from './entries.ts'
import { report, usd, type Findings } from './findings.ts'
import type { Refunds } from './refunds.ts'
import { addKeyCost, auditKeyMonths, type CostByKeyMonth } from './reports.ts'
import { readReported } from '../stored-usage.ts'
import {
  addFigures,
  noFigures,
  readFigures,
  readPicos,
  totalMonth,
  type Figures,
} from '../usage.ts'

type FiguresByName = Map<string, Figures>

/** Adds a charged exchange to the figures of its day, less what was refunded of it. */
export function addToDay(figures: FiguresByName, row: Row, refunds: Refunds): void {
  const amount = readPicos(row, 'amount_picos')
  if (amount === 0n) return
  const day = utcDay(Number(row['ended_at_ms']))
  const name = nameOf(day, String(row['key_id']), String(row['model']))
  const reported = readReported(row['usage'])
  const refunded = refunds.byExchange.get(String(row['exchange_id'])) ?? zeroPicos
  const costPicos = subtractPicos(amount, refunded)
  addTo(figures, name, { ...reported, requests: 1, costPicos })
}

export interface FiguresQuestion {
  readonly accountId: string
  /** Of the exchanges that ended on `fromDay` or later, by day, key and model. */
  readonly byExchange: FiguresByName
  /** The first day of which all exchanges were read. */
  readonly fromDay: string
  /** Of the charges made on `sinceDay` or later. */
  readonly byEntry: ReadonlyMap<string, DaySum>
  readonly sinceDay: string
  readonly refunds: Refunds
}

export async function auditFigures(
  snapshot: Queryable,
  question: FiguresQuestion,
  findings: Findings,
): Promise<void> {
  const { accountId, byExchange, fromDay, sinceDay } = question
  const months: FiguresByName = new Map()
  const days: FiguresByName = new Map()
  const costs: CostByKeyMonth = new Map()
  const unseen = new Set(byExchange.keys())
  const compare = comparing('usage_day', accountId, findings)
  // Whole months: each month is compared with the sum of its days.
  const firstDay = sinceDay.slice(0, 7)
  for await (const row of eachDayRow(snapshot, accountId, firstDay)) {
    const day = String(row['day'])
    const model = String(row['model'])
    const stored = readFigures(row)
    addTo(months, nameOf(day.slice(0, 7), model), stored)
    addTo(days, day, stored)
    addKeyCost(costs, row)
    if (day < fromDay) continue
    const name = nameOf(day, String(row['key_id']), model)
    unseen.delete(name)
    compare(name, stored, byExchange.get(name) ?? noFigures)
  }
  for (const name of unseen) compare(name, undefined, byExchange.get(name) ?? noFigures)
  compareWithCharges(days, question, findings)
  await auditMonths(snapshot, { accountId, months, sinceMonth: firstDay }, findings)
  await auditKeyMonths(snapshot, { accountId, costs, sinceMonth: firstDay }, findings)
}

/** Costs and requests must equal those of the ledger, also where exchanges were deleted. */
function compareWithCharges(
  days: FiguresByName,
  { accountId, byEntry, sinceDay, refunds }: FiguresQuestion,
  findings: Findings,
): void {
  for (const day of new Set([...days.keys(), ...byEntry.keys()])) {
    if (day < sinceDay) continue
    const stored = days.get(day) ?? noFigures
    const { charges, chargedPicos } = byEntry.get(day) ?? { charges: 0, chargedPicos: zeroPicos }
    const costPicos = subtractPicos(chargedPicos, refunds.byDay.get(day) ?? zeroPicos)
    if (stored.requests === charges && stored.costPicos === costPicos) continue
    report(findings, {
      kind: 'usage_day',
      accountId,
      row: `usage_day ${day}`,
      text: `figures of usage_day for ${day} differ from the charges of that day`,
      stored: `${stored.requests} requests, ${usd(stored.costPicos)}`,
      derived: `${charges} requests, ${usd(costPicos)}`,
    })
  }
}

async function auditMonths(
  snapshot: Queryable,
  question: {
    readonly accountId: string
    readonly months: FiguresByName
    readonly sinceMonth: string
  },
  findings: Findings,
): Promise<void> {
  const { accountId, months, sinceMonth } = question
  const unseen = new Set(months.keys())
  const compare = comparing('usage_month', accountId, findings)
  const sums: FiguresByName = new Map()
  const totals: FiguresByName = new Map()
  const rows = await snapshot.query('SELECT * FROM usage_month WHERE account_id = $1', [accountId])
  for (const row of rows) {
    const month = String(row['month'])
    const model = String(row['model'])
    const name = nameOf(month, model)
    const stored = readFigures(row)
    addTo(month === totalMonth ? totals : sums, nameOf(totalMonth, model), stored)
    if (month === totalMonth || month < sinceMonth) continue
    unseen.delete(name)
    compare(name, stored, months.get(name) ?? noFigures)
  }
  for (const name of unseen) compare(name, undefined, months.get(name) ?? noFigures)
  for (const name of new Set([...sums.keys(), ...totals.keys()]))
    compare(name, totals.get(name), sums.get(name) ?? noFigures)
}

function comparing(table: 'usage_day' | 'usage_month', accountId: string, findings: Findings) {
  return (name: string, stored: Figures | undefined, derived: Figures): void => {
    const storedText = stored === undefined ? 'nothing' : describe(stored)
    const derivedText = describe(derived)
    if (storedText === derivedText) return
    const key = name.split('\0').join(', ')
    report(findings, {
      kind: table,
      accountId,
      row: `${table} ${key}`,
      text: `figures of ${table} for ${key}`,
      stored: storedText,
      derived: derivedText,
    })
  }
}

const pageSize = 1_000

function eachDayRow(snapshot: Queryable, accountId: string, firstDay: string): AsyncGenerator<Row> {
  return eachRow(pageSize, (last) =>
    snapshot.query(
      `SELECT * FROM usage_day WHERE account_id = $1 AND (day, key_id, model) > ($2, $3, $4)
        ORDER BY day, key_id, model LIMIT $5`,
      [
        accountId,
        last?.['day'] ?? firstDay,
        last?.['key_id'] ?? '',
        last?.['model'] ?? '',
        pageSize,
      ],
    ),
  )
}

function nameOf(...key: readonly string[]): string {
  return key.join('\0')
}

function addTo(sums: FiguresByName, name: string, added: Figures): void {
  const sum = sums.get(name)
  if (sum === undefined) sums.set(name, { ...added })
  else addFigures(sum, added)
}

function describe(figures: Figures): string {
  const { requests, inputTokens, outputTokens, cacheTokens, costPicos } = figures
  return `${requests} requests, ${inputTokens} + ${outputTokens} + ${cacheTokens} tokens, ${usd(costPicos)}`
}
