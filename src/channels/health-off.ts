/**
 * Switching off: holds that grow by relapse, and refusals, which are believed at once and confirmed by
 * a probe. Pure. The invariant: whatever is switched off here has an end of its hold.
 */
import {
  doubtForgottenMs,
  doubtGapMinMs,
  isInUse,
  isStale,
  leavePlace,
  jittered,
  noFailures,
  probeLostAfterMs,
  refusalProbeMs,
  unchanged,
  type AttemptResult,
  type HealthEffect,
  type Moment,
  type Step,
} from './health-event.ts'
import { passTrial, toTrial } from './health-return.ts'
import type { HealthState, OffCause } from './health-state.ts'
import { forgetRecent } from './latency.ts'
import { emptyWindow } from './outcome-window.ts'

const holdBaseMs = 30_000
/** No longer: a channel that is well again must be back within minutes, however often it fell back. */
const holdMaxMs = 120_000
export const configHoldMs = 300_000
const relapseWithinMs = 600_000
const trialPasses = 3
const trialPassesDoubtful = 5
/** What longer holds would do, a longer proof does better: only a channel that still fails pays for it. */
const trialPassesPerRelapse = 2
const trialPassesMax = 15

interface SwitchOff extends Moment {
  readonly cause: OffCause
  readonly why: string
}

export function switchOff(state: HealthState, reason: SwitchOff): Step {
  const { cause, why, now, random } = reason
  const wasInUse = isInUse(state)
  const relapse = wasInUse ? relapseOf(state, now) : state.relapse
  const baseMs = cause === 'run' ? holdBaseMs * 2 ** Math.min(relapse, 10) : configHoldMs
  const holdMs = Math.min(jittered(baseMs, random), cause === 'run' ? holdMaxMs : configHoldMs)
  return unchanged({
    ...state,
    mode: 'off',
    since: now,
    why,
    cause,
    holdUntil: now + holdMs,
    heldUntil: 0,
    tryingUntil: 0,
    probingUntil: 0,
    probeAt: cause === 'run' ? undefined : now + jittered(refusalProbeMs, random),
    burst: undefined,
    doubtGapMs: 0,
    doubtAt: now,
    badProbes: 0,
    suspects: 0,
    passed: 0,
    passesNeeded: passesNeeded(why, relapse),
    isConfirming: false,
    run: noFailures,
    unrefuted: noFailures,
    outcomes: emptyWindow,
    downSince: state.downSince ?? now,
    relapse,
    latency: forgetRecent(state.latency),
  })
}

function passesNeeded(why: string, relapse: number): number {
  if (why !== 'too_few_successes' && relapse === 0) return trialPasses
  return Math.min(trialPassesDoubtful + trialPassesPerRelapse * relapse, trialPassesMax)
}

function relapseOf(state: HealthState, now: number): number {
  if (state.returnedAt === undefined || now - state.returnedAt >= relapseWithinMs) return 0
  return state.relapse + 1
}

/**
 * The channel refuses its credential, its account or the model. Believed at once, because every
 * request would fail; a probe confirms it, and later ones ask whether it still holds. Where one has
 * refuted such a claim of late, the next claim waits for its probe: what one request is refused for
 * need not hold for others.
 */
export function refuse(state: HealthState, result: AttemptResult, moment: Moment): Step {
  const { now } = moment
  const isConfig = result.outcome === 'config'
  const cause: OffCause = isConfig ? 'config' : 'missing'
  const why = isConfig ? 'credential_refused' : 'model_missing'
  const isProbe = result.caller === undefined
  if (state.mode === 'off' && (state.cause === cause || state.cause === 'config'))
    return unchanged(isProbe ? stillRefused(state, now) : leavePlace(state))
  if (!isProbe && isStale(state, result)) return unchanged(state)
  const mayConfirm = !isProbe && state.check === 'request' && isInUse(state)
  if (mayConfirm && wasRefuted(state, now)) return askForRefusal(state, now)
  const isNews = state.cause !== cause
  const switched = switchOff(state, { cause, why, ...moment })
  // One model's probes ask for all of the channel's; the others are told.
  const off = result.isSpread === true ? withoutProbe(switched) : switched
  const effects: HealthEffect[] = isNews
    ? [...off.effects, { kind: 'alert', why }]
    : [...off.effects]
  if (!mayConfirm) return { state: off.state, effects }
  effects.push({ kind: 'probe', count: 1 })
  return { state: { ...off.state, isConfirming: true }, effects }
}

function withoutProbe({ state, effects }: Step): Step {
  return { state: { ...state, probeAt: undefined }, effects }
}

/** The hold goes on as long as probes find it so; nothing has changed that anybody need be told. */
function stillRefused(state: HealthState, now: number): HealthState {
  const holdUntil = Math.max(state.holdUntil, now + configHoldMs)
  return { ...leavePlace(state), holdUntil, isConfirming: false, probingUntil: 0 }
}

export function wasRefuted(state: HealthState, now: number): boolean {
  return state.refutedAt !== undefined && now - state.refutedAt < doubtForgottenMs
}

function askForRefusal(state: HealthState, now: number): Step {
  if (now < state.probingUntil || now < (state.refutedAt ?? 0) + doubtGapMinMs)
    return unchanged(state)
  return {
    state: { ...state, probingUntil: now + probeLostAfterMs },
    effects: [{ kind: 'probe', count: 1 }],
  }
}

/**
 * A probe while off: the one that was to confirm a refusal, or a later one that asks whether it still
 * holds. Any other comes too late to say anything.
 */
export function confirmOff(state: HealthState, result: AttemptResult, now: number): HealthState {
  const { outcome } = result
  if (!state.isConfirming) {
    const isNews = state.cause !== 'run' && (result.beganAt ?? now) > state.since
    if (!isNews) return state
    if (outcome !== 'ok') return { ...state, probingUntil: 0 }
    return passTrial({ ...toTrial(state, now, 'refusal_over'), lastOkAt: now }, now)
  }
  if (outcome !== 'ok') return { ...state, isConfirming: false }
  return { ...unrefused(state, now), lastOkAt: now }
}

/** It is what it was before a refusal that a probe has refuted. */
export function unrefused(state: HealthState, now: number): HealthState {
  const wasDown = state.downSince !== undefined && state.downSince < state.since
  if (wasDown) return toTrial(state, now, 'refusal_not_confirmed')
  return {
    ...state,
    mode: 'on',
    since: now,
    why: 'refusal_not_confirmed',
    cause: undefined,
    probeAt: undefined,
    isConfirming: false,
    downSince: undefined,
    refutedAt: now,
  }
}
