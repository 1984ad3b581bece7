/** Quiet hours: a daily period of a time zone in which only critical alerts are sent. Pure. */
import { minuteMs } from '../../base/clock.ts'

export interface QuietHours {
  /** Minutes after midnight, local time. Where `to` is not later than `from`, the period passes midnight. */
  readonly fromMinute: number
  readonly toMinute: number
  /** An IANA name, such as `Europe/Berlin`. */
  readonly zone: string
}

const pattern = /^(\d{2}):(\d{2})-(\d{2}):(\d{2})(?: ([A-Za-z0-9_+/-]{1,64}))?$/
const hourForm = '([01][0-9]|2[0-3]):[0-5][0-9]'
/** What the OpenAPI document says about the text, which may be empty. */
export const quietHoursForm = `^(${hourForm}-${hourForm}( [A-Za-z0-9_+/-]{1,64})?)?$`

const dayMinutes = 1_440

/** Parses `22:00-07:00` or `22:00-07:00 Europe/Berlin`; UTC by default. Undefined for other text. */
export function parseQuietHours(text: string): QuietHours | undefined {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, fromHour = '', from = '', toHour = '', to = '', zone = 'UTC'] = match
  const fromMinute = Number(fromHour) * 60 + Number(from)
  const toMinute = Number(toHour) * 60 + Number(to)
  const isTime =
    Number(from) < 60 && Number(to) < 60 && Number(fromHour) < 24 && Number(toHour) < 24
  if (!isTime || fromMinute === toMinute || !isZone(zone)) return undefined
  return { fromMinute, toMinute, zone }
}

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).format(0) !== ''
  } catch {
    // The one way to learn whether the runtime knows the name.
    return false
  }
}

/**
 * Returns when the quiet period that covers `atMs` ends, in UTC milliseconds; undefined outside of one. On a
 * day on which the clock of the zone changes, the end may be off by that hour.
 */
export function quietUntil(
  { fromMinute, toMinute, zone }: QuietHours,
  atMs: number,
): number | undefined {
  const minute = localMinute(zone, atMs)
  const length = (toMinute - fromMinute + dayMinutes) % dayMinutes
  const passed = (minute - fromMinute + dayMinutes) % dayMinutes
  if (passed >= length) return undefined
  return Math.floor(atMs / minuteMs) * minuteMs + (length - passed) * minuteMs
}

function localMinute(zone: string, atMs: number): number {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(new Date(atMs))
  const numberOf = (type: string): number =>
    Number(parts.find((part) => part.type === type)?.value ?? 0)
  return numberOf('hour') * 60 + numberOf('minute')
}
