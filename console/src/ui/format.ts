/**
 * Numbers, amounts and times as text, in the language of the page. Amounts stay decimal text: no binary
 * number holds them.
 */
import { language } from '../messages/language.ts'
import { t } from '../messages/t.ts'
import { parsePicos } from './exact.ts'

/** English numbers as in America, as their currency is; English dates with the day first. */
const [numbers, dates] = language === 'en' ? ['en-US', 'en-GB'] : [language, language]
const integer = new Intl.NumberFormat(numbers)
const compact = new Intl.NumberFormat(numbers, { notation: 'compact', maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat(numbers, { style: 'percent', maximumFractionDigits: 1 })

export function formatInteger(value: number): string {
  return integer.format(value)
}

/** 12,345 → 12.3K; below 10,000 the number itself. */
export function formatCount(value: number): string {
  return Math.abs(value) < 10_000 ? integer.format(value) : compact.format(value)
}

/** 0.123 → 12.3%. */
export function formatShare(share: number): string {
  return percent.format(share)
}

/** Exact decimal text with groups: -1234.5 → -$1,234.50. */
export function formatUsdExact(usd: string): string {
  const { sign, whole, fraction } = partsOf(usd)
  return `${sign}$${group(whole)}.${fraction.padEnd(2, '0')}`
}

const picoDigits = 12

/** Two decimals, or as many as show two digits that matter: 0.00001234 → $0.000012. Never nothing. */
export function formatUsd(usd: string): string {
  const picos = parsePicos(usd)
  const places = placesOf(picos)
  const unit = 10n ** BigInt(picoDigits - places)
  // 0.0999 rounds to 0.10, which needs a place less.
  return formatUsdFixed(picos, placesOf(roundedTo(picos, unit) * unit))
}

function placesOf(picos: bigint): number {
  const length = (picos < 0n ? -picos : picos).toString().length
  const zeros = picos === 0n ? 0 : Math.max(picoDigits - length, 0)
  return zeros === 0 ? 2 : Math.min(zeros + 2, picoDigits)
}

/** In whole units, half a unit away from zero. */
export function roundedTo(picos: bigint, unit: bigint): bigint {
  const rounded = ((picos < 0n ? -picos : picos) + unit / 2n) / unit
  return picos < 0n ? -rounded : rounded
}

/** Rounded to this many decimals. What rounds to nothing shows as less than the least: <$0.01. */
export function formatUsdFixed(picos: bigint, places: number): string {
  const rounded = roundedTo(picos < 0n ? -picos : picos, 10n ** BigInt(picoDigits - places))
  const sign = picos < 0n ? '−' : ''
  if (rounded === 0n && picos !== 0n) return `${sign}<$${'0.'.padEnd(places + 1, '0')}1`
  const digits = rounded.toString().padStart(places + 1, '0')
  return `${sign}$${group(digits.slice(0, -places))}.${digits.slice(-places)}`
}

function partsOf(usd: string): { sign: string; whole: string; fraction: string } {
  const [, minus = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(usd) ?? []
  return { sign: minus === '' ? '' : '−', whole, fraction }
}

function group(whole: string): string {
  return whole.replace(/\B(?=(\d{3})+$)/g, ',')
}

type Unit = 'd' | 'h' | 'min' | 's' | 'ms'

function inUnit(value: number, unit: Unit): string {
  return t(`ui.units.${unit}`, { value: String(value) })
}

/** 840 → 840 ms; 12,300 → 12.3 s; 90,000 → 1 min 30 s. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return inUnit(Math.round(ms), 'ms')
  if (ms < 60_000) return inUnit(Number((ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)), 's')
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return joined([minutes, 'min'], [Math.round((ms % 60_000) / 1_000), 's'])
  const hours = Math.floor(minutes / 60)
  return hours < 48
    ? joined([hours, 'h'], [minutes % 60, 'min'])
    : joined([Math.floor(hours / 24), 'd'], [hours % 24, 'h'])
}

function joined(large: readonly [number, Unit], small: readonly [number, Unit]): string {
  return [large, small]
    .filter(([value], index) => index === 0 || value !== 0)
    .map(([value, unit]) => inUnit(value, unit))
    .join(' ')
}

/** How long ago, in one unit: "just now", "12 s ago", "3 h ago"; "in 5 min" for a moment to come. */
export function formatAge(ms: number): string {
  const far = Math.abs(ms)
  if (far < 1_000) return t('ui.age.now')
  return t(ms < 0 ? 'ui.age.to' : 'ui.age.past', { time: formatSpan(far) })
}

/** How long, in one whole unit: "12 s", "3 h". */
export function formatSpan(ms: number): string {
  const [unitMs, unit] = spanUnits.find(([each]) => ms >= each) ?? [1_000, 's']
  return inUnit(Math.floor(ms / unitMs), unit)
}

const spanUnits: readonly (readonly [number, Unit])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
]

const clock = new Intl.DateTimeFormat(dates, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})
const dayAndClock = new Intl.DateTimeFormat(dates, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})
const full = new Intl.DateTimeFormat(dates, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
})
const day = new Intl.DateTimeFormat(dates, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})

const hourAndMinute = new Intl.DateTimeFormat(dates, { hour: '2-digit', minute: '2-digit' })

/** Hour and minute in the reader's zone. */
export function formatClock(at: Date): string {
  return hourAndMinute.format(at)
}

/** In the reader's zone; of today only the clock. */
export function formatTime(at: Date, now = new Date()): string {
  return at.toDateString() === now.toDateString() ? clock.format(at) : dayAndClock.format(at)
}

/** In the reader's zone and in UTC. */
export function formatTimeFully(at: Date): string {
  return `${full.format(at)} · ${at.toISOString().replace('T', ' ').slice(0, 19)} UTC`
}

/** A UTC day such as 2026-11-23 → 23 Nov 2026. */
export function formatDay(utcDay: string): string {
  return day.format(new Date(`${utcDay}T00:00:00Z`))
}

const shortDay = new Intl.DateTimeFormat(dates, { day: 'numeric', month: 'short' })

/** The day in the reader's zone, without its year: 23 Nov. */
export function formatShortDay(at: Date): string {
  return shortDay.format(at)
}

/** Parts of a moment in UTC, such as the name of its month. */
export function formatInUtc(ms: number, parts: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(dates, { ...parts, timeZone: 'UTC' }).format(ms)
}
