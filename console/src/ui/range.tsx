/**
 * The one way to choose a period of time: presets, or two ends, typed or clicked in a calendar. Days are
 * typed as 2026-11-25 in every browser, because its own field would follow the browser's language.
 */
import { Popover } from '@base-ui/react/popover'
import { CalendarDays, ChevronLeft, ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import { t } from '../messages/t.ts'
import { Button, IconButton } from './button.tsx'
import { TextField } from './field.tsx'
import { formatDay, formatInUtc, formatTime } from './format.ts'
import { Pair, Split } from './layout.tsx'
import {
  dayPresets,
  endText,
  hasRange,
  isDay,
  parseEnd,
  periodOf,
  utcDay,
  type Period,
  type Preset,
  type Range,
  type RangeChange,
} from './range.ts'
import { useNow } from './values.tsx'
import './range.css'

interface RangePickerProps {
  readonly value: Range
  /** What the page counts: whole UTC days, or moments that are shown in the reader's zone. */
  readonly unit: 'day' | 'moment'
  readonly presets: readonly Preset[]
  /** Of `presets`: also as buttons beside it, one click away. */
  readonly quick?: readonly Preset[]
  /** What an address without a period means: a preset, or a name such as "Now, live". */
  readonly usual: Preset | { readonly name: string }
  readonly onChange: (range: RangeChange) => void
}

/** The days in an address, in words too, and what chooses other days. */
export function useDays(
  props: Pick<RangePickerProps, 'value' | 'quick' | 'onChange'> & { readonly usual: Preset },
) {
  const { value, usual } = props
  const nowMs = useNow(minuteMs)
  return {
    period: periodOf(value, { unit: 'day', nowMs, usual }),
    words: rangeText(value, { unit: 'day', usual }),
    picker: <RangePicker {...props} unit="day" presets={dayPresets} />,
  }
}

const minuteMs = 60_000
const none: RangeChange = { range: undefined, from: undefined, to: undefined }

export function RangePicker(props: RangePickerProps) {
  const { value, unit, presets, quick = [], usual, onChange } = props
  const [isOpen, setIsOpen] = useState(false)
  const id = useId()
  const label = unit === 'day' ? t('time.periodUtc') : t('time.period')
  const choose = (change: RangeChange): void => {
    setIsOpen(false)
    onChange(change)
  }
  const preset = value.range ?? (!hasRange(value) && typeof usual === 'string' ? usual : undefined)
  const presetButton = (each: Preset) => (
    <Button
      key={each}
      look="quiet"
      aria-pressed={each === preset}
      onClick={() => choose({ ...none, range: each })}
    >
      {t(`time.presets.${each}`)}
    </Button>
  )
  return (
    <div className="field range" role="group" aria-label={label}>
      <label htmlFor={id}>{label}</label>
      <div className="row">
        <Popover.Root open={isOpen} onOpenChange={setIsOpen}>
          <Popover.Trigger
            render={
              <Button id={id} aria-label={`${label}: ${rangeText(value, { unit, usual })}`}>
                <CalendarDays aria-hidden /> {rangeText(value, { unit, usual })}
              </Button>
            }
          />
          <Popover.Portal>
            <Popover.Positioner align="start" sideOffset={6} className="menu-place">
              <Popover.Popup className="menu range-popup" aria-label={label}>
                <div className="stack tight range-presets">
                  {typeof usual !== 'string' && (
                    <Button
                      look="quiet"
                      aria-pressed={!hasRange(value)}
                      onClick={() => choose(none)}
                    >
                      {usual.name}
                    </Button>
                  )}
                  {presets.map(presetButton)}
                </div>
                <Between value={endsOf(value, preset, unit)} unit={unit} onChange={choose} />
              </Popover.Popup>
            </Popover.Positioner>
          </Popover.Portal>
        </Popover.Root>
        {quick.map(presetButton)}
      </div>
    </div>
  )
}

/** The ends that the picker begins with: those of the preset, where one is chosen. */
function endsOf(value: Range, preset: Preset | undefined, unit: 'day' | 'moment'): Range {
  if (preset === undefined) return value
  const nowMs = Date.now()
  return unit === 'day'
    ? periodOf({ range: preset }, { unit, nowMs, usual: preset })
    : periodOf({ range: preset }, { unit, nowMs })
}

/** A range in words: its preset, or its ends. */
function rangeText(
  { range, from, to }: Range,
  { unit, usual }: Pick<RangePickerProps, 'unit' | 'usual'>,
): string {
  if (range !== undefined) return t(`time.presets.${range}`)
  if (from === undefined && to === undefined)
    return typeof usual === 'string' ? t(`time.presets.${usual}`) : usual.name
  const text = (value: string, end: keyof Period): string =>
    isDay(value) || unit === 'day'
      ? formatDay(endText(value, { unit: 'day', end }))
      : formatTime(new Date(value))
  if (from === undefined) return t('time.until', { to: text(to ?? '', 'to') })
  if (to === undefined) return t('time.since', { from: text(from, 'from') })
  return periodText(text(from, 'from'), text(to, 'to'))
}

/** Two ends that are one day show it once. */
function periodText(from: string, to: string): string {
  return from === to ? from : t('time.fromOf', { from, to })
}

/** UTC days in words: "1 Nov 2026 to 25 Nov 2026, UTC". */
export function daysText({ from, to }: Period): string {
  return t('time.utc', { period: periodText(formatDay(from), formatDay(to)) })
}

interface BetweenProps {
  readonly value: Range
  readonly unit: 'day' | 'moment'
  readonly onChange: (range: RangeChange) => void
}

/** The two ends of a period. The first click in the calendar is its first day, the second its last. */
function Between({ value, unit, onChange }: BetweenProps) {
  const [from, setFrom] = useState(() => endText(value.from, { unit, end: 'from' }))
  const [to, setTo] = useState(() => endText(value.to, { unit, end: 'to' }))
  const [isAsked, setIsAsked] = useState(false)
  const ends = {
    from: parseEnd(from, { unit, end: 'from' }),
    to: parseEnd(to, { unit, end: 'to' }),
  }
  const mistakeOf = (text: string, end: string | undefined): string | undefined =>
    text === '' || end !== undefined
      ? undefined
      : t(unit === 'day' ? 'time.dayForm' : 'time.momentForm')
  const mistakes = {
    from: mistakeOf(from, ends.from),
    to:
      mistakeOf(to, ends.to) ??
      (ends.from !== undefined && ends.to !== undefined && ends.to < ends.from
        ? t('time.order')
        : undefined),
  }
  const show = (): void => {
    setIsAsked(true)
    const isGood = mistakes.from === undefined && mistakes.to === undefined
    if (isGood && from + to !== '') onChange({ range: undefined, ...ends })
  }
  const choose = (day: string): void => {
    const first = from.slice(0, 10)
    if (isDay(first) && to === '' && first <= day)
      return onChange({ range: undefined, from: ends.from, to: parseEnd(day, { unit, end: 'to' }) })
    setFrom(day)
    setTo('')
  }
  return (
    <form
      className="stack range-between"
      onSubmit={(event) => {
        event.preventDefault()
        show()
      }}
    >
      <h3>{t('time.between')}</h3>
      <Calendar from={from.slice(0, 10)} to={to.slice(0, 10)} onChoose={choose} />
      <Pair>
        <TextField
          label={t('time.from')}
          value={from}
          error={isAsked ? mistakes.from : undefined}
          onChange={setFrom}
        />
        <TextField
          label={t('time.to')}
          value={to}
          error={isAsked ? mistakes.to : undefined}
          onChange={setTo}
        />
      </Pair>
      <Split>
        <span className="soft">{t(unit === 'day' ? 'time.hintUtc' : 'time.hintZone')}</span>
        <Button type="submit" look="primary">
          {t('time.apply')}
        </Button>
      </Split>
    </form>
  )
}

const dayMs = 86_400_000
const weekDays = 7
/** As many as a month can touch. */
const weeksShown = 6
/** A Monday, for the names of the days of a week. */
const mondayMs = Date.UTC(2026, 0, 5)

interface CalendarProps {
  /** Days; other text marks none. */
  readonly from: string
  readonly to: string
  readonly onChoose: (day: string) => void
}

function Calendar({ from, to, onChoose }: CalendarProps) {
  const [month, setMonth] = useState(() => (isDay(to) ? to : utcDay(Date.now())).slice(0, 7))
  const firstMs = Date.parse(`${month}-01`)
  const startMs = firstMs - ((new Date(firstMs).getUTCDay() + weekDays - 1) % weekDays) * dayMs
  const move = (by: number): void => {
    const at = new Date(firstMs)
    setMonth(utcDay(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + by)).slice(0, 7))
  }
  return (
    <div>
      <Split>
        <IconButton label={t('time.monthBefore')} onClick={() => move(-1)}>
          <ChevronLeft aria-hidden />
        </IconButton>
        <span aria-live="polite">{formatInUtc(firstMs, { month: 'long', year: 'numeric' })}</span>
        <IconButton label={t('time.monthAfter')} onClick={() => move(1)}>
          <ChevronRight aria-hidden />
        </IconButton>
      </Split>
      <div className="calendar-days">
        {Array.from({ length: weekDays }, (_, index) => (
          <span key={index} aria-hidden>
            {formatInUtc(mondayMs + index * dayMs, { weekday: 'narrow' })}
          </span>
        ))}
        {Array.from({ length: weekDays * weeksShown }, (_, index) => {
          const day = utcDay(startMs + index * dayMs)
          return (
            <button
              key={day}
              type="button"
              aria-label={formatDay(day)}
              aria-pressed={day === from || (day >= from && day <= to)}
              data-outside={day.startsWith(month) ? undefined : true}
              onClick={() => onChoose(day)}
            >
              {Number(day.slice(8))}
            </button>
          )
        })}
      </div>
    </div>
  )
}
