/** The figures of the bodies part and its report as Markdown. */
import { type Column, formatFigure, formatTable } from '../report/document.ts'

/** One body of one shape and size, sent to an idle gateway. */
export interface BodyFigures {
  readonly shape: string
  readonly mebibytes: number
  /** The answer's status. */
  readonly status: number
  /** From the first byte sent to the whole answer. */
  readonly answerMs: number
  /** Of the gateway's event loop, in CPU time. */
  readonly longestTurnMs: number
  /** Of all threads of the gateway, to read, parse and forward the body. */
  readonly cpuMs: number
}

const columns: readonly Column<BodyFigures>[] = [
  { heading: 'shape', align: 'left', cell: (row) => row.shape },
  { heading: 'MiB', align: 'right', cell: (row) => String(row.mebibytes) },
  { heading: 'status', align: 'right', cell: (row) => String(row.status) },
  { heading: 'answer, ms', align: 'right', cell: (row) => formatFigure(row.answerMs) },
  { heading: 'longest turn, ms', align: 'right', cell: (row) => formatFigure(row.longestTurnMs) },
  { heading: 'CPU, ms', align: 'right', cell: (row) => formatFigure(row.cpuMs) },
]

export function formatBodies(
  figures: readonly BodyFigures[],
  made: { readonly command: string; readonly date: string; readonly commit: string },
): string {
  const line = `Made by \`${made.command}\` on ${made.date}, commit ${made.commit}.`
  return `${line}\n\n${formatTable(columns, figures)}`
}
