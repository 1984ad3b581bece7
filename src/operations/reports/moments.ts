/**
 * Records the sums of the day every 15 minutes, on every gateway of a store; the first one to come writes
 * the row. Invariant: no request waits for it, and a failure is reported and ends nothing.
 */
import { dayMs, minuteMs, utcDay, type Clock, type Timer } from '../../base/clock.ts'
import { pruneMoments, recordMoment } from '../../ledger/report-moment-store.ts'
import type { Database } from '../../storage/database.ts'

export interface MomentOptions {
  readonly clock: Clock
  readonly database: Database
  readonly onError: (error: unknown) => void
}

const stepMinutes = 15
const keptDays = 8
/** A row that would be later than this is left out: it would show more than there was at its minute. */
const lateMs = 30_000

export interface Moments {
  /** Waits for a record that is being written. */
  close(): Promise<void>
}

export function startMoments({ clock, database, onError }: MomentOptions): Moments {
  let running: Promise<void> = Promise.resolve()
  let timer: Timer = clock.after(untilNext(clock.now()), begin)
  function begin(): void {
    const nowMs = clock.now()
    timer = clock.after(untilNext(nowMs), begin)
    running = running.then(() => record(database, nowMs)).catch(onError)
  }
  return {
    async close() {
      timer.cancel()
      await running
    },
  }
}

const stepMs = stepMinutes * minuteMs

function untilNext(nowMs: number): number {
  return stepMs - (nowMs % stepMs)
}

/** The wall clock may have jumped since the timer was set: then there is nothing to record. */
async function record(database: Database, nowMs: number): Promise<void> {
  const day = utcDay(nowMs)
  const sinceStepMs = nowMs % stepMs
  const minute = Math.floor((nowMs % dayMs) / minuteMs / stepMinutes) * stepMinutes
  // Midnight begins a day without requests.
  if (minute === 0 || sinceStepMs > lateMs) return
  await recordMoment(database, { day, nextDay: utcDay(nowMs + dayMs), minute })
  await pruneMoments(database, utcDay(nowMs - keptDays * dayMs))
}
