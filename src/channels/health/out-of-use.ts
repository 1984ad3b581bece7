/**
 * The rules of a channel that is not in use: how it is switched off, how a refusal is confirmed, and
 * how probes of the form that failed bring it back. Pure. Invariant: a state that is off has an end
 * of its back-off.
 */
import { noEvidence, type Evidence, type Form } from './evidence.ts'
import {
  unchanged,
  type AttemptResult,
  type HealthEffect,
  type HealthEvent,
  type Moment,
  type Step,
} from './health-event.ts'
import {
  isInUse,
  isResumed,
  noDoubt,
  rampMs,
  type HealthState,
  type InUse,
  type Off,
  type OffCause,
  type Trial,
} from './health-state.ts'
import { forgetRecent } from './latency.ts'
import {
  backOffMaxMs,
  forgottenAfterMs,
  jittered,
  lookMs,
  probeGapMs,
  proofCount,
  retryMs,
  shortPauseMs,
  unknownLimitMs,
  waitMaxMs,
} from './timing.ts'

const passesPerRelapse = 2
const trialPassesMax = 15
/** A probe without a result by then is lost; an attempt, after `backOffMaxMs`. */
export const probeLostAfterMs = unknownLimitMs + probeGapMs

// --- switching off ------------------------------------------------------------------------------

export interface OffReason {
  readonly cause: OffCause
  readonly why: string
  readonly form: Form
}

export function switchOff(state: HealthState, reason: OffReason, moment: Moment): Step {
  const { now, random } = moment
  const { cause, why, form } = reason
  const relapse = isInUse(state) ? relapseOf(state, now) : state.relapse
  const isRun = cause === 'run'
  const baseMs = isRun ? retryMs * 2 ** Math.min(relapse, 10) : waitMaxMs
  const off: Off = {
    ...known(state),
    mode: 'off',
    since: now,
    why,
    cause,
    form,
    relapse,
    evidence: forgetFailures(state.evidence),
    latency: forgetRecent(state.latency),
    downSince: isInUse(state) ? now : state.downSince,
    backOffUntil: now + Math.min(jittered(baseMs, random), isRun ? backOffMaxMs : waitMaxMs),
    probeAt: isRun ? undefined : now + jittered(backOffMaxMs, random),
    isConfirming: false,
    tryingUntil: 0,
  }
  return unchanged(off)
}

/** The parts of a state that outlast a change of mode. */
function known(state: HealthState) {
  const { check, restUntil, lastOkAt, evidence, latency, returnedAt, relapse, refutedAt } = state
  return { check, restUntil, lastOkAt, evidence, latency, returnedAt, relapse, refutedAt }
}

function relapseOf({ returnedAt, relapse }: InUse, now: number): number {
  return returnedAt !== undefined && now - returnedAt < forgottenAfterMs ? relapse + 1 : 0
}

function forgetFailures(evidence: HealthState['evidence']): HealthState['evidence'] {
  const forget = ({ isCleared }: Evidence): Evidence => ({ ...noEvidence, isCleared })
  return { stream: forget(evidence.stream), whole: forget(evidence.whole) }
}

// --- refusals -----------------------------------------------------------------------------------

/**
 * The vendor refuses the credential, the account or the model, or cannot be trusted. It switches off at once,
 * because every request would fail; a probe confirms it. Where a probe has refuted a refusal lately, the next
 * one waits for its probe (R12: a refusal can be caused by the request itself).
 */
export function refuse(state: HealthState, result: AttemptResult, moment: Moment): Step {
  const { now } = moment
  const { form } = result
  const cause: OffCause = isMissing(result) ? 'missing' : 'config'
  const why = refusalOf(result)
  const isProbe = result.caller === undefined
  if (!isProbe && isStale(state, result)) return unchanged(state)
  const mayConfirm = !isProbe && state.check === 'request' && isInUse(state)
  if (mayConfirm && wasRefuted(state, now)) return confirmFirst(state, form, now)
  const { state: off, effects } = switchOff(state, { cause, why, form }, moment)
  const isNews = isInUse(state) || state.cause !== cause || isOtherRefusal(state, result)
  const notices: HealthEffect[] = isNews ? [...effects, { kind: 'alert', why }] : [...effects]
  // The probes of one model ask for all models of the channel.
  if (result.isSpread === true) return { state: { ...off, probeAt: undefined }, effects: notices }
  if (!mayConfirm || off.mode !== 'off') return { state: off, effects: notices }
  return {
    state: { ...off, isConfirming: true },
    effects: [...notices, { kind: 'probe', count: 1, form }],
  }
}

