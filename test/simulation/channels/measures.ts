/**
 * What is measured of simulated runs, and what is accepted: values of one run, sentences about the
 * values of several. It knows no scenario.
 */
import type { Change, Span, WorldRecord } from './world.ts'

export interface Run {
  readonly record: WorldRecord
  readonly fault: Span
  readonly seed: number
}

export interface Measure {
  readonly title: string
  readonly accepted: string
  /** Of one run; undefined where it did not happen. */
  readonly value: (run: Run) => number | undefined
  readonly summary: 'mean' | 'perDay' | 'medianAndWorst'
  /** What is wrong with these values of several runs, if anything. */
  readonly complain: (values: Values) => string | undefined
}

export interface Values {
  readonly load: number
  readonly values: readonly (number | undefined)[]
  /** Simulated days in all runs together. */
  readonly days: number
}

/** Whose changes: the main channel's on any node, unless told. */
export interface Whose {
  readonly channel?: string
  readonly node?: number
}

type Match = (change: Change) => boolean

export const isOff: Match = (change) => change.to === 'off' && change.from !== 'off'
export const isSlow: Match = (change) => change.to === 'slow'
const isBack: Match = (change) => change.to === 'on'

function changesOf(run: Run, match: Match, whose: Whose): readonly Change[] {
  const { channel = 'main', node } = whose
  return run.record.changes.filter(
    (change) =>
      change.channel === channel && (node === undefined || change.node === node) && match(change),
  )
}

export function countOf(match: Match, whose: Whose = {}): (run: Run) => number {
  return (run) => changesOf(run, match, whose).length
}

function secondsAfter(from: number, changes: readonly Change[]): number | undefined {
  const found = changes.find(({ at }) => at >= from)
  return found === undefined ? undefined : (found.at - from) / 1_000
}

export function secondsUntil(match: Match, whose: Whose = {}): (run: Run) => number | undefined {
  return (run) => secondsAfter(run.fault.from, changesOf(run, match, whose))
}

/** Undefined where the channel had never been taken out of use: then there is nothing to return from. */
export function secondsToReturn(whose: Whose = {}): (run: Run) => number | undefined {
  return (run) => {
    const before = changesOf(run, ({ at }) => at < run.fault.to, whose).at(-1)
    if (before === undefined || before.to === 'on') return undefined
    return secondsAfter(run.fault.to, changesOf(run, isBack, whose))
  }
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor((sorted.length - 1) / 2)]
}

function known(values: Values['values']): readonly number[] {
  return values.filter((value) => value !== undefined)
}

export function meanAtMost(most: number) {
  return ({ values }: Values): string | undefined => {
    const found = mean(known(values))
    return found <= most ? undefined : `${found} on average, at most ${most} is accepted`
  }
}

/** Rare events: less than a day was run where the volume is short, so one is always forgiven. */
export function perDayAtMost(most: number) {
  return ({ values, days }: Values): string | undefined => {
    const total = known(values).reduce((sum, value) => sum + value, 0)
    const allowed = days < 3 ? Math.max(1, most * days) : most * days
    return total <= allowed ? undefined : `${total} in ${days} days, ${most} a day are accepted`
  }
}

interface Within {
  readonly medianMost?: number
  readonly worstMost?: number
  readonly at?: readonly number[]
  readonly mustHappen?: boolean
}

export function within({ medianMost, worstMost, at, mustHappen }: Within) {
  return ({ load, values }: Values): string | undefined => {
    if (at !== undefined && !at.includes(load)) return undefined
    const seen = known(values)
    if (mustHappen === true && seen.length < values.length) return 'it did not happen in every run'
    const middle = median(seen)
    if (medianMost !== undefined && middle !== undefined && middle > medianMost)
      return `median ${middle}, at most ${medianMost} is accepted`
    const worst = Math.max(0, ...seen)
    if (worstMost !== undefined && worst > worstMost)
      return `worst ${worst}, at most ${worstMost} is accepted`
    return undefined
  }
}

/** Every failure a client saw must be one of the reserve's own everyday ones. */
export const clientFailures: Measure = {
  title: 'failures seen by clients that the channels’ own error rate does not explain',
  accepted: '0',
  value: ({ record }) => record.unexplainedFailures,
  summary: 'mean',
  complain: meanAtMost(0),
}

export interface Offs {
  readonly title: string
  readonly accepted: string
  readonly complain: Measure['complain']
  readonly whose?: Whose
}

export function offs({ title, accepted, complain, whose }: Offs): Measure {
  return { title, accepted, value: countOf(isOff, whose), summary: 'mean', complain }
}

export function offsPerDay(most: number): Measure {
  return {
    title: 'switched off, per day',
    accepted: `≤ ${most}`,
    value: countOf(isOff),
    summary: 'perDay',
    complain: perDayAtMost(most),
  }
}
