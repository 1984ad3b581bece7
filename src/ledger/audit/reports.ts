/**
 * Audits the sums of days, and what adds them up, each layer against the one below it:
 *
 *     exchanges         ──▶ report_day ──▶ usage_month, usage_key_month ──▶ total
 *     charges of a day  ──▶ revenue and charged requests of that day, also where exchanges are gone
 *     refunds           ──▶ refunded amounts of the day of their charge
 */
import { utcDay } from '../../base/clock.ts'
import { addPicos, zeroPicos, type Picos } from '../../base/money.ts'
import { eachRow, type Queryable, type Row } from '../../storage/database.ts'
import {
  addExchange,
  noReport,
  readReport,
  readReportedExchange,
  reportAmountColumns,
  reportCountColumns,
  type ReportSums,
} from '../report-day.ts'
import type { CountedLabels } from '../label-day.ts'
import type { DaySum } from './entries.ts'
import { addToMonths, auditMonths, noMonths } from './months.ts'
import { report, usd, type Findings } from './findings.ts'
import type { Refunds } from './refunds.ts'

export type ReportsByName = Map<string, ReportSums>

interface Counting {
  readonly refunds: Refunds
  readonly countedLabel: CountedLabels
}

/** Adds an exchange to the sums of its day. */
export function addToReport(
  reports: ReportsByName,
  row: Row,
  { refunds, countedLabel }: Counting,
): void {
  const day = utcDay(Number(row['ended_at_ms']))
  const label = countedLabel(day, String(row['label']))
  const name = nameOf({ ...row, day, label })
  let sums = reports.get(name)
  if (sums === undefined) {
    sums = noReport()
    reports.set(name, sums)
  }
  addExchange(sums, readReportedExchange(row), refunds.byExchange.get(String(row['exchange_id'])))
}

export interface ReportsQuestion {
  readonly accountId: string
  /** Sums of the exchanges that ended on `fromDay` or later. */
  readonly byExchange: ReportsByName
  readonly fromDay: string
  /** Sums of the charges made on `sinceDay` or later. */
  readonly byEntry: ReadonlyMap<string, DaySum>
  readonly sinceDay: string
  readonly refunds: Refunds
}

interface DayMoney {
  charged: number
  revenue: Picos
  refunded: Picos
}

export async function auditReports(
  snapshot: Queryable,
  question: ReportsQuestion,
  findings: Findings,
): Promise<void> {
  const { accountId, byExchange, fromDay, sinceDay } = question
  const unseen = new Set(byExchange.keys())
  const days = new Map<string, DayMoney>()
  const sums = noMonths()
  const compare = (name: string, stored: ReportSums | undefined): void => {
    const storedText = describe(stored)
    const derivedText = describe(byExchange.get(name))
    const key = name.replace(/\0$/, '').split('\0').join(', ')
    if (storedText !== derivedText) differ(key, '', storedText, derivedText)
  }
  const differ = (key: string, how: string, stored: string, derived: string): void => {
    const text = `figures of report_day for ${key}${how}`
    report(findings, {
      kind: 'report_day',
      accountId,
      row: `report_day ${key}`,
      text,
      stored,
      derived,
    })
  }
  // Whole months: each month is compared with the sum of its days.
  const sinceMonth = sinceDay.slice(0, 7)
  for await (const row of eachReportRow(snapshot, accountId, sinceMonth)) {
    const day = String(row['day'])
    const stored = readReport(row)
    addToDay(days, day, stored)
    addToMonths(sums, row, stored)
    if (day < fromDay) continue
    const name = nameOf(row)
    unseen.delete(name)
    compare(name, stored)
  }
  for (const name of unseen) compare(name, undefined)
  for (const [day, stored, derived] of moneyOfDays(days, question))
    differ(day, ' differ from the charges of that day', stored, derived)
  await auditMonths(snapshot, { accountId, sums, sinceMonth }, findings)
}

function addToDay(days: Map<string, DayMoney>, day: string, added: ReportSums): void {
  const sum = days.get(day) ?? { charged: 0, revenue: zeroPicos, refunded: zeroPicos }
  sum.charged += added.charged_requests
  sum.revenue = addPicos(sum.revenue, added.revenue_picos)
  sum.refunded = addPicos(sum.refunded, added.refunded_picos)
  days.set(day, sum)
}

/** Yields the days whose money differs from the ledger's. */
function* moneyOfDays(
  days: ReadonlyMap<string, DayMoney>,
  { byEntry, sinceDay, refunds }: ReportsQuestion,
): Generator<readonly [day: string, stored: string, derived: string]> {
  for (const day of new Set([...days.keys(), ...byEntry.keys()])) {
    if (day < sinceDay) continue
    const { charged, revenue, refunded } = days.get(day) ?? noMoney
    const { charges, chargedPicos } = byEntry.get(day) ?? { charges: 0, chargedPicos: zeroPicos }
    const stored = describeMoney(charged, revenue, refunded)
    const derived = describeMoney(charges, chargedPicos, refunds.byDay.get(day) ?? zeroPicos)
    if (stored !== derived) yield [day, stored, derived]
  }
}

/** The key of a row within its account. */
function nameOf(row: Row): string {
  return [row['day'], row['key_id'], row['model'], row['channel'] ?? '', row['label']]
    .map(String)
    .join('\0')
}

const noMoney: DayMoney = { charged: 0, revenue: zeroPicos, refunded: zeroPicos }

function describeMoney(charges: number, charged: Picos, refunded: Picos): string {
  return `${charges} charges, ${usd(charged)}, refunded ${usd(refunded)}`
}

/** Returns the same text for the same sums: all that are not zero. */
function describe(sums: ReportSums | undefined): string {
  if (sums === undefined) return 'nothing'
  return [...reportCountColumns, ...reportAmountColumns]
    .filter((column) => sums[column] !== 0 && sums[column] !== 0n)
    .map((column) => `${sums[column]} ${column}`)
    .join(', ')
}

const pageSize = 1_000

function eachReportRow(
  snapshot: Queryable,
  accountId: string,
  sinceMonth: string,
): AsyncGenerator<Row> {
  return eachRow(pageSize, (last) =>
    snapshot.query(
      `SELECT * FROM report_day
        WHERE account_id = $1 AND day >= $2 AND (day, key_id, model, channel, label) > ($2, $3, $4, $5, $6)
        ORDER BY day, key_id, model, channel, label LIMIT $7`,
      [
        accountId,
        last?.['day'] ?? sinceMonth,
        last?.['key_id'] ?? '',
        last?.['model'] ?? '',
        last?.['channel'] ?? '',
        last?.['label'] ?? '',
        pageSize,
      ],
    ),
  )
}
