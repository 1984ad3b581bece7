/** The table of refused requests beside charged ones: one line for each round and checkout. */
import { formatFigure, formatTable, type Column } from '../report/document.ts'

export interface RefusalsRow {
  readonly round: number
  readonly program: string
  /** Of all threads of the gateway. */
  readonly cpuMsPerSecond: number
  /** Of the charged requests. */
  readonly medianMs: number
  /** The 99th percentile of the same. */
  readonly slowMs: number
  readonly failedCount: number
}

const columns: readonly Column<RefusalsRow>[] = [
  { heading: 'round', align: 'right', cell: (row) => String(row.round) },
  { heading: 'version', align: 'left', cell: (row) => row.program },
  { heading: 'CPU, ms/s', align: 'right', cell: (row) => formatFigure(row.cpuMsPerSecond) },
  { heading: 'charged p50, ms', align: 'right', cell: (row) => formatFigure(row.medianMs) },
  { heading: 'charged p99, ms', align: 'right', cell: (row) => formatFigure(row.slowMs) },
  { heading: 'failed', align: 'right', cell: (row) => String(row.failedCount) },
]

export function formatRefusals(
  rows: readonly RefusalsRow[],
  made: { readonly command: string; readonly date: string },
): string {
  return `\`${made.command}\` on ${made.date}.\n\n${formatTable(columns, rows)}`
}
