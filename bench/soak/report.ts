/** The table and the verdict of a soak test. */
import { formatDuration } from '../../src/base/clock.ts'
import type { SoakPlan } from '../options.ts'
import { formatFigure, formatTable, type Column } from '../report/document.ts'
import type { ClientCounts } from './clients.ts'
import { findTrends, type Figure, type Reading, type Trend } from './samples.ts'

export interface SoakFigures {
  readonly plan: SoakPlan
  readonly replacements: number
  readonly readings: readonly Reading[]
  readonly counts: ClientCounts
  /** The first answer that a client should not have got. */
  readonly failure: string | undefined
  /** Open after the last answer. */
  readonly holds: number
  readonly isAuditClean: boolean
  readonly charges: number
  /** Between vendors, clients and books. */
  readonly difference: string | undefined
}

export interface Check {
  readonly what: string
  readonly isRight: boolean
}

const labels: Readonly<Record<Figure, string>> = {
  residentBytes: 'memory, MB',
  descriptors: 'descriptors',
  resources: 'handles',
  loopDelayMs: 'event-loop delay p99, ms',
}

const columns: readonly Column<Trend>[] = [
  { heading: 'process', align: 'left', cell: (row) => row.name },
  { heading: 'figure', align: 'left', cell: (row) => labels[row.figure] },
  { heading: 'first third', align: 'right', cell: (row) => formatTrend(row, row.first) },
  { heading: 'middle third', align: 'right', cell: (row) => formatTrend(row, row.middle) },
  { heading: 'last third', align: 'right', cell: (row) => formatTrend(row, row.last) },
  {
    heading: 'at most more',
    align: 'right',
    cell: (row) => formatTrend(row, row.margin),
  },
  { heading: 'flat', align: 'left', cell: (row) => (row.isFlat ? 'yes' : '**no**') },
]

export function formatSoak(
  figures: SoakFigures,
  made: { readonly command: string; readonly date: string; readonly commit: string },
): string {
  const { plan, replacements, counts, readings, failure, difference } = figures
  const holdsMax = Math.max(...readings.map(({ holds }) => holds))
  const found = [failure, difference].filter((text) => text !== undefined)
  return [
    `\`${made.command}\` on ${made.date}, commit ${made.commit}: ${formatDuration(plan.durationMs)}, ` +
      `${readings.length} readings, ${replacements} rolling replacements, at most ${holdsMax} open holds. ` +
      `${counts.requests} requests: ${counts.ends} answers seen to their end, ${counts.left} clients ` +
      `left, ${counts.refused} answers with an error.\n`,
    formatTable(columns, findTrends(readings, plan.memoryMarginBytes)),
    check(figures)
      .map(({ what, isRight }) => `- ${isRight ? 'right' : '**WRONG**'}: ${what}\n`)
      .join(''),
    ...found.map((text) => `\`\`\`\n${text}\n\`\`\`\n`),
  ].join('\n')
}

export function check(figures: SoakFigures): readonly Check[] {
  const { plan, counts, readings, holds, isAuditClean, charges, difference } = figures
  const trends = findTrends(readings, plan.memoryMarginBytes)
  return [
    { what: `${counts.unanswered} requests got no answer`, isRight: counts.unanswered === 0 },
    { what: `${counts.cut} answers were cut`, isRight: counts.cut === 0 },
    { what: 'most answers were seen to their end', isRight: counts.ends * 2 > counts.requests },
    { what: `${holds} holds are open`, isRight: holds === 0 },
    { what: 'the audit is clean', isRight: isAuditClean },
    {
      what: `vendors, clients and books agree on ${charges} charges`,
      isRight: difference === undefined,
    },
    {
      what: 'memory, descriptors, handles and event-loop delay do not grow',
      isRight: trends.every(({ isFlat }) => isFlat),
    },
  ]
}

function formatTrend({ figure }: Trend, value: number): string {
  return formatFigure(figure === 'residentBytes' ? value / 1e6 : value)
}
