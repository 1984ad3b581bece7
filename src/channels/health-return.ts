/**
 * The way back: a hold ends in a trial, passed probes lead to a ramp, and time ends the ramp. Pure. It
 * judges no traffic but where nothing else can tell.
 */
import { jittered, noFailures, retrialMs, type Moment, type Outcome } from './health-event.ts'
import { rampMs, type HealthState } from './health-state.ts'
import { emptyWindow } from './outcome-window.ts'

const retrialLongMs = 60_000
const longOutageMs = 600_000
const trialPassGapMs = 5_000

export function toTrial(state: HealthState, now: number, why: string): HealthState {
  return {
    ...state,
    mode: 'trial',
    since: now,
    why,
    validFrom: now,
    passed: 0,
    passedAt: 0,
    probeAt: now,
    isConfirming: false,
    tryingUntil: 0,
    probingUntil: 0,
  }
}

export function judgeTrial(state: HealthState, outcome: Outcome, moment: Moment): HealthState {
  // The vendor understood the check and did not like it: it answers, and had nothing against the
  // credential. Whether it serves the model, traffic has to tell.
  const isAnswer = outcome === 'ok' || (outcome === 'client' && state.cause !== 'missing')
  if (isAnswer) return passTrial({ ...state, lastOkAt: moment.now }, moment.now)
  return failTrial(state, moment)
}

export function passTrial(state: HealthState, now: number): HealthState {
  if (state.passed > 0 && now - state.passedAt < trialPassGapMs) return state
  const passed = state.passed + 1
  const next = { ...state, passed, passedAt: now, probeAt: now + trialPassGapMs }
  return passed < state.passesNeeded ? next : toRamp(next, now, 'trial_passed')
}

/**
 * The hold grows by relapse, never by failed probes: they hurt nobody, and an outage of ten minutes
 * must not delay the return by as much again.
 */
function failTrial(state: HealthState, { now, random }: Moment): HealthState {
  const isLong = now - (state.downSince ?? now) >= longOutageMs
  const waitMs = jittered(isLong ? retrialLongMs : retrialMs, random)
  return { ...state, passed: 0, probeAt: now + waitMs }
}

/**
 * Traffic tried it in want of anything better: where probes decide, that neither helps nor harms,
 * or a busy channel that fails now and then could never return. Where there are none, one exchange
 * in five seconds is the probe.
 */
export function failAmidTrial(state: HealthState, moment: Moment): HealthState {
  const isProbe = state.check === 'none' && moment.now - state.passedAt >= trialPassGapMs
  return isProbe ? failTrial(state, moment) : state
}

export function toRamp(state: HealthState, now: number, why: string): HealthState {
  return {
    ...state,
    mode: 'ramp',
    since: now,
    why,
    cause: undefined,
    validFrom: now,
    tryingUntil: 0,
    probingUntil: 0,
    probeAt: undefined,
    badProbes: 0,
    run: noFailures,
    unrefuted: noFailures,
    outcomes: emptyWindow,
    returnedAt: now,
    downSince: undefined,
    doubtAt: now,
    doubtGapMs: 0,
  }
}

/** What the clock alone decides: holds end, ramps are over. */
export function advance(state: HealthState, now: number): HealthState {
  if (state.mode === 'off' && now >= state.holdUntil) return toTrial(state, now, 'hold_over')
  if (state.mode === 'ramp' && now >= state.since + rampMs) {
    const at = state.since + rampMs
    return { ...state, mode: 'on', since: at, why: 'ramp_over', cause: undefined, returnedAt: at }
  }
  return state
}
