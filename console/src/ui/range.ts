/**
 * Periods of time: their words in addresses, and the days or moments that they mean. Pure. Reports count UTC
 * days; lists of events begin their days in the reader's zone. A day in an address is a UTC day in both.
 */
import { oneOf, text, type Reader } from '../search.ts'

export const presets = [
  '15m',
  '1h',
  '24h',
  'today',
  'yesterday',
  '7d',
  '30d',
  'thisMonth',
  'lastMonth',
] as const
export type Preset = (typeof presets)[number]

/** Presets of whole days, for pages that the API answers by day. */
export const dayPresets = ['today', 'yesterday', '7d', '30d', 'thisMonth', 'lastMonth'] as const

/** A period as a page keeps it in its address: a word, or its ends. */
export interface Range {
  readonly range?: Preset
  /** A UTC day such as 2026-11-25, or a moment; from inclusive. */
  readonly from?: string
  /** A day is included; a moment is the end. */
  readonly to?: string
}

/** Sets all three words of an address at once. */
export type RangeChange = { readonly [Name in keyof Range]-?: Range[Name] | undefined }

export interface Period {
  readonly from: string
  readonly to: string
}

const minuteMs = 60_000
const dayMs = 86_400_000

export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

const dayForm = /^\d{4}-\d\d-\d\d$/
const momentForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/

export function isDay(text: string): boolean {
  return dayForm.test(text) && startsThere(text)
}

/** 31 June would be read as 1 July. */
function startsThere(day: string): boolean {
  const ms = Date.parse(day)
  return !Number.isNaN(ms) && utcDay(ms) === day
}

const end: Reader<string> = (value) => {
  const given = text(value)
  if (given === undefined) return undefined
  const isMoment = momentForm.test(given) && startsThere(given.slice(0, 10))
  return isDay(given) || isMoment ? given : undefined
}

/** The fields of an address that keeps a period, for `addressOf`. */
export const rangeFields = { range: oneOf(presets), from: end, to: end }

export function hasRange({ range, from, to }: Range): boolean {
  return range !== undefined || from !== undefined || to !== undefined
}

interface Asked {
  /** UTC days, both included; or moments, of which an open end is left out. */
  readonly unit: 'day' | 'moment'
  readonly nowMs: number
}

/** Returns the ends of a range as the API takes them. `usual` is meant where the address has none. */
export function periodOf(
  range: Range,
  asked: Asked & { readonly unit: 'day'; readonly usual: Preset },
): Period
export function periodOf(range: Range, asked: Asked & { readonly unit: 'moment' }): Partial<Period>
export function periodOf(
  { range, from, to }: Range,
  { unit, nowMs, usual }: Asked & { readonly usual?: Preset },
): Partial<Period> {
  if (unit === 'moment') {
    if (range === undefined)
      return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
    const [fromMs, untilMs] = boundsOf(range, nowMs, 'local')
    const begin = { from: new Date(fromMs).toISOString() }
    return untilMs < nowMs ? { ...begin, to: new Date(untilMs).toISOString() } : begin
  }
  const preset = range ?? (from === undefined && to === undefined ? usual : undefined)
  if (preset !== undefined) {
    const [fromMs, untilMs] = boundsOf(preset, nowMs, 'utc')
    return { from: utcDay(fromMs), to: utcDay(untilMs - 1) }
  }
  const last = to === undefined ? utcDay(nowMs) : lastDayOf(to)
  const first = from?.slice(0, 10) ?? utcDay(Date.parse(last) - 29 * dayMs)
  return first <= last ? { from: first, to: last } : { from: last, to: first }
}

function lastDayOf(end: string): string {
  return isDay(end) ? end : utcDay(Date.parse(end) - 1)
}

type Zone = 'utc' | 'local'

/** Returns the first moment and the one after the last. */
function boundsOf(preset: Preset, nowMs: number, zone: Zone): readonly [number, number] {
  const day = (offset: number): number => midnight(nowMs, zone, { days: offset })
  const month = (offset: number): number => midnight(nowMs, zone, { months: offset })
  switch (preset) {
    case '15m':
      return [nowMs - 15 * minuteMs, nowMs]
    case '1h':
      return [nowMs - 60 * minuteMs, nowMs]
    case '24h':
      return [nowMs - dayMs, nowMs]
    case 'today':
      return [day(0), day(1)]
    case 'yesterday':
      return [day(-1), day(0)]
    case '7d':
      return [day(-6), day(1)]
    case '30d':
      return [day(-29), day(1)]
    case 'thisMonth':
      return [month(0), day(1)]
    case 'lastMonth':
      return [month(-1), month(0)]
  }
}

/** The start of a day some days from now, or of a month some months from now. */
function midnight(
  nowMs: number,
  zone: Zone,
  { days = 0, months }: { readonly days?: number; readonly months?: number },
): number {
  const now = new Date(nowMs)
  if (zone === 'utc') {
    const date = months === undefined ? now.getUTCDate() + days : 1
    return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + (months ?? 0), date)
  }
  const date = months === undefined ? now.getDate() + days : 1
  return new Date(now.getFullYear(), now.getMonth() + (months ?? 0), date).getTime()
}

/** Each UTC day of a period. */
export function listDays({ from, to }: Period): readonly string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)]
  const count = Math.max(Math.round((last - first) / dayMs) + 1, 0)
  return Array.from({ length: count }, (_, index) => utcDay(first + index * dayMs))
}

/** Returns as many days as the period has, directly before it. */
export function periodBefore(period: Period): Period {
  const firstMs = Date.parse(period.from)
  return {
    from: utcDay(firstMs - listDays(period).length * dayMs),
    to: utcDay(firstMs - dayMs),
  }
}

const typedForm = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d):(\d\d))?$/

/**
 * Reads what a person typed as an end of a period: a UTC day, or a moment of the reader's zone. There, a day
 * alone means its start, or as `to` its end. Undefined where it is neither.
 */
export function parseEnd(
  text: string,
  { unit, end }: { readonly unit: Asked['unit']; readonly end: keyof Period },
): string | undefined {
  const [, day = '', hours, minutes = '0'] = typedForm.exec(text.trim()) ?? []
  if (!isDay(day) || Number(hours ?? 0) > 24 || Number(minutes) > 59) return undefined
  if (unit === 'day') return hours === undefined ? day : undefined
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const wholeDay = hours === undefined && end === 'to' ? 1 : 0
  const at = new Date(year, month - 1, date + wholeDay, Number(hours ?? 0), Number(minutes))
  return at.toISOString()
}

/** Writes an end as `parseEnd` reads it. */
export function endText(
  value: string | undefined,
  { unit, end }: { readonly unit: Asked['unit']; readonly end: keyof Period },
): string {
  if (value === undefined) return ''
  if (unit === 'day') return end === 'to' ? lastDayOf(value) : value.slice(0, 10)
  const ms = Date.parse(value) + (isDay(value) && end === 'to' ? dayMs : 0)
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * minuteMs)
  return local.toISOString().slice(0, 16).replace('T', ' ')
}
