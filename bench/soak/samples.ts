/** Readings of the processes every few seconds, and whether they grow. */
import { readdirSync } from 'node:fs'
import { readResidentBytes } from '../measure/process-cost.ts'
import { median } from '../measure/statistics.ts'
import { formatFigure, text, type Column } from '../table.ts'

/** One process at one moment. */
export interface Sample {
  /** `supervisor`, or a process by its number. */
  readonly name: string
  readonly pid: number
  readonly residentBytes: number
  readonly descriptors: number
  /** Handles and requests of the event loop; NaN for the supervisor, like the next. */
  readonly resources: number
  /** The 99th percentile since the reading before. */
  readonly loopDelayMs: number
}

/** All processes at one moment. */
export type Reading = readonly Sample[]

interface Place {
  readonly name: string
  readonly pid: number
}

/** `metrics` are those of all gateways. */
export function readSample({ name, pid }: Place, metrics: string): Sample {
  return {
    name,
    pid,
    residentBytes: readResidentBytes([pid]),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    resources: sumOf(metrics, 'turnpike_nodejs_active_resources', name),
    loopDelayMs: sumOf(metrics, 'turnpike_nodejs_eventloop_lag_p99_seconds', name) * 1_000,
  }
}

/** NaN where the process has no such line. */
function sumOf(metrics: string, metric: string, process: string): number {
  const values = metrics.split('\n').flatMap((line) => {
    const isOfProcess = line.startsWith(`${metric}{`) && line.includes(`process="${process}"`)
    return isOfProcess ? [Number(line.slice(line.lastIndexOf(' ') + 1))] : []
  })
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0)
}

const figures = ['residentBytes', 'descriptors', 'resources', 'loopDelayMs'] as const
type Figure = (typeof figures)[number]

const countMargin = 24
const loopDelayMarginMs = 20

/** Medians of the thirds of the run, of one figure of one process. */
export interface Trend {
  readonly name: string
  readonly figure: Figure
  readonly first: number
  readonly middle: number
  readonly last: number
  /** The last third may have so much more than the middle one. */
  readonly margin: number
  readonly isFlat: boolean
}

/** No process is replaced in the last two thirds. */
export function findTrends(
  readings: readonly Reading[],
  memoryMarginBytes: number,
): readonly Trend[] {
  const names = [...new Set(readings.flat().map(({ name }) => name))]
  return names.flatMap((name) =>
    figures.flatMap((figure) => {
      const third = (index: number): number => {
        const from = Math.floor((readings.length * index) / 3)
        const to = Math.floor((readings.length * (index + 1)) / 3)
        const samples = readings.slice(from, to).flat()
        return median(samples.filter((one) => one.name === name).map((one) => one[figure]))
      }
      const [first, middle, last] = [third(0), third(1), third(2)]
      if (Number.isNaN(last)) return []
      const margin = {
        residentBytes: memoryMarginBytes,
        descriptors: countMargin,
        resources: countMargin,
        // Other programs delay the event loop as well.
        loopDelayMs: Math.max(loopDelayMarginMs, middle),
      }[figure]
      return [{ name, figure, first, middle, last, margin, isFlat: last <= middle + margin }]
    }),
  )
}

const labels: Readonly<Record<Figure, string>> = {
  residentBytes: 'memory, MB',
  descriptors: 'descriptors',
  resources: 'handles',
  loopDelayMs: 'event-loop delay p99, ms',
}

function trend(heading: string, valueOf: (row: Trend) => number): Column<Trend> {
  const cell = (row: Trend): string =>
    formatFigure(row.figure === 'residentBytes' ? valueOf(row) / 1e6 : valueOf(row))
  return { heading, align: 'right', cell }
}

export const trendColumns: readonly Column<Trend>[] = [
  text('process', ({ name }) => name),
  text('figure', ({ figure }) => labels[figure]),
  trend('first third', ({ first }) => first),
  trend('middle third', ({ middle }) => middle),
  trend('last third', ({ last }) => last),
  trend('at most more', ({ margin }) => margin),
  text('flat', ({ isFlat }) => (isFlat ? 'yes' : '**no**')),
]
