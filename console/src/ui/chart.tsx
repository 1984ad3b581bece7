/**
 * Figures over time, as lines, areas or stacked bars (uPlot). The pointer or the arrow keys read the
 * values of one moment; a table has the same values. Colours are the tokens', so a chart follows the theme.
 */
import { ChartLine, Table2 } from 'lucide-react'
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useThemeNow } from './theme.ts'
import { IconButton } from './button.tsx'
import { formatClock, formatDay, formatTime } from './format.ts'
import './chart.css'

export interface Series {
  readonly name: string
  /** One value for each time; null leaves a gap. */
  readonly values: readonly (number | null)[]
  readonly kind: 'line' | 'area' | 'bars'
  /** A comparison, drawn thin and dashed. */
  readonly isFaint?: boolean
  /** In the colour of errors. */
  readonly isBad?: boolean
}

interface ChartProps {
  /** What it shows, as its name. */
  readonly label: string
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  /** Bars or areas stand upon each other. */
  readonly isStacked?: boolean
  readonly format: (value: number) => string
  /** For the values that are read one by one; `format` where it is absent. */
  readonly exact?: (value: number) => string
  /** Days are UTC days; moments are shown in the reader's zone. */
  readonly unit: 'day' | 'moment'
  readonly height?: number
}

export function Chart(props: ChartProps) {
  const { label, series, times, unit, format, exact = format } = props
  const [isTable, setIsTable] = useState(false)
  const [index, setIndex] = useState<number>()
  const time = index === undefined || isTable ? undefined : times[index]
  return (
    <figure className="chart" aria-label={label}>
      <figcaption className="chart-head">
        <Legend series={series} />
        <div className="chart-values" role="status">
          {index !== undefined && time !== undefined && (
            <Values at={momentOf(time, unit)} index={index} series={series} format={exact} />
          )}
        </div>
        <IconButton
          label={isTable ? 'Show as chart' : 'Show as table'}
          onClick={() => setIsTable(!isTable)}
        >
          {isTable ? <ChartLine aria-hidden /> : <Table2 aria-hidden />}
        </IconButton>
      </figcaption>
      {isTable ? <ValueTable {...props} /> : <Plot {...props} index={index} onIndex={setIndex} />}
    </figure>
  )
}

function Legend({ series }: { series: readonly Series[] }) {
  if (series.length < 2) return <span />
  return (
    <ul className="legend">
      {series.map(({ name, isFaint = false, isBad = false }, index) => (
        <li key={name}>
          <span
            className={`swatch swatch-${isFaint ? 'faint' : isBad ? 'bad' : String(index % 8)}`}
          />
          {name}
        </li>
      ))}
    </ul>
  )
}

function ValueTable({ label, times, series, format, exact = format, unit }: ChartProps) {
  return (
    <div className="chart-table" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ name }) => (
              <th scope="col" key={name} className="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, index) => (
            <tr key={time}>
              <th scope="row">{momentOf(time, unit)}</th>
              {series.map(({ name, values }) => (
                <td key={name} className="number">
                  {textOf(values[index], exact)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface PlotProps extends ChartProps {
  /** The moment under the pointer or chosen by the arrow keys. */
  readonly index: number | undefined
  readonly onIndex: (index: number | undefined) => void
}

function Plot(props: PlotProps) {
  const { label, times, series, height = 200, index, onIndex } = props
  const frame = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(undefined)
  const theme = useThemeNow()
  useEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    const drawn = draw(element, props, onIndex)
    plot.current = drawn
    const observer = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      drawn.destroy()
    }
    // The values are compared by their text: pages compute them anew with each draw.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [theme, height, JSON.stringify([times, series])])
  const step = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (by === undefined || plot.current === undefined) return
    event.preventDefault()
    const next = Math.min(Math.max((index ?? times.length) + by, 0), times.length - 1)
    const left = plot.current.valToPos(times[next] ?? 0, 'x')
    plot.current.setCursor({ left, top: 0 })
    onIndex(next)
  }
  return (
    <div
      ref={frame}
      className="chart-canvas"
      style={{ minHeight: height }}
      role="group"
      aria-label={`${label}. Use the arrow keys to read values.`}
      tabIndex={0}
      onKeyDown={step}
      onBlur={() => onIndex(undefined)}
    />
  )
}

function Values(props: {
  readonly at: string
  readonly index: number
  readonly series: readonly Series[]
  readonly format: ChartProps['format']
}): ReactNode {
  const { at, index, series, format } = props
  return (
    <>
      <strong>{at}</strong>
      {series.map(({ name, values }) => (
        <span key={name}>
          {series.length > 1 && `${name} `}
          <b>{textOf(values[index], format)}</b>
        </span>
      ))}
    </>
  )
}

function textOf(value: number | null | undefined, format: ChartProps['format']): string {
  return value === null || value === undefined ? '–' : format(value)
}

function draw(
  element: HTMLElement,
  { times, series, isStacked = false, format, unit, height = 200 }: ChartProps,
  onIndex: (index: number | undefined) => void,
): UPlot {
  const colour = (name: string): string => resolveColour(element, name)
  const stacked = isStacked ? stack(series) : series.map(({ values }) => values)
  const line = colour('--line')
  // Bars need half a step more at both ends.
  const margin = series.some(({ kind }) => kind === 'bars') ? stepOf(times) / 2 : 0
  const axis: UPlot.Axis = {
    stroke: colour('--text-soft'),
    font: `11px ${getComputedStyle(element).fontFamily}`,
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
  }
  const options: UPlot.Options = {
    width: Math.max(element.clientWidth, 100),
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
    ...(unit === 'day' && { tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), 'UTC') }),
    scales: {
      x: { time: true, range: (_, first, last) => [first - margin, last + margin] },
      y: { range: (_, low, high) => rangeOf(low, high) },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 64,
        size: 28,
        ...(unit === 'day' && { incrs: dayIncrements }),
        values: (_, ticks) => ticks.map((tick) => tickOf(tick, unit)),
      },
      { ...axis, size: 58, space: 36, values: (_, ticks) => ticks.map((tick) => format(tick)) },
    ],
    series: [{}, ...series.map((each, index) => seriesOf(each, index, colour))],
    hooks: {
      setCursor: [({ cursor }) => onIndex(cursor.idx ?? undefined)],
    },
  }
  if (isStacked) {
    // The tallest is drawn first, so that the parts below it stay visible.
    const [first, ...rest] = options.series
    options.series = [first ?? {}, ...rest.toReversed()]
    stacked.reverse()
  }
  return new UPlot(options, [[...times], ...stacked.map((values) => [...values])], element)
}

