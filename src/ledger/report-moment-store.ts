/**
 * Table report_moment: the figures of a day up to a moment of it, over all accounts. A report by day cannot
 * say how far yesterday was at this time; these rows can, with one row for each moment, whatever the number
 * of requests. The figures are those that were booked by then.
 */
import { z } from 'zod'
import { picos } from '../base/money.ts'
import type { Queryable, Row } from '../storage/database.ts'
import {
  noReport,
  reportAmountColumns,
  reportCountColumns,
  type ReportFigures,
} from './report-day.ts'
import { readReportLines } from './report-store.ts'

export interface Moment {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string
  /** The day after it. */
  readonly nextDay: string
  /** Minute of the day. */
  readonly minute: number
}

/** Records the figures of the day as they are now. Of several gateways the first one does it. */
export async function recordMoment(
  queryable: Queryable,
  { day, nextDay, minute }: Moment,
): Promise<void> {
  const [line] = await readReportLines(queryable, {
    by: [],
    fromDay: day,
    toDay: nextDay,
    only: {},
    countMax: 1,
  })
  if (line === undefined) return
  await queryable.query(
    `INSERT INTO report_moment (day, minute, figures) VALUES ($1, $2, $3)
     ON CONFLICT (day, minute) DO NOTHING`,
    [day, minute, formatFigures(line.figures)],
  )
}

/** Deletes the moments of days before this one. */
export async function pruneMoments(queryable: Queryable, day: string): Promise<void> {
  await queryable.query('DELETE FROM report_moment WHERE day < $1', [day])
}

export interface RecordedMoment {
  readonly minute: number
  readonly figures: ReportFigures
}

/** Finds the last moment of the day at this minute or before. */
export async function findMoment(
  queryable: Queryable,
  { day, minute }: Pick<Moment, 'day' | 'minute'>,
): Promise<RecordedMoment | undefined> {
  const [row] = await queryable.query(
    `SELECT minute, figures FROM report_moment WHERE day = $1 AND minute <= $2
      ORDER BY minute DESC LIMIT 1`,
    [day, minute],
  )
  return row === undefined ? undefined : readMoment(row)
}

/** Lists the last moment of each hour of a day that has one, in their order. */
export async function listHourEnds(
  queryable: Queryable,
  day: string,
): Promise<readonly RecordedMoment[]> {
  const rows = await queryable.query(
    `SELECT minute, figures FROM report_moment WHERE day = $1 AND minute IN
       (SELECT MAX(minute) FROM report_moment WHERE day = $1 GROUP BY (minute - 1) / 60)
      ORDER BY minute`,
    [day],
  )
  return rows.map(readMoment)
}

function readMoment(row: Row): RecordedMoment {
  return { minute: Number(row['minute']), figures: parseFigures(String(row['figures'])) }
}

/** As text: amounts can exceed the numbers of JSON. */
function formatFigures(figures: ReportFigures): string {
  const columns = [...reportCountColumns, ...reportAmountColumns]
  return JSON.stringify(
    Object.fromEntries(columns.map((column) => [column, String(figures[column])])),
  )
}

const storedFigures = z.record(z.string(), z.string().regex(/^-?\d+$/))

function parseFigures(text: string): ReportFigures {
  const stored = storedFigures.parse(JSON.parse(text))
  const figures = noReport()
  for (const column of reportCountColumns) figures[column] = Number(stored[column] ?? 0)
  for (const column of reportAmountColumns) figures[column] = picos(BigInt(stored[column] ?? 0))
  return figures
}
