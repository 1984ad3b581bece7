/**
 * One line of a channel's history: what its state was, what it became, and why. Data only. The
 * detail is made of the gateway's own words and figures: no text of a vendor, a client or a
 * request ever comes into it.
 */
import type { FailureLine, HealthLine } from './health-line.ts'

export interface ChannelChange {
  /** Unique, so that a write repeated after a broken-off answer adds nothing. */
  readonly id: string
  readonly atMs: number
  /** The process that saw it; undefined for an operator's word, which goes for every process. */
  readonly node: string | undefined
  readonly channel: string
  /** Undefined: all models of the channel. */
  readonly model: string | undefined
  readonly from: string
  readonly to: string
  /** One of the reasons listed in docs/operating.md. */
  readonly why: string
  /** The operator. */
  readonly actor: string | undefined
  readonly detail: ChannelChangeDetail
}

export interface ChannelChangeDetail {
  /** Failures since the line before, by class. */
  readonly failures?: readonly FailureLine[]
  readonly first_event_ms?: HealthLine['firstEventMs']
  readonly usual_first_event_ms?: HealthLine['usualFirstEventMs']
  /** When something happens next by itself. */
  readonly wake_at_ms?: number | undefined
}

export type ChannelFailures = ReadonlyMap<string, number>

/** What an operator wants to know of the moment. `before` counts failures up to the last line. */
export function describeChange(line: HealthLine, before: ChannelFailures): ChannelChangeDetail {
  const failures = line.failures.flatMap((failure) => {
    const count = failure.count - (before.get(failure.outcome) ?? 0)
    return count > 0 ? [{ ...failure, count }] : []
  })
  return {
    ...(failures.length === 0 ? {} : { failures }),
    ...(line.firstEventMs === undefined ? {} : { first_event_ms: line.firstEventMs }),
    ...(line.usualFirstEventMs === undefined
      ? {}
      : { usual_first_event_ms: line.usualFirstEventMs }),
    ...(line.wakeAtMs === undefined ? {} : { wake_at_ms: line.wakeAtMs }),
  }
}
