/**
 * Table report_moment: the sums of a day up to a moment of it, over all accounts. A report by day cannot
 * say how far yesterday was at this time; these rows can, with one row for each moment, whatever the number
 * of requests. A moment has only the bookings until then.
 */
import { z } from 'zod'
import { picos } from '../base/money.ts'
import type { Queryable, Row } from '../storage/database.ts'
import { noReport, reportAmountColumns, reportCountColumns, type ReportSums } from './report-day.ts'
import { readReportLines } from './report-store.ts'

export interface Moment {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string
  /** The day after it. */
  readonly nextDay: string
  /** Minute of the day. */
  readonly minute: number
}

/** Records the sums of the day as they are now. Of several gateways the first one does it. */
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
    `INSERT INTO report_moment (day, minute, sums) VALUES ($1, $2, $3)
     ON CONFLICT (day, minute) DO NOTHING`,
    [day, minute, formatSums(line.sums)],
  )
}

/** Deletes the moments of days before this one. */
export async function pruneMoments(queryable: Queryable, day: string): Promise<void> {
  await queryable.query('DELETE FROM report_moment WHERE day < $1', [day])
}

export interface RecordedMoment {
  readonly minute: number
  readonly sums: ReportSums
}

/** Finds the last moment of the day at this minute or before. */
export async function findMoment(
  queryable: Queryable,
  { day, minute }: Pick<Moment, 'day' | 'minute'>,
): Promise<RecordedMoment | undefined> {
  const [row] = await queryable.query(
    `SELECT minute, sums FROM report_moment WHERE day = $1 AND minute <= $2
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
    `SELECT minute, sums FROM report_moment WHERE day = $1 AND minute IN
       (SELECT MAX(minute) FROM report_moment WHERE day = $1 GROUP BY (minute - 1) / 60)
      ORDER BY minute`,
    [day],
  )
  return rows.map(readMoment)
}

function readMoment(row: Row): RecordedMoment {
  return { minute: Number(row['minute']), sums: parseSums(String(row['sums'])) }
}

/** As text: amounts can exceed the numbers of JSON. */
function formatSums(sums: ReportSums): string {
  const columns = [...reportCountColumns, ...reportAmountColumns]
  return JSON.stringify(Object.fromEntries(columns.map((column) => [column, String(sums[column])])))
}

const storedSums = z.record(z.string(), z.string().regex(/^-?\d+$/))

function parseSums(text: string): ReportSums {
  const stored = storedSums.parse(JSON.parse(text))
  const sums = noReport()
  for (const column of reportCountColumns) sums[column] = Number(stored[column] ?? 0)
  for (const column of reportAmountColumns) sums[column] = picos(BigInt(stored[column] ?? 0))
  return sums
}
