/**
 * The live state of a model on a channel as a gateway publishes it for operators and other nodes.
 * Pure. The invariant: a state that has not changed reads the same, so that nothing is written for
 * the sake of clocks that disagree by a millisecond.
 */
import type { HealthLine } from './health-line.ts'

export interface PublishedState {
  readonly node: string
  readonly line: HealthLine
  /** Store time of the last time it was published as different from before. */
  readonly publishedAtMs: number
}

const clockToleranceMs = 1_000

/** `line` with the times of `before` where they mean the same moment. */
export function steady(line: HealthLine, before: HealthLine | undefined): HealthLine {
  return {
    ...line,
    sinceMs: sameMoment(line.sinceMs, before?.sinceMs) ?? 0,
    wakeAtMs: sameMoment(line.wakeAtMs, before?.wakeAtMs),
    restUntilMs: sameMoment(line.restUntilMs, before?.restUntilMs),
    lastOkAtMs: sameMoment(line.lastOkAtMs, before?.lastOkAtMs),
    firstEventMs: roundedTimes(line.firstEventMs),
    usualFirstEventMs: roundedTimes(line.usualFirstEventMs),
    failures: line.failures.map((failure) => {
      const known = before?.failures.find(({ outcome }) => outcome === failure.outcome)
      return { ...failure, lastAtMs: sameMoment(failure.lastAtMs, known?.lastAtMs) ?? 0 }
    }),
  }
}

function sameMoment(atMs: number | undefined, knownMs: number | undefined): number | undefined {
  if (atMs === undefined) return undefined
  const isKnown = knownMs !== undefined && Math.abs(atMs - knownMs) < clockToleranceMs
  return isKnown ? knownMs : Math.round(atMs)
}

function roundedTimes(times: HealthLine['firstEventMs']): HealthLine['firstEventMs'] {
  return times === undefined
    ? undefined
    : { p50: Math.round(times.p50), p95: Math.round(times.p95) }
}

/** What is worth telling at once; figures that move with every request can wait a little. */
export function isSameState(left: HealthLine, right: HealthLine): boolean {
  return (
    left.mode === right.mode &&
    left.why === right.why &&
    left.sinceMs === right.sinceMs &&
    left.isUsable === right.isUsable &&
    left.restUntilMs === right.restUntilMs
  )
}
