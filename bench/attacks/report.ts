/** The table of attacks: one line for each attack and checkout. */
import { formatFigure, formatTable } from '../report/document.ts'

export interface AttackFigures {
  /** 99th percentiles. */
  readonly healthMs: number
  readonly requestMs: number
  /** Of both kinds together: without an answer, or not with 200. */
  readonly failedCount: number
  readonly highestMegabytes: number
  /** 25 seconds after the attack. */
  readonly afterwardsMegabytes: number
}

export interface AttackRow extends AttackFigures {
  readonly attack: string
  readonly program: string
}

export function formatAttacks(
  rows: readonly AttackRow[],
  made: { readonly command: string; readonly date: string },
): string {
  const right = 'right' as const
  const table = formatTable<AttackRow>(
    [
      { heading: 'attack', align: 'left', cell: (row) => row.attack },
      { heading: 'version', align: 'left', cell: (row) => row.program },
      { heading: '`/health` p99, ms', align: right, cell: (row) => formatFigure(row.healthMs) },
      { heading: 'others p99, ms', align: right, cell: (row) => formatFigure(row.requestMs) },
      { heading: 'failed', align: right, cell: (row) => String(row.failedCount) },
      { heading: 'highest MB', align: right, cell: (row) => formatFigure(row.highestMegabytes) },
      {
        heading: 'MB 25 s later',
        align: right,
        cell: (row) => formatFigure(row.afterwardsMegabytes),
      },
    ],
    rows,
  )
  return `\`${made.command}\` on ${made.date}.\n\n${table}`
}