/** Off already: a probe refused for the same reason prolongs the back-off, without a new alert. */
export function refuseAgain(state: Off, result: AttemptResult, moment: Moment): Step {
  const { now } = moment
  const isKnown = state.cause === 'config' || (state.cause === 'missing' && isMissing(result))
  if (!isKnown || isOtherRefusal(state, result)) return refuse(state, result, moment)
  if (result.caller !== undefined) return unchanged(leavePlace(state))
  const backOffUntil = Math.max(state.backOffUntil, now + waitMaxMs)
  return unchanged({ ...leavePlace(state), backOffUntil, isConfirming: false })
}

function isMissing({ outcome }: AttemptResult): boolean {
  return outcome === 'model_missing'
}

/** The reason that operators see. */
function refusalOf({ outcome }: AttemptResult): string {
  return outcome === 'config' ? 'credential_refused' : outcome
}

/** A probe shows that the channel is now refused for another reason, which an operator mends elsewhere. */
function isOtherRefusal({ mode, cause, why }: Off | Trial, result: AttemptResult): boolean {
  if (mode !== 'off' || cause !== 'config' || result.caller !== undefined) return false
  return !isMissing(result) && why !== refusalOf(result)
}

function confirmFirst(state: InUse, form: Form, now: number): Step {
  // Refusals right after a refuted one are not checked again.
  const isRecent = now - (state.refutedAt ?? 0) < probeGapMs
  return { state, effects: isRecent ? [] : [{ kind: 'probe', count: 1, form }] }
}

export function wasRefuted({ refutedAt }: HealthState, now: number): boolean {
  return refutedAt !== undefined && now - refutedAt < forgottenAfterMs
}

/** A probe passed while off: it refutes a refusal, or shows that the refusal is over. */
export function passWhileOff(state: Off, result: AttemptResult, { now }: Moment): Step {
  if (state.isConfirming) return unchanged({ ...refuted(state, now), lastOkAt: now })
  if (state.cause === 'run' || result.beganAt <= state.since) return unchanged(state)
  return unchanged(pass({ ...toTrial(state, now, 'refusal_over'), lastOkAt: now }, now))
}

export function failWhileOff(state: Off): Step {
  return unchanged(state.isConfirming ? { ...state, isConfirming: false } : state)
}

/** Returns the state from before a refusal that a probe has refuted. */
function refuted(state: Off, now: number): HealthState {
  const why = 'refusal_not_confirmed'
  if (state.downSince < state.since) return toTrial(state, now, why)
  return { ...known(state), ...noDoubt(now), mode: 'on', since: now, why, refutedAt: now }
}

// --- the way back -------------------------------------------------------------------------------

function toTrial(state: Off, now: number, why: string): Trial {
  const { cause, form, downSince } = state
  const ways = { cause, form, downSince, probeAt: now, tryingUntil: 0, passed: 0 }
  return { ...known(state), ...ways, mode: 'trial', since: now, why }
}

export function tryNow(state: Off, _event: HealthEvent, { now }: Moment): Step {
  return unchanged(toTrial(state, now, 'operator_check'))
}

/** Refused in the same way as the model that works again. */
export function release(state: Off, _event: HealthEvent, { now }: Moment): Step {
  const works = state.why === 'credential_refused' ? 'credential_works' : 'refusal_over'
  return unchanged(state.cause === 'config' ? toTrial(state, now, works) : state)
}

export function refuteRefusal(state: Off, _event: HealthEvent, { now }: Moment): Step {
  return unchanged(state.cause === 'config' ? refuted(state, now) : state)
}

/** How many successes in a row end a trial: more after each relapse. */
export function passesNeeded({ relapse }: Pick<HealthState, 'relapse'>): number {
  return Math.min(proofCount + passesPerRelapse * relapse, trialPassesMax)
}

/** A listing proves the channel only where no request may be sent as a probe. */
function isProof(state: Trial, { form }: AttemptResult): boolean {
  return form === state.form || state.check === 'models'
}

export function passTrial(state: Trial, result: AttemptResult, { now }: Moment): Step {
  return unchanged(isProof(state, result) ? pass({ ...state, lastOkAt: now }, now) : state)
}

function pass(state: Trial, now: number): HealthState {
  const passed = state.passed + 1
  if (passed < passesNeeded(state)) return { ...state, passed, probeAt: now + shortPauseMs }
  return toRamp(state, now, 'trial_passed')
}

/**
 * The vendor called the probe a bad request: it answers and accepts the credential, so this passes
 * where the model is known to exist. A probe that the gateway could not send says nothing.
 */
