/**
 * Latency as it is seen over several channels: what is usual where one has seen too little itself,
 * whether another channel is better than a slow one, and which requests have waited too long. Part
 * of the book's shell: it reads the places and tells the reducer; it judges no single sample.
 */
import type { Channel } from './channel.ts'
import type { HealthEvent } from './health-event.ts'
import type { HealthPlace, OpenAttempt, Place } from './health-place.ts'
import { gradeOf } from './health-state.ts'
import { isEstablished, isTrusted, type Quantiles } from './latency-baseline.ts'
import {
  compareAsAlternative,
  isStreamKind,
  ownQuantiles,
  pinnedQuantiles,
  slowAbove,
} from './latency.ts'

export interface LatencyWatchParts {
  /** Of the present catalogue. */
  readonly channelsOf: (model: string) => readonly Channel[]
  readonly findPlace: (channel: string, model: string) => Place | undefined
  readonly placeOf: (channel: Channel, model: string) => Place
  readonly places: () => Iterable<Place>
  readonly apply: (channel: Channel, model: string, event: HealthEvent) => void
  readonly askForProbes: (place: HealthPlace, count: number) => void
}

export interface LatencyWatch {
  /**
   * What an operator says is usual; else what is on another of the model's channels, where this one
   * has seen too little to tell and that one has seen more.
   */
  inherited(place: Place, attempt: OpenAttempt): Quantiles | undefined
  /** Answers the reducer's question whether another channel is better. */
  compare(channel: Channel, model: string, now: number): void
  /** A stream waits for its first event from now on. */
  expect(place: Place, attempt: OpenAttempt): void
  /** When `scan` has something to look at next. */
  nextScanAt(): number
  scan(now: number): void
}

const overdueScanMs = 1_000
const overdueScanMax = 256
const comparisonWaitMs = 60_000
const comparisonProbesGapMs = 15_000

export function createLatencyWatch(parts: LatencyWatchParts): LatencyWatch {
  let scanAt = Number.POSITIVE_INFINITY

  function inherited(place: Place, attempt: OpenAttempt): Quantiles | undefined {
    const { kind, model } = attempt
    if (kind === undefined) return undefined
    const pinned = pinnedQuantiles(attempt.channel, model, kind)
    if (pinned !== undefined) return pinned
    const own = place.state.latency.baselines[kind]
    if (isEstablished(own)) return undefined
    let best: Quantiles | undefined
    let bestTotal = own?.total ?? 0
    for (const channel of parts.channelsOf(model)) {
      const other = parts.findPlace(channel.name, model)?.state.latency.baselines[kind]
      if (!isTrusted(other) || other.total <= bestTotal) continue
      best = other
      bestTotal = other.total
    }
    return best
  }

  function compare(channel: Channel, model: string, now: number): void {
    const place = parts.placeOf(channel, model)
    const comparison = findBetter(channel, model, now)
    place.comparingSince ??= now
    const isOver = comparison !== 'waiting' || now - place.comparingSince >= comparisonWaitMs
    if (isOver) place.comparingSince = undefined
    const told = isOver && comparison === 'waiting' ? 'worse' : comparison
    parts.apply(channel, model, { kind: 'compared', comparison: told })
  }

  function findBetter(from: Channel, model: string, now: number): 'better' | 'worse' | 'waiting' {
    let unknown: { readonly channel: Channel; readonly missing: number } | undefined
    for (const channel of parts.channelsOf(model)) {
      if (channel.name === from.name || channel.override === 'disabled') continue
      const { state } = parts.placeOf(channel, model)
      const grade = gradeOf(state, now)
      if (grade !== 'on' && grade !== 'ramp') continue
      const { comparison, missing } = compareAsAlternative(state.latency, now)
      // Where nothing can be asked, the traffic that moves there will show it.
      if (comparison === 'better' || (comparison === 'unknown' && channel.check !== 'request'))
        return 'better'
      if (comparison === 'unknown') unknown ??= { channel, missing }
    }
    if (unknown === undefined) return 'worse'
    askForSamples(unknown.channel, model, { count: unknown.missing, now })
    return 'waiting'
  }

  function askForSamples(
    channel: Channel,
    model: string,
    { count, now }: { readonly count: number; readonly now: number },
  ): void {
    const place = parts.placeOf(channel, model)
    if (now - place.probesAskedAt < comparisonProbesGapMs) return
    place.probesAskedAt = now
    parts.askForProbes({ channel: channel.name, model }, count)
  }

  function scan(now: number): void {
    scanAt = Number.POSITIVE_INFINITY
    for (const place of parts.places()) {
      let seen = 0
      for (const attempt of place.waiting) {
        if (++seen > overdueScanMax) break
        noteOverdue(place, attempt, now)
      }
      if (place.waiting.size > 0) scanAt = now + overdueScanMs
    }
  }

  function noteOverdue(place: Place, attempt: OpenAttempt, now: number): void {
    const { kind } = attempt
    if (kind === undefined) return
    const usual = inherited(place, attempt) ?? ownQuantiles(place.state.latency, kind)
    if (usual === undefined) return
    if (now - attempt.beganAt <= slowAbove(kind, usual)) return
    place.waiting.delete(attempt)
    attempt.progress = 'overdue'
    parts.apply(attempt.channel, attempt.model, { kind: 'overdue' })
  }

  return {
    inherited,
    compare,
    expect(place, attempt) {
      if (attempt.kind === undefined || !isStreamKind(attempt.kind)) return
      place.waiting.add(attempt)
      scanAt = Math.min(scanAt, attempt.beganAt + overdueScanMs)
    },
    nextScanAt: () => scanAt,
    scan,
  }
}
