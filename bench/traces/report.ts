/** The table of what traces cost: one line for each setting, the median of the rounds. */
import { formatFigure, formatTable, type Column } from '../report/document.ts'

export interface TracesRound {
  /** `no traces`, `every request`, `1 of 100`. */
  readonly setting: string
  /** Of all threads of the gateway. */
  readonly cpuUsPerRequest: number
  readonly requestsPerSecond: number
  /** What the collector got for each request. */
  readonly bytesPerRequest: number
  readonly failedCount: number
}

interface TracesRow extends TracesRound {
  readonly lowestUs: number
  readonly highestUs: number
}

const columns: readonly Column<TracesRow>[] = [
  { heading: 'traced', align: 'left', cell: (row) => row.setting },
  { heading: 'CPU µs/request', align: 'right', cell: (row) => formatFigure(row.cpuUsPerRequest) },
  {
    heading: 'lowest–highest',
    align: 'right',
    cell: (row) => `${formatFigure(row.lowestUs)}–${formatFigure(row.highestUs)}`,
  },
  { heading: 'requests/s', align: 'right', cell: (row) => formatFigure(row.requestsPerSecond) },
  {
    heading: 'sent bytes/request',
    align: 'right',
    cell: (row) => formatFigure(row.bytesPerRequest),
  },
  { heading: 'failed', align: 'right', cell: (row) => String(row.failedCount) },
]

export function formatTraces(
  rounds: readonly TracesRound[],
  made: { readonly command: string; readonly date: string },
): string {
  const bySetting = Map.groupBy(rounds, ({ setting }) => setting)
  const rows = [...bySetting.values()].map(summarize)
  return `\`${made.command}\` on ${made.date}.\n\n${formatTable(columns, rows)}`
}

/** Takes the round with the median CPU time. */
function summarize(rounds: readonly TracesRound[]): TracesRow {
  const sorted = rounds.toSorted((left, right) => left.cpuUsPerRequest - right.cpuUsPerRequest)
  const median = sorted[Math.floor((sorted.length - 1) / 2)]
  if (median === undefined) throw new Error('a setting has no round')
  const failedCount = rounds.reduce((sum, round) => sum + round.failedCount, 0)
  const lowestUs = sorted[0]?.cpuUsPerRequest ?? Number.NaN
  return { ...median, failedCount, lowestUs, highestUs: sorted.at(-1)?.cpuUsPerRequest ?? lowestUs }
}
