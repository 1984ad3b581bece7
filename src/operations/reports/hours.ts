/**
 * The report of a day by hour, over all accounts, from the moments that gateways record every 15 minutes.
 * The hours of a day add up to its report: requests that no moment tells apart count in the hour of the next
 * moment, and later bookings of a day that is over, such as refunds, in its last hour.
 */
import { dayMs, hourMs, minuteMs, utcDay } from '../../base/clock.ts'
import { sumChecks } from '../../channels/cluster/operator-cost-store.ts'
import { noReport, subtractReport, type ReportSums } from '../../ledger/report-day.ts'
import { listHourEnds, type RecordedMoment } from '../../ledger/report-moment-store.ts'
import { readReportLines } from '../../ledger/report-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { timeText } from '../operation.ts'
import { viewTotal, type ReportSumsView } from './report-figures.ts'

interface HourRow {
  readonly from: string
  readonly until: string
  /** False where no moment was recorded at its beginning or its end. */
  readonly is_exact: boolean
  readonly row: ReportSumsView
}

export interface DayByHour {
  readonly day: string
  /** The sums of the whole day. */
  readonly row: ReportSumsView
  /** Oldest first, up to now. */
  readonly hours: readonly HourRow[]
}

/** Most hours of a quiet gateway are equal. */
const emptyRow = viewTotal(noReport(), [])

/** Returns a day (UTC) and its hours. */
export async function readHours(
  snapshot: Queryable,
  { day, nowMs }: { readonly day: string; readonly nowMs: number },
): Promise<DayByHour> {
  const startMs = Date.parse(day)
  const endMs = Math.min(startMs + dayMs, nowMs)
  const checks = await sumChecks(snapshot, { fromMs: startMs, untilMs: endMs, stepMs: hourMs })
  const checksByHour = Map.groupBy(checks, ({ fromMs }) => fromMs)
  const moments = await listHourEnds(snapshot, day)
  const momentByHour = new Map(moments.map((moment) => [Math.ceil(moment.minute / 60), moment]))
  const total = await readTotal(snapshot, startMs)
  const hours: HourRow[] = []
  let before: RecordedMoment = { minute: 0, sums: noReport() }
  let from = timeText(startMs)
  for (let fromMs = startMs; fromMs < endMs; fromMs += hourMs) {
    const untilMs = Math.min(fromMs + hourMs, endMs)
    const endMinute = Math.ceil((untilMs - startMs) / minuteMs)
    const after =
      untilMs === endMs
        ? { minute: endMinute, sums: total }
        : (momentByHour.get(hours.length + 1) ?? before)
    const hourChecks = checksByHour.get(fromMs) ?? []
    const until = timeText(untilMs)
    hours.push({
      from,
      until,
      is_exact: startMs + before.minute * minuteMs === fromMs && after.minute === endMinute,
      row:
        after === before && hourChecks.length === 0
          ? emptyRow
          : viewTotal(subtractReport(after.sums, before.sums), hourChecks),
    })
    before = after
    from = until
  }
  return { day, row: viewTotal(total, checks), hours }
}

async function readTotal(snapshot: Queryable, startMs: number): Promise<ReportSums> {
  const [line] = await readReportLines(snapshot, {
    by: [],
    fromDay: utcDay(startMs),
    toDay: utcDay(startMs + dayMs),
    only: {},
    countMax: 1,
  })
  return line?.sums ?? noReport()
}
