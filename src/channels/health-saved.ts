/**
 * Health as it outlives a process: plain JSON without monotonic times, which mean nothing to the
 * next one. The invariant: what was off, on trial or returning resumes on trial, never on; what
 * was learned about usual times is kept.
 */
import type { CheckKind } from './channel.ts'
import {
  shownMode,
  startState,
  type HealthState,
  type OffCause,
  type ShownMode,
} from './health-state.ts'
import { freshLatency } from './latency.ts'
import type { Baseline } from './latency-baseline.ts'

export interface SavedHealth {
  readonly channel: string
  readonly model: string
  readonly mode: ShownMode
  readonly why: string
  /** Wall times. */
  readonly sinceMs: number
  readonly savedAtMs: number
  /** JSON of `SavedDetail`. */
  readonly detail: string
}

interface SavedDetail {
  readonly cause?: OffCause | undefined
  readonly relapse: number
  readonly passesNeeded: number
  /** Milliseconds before the moment of saving. */
  readonly downForMs?: number | undefined
  readonly lastOkAgoMs?: number | undefined
  readonly restForMs: number
  readonly slowRelapse: number
  readonly baselines: readonly (SavedBaseline | null)[]
}

type SavedBaseline = Omit<Baseline, 'at'> & { readonly ageMs: number }

interface SaveMoment {
  /** Monotonic and wall time of one moment. */
  readonly now: number
  readonly wallMs: number
}

export function saveHealth(
  place: { readonly channel: string; readonly model: string },
  state: HealthState,
  { now, wallMs }: SaveMoment,
): SavedHealth {
  const { latency } = state
  const baselines = Array.from(latency.baselines, (baseline) => {
    if (baseline === undefined) return null
    const { at, ...rest } = baseline
    return { ...rest, weights: rest.weights.map(rounded), ageMs: now - at }
  })
  const detail: SavedDetail = {
    cause: state.cause,
    relapse: state.relapse,
    passesNeeded: state.passesNeeded,
    downForMs: state.downSince === undefined ? undefined : now - state.downSince,
    lastOkAgoMs: state.lastOkAt === undefined ? undefined : now - state.lastOkAt,
    restForMs: Math.max(0, state.restUntil - now),
    slowRelapse: latency.relapse,
    baselines,
  }
  return {
    ...place,
    mode: shownMode(state, now),
    why: state.why,
    sinceMs: Math.round(wallMs + state.since - now),
    savedAtMs: wallMs,
    detail: JSON.stringify(detail),
  }
}

function rounded(weight: number): number {
  return Math.round(weight * 100) / 100
}

const trialPassesMin = 3

export function restoreHealth(
  saved: SavedHealth,
  check: CheckKind,
  { now, wallMs }: SaveMoment,
): HealthState {
  const detail = JSON.parse(saved.detail) as SavedDetail
  // Wall time may have been set back meanwhile; nothing may come to lie in the future for it.
  const elapsedMs = Math.max(0, wallMs - saved.savedAtMs)
  const ago = (agoMs: number | undefined): number | undefined =>
    agoMs === undefined ? undefined : now - agoMs - elapsedMs
  const known: HealthState = {
    ...startState(check, now),
    relapse: detail.relapse,
    lastOkAt: ago(detail.lastOkAgoMs),
    restUntil: now + Math.max(0, detail.restForMs - elapsedMs),
    latency: {
      ...freshLatency,
      relapse: detail.slowRelapse,
      baselines: detail.baselines.map((baseline) => {
        if (baseline === null) return undefined
        const { ageMs, ...rest } = baseline
        return { ...rest, at: now - ageMs - elapsedMs }
      }),
    },
  }
  if (saved.mode === 'on') return known
  if (saved.mode === 'slow')
    return { ...known, latency: { ...known.latency, slowSince: now }, why: saved.why, probeAt: now }
  return {
    ...known,
    mode: 'trial',
    why: 'restarted',
    cause: detail.cause ?? 'run',
    passesNeeded: Math.max(detail.passesNeeded, trialPassesMin),
    probeAt: now,
    downSince: ago(detail.downForMs) ?? now,
  }
}
