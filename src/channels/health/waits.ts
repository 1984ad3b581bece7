/**
 * Facts from the answers of one model on one channel about its silences: the longest wait for a head and for
 * a first output. Plain data that the book keeps for requests that ask for reasoning and for others, apart.
 * Only answers teach it; a hang never does.
 */
import { dayMs, hourMs } from '../../base/clock.ts'
import { learnedFactor, waitNames, type KnownWait, type WaitName } from '../silence.ts'
import { sureCount } from './timing.ts'

/** The longest waits of the answers that came within an hour. */
interface Hour {
  /** Monotonic time at which it began. */
  readonly at: number
  answers: number
  readonly longestMs: Record<WaitName, number>
}

export interface Waits {
  /** Oldest first. At least as many as make `sureCount` answers, and all of a day. */
  hours: Hour[]
  /** A request that was moved after an unlearned limit. */
  proof: Proof | undefined
  /** That request was answered elsewhere much sooner, and nothing has been answered here since. */
  isProven: boolean
  /** Latest requests that waited beyond a learned limit. */
  hanging: readonly Hanging[]
}

/** How long an answer's head and its first output took, the second since the head. */
export type Waited = Readonly<Record<WaitName, number>>

/** A wait that was ended too soon. */
export interface OutlastedWait {
  readonly wait: WaitName
  readonly waitedMs: number
}

interface Proof {
  readonly moved: OutlastedWait
  readonly isWaiting: () => boolean
  /** When it has waited elsewhere for about as long. */
  readonly until: number
}

interface Hanging {
  readonly beganAt: number
  readonly at: number
}

/** A day, and hours of which each has an answer. */
const hoursMax = 24 + sureCount
/** Hanging at once, this number of requests switches a channel off. */
const hangingMax = 5

export function noWaits(): Waits {
  return { hours: [], proof: undefined, isProven: false, hanging: [] }
}

export function knownWait({ hours }: Waits, wait: WaitName): KnownWait {
  let answers = 0
  let longestMs = 0
  for (const hour of hours) {
    answers += hour.answers
    longestMs = Math.max(longestMs, hour.longestMs[wait])
  }
  return { answers, longestMs }
}

/** An answer began after these waits. */
export function noteWaits(waits: Waits, waited: Waited, now: number): void {
  const hour = hourOf(waits, now)
  hour.answers++
  waits.isProven = false
  for (const wait of waitNames) hour.longestMs[wait] = Math.max(hour.longestMs[wait], waited[wait])
}

/** Another channel took as long as this one was given. */
export function noteOutlasted(waits: Waits, { wait, waitedMs }: OutlastedWait, now: number): void {
  const { longestMs } = hourOf(waits, now)
  longestMs[wait] = Math.max(longestMs[wait], waitedMs)
}

/**
 * Whether a request may be moved after an unlearned limit. One at a time shows whether the channel hangs or
 * the model is slow: others would be paid twice for the same knowledge.
 */
export function mayProve(waits: Waits, now: number): boolean {
  const { proof } = waits
  if (proof === undefined || waits.isProven) return true
  if (proof.isWaiting() && now < proof.until) return false
  waits.proof = undefined
  if (!proof.isWaiting()) return true
  // It waits for as long elsewhere: the model is slow.
  noteOutlasted(waits, proof.moved, now)
  return false
}

/** The moved request was answered elsewhere much sooner: the channel hangs. */
export function noteProven(waits: Waits): void {
  waits.isProven = true
}

/** `isWaiting`: whether the moved request still waits for the beginning of an answer. */
export function startProving(
  waits: Waits,
  { moved, isWaiting }: Pick<Proof, 'moved' | 'isWaiting'>,
  now: number,
): void {
  waits.proof = { moved, isWaiting, until: now + moved.waitedMs / learnedFactor }
}

/** A request waits beyond a learned limit. Returns whether enough do at once to call the channel hanging. */
export function noteHanging(waits: Waits, beganAt: number, now: number): boolean {
  const all = [...waits.hanging, { beganAt, at: now }]
  const latest = Math.max(...all.map((one) => one.beganAt))
  const atOnce = all.filter(({ at }) => at >= latest)
  const isOver = atOnce.length >= hangingMax
  waits.hanging = isOver ? [] : atOnce
  return isOver
}

/** An answer has come, so what began before it is slow by itself. */
export function refuteHanging(waits: Waits, beganAt: number): void {
  if (waits.hanging.length > 0) waits.hanging = waits.hanging.filter((one) => one.beganAt > beganAt)
}

function hourOf(waits: Waits, now: number): Hour {
  const last = waits.hours.at(-1)
  if (last !== undefined && now - last.at < hourMs) return last
  const hour = { at: now, answers: 0, longestMs: { head: 0, output: 0 } }
  waits.hours = [...withoutOld(waits.hours, now), hour]
  return hour
}

/** Drops waits older than a day, where enough is known without it. */
function withoutOld(hours: readonly Hour[], now: number): readonly Hour[] {
  let answers = 0
  const from = hours.findLastIndex((hour) => {
    const isNeeded = now - hour.at < dayMs || answers < sureCount
    answers += hour.answers
    return !isNeeded
  })
  return hours.slice(from + 1).slice(-hoursMax)
}

// --- restarts -----------------------------------------------------------------------------------

export interface SavedWaits {
  readonly hours: readonly (Omit<Hour, 'at'> & { readonly agoMs: number })[]
}

export function saveWaits({ hours }: Waits, now: number): SavedWaits {
  return { hours: hours.map(({ at, ...hour }) => ({ ...hour, agoMs: now - at })) }
}

/** `agoMs`: how long before now it was saved. */
export function restoreWaits(saved: SavedWaits, now: number, agoMs: number): Waits {
  const hours = saved.hours.map(({ agoMs: age, ...hour }) => ({ ...hour, at: now - agoMs - age }))
  return { ...noWaits(), hours }
}
