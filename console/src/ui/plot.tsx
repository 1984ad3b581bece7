/**
 * Draws a chart with uPlot, and tells where the pointer or the arrow keys are in it. Colours are the tokens',
 * so that a chart follows the theme. Only chart.tsx uses it.
 */
import { useEffect, useEffectEvent, useRef, type KeyboardEvent } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { t } from '../messages/t.ts'
import { formatClock, formatInUtc } from './format.ts'
import { useThemeNow } from './theme.ts'

export interface Series {
  readonly name: string
  /** One value for each time; null leaves a gap. */
  readonly values: readonly (number | null)[]
  readonly kind: 'line' | 'area' | 'bars'
  /** A comparison, drawn thin and dashed: no part of a sum. */
  readonly isFaint?: boolean
  /** In the colour of errors. */
  readonly isBad?: boolean
}

export interface DrawnSeries extends Series {
  /** The name of a token. */
  readonly colour: string
}

/** One of the times, and the place of the pointer in the chart of this width. */
export interface Point {
  readonly index: number
  readonly left: number
  readonly top: number
  readonly width: number
}

export interface PlotProps {
  readonly label: string
  readonly times: readonly number[]
  readonly series: readonly DrawnSeries[]
  readonly isStacked: boolean
  /** Between two of its values there is none. */
  readonly isWhole: boolean
  readonly format: (value: number) => string
  readonly unit: 'day' | 'moment'
  readonly height: number
  readonly index: number | undefined
  readonly onPoint: (point: Point | undefined) => void
  /** Called after a drag over these times; both are included. */
  readonly onPeriod: ((first: number, last: number) => void) | undefined
  readonly onOpen: ((index: number) => void) | undefined
}

export function Plot(props: PlotProps) {
  const { label, times, series, height, index, onPoint, onPeriod, onOpen } = props
  const frame = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(undefined)
  /** Where the keys began to choose a period. */
  const anchor = useRef<number>(undefined)
  const theme = useThemeNow()
  const choose = useEffectEvent((first: number, last: number) => onPeriod?.(first, last))
  const open = useEffectEvent((at: number) => onOpen?.(at))
  useEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    const drawn = draw(element, props, { onPoint, onPeriod: choose, onOpen: open })
    plot.current = drawn
    const observer = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      drawn.destroy()
      onPoint(undefined)
    }
    // The values are compared by their text: pages compute them anew with each draw.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [theme, height, JSON.stringify([times, series])])
  const press = (event: KeyboardEvent): void => {
    const { current: drawn } = plot
    if (drawn === undefined) return
    if (event.key === 'Enter' && index !== undefined) {
      if (anchor.current === undefined) onOpen?.(index)
      else onPeriod?.(Math.min(anchor.current, index), Math.max(anchor.current, index))
    }
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    const next = Math.min(Math.max((index ?? times.length) + by, 0), times.length - 1)
    anchor.current =
      event.shiftKey && onPeriod !== undefined ? (anchor.current ?? index ?? next) : undefined
    select(drawn, anchor.current, next)
    drawn.setCursor({ left: drawn.valToPos(times[next] ?? 0, 'x'), top: 0 })
  }
  return (
    <div
      ref={frame}
      className={onOpen === undefined ? 'chart-canvas' : 'chart-canvas chart-leads'}
      style={{ minHeight: height }}
      role="group"
      aria-label={t('time.arrows', { label })}
      tabIndex={0}
      onKeyDown={press}
      onBlur={() => {
        anchor.current = undefined
        onPoint(undefined)
      }}
    />
  )
}

/** Marks the times from one to another; nothing without a first. */
function select(plot: UPlot, first: number | undefined, last: number): void {
  const place = (index: number): number => plot.valToPos(plot.data[0][index] ?? 0, 'x')
  const [from, to] = [place(first ?? last), place(last)]
  const box = { left: Math.min(from, to), width: Math.abs(to - from), top: 0, height: 0 }
  plot.setSelect({ ...box, height: first === undefined ? 0 : plot.over.clientHeight }, false)
}

interface Handlers {
  readonly onPoint: (point: Point | undefined) => void
  readonly onPeriod: (first: number, last: number) => void
  readonly onOpen: (index: number) => void
}

/** Tells the place of the pointer, drags and clicks. A tap shows values first: a finger does not hover. */
function pointerPlugin({ onPoint, onPeriod, onOpen }: Handlers, isOpenable: boolean): UPlot.Plugin {
  return {
    hooks: {
      ready(plot) {
        plot.over.addEventListener('click', (event) => {
          const isTap = event instanceof PointerEvent && event.pointerType === 'touch'
          const { idx } = plot.cursor
          if (isOpenable && !isTap && typeof idx === 'number') onOpen(idx)
        })
      },
      setCursor(plot) {
        const { idx, left = 0, top = 0 } = plot.cursor
        if (typeof idx !== 'number' || left < 0) return onPoint(undefined)
        const { offsetLeft, offsetTop } = plot.over
        onPoint({ index: idx, left: offsetLeft + left, top: offsetTop + top, width: plot.width })
      },
      setSelect(plot) {
        const { left, width } = plot.select
        if (width === 0) return
        const [first, last] = [plot.posToIdx(left), plot.posToIdx(left + width)]
        plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false)
        onPeriod(first, last)
      },
    },
  }
}