function stepOf([first, second]: readonly number[]): number {
  return first === undefined || second === undefined ? 86_400 : second - first
}

/** Between two labels: whole days, because half a day would have the name of its day once more. */
const dayIncrements = [1, 2, 3, 7, 14, 28, 56, 91, 182, 364, 728].map((days) => days * 86_400)

const tickDay = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
})

function tickOf(seconds: number, unit: ChartProps['unit']): string {
  const moment = new Date(seconds * 1000)
  return unit === 'day' ? tickDay.format(moment) : formatClock(moment)
}

function momentOf(seconds: number, unit: ChartProps['unit']): string {
  const moment = new Date(seconds * 1000)
  return unit === 'day' ? formatDay(moment.toISOString().slice(0, 10)) : formatTime(moment)
}

function rangeOf(low: number | null, high: number | null): [number, number] {
  const top = high ?? 0
  const bottom = Math.min(low ?? 0, 0)
  return top === bottom ? [bottom, bottom + 1] : [bottom * 1.08, top * 1.08]
}

function stack(series: readonly Series[]): (number | null)[][] {
  const sums: (number | null)[][] = []
  for (const { values } of series) {
    const below = sums.at(-1)
    sums.push(values.map((value, index) => (below?.[index] ?? 0) + (value ?? 0)))
  }
  return sums
}

function seriesOf(
  { name, kind, isFaint = false, isBad = false }: Series,
  index: number,
  colour: (name: string) => string,
): UPlot.Series {
  const ink = colour(isFaint ? '--text-soft' : isBad ? '--bad' : `--chart-${(index % 8) + 1}`)
  const points: UPlot.Series.Points = { show: true, size: 5, filter: findLonePoints }
  const base = { label: name, stroke: ink, width: isFaint ? 1.5 : 2, points }
  if (kind === 'bars') {
    const paths = UPlot.paths.bars?.({ size: [0.7, 42], radius: 0.12 })
    return {
      ...base,
      points: { show: false },
      width: 0,
      fill: ink,
      ...(paths !== undefined && { paths }),
    }
  }
  if (isFaint) return { ...base, dash: [5, 4] }
  return kind === 'area' ? { ...base, fill: withAlpha(ink, 0.12) } : base
}

/** Values between two gaps: a line would not show them. */
function findLonePoints(plot: UPlot, seriesIndex: number): number[] {
  const values = plot.data[seriesIndex] ?? []
  const isThere = (index: number): boolean => typeof values[index] === 'number'
  return [...values.keys()].filter(
    (index) => isThere(index) && !isThere(index - 1) && !isThere(index + 1),
  )
}

function withAlpha(ink: string, alpha: number): string {
  return ink.replace(/^rgb\((.*)\)$/, `rgba($1, ${alpha})`)
}

/** A canvas knows no custom properties, so the browser computes them on an element. */
function resolveColour(element: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  element.append(probe)
  const found = getComputedStyle(probe).color
  probe.remove()
  return found
}
