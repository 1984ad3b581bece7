/**
 * The audit's part about figures, each layer against the one below it:
 *
 *     charged exchanges ──▶ usage_day ──▶ usage_month ──▶ total
 *     charges of a day  ──▶ requests and cost of that day, also where exchanges are no longer kept
 *
 * Holds the sums of one account at a time.
 */
import { utcDay } from '../base/clock.ts'
import { picos, zeroPicos, type Picos } from '../base/money.ts'
import type { Queryable, Row } from '../storage/database.ts'
import type { DaySum } from './audit-entries.ts'
import { report, usd, type Findings } from './audit-findings.ts'
import { readReported } from './statement.ts'
import { readPicos, totalMonth } from './usage.ts'

export interface Figures {
  requests: number
  inputTokens: number
  outputTokens: number
  cacheTokens: number
  costPicos: Picos
}

type FiguresByName = Map<string, Figures>

/** Adds a charged exchange to the figures of its day. */
export function addToDay(figures: FiguresByName, row: Row): void {
  const amount = readPicos(row, 'amount_picos')
  if (amount === 0n) return
  const day = utcDay(Number(row['ended_at_ms']))
  const name = nameOf(day, String(row['key_id']), String(row['model']))
  const reported = readReported(row['usage'])
  addFigures(figures, name, { ...reported, requests: 1, costPicos: amount })
}

export interface FiguresQuestion {
  readonly accountId: string
  /** Of the exchanges that ended on `fromDay` or later, by day, key and model. */
  readonly byExchange: FiguresByName
  /** The first day of which all exchanges were looked at. */
  readonly fromDay: string
  /** Of the charges made on `sinceDay` or later. */
  readonly byEntry: ReadonlyMap<string, DaySum>
  readonly sinceDay: string
}

export async function auditFigures(
  snapshot: Queryable,
  question: FiguresQuestion,
  findings: Findings,
): Promise<void> {
  const { accountId, byExchange, fromDay, byEntry, sinceDay } = question
  const months: FiguresByName = new Map()
  const days: FiguresByName = new Map()
  const unseen = new Set(byExchange.keys())
  const compare = comparing('usage_day', accountId, findings)
  // Whole months, since the months are compared with what their days come to.
  const firstDay = sinceDay.slice(0, 7)
  for await (const row of eachDayRow(snapshot, accountId, firstDay)) {
    const day = String(row['day'])
    const model = String(row['model'])
    const stored = readStored(row)
    addFigures(months, nameOf(day.slice(0, 7), model), stored)
    addFigures(days, day, stored)
    if (day < fromDay) continue
    const name = nameOf(day, String(row['key_id']), model)
    unseen.delete(name)
    compare(name, stored, byExchange.get(name) ?? noFigures())
  }
  for (const name of unseen) compare(name, undefined, byExchange.get(name) ?? noFigures())
  compareWithCharges({ accountId, days, byEntry, sinceDay }, findings)
  await auditMonths(snapshot, { accountId, months, sinceMonth: firstDay }, findings)
}

/** Costs and requests have to be those of the ledger whether or not the exchanges are still there. */
function compareWithCharges(
  sums: {
    readonly accountId: string
    readonly days: FiguresByName
    readonly byEntry: ReadonlyMap<string, DaySum>
    readonly sinceDay: string
  },
  findings: Findings,
): void {
  const { accountId, days, byEntry, sinceDay } = sums
  for (const day of new Set([...days.keys(), ...byEntry.keys()])) {
    if (day < sinceDay) continue
    const stored = days.get(day) ?? noFigures()
    const { charges, chargedPicos } = byEntry.get(day) ?? { charges: 0, chargedPicos: zeroPicos }
    if (stored.requests === charges && stored.costPicos === chargedPicos) continue
    report(findings, {
      kind: 'usage_day',
      accountId,
      row: `usage_day ${day}`,
      text: `figures of usage_day for ${day} differ from the charges of that day`,
      stored: `${stored.requests} requests, ${usd(stored.costPicos)}`,
      derived: `${charges} requests, ${usd(chargedPicos)}`,
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
    const stored = readStored(row)
    addFigures(month === totalMonth ? totals : sums, nameOf(totalMonth, model), stored)
    if (month === totalMonth || month < sinceMonth) continue
    unseen.delete(name)
    compare(name, stored, months.get(name) ?? noFigures())
  }
  for (const name of unseen) compare(name, undefined, months.get(name) ?? noFigures())
  for (const name of new Set([...sums.keys(), ...totals.keys()]))
    compare(name, totals.get(name), sums.get(name) ?? noFigures())
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

async function* eachDayRow(
  snapshot: Queryable,
  accountId: string,
  firstDay: string,
): AsyncGenerator<Row> {
  let last: readonly [string, string, string] = [firstDay, '', '']
  for (;;) {
    const rows = await snapshot.query(
      `SELECT * FROM usage_day WHERE account_id = $1 AND (day, key_id, model) > ($2, $3, $4)
        ORDER BY day, key_id, model LIMIT $5`,
      [accountId, ...last, pageSize],
    )
    yield* rows
    const end = rows.at(-1)
    if (end === undefined || rows.length < pageSize) return
    last = [String(end['day']), String(end['key_id']), String(end['model'])]
  }
}

function nameOf(...key: readonly string[]): string {
  return key.join('\0')
}

function addFigures(figures: FiguresByName, name: string, added: Figures): void {
  const sum = figures.get(name)
  if (sum === undefined) {
    figures.set(name, { ...added })
    return
  }
  sum.requests += added.requests
  sum.inputTokens += added.inputTokens
  sum.outputTokens += added.outputTokens
  sum.cacheTokens += added.cacheTokens
  sum.costPicos = picos(sum.costPicos + added.costPicos)
}

function noFigures(): Figures {
  return { requests: 0, inputTokens: 0, outputTokens: 0, cacheTokens: 0, costPicos: zeroPicos }
}

function readStored(row: Row): Figures {
  return {
    requests: Number(row['requests']),
    inputTokens: Number(row['input_tokens']),
    outputTokens: Number(row['output_tokens']),
    cacheTokens: Number(row['cache_tokens']),
    costPicos: readPicos(row, 'cost_picos'),
  }
}

function describe(figures: Figures): string {
  const { requests, inputTokens, outputTokens, cacheTokens, costPicos } = figures
  return `${requests} requests, ${inputTokens} + ${outputTokens} + ${cacheTokens} tokens, ${usd(costPicos)}`
}