function draw(element: HTMLElement, props: PlotProps, handlers: Handlers): UPlot {
  const { times, series, isStacked, height, unit } = props
  const colour = (name: string): string => resolveColour(element, name)
  const drawn = series.map((each) => seriesOf(each, colour(each.colour)))
  const values = isStacked ? stack(series) : series.map((each) => [...each.values])
  // The tallest is drawn first, so that the parts below it stay visible; faint lines are above all.
  const rankOf = (index: number): number => (series[index]?.isFaint === true ? -1 : index)
  const order = [...series.keys()]
  if (isStacked) order.sort((one, other) => rankOf(other) - rankOf(one))
  // Bars need half a step more at both ends.
  const margin = series.some(({ kind }) => kind === 'bars') ? stepOf(times) / 2 : 0
  const ends: [number, number] = [(times[0] ?? 0) - margin, (times.at(-1) ?? 0) + margin]
  const options: UPlot.Options = {
    width: Math.max(element.clientWidth, 100),
    height,
    // At the right, half of the last label.
    padding: [8, 26, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      points: { size: 7 },
      drag: { x: props.onPeriod !== undefined, y: false, setScale: false, dist: 5 },
    },
    ...(unit === 'day' && { tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), 'UTC') }),
    scales: {
      // uPlot would give one time alone three years.
      x: { time: true, range: () => ends },
      y: { range: (_, low, high) => rangeOf(low, high) },
    },
    axes: axesOf(element, props, colour),
    series: [{}, ...order.flatMap((index) => drawn[index] ?? [])],
    plugins: [pointerPlugin(handlers, props.onOpen !== undefined)],
  }
  return new UPlot(
    options,
    [[...times], ...order.flatMap((index) => [values[index] ?? []])],
    element,
  )
}

function axesOf(
  element: HTMLElement,
  { unit, format, isWhole }: PlotProps,
  colour: (name: string) => string,
): UPlot.Axis[] {
  const axis: UPlot.Axis = {
    stroke: colour('--text-soft'),
    font: `11px ${getComputedStyle(element).fontFamily}`,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  }
  return [
    {
      ...axis,
      grid: { show: false },
      space: 64,
      size: 28,
      ...(unit === 'day' && { incrs: dayIncrements }),
      values: (_, ticks) => eachOnce(ticks.map((tick) => tickText(tick, unit))),
    },
    {
      ...axis,
      size: 58,
      space: 36,
      ...(isWhole && { incrs: wholeIncrements }),
      values: (_, ticks) => eachOnce(ticks.map(format)),
    },
  ]
}

/** The same label once more would say nothing. */
function eachOnce(labels: readonly string[]): string[] {
  return labels.map((label, index) => (label === labels[index - 1] ? '' : label))
}

function stepOf([first, second]: readonly number[]): number {
  return first === undefined || second === undefined ? 86_400 : second - first
}

/** Between two labels: whole days, because half a day would have the name of its day once more. */
const dayIncrements = [1, 2, 3, 7, 14, 28, 56, 91, 182, 364, 728].map((days) => days * 86_400)
/** Between two whole numbers: 1, 2, 5, 10, 20, 50, … */
const wholeIncrements = Array.from({ length: 15 }, (_, power) => 10 ** power).flatMap((unit) => [
  unit,
  2 * unit,
  5 * unit,
])

function tickText(seconds: number, unit: PlotProps['unit']): string {
  const ms = seconds * 1000
  return unit === 'day'
    ? formatInUtc(ms, { day: 'numeric', month: 'short' })
    : formatClock(new Date(ms))
}

function rangeOf(low: number | null, high: number | null): [number, number] {
  const top = high ?? 0
  const bottom = Math.min(low ?? 0, 0)
  return top === bottom ? [bottom, bottom + 1] : [bottom * 1.08, top * 1.08]
}

/** Adds each series to those before it; a faint one stands alone. */
function stack(series: readonly DrawnSeries[]): (number | null)[][] {
  let below: readonly number[] = []
  return series.map(({ values, isFaint = false }) => {
    if (isFaint) return [...values]
    const sums = values.map((value, index) => (below[index] ?? 0) + (value ?? 0))
    below = sums
    return sums
  })
}

function seriesOf({ name, kind, isFaint = false }: DrawnSeries, ink: string): UPlot.Series {
  const points: UPlot.Series.Points = { show: true, size: 5, filter: findLonePoints }
  const base = { label: name, stroke: ink, width: isFaint ? 1.5 : 2, points }
  if (isFaint) return { ...base, dash: [5, 4] }
  if (kind === 'bars') {
    const paths = UPlot.paths.bars?.({ size: [0.7, 42], radius: 0.12 })
    const bars = { ...base, points: { show: false }, width: 0, fill: ink }
    return paths === undefined ? bars : { ...bars, paths }
  }
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
