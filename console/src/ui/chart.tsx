/**
 * Figures over time, as lines, areas or stacked bars. The pointer or the arrow keys read the values of one
 * time, the largest first; a click leads to what is behind them, and a drag chooses a period; a table has the
 * same values. The drawing itself loads later than the page (plot.tsx).
 */
import { ChartLine, Table2 } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { t } from '../messages/t.ts'
import { IconButton } from './button.tsx'
import { formatCount, formatDay, formatDuration, formatTime, formatUsd } from './format.ts'
import type { DrawnSeries, PlotProps, Point, Series } from './plot.tsx'
import { utcDay, type Period } from './range.ts'
import './chart.css'

export type { Series } from './plot.tsx'

const Plot = lazy(async () => {
  const { Plot: component } = await import('./plot.tsx')
  return { default: component }
})

const formats = {
  usd: (value: number): string => formatUsd(value.toFixed(9)),
  count: (value: number): string => formatCount(Math.round(value)),
  ms: formatDuration,
}

export interface ChartProps {
  /** What it shows, as its name. */
  readonly label: string
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  /** Bars or areas stand upon each other. */
  readonly isStacked?: boolean
  readonly figure: keyof typeof formats
  /** For the values that are read one by one, in place of the usual form of the figure. */
  readonly exact?: (value: number) => string
  /** Days are UTC days; moments are shown in the reader's zone. */
  readonly unit: 'day' | 'moment'
  readonly height?: number
  /** Called with the period of a drag, as `Range` has it: days, or moments. */
  readonly onPeriod?: ((period: Period) => void) | undefined
  /** Called with the period of the one time that was clicked. */
  readonly onOpen?: ((period: Period) => void) | undefined
}

export function Chart(props: ChartProps) {
  const { label, times, series, unit, figure, height = 200, onPeriod, onOpen } = props
  const [isTable, setIsTable] = useState(false)
  const [hidden, setHidden] = useState<readonly string[]>([])
  const [point, setPoint] = useState<Point>()
  const drawn = series
    .map((each, index): DrawnSeries => ({ ...each, colour: colourOf(each, index) }))
    .filter(({ name }) => !hidden.includes(name))
  const plot: PlotProps = {
    label,
    times,
    series: drawn,
    isStacked: props.isStacked ?? false,
    isWhole: figure !== 'usd',
    format: formats[figure],
    unit,
    height,
    index: point?.index,
    onPoint: setPoint,
    onPeriod: onPeriod && ((first, last) => onPeriod(periodOf(props, first, last))),
    onOpen: onOpen && ((index) => onOpen(periodOf(props, index, index))),
  }
  return (
    <figure className="chart" aria-label={label}>
      <figcaption className="row row-between chart-head">
        <Legend
          series={series}
          hidden={hidden}
          onToggle={(name) =>
            setHidden(
              hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name],
            )
          }
        />
        <IconButton
          label={isTable ? t('time.asChart') : t('time.asTable')}
          onClick={() => setIsTable(!isTable)}
        >
          {isTable ? <ChartLine aria-hidden /> : <Table2 aria-hidden />}
        </IconButton>
      </figcaption>
      {isTable ? (
        <ValueTable {...props} />
      ) : (
        <div className="chart-plot" style={{ minHeight: height }}>
          <Suspense>
            <Plot {...plot} />
          </Suspense>
          <div role="status">
            {point !== undefined && <Tip chart={props} series={drawn} point={point} />}
          </div>
        </div>
      )}
    </figure>
  )
}

const coloursMax = 8

function colourOf({ isFaint = false, isBad = false }: Series, index: number): string {
  return isFaint ? '--text-soft' : isBad ? '--bad' : `--chart-${(index % coloursMax) + 1}`
}

/** From the start of one time to the end of another. */
function periodOf({ times, unit }: ChartProps, first: number, last: number): Period {
  const ms = (index: number): number => (times[index] ?? 0) * 1_000
  if (unit === 'day') return { from: utcDay(ms(first)), to: utcDay(ms(last)) }
  const stepMs = ms(1) - ms(0)
  return {
    from: new Date(ms(first)).toISOString(),
    to: new Date(ms(last) + stepMs).toISOString(),
  }
}

interface LegendProps {
  readonly series: readonly Series[]
  readonly hidden: readonly string[]
  readonly onToggle: (name: string) => void
}

/** The names and colours; each is a switch of its series. */
function Legend({ series, hidden, onToggle }: LegendProps) {
  if (series.length < 2) return <span />
  return (
    <ul className="legend" aria-label={t('time.series')}>
      {series.map((each, index) => (
        <li key={each.name}>
          <button
            type="button"
            aria-pressed={!hidden.includes(each.name)}
            onClick={() => onToggle(each.name)}
          >
            <Swatch colour={colourOf(each, index)} /> {each.name}
          </button>
        </li>
      ))}
    </ul>
  )
}

function Swatch({ colour }: { colour: string }) {
  return <span className="swatch" style={{ background: `var(${colour})` }} />
}

interface TipProps {
  readonly chart: ChartProps
  readonly series: readonly DrawnSeries[]
  readonly point: Point
}

/** The values of one time beside the pointer, the largest first, and their sum where they are parts. */
function Tip({ chart, series, point: { index, left, top, width } }: TipProps) {
  const { times, unit, figure, exact = formats[figure], onPeriod, onOpen } = chart
  const valueOf = ({ values }: Series): number => values[index] ?? 0
  const parts = series.filter(({ isFaint = false }) => !isFaint)
  const sorted = parts.toSorted((one, other) => valueOf(other) - valueOf(one))
  const isLeft = left > width / 2
  return (
    <div
      className="chart-tip"
      style={{ top, ...(isLeft ? { right: width - left + 14 } : { left: left + 14 }) }}
    >
      <strong>{timeText(times[index] ?? 0, unit)}</strong>
      <ul>
        {[...sorted, ...series.filter(({ isFaint }) => isFaint)].map((each) => (
          <li key={each.name}>
            <Swatch colour={each.colour} />
            <span className="clip chart-tip-name">{each.name}</span>
            <b>{textOf(each.values[index], exact)}</b>
          </li>
        ))}
        {chart.isStacked === true && parts.length > 1 && (
          <li className="chart-tip-total">
            <span className="clip chart-tip-name">{t('time.total')}</span>
            <b>{exact(parts.reduce((sum, each) => sum + valueOf(each), 0))}</b>
          </li>
        )}
      </ul>
      {onOpen !== undefined && (
        <button type="button" tabIndex={-1} onClick={() => onOpen(periodOf(chart, index, index))}>
          {t('time.click')}
        </button>
      )}
      {onPeriod !== undefined && <small>{t('time.drag')}</small>}
    </div>
  )
}

function ValueTable({ label, times, series, figure, exact = formats[figure], unit }: ChartProps) {
  return (
    <div className="chart-table" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('time.time')}</th>
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
              <th scope="row">{timeText(time, unit)}</th>
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

function timeText(seconds: number, unit: ChartProps['unit']): string {
  const ms = seconds * 1_000
  return unit === 'day' ? formatDay(utcDay(ms)) : formatTime(new Date(ms))
}

function textOf(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value)
}
