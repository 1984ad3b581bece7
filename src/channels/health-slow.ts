/**
 * Slowness as part of a channel's health: samples in, a question for a better channel out, a demotion
 * once there is one. Pure. The invariant: nothing is demoted without a better alternative.
 */
import { isInUse, slowProbeMs, unchanged, withProbe, type Step } from './health-event.ts'
import { toRamp } from './health-return.ts'
import type { HealthState } from './health-state.ts'
import {
  enterSlow,
  leaveSlow,
  mayLeaveSlow,
  missingSamples,
  noteMissingAsked,
  observe,
  postponeComparison,
  type LatencySample,
} from './latency.ts'

const compareWaitMs = 2_000

export function observed(state: HealthState, sample: LatencySample, now: number): HealthState {
  const latency = observe(state.latency, sample, { now, mayLearn: state.mode === 'on' })
  return latency === state.latency ? state : { ...state, latency }
}

export function judgeLatency(state: HealthState, now: number): Step {
  const { latency } = state
  if (!isInUse(state)) return unchanged(state)
  if (latency.slowSince !== undefined) {
    if (!mayLeaveSlow(latency, now)) return unchanged(withProbe(state, now + slowProbeMs))
    return unchanged(
      toRamp({ ...state, latency: leaveSlow(latency, now) }, now, 'as_fast_as_usual'),
    )
  }
  if (!latency.isSuspected) return askForSamples(state, now)
  if (now < latency.compareAt) return unchanged(state)
  // Asked again soon, in case the answer takes a few probes of the alternative.
  const asked = { ...latency, compareAt: now + compareWaitMs }
  return { state: { ...state, latency: asked }, effects: [{ kind: 'compare' }] }
}

function askForSamples(state: HealthState, now: number): Step {
  if (state.check !== 'request') return unchanged(state)
  const count = missingSamples(state.latency, now)
  if (count === 0) return unchanged(state)
  return {
    state: { ...state, latency: noteMissingAsked(state.latency, now) },
    effects: [{ kind: 'probe', count }],
  }
}

export function compared(
  state: HealthState,
  comparison: 'better' | 'worse' | 'waiting',
  now: number,
): HealthState {
  const { latency } = state
  if (!isInUse(state) || !latency.isSuspected || comparison === 'waiting') return state
  if (comparison === 'worse') return { ...state, latency: postponeComparison(latency, now) }
  const why = 'slower_than_usual'
  return {
    ...state,
    mode: 'on',
    since: now,
    why,
    latency: enterSlow(latency, now),
    probeAt: now + slowProbeMs,
  }
}
