/** The table of attacks: one line for each attack and checkout, with the medians of its rounds. */
import { median } from '../measure/statistics.ts'
import type { Made } from '../part.ts'
import { count, figure, formatRatio, formatTable, text, type Column } from '../table.ts'

export interface OthersFigures {
  /** 99th percentiles. */
  readonly healthMs: number
  readonly requestMs: number
  /** Of both kinds together: without an answer, or not with 200. */
  readonly failedCount: number
}

export interface AttackRow {
  readonly attack: string
  readonly program: string
  /** Before the attack begins, and while it runs. */
  readonly quiet: OthersFigures
  readonly during: OthersFigures
  /** What the attacker got while it ran, by status; 0: an answer that was cut. */
  readonly answers: Readonly<Record<string, number>>
  /** Of the gateway's event loop, in CPU time. */
  readonly longestTurnMs: number
  readonly highestMegabytes: number
}

type Group = readonly AttackRow[]

function middle(heading: string, valueOf: (row: AttackRow) => number): Column<Group> {
  return figure(heading, (rows) => median(rows.map(valueOf)))
}

function ratio(valueOf: (figures: OthersFigures) => number): Column<Group> {
  return {
    heading: 'ratio',
    align: 'right',
    cell: (rows) =>
      formatRatio(median(rows.map(({ quiet, during }) => valueOf(during) / valueOf(quiet)))),
  }
}

/** Like `200: 120, 429: 31,415`. */
function describeAnswers(rows: Group): string {
  const counts = new Map<string, number>()
  for (const { answers } of rows)
    for (const [status, count] of Object.entries(answers))
      counts.set(status, (counts.get(status) ?? 0) + count)
  const words = [...counts].map(
    ([status, count]) => `${status === '0' ? 'cut' : status}: ${count.toLocaleString('en')}`,
  )
  return words.length === 0 ? '–' : words.join(', ')
}

const columns: readonly Column<Group>[] = [
  text('attack', ([row]) => row?.attack ?? ''),
  text('version', ([row]) => row?.program ?? ''),
  middle('`/health` p99 quiet, ms', ({ quiet }) => quiet.healthMs),
  middle('during, ms', ({ during }) => during.healthMs),
  ratio(({ healthMs }) => healthMs),
  middle('others p99 quiet, ms', ({ quiet }) => quiet.requestMs),
  middle('during, ms', ({ during }) => during.requestMs),
  ratio(({ requestMs }) => requestMs),
  middle('longest turn, ms', ({ longestTurnMs }) => longestTurnMs),
  count('failed', (rows) => rows.reduce((sum, row) => sum + row.during.failedCount, 0)),
  middle('highest MB', ({ highestMegabytes }) => highestMegabytes),
  text('attacker got', describeAnswers),
]

export function formatAttacks(rows: Group, { command, date }: Made): string {
  const groups = Map.groupBy(rows, ({ attack, program }) => `${attack} ${program}`)
  return `\`${command}\` on ${date}.\n\n${formatTable(columns, [...groups.values()])}`
}