export function undecidedOnTrial(state: Trial, result: AttemptResult, moment: Moment): Step {
  if (result.outcome === 'nobody')
    return unchanged({ ...state, probeAt: moment.now + jittered(retryMs, moment.random) })
  const isAnswer = result.outcome === 'client' && state.cause !== 'missing'
  if (isAnswer) return passTrial(state, result, moment)
  return failTrial(rested(state, result, moment.now), result, moment)
}

/** The back-off grows with relapses and not with failed probes: they hurt no client. */
export function failTrial(state: Trial, result: AttemptResult, moment: Moment): Step {
  if (!isProof(state, result)) return unchanged(state)
  if (isResumed(state) && result.outcome !== 'throttle')
    return switchOff(state, { cause: 'run', why: 'checks_failed', form: state.form }, moment)
  const { now, random } = moment
  const isLong = now - state.downSince >= forgottenAfterMs
  const waitMs = jittered(isLong ? 2 * retryMs : retryMs, random)
  return unchanged({ ...state, passed: 0, probeAt: now + waitMs })
}

export function toRamp(state: HealthState, now: number, why: string): InUse {
  const evidence = forgetFailures(state.evidence)
  const since = { since: now, returnedAt: now }
  return { ...known(state), ...noDoubt(now), ...since, mode: 'ramp', why, evidence }
}

/** Applies what the clock alone decides: a back-off ends, a ramp is over. */
export function advance(state: HealthState, now: number): HealthState {
  if (state.mode === 'off' && now >= state.backOffUntil) return toTrial(state, now, 'hold_over')
  if (state.mode !== 'ramp' || now < state.since + rampMs) return state
  const at = state.since + rampMs
  return { ...state, mode: 'on', since: at, why: 'ramp_over', returnedAt: at }
}

// --- rests --------------------------------------------------------------------------------------

/** Returns how long a channel rests that was throttled, from the wait that its vendor asked for. */
export function restMsOf(retryAfterMs: number | undefined): number {
  return Math.min(Math.max(retryAfterMs ?? shortPauseMs, lookMs), waitMaxMs)
}

/** A throttle is no fault: the channel rests as long as the vendor requested. */
export function rested<State extends HealthState>(
  state: State,
  { outcome, retryAfterMs }: AttemptResult,
  now: number,
): State {
  if (outcome !== 'throttle') return state
  return { ...state, restUntil: Math.max(state.restUntil, now + restMsOf(retryAfterMs)) }
}

export function rest(state: HealthState, result: AttemptResult, { now }: Moment): Step {
  return unchanged(rested(isInUse(state) ? state : leavePlace(state), result, now))
}

// --- traffic on a channel that is not in use ----------------------------------------------------

export function takePlace(state: Off | Trial, _event: HealthEvent, { now }: Moment): Step {
  return unchanged({ ...state, tryingUntil: now + backOffMaxMs })
}

export function leavePlace<State extends Off | Trial>(state: State): State {
  return state.tryingUntil === 0 ? state : { ...state, tryingUntil: 0 }
}

/** An attempt that began before the trial says nothing about the channel now. */
export function isStale({ mode, since }: HealthState, { beganAt }: AttemptResult): boolean {
  return (mode === 'trial' || mode === 'ramp') && beganAt < since
}

export function succeedWhileOff(state: Off, _result: AttemptResult, { now }: Moment): Step {
  return unchanged({ ...leavePlace(state), lastOkAt: now })
}

/** Where probes decide, traffic neither helps nor harms: a busy channel with few errors must return. */
export function succeedOnTrial(state: Trial, result: AttemptResult, moment: Moment): Step {
  const left = leavePlace(state)
  if (isStale(state, result)) return unchanged(left)
  const working = { ...left, lastOkAt: moment.now }
  const isProbe = state.check === 'none' && moment.now >= (state.probeAt ?? 0)
  return isProbe ? passTrial(working, result, moment) : unchanged(working)
}

export function failOnTrial(state: Trial, result: AttemptResult, moment: Moment): Step {
  const left = leavePlace(state)
  const isProbe = state.check === 'none' && moment.now >= (state.probeAt ?? 0)
  return isProbe && !isStale(state, result) ? failTrial(left, result, moment) : unchanged(left)
}

/** Sends the probe that is due; a lost one is sent again. */
export function probeOutOfUse(state: Off | Trial, _event: HealthEvent, { now }: Moment): Step {
  if (state.check === 'none' || state.probeAt === undefined) return unchanged(state)
  if (now < state.probeAt || now < state.restUntil) return unchanged(state)
  const gapMs = state.mode === 'off' ? backOffMaxMs : probeLostAfterMs
  return {
    state: { ...state, probeAt: now + gapMs },
    effects: [{ kind: 'probe', count: 1, form: state.form }],
  }
}
