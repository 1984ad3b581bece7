/**
 * Latency across channels: which baseline applies to a channel with few samples, whether another channel is
 * better than a slow one, and which requests have waited too long. Part of the book: it reads the places
 * and applies events; it judges no single sample.
 */
import { minuteMs } from '../../base/clock.ts'
import type { Channel } from '../channel.ts'
import type { HealthPlace, OpenAttempt, Place } from './health-place.ts'
import type { HealthRegister } from './health-register.ts'
import { gradeOf } from './health-state.ts'
import { isEstablished, isTrusted, type Quantiles } from './latency-baseline.ts'
import {
  compareAsAlternative,
  isStreamKind,
  ownQuantiles,
  pinnedQuantiles,
  slowAbove,
} from './latency.ts'
import { lookMs, probeGapMs } from './timing.ts'

interface LatencyWatchParts {
  readonly register: Pick<HealthRegister, 'findPlace' | 'placeOf' | 'places' | 'apply'>
  /** Channels of the present catalogue. */
  readonly channelsOf: (model: string) => readonly Channel[]
  readonly askForProbes: (place: HealthPlace, count: number) => void
}

type LatencySubject = Pick<OpenAttempt, 'channel' | 'model' | 'kind'>

const overdueScanMax = 256
const comparisonWaitMs = minuteMs

export class LatencyWatch {
  readonly #parts: LatencyWatchParts
  #scanAt = Number.POSITIVE_INFINITY

  constructor(parts: LatencyWatchParts) {
    this.#parts = parts
  }

  /**
   * The baseline that an operator has pinned; else that of another channel of the model, where this one
   * has too few samples and that one has more.
   */
  inherited(place: Place, { channel: own, model, kind }: LatencySubject): Quantiles | undefined {
    if (kind === undefined) return undefined
    const pinned = pinnedQuantiles(own, model, kind)
    if (pinned !== undefined) return pinned
    const known = place.state.latency.baselines[kind]
    if (isEstablished(known)) return undefined
    let best: Quantiles | undefined
    let bestTotal = known?.total ?? 0
    for (const channel of this.#parts.channelsOf(model)) {
      const other = this.#parts.register.findPlace(channel.name, model)?.state.latency.baselines[
        kind
      ]
      if (!isTrusted(other) || other.total <= bestTotal) continue
      best = other
      bestTotal = other.total
    }
    return best
  }

  /** Finds out whether another channel is better, and applies the result. */
  compare(channel: Channel, model: string, now: number): void {
    const place = this.#parts.register.placeOf(channel, model)
    const comparison = this.#findBetter(channel, model, now)
    place.comparingSince ??= now
    const isOver = comparison !== 'waiting' || now - place.comparingSince >= comparisonWaitMs
    if (isOver) place.comparingSince = undefined
    const result = isOver && comparison === 'waiting' ? 'worse' : comparison
    this.#parts.register.apply(channel, model, { kind: 'compared', comparison: result })
  }

  /** A stream waits for its first event from now on. */
  expect(place: Place, attempt: OpenAttempt): void {
    if (attempt.kind === undefined || !isStreamKind(attempt.kind)) return
    place.waiting.add(attempt)
    this.#scanAt = Math.min(this.#scanAt, attempt.beganAt + lookMs)
  }

  /** When `scan` is due next, in monotonic time; infinity while no stream waits. */
  nextScanAt(): number {
    return this.#scanAt
  }

  /** Marks the streams that have waited too long for their first event. */
  scan(now: number): void {
    this.#scanAt = Number.POSITIVE_INFINITY
    for (const place of this.#parts.register.places()) {
      let seen = 0
      for (const attempt of place.waiting) {
        if (++seen > overdueScanMax) break
        this.#noteOverdue(place, attempt, now)
      }
      if (place.waiting.size > 0) this.#scanAt = now + lookMs
    }
  }

  #findBetter(from: Channel, model: string, now: number): 'better' | 'worse' | 'waiting' {
    let unknown: { readonly channel: Channel; readonly missing: number } | undefined
    for (const channel of this.#parts.channelsOf(model)) {
      if (channel.name === from.name || channel.override === 'disabled') continue
      const { state } = this.#parts.register.placeOf(channel, model)
      const grade = gradeOf(state, now)
      if (grade !== 'on' && grade !== 'ramp') continue
      const { comparison, missing } = compareAsAlternative(state.latency, now)
      // Where nothing can be probed, the traffic that moves there will tell.
      if (comparison === 'better' || (comparison === 'unknown' && channel.check !== 'request'))
        return 'better'
      if (comparison === 'unknown') unknown ??= { channel, missing }
    }
    if (unknown === undefined) return 'worse'
    this.#askForSamples(unknown.channel, model, { count: unknown.missing, now })
    return 'waiting'
  }

  #askForSamples(
    channel: Channel,
    model: string,
    { count, now }: { readonly count: number; readonly now: number },
  ): void {
    const place = this.#parts.register.placeOf(channel, model)
    if (now - place.probesAskedAt < probeGapMs) return
    place.probesAskedAt = now
    this.#parts.askForProbes({ channel: channel.name, model }, count)
  }

  #noteOverdue(place: Place, attempt: OpenAttempt, now: number): void {
    const { kind } = attempt
    if (kind === undefined) return
    const usual = this.inherited(place, attempt) ?? ownQuantiles(place.state.latency, kind)
    if (usual === undefined) return
    if (now - attempt.beganAt <= slowAbove(kind, usual)) return
    place.waiting.delete(attempt)
    attempt.progress = 'overdue'
    this.#parts.register.apply(attempt.channel, attempt.model, { kind: 'overdue' })
  }
}
