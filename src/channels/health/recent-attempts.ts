/**
 * Counts the attempts of the last ten minutes on one place, by minute. Pure data: it decides nothing about
 * health. Invariant: at most `recentMinutes` buckets, however busy the place is.
 */
import { minuteMs } from '../../base/clock.ts'

export const recentMinutes = 10

interface Minute {
  readonly index: number
  ended: number
  failed: number
}

/** Oldest first. */
export type RecentAttempts = Minute[]

export function noteRecent(recent: RecentAttempts, isFailed: boolean, now: number): void {
  const index = Math.floor(now / minuteMs)
  let minute = recent.at(-1)
  if (minute?.index !== index) {
    minute = { index, ended: 0, failed: 0 }
    recent.push(minute)
    if (recent.length > recentMinutes) recent.shift()
  }
  minute.ended++
  if (isFailed) minute.failed++
}

/** The minute that has begun counts as one of the ten. */
export function sumRecent(
  recent: RecentAttempts,
  now: number,
): { readonly ended: number; readonly failed: number } {
  const oldest = Math.floor(now / minuteMs) - recentMinutes
  let [ended, failed] = [0, 0]
  for (const minute of recent) {
    if (minute.index <= oldest) continue
    ended += minute.ended
    failed += minute.failed
  }
  return { ended, failed }
}
