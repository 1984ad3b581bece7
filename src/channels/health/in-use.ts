/**
 * The rules of a channel that is in use: which failures count, when probes are sent, and what their
 * results mean. Pure. Invariant: a passed probe clears only evidence of its form.
 */
import {
  countInARow,
  judgeRatio,
  withFailure,
  withFirstEvent,
  withRetraction,
  withSuccess,
  type Evidence,
  type Form,
} from './evidence.ts'
import {
  unchanged,
  type AttemptResult,
  type Compared,
  type FirstEvent,
  type Headed,
  type HealthEvent,
  type Moment,
  type Step,
} from './health-event.ts'
import type { HealthState, InUse } from './health-state.ts'
import {
  countOverdue,
  enterSlow,
  forgetRecent,
  mayLeaveSlow,
  observe,
  postponeComparison,
  settleSuspicion,
  type LatencySample,
  type LatencyState,
} from './latency.ts'
import { isStale, probeLostAfterMs, rested, switchOff, toRamp, wasRefuted } from './out-of-use.ts'
import { forgottenAfterMs, lookMs, probeGapMs, proofCount, retryMs, waitMaxMs } from './timing.ts'

/** How many failures in a row switch a channel off (contract: at most five). */
const offCount = 5

// --- results of traffic -------------------------------------------------------------------------

export function succeed(state: InUse, event: AttemptResult, { now }: Moment): Step {
  const { caller, form, beganAt } = event
  if (caller === undefined) return unchanged(state)
  const wasAnswered = form === 'stream' && event.wasAnswered === true
  const before = state.evidence[form]
  const evidence = withSuccess(before, { caller, beganAt, wasAnswered }, now)
  return unchanged(calmed({ ...state, evidence: replaced(state, form, evidence), lastOkAt: now }))
}

/** Without failures no probe is due, but for those that watch a slow channel. */
function calmed(state: InUse): InUse {
  const { evidence, latency, probeAt } = state
  const isCalm = evidence.stream.failures.length + evidence.whole.failures.length === 0
  if (!isCalm || probeAt === undefined || latency.slowSince !== undefined) return state
  return { ...state, probeAt: undefined }
}

function withEvidence(state: InUse, form: Form, evidence: Evidence): InUse {
  return { ...state, evidence: replaced(state, form, evidence) }
}

function replaced({ evidence }: InUse, form: Form, of: Evidence): InUse['evidence'] {
  const { stream, whole } = evidence
  return form === 'stream' ? { stream: of, whole } : { stream, whole: of }
}

export function fail(state: InUse, event: AttemptResult, moment: Moment): Step {
  const isSuspect = event.outcome === 'suspect'
  // Without probes nothing but traffic can tell, so a suspect counts like any other failure.
  return countFailure(state, event, moment, !isSuspect || state.check === 'none')
}

function countFailure(
  state: InUse,
  event: AttemptResult,
  moment: Moment,
  isCounted: boolean,
): Step {
  const { now } = moment
  const { caller, form, beganAt } = event
  if (caller === undefined || isStale(state, event)) return unchanged(state)
  const isBroken = event.outcome === 'broken'
  const { keyId, accountId } = caller
  const failure = { keyId, accountId, isBroken, beganAt, isCounted }
  const evidence = withFailure(state.evidence[form], failure, now)
  const failing = withEvidence(state, form, evidence)
  const off = { cause: 'run', form } as const
  if (inARow(failing, now) >= offCount)
    return switchOff(failing, { ...off, why: 'failures_in_a_row' }, moment)
  const ratio = judgeRatio(evidence, now)
  if (ratio === 'bad') return switchOff(failing, { ...off, why: 'too_few_successes' }, moment)
  if (ratio === 'doubtful' || isDoubted(failing, form)) return startBurst(failing, form, now)
  return unchanged(withProbe(failing, now + probeGapMs))
}

/** They count as failures although they go on. */
export function hang(
  state: InUse,
  { form }: Extract<HealthEvent, { kind: 'hanging' }>,
  moment: Moment,
): Step {
  return switchOff(state, { cause: 'run', form, why: 'failures_in_a_row' }, moment)
}

function inARow({ evidence }: InUse, now: number): number {
  return countInARow(evidence.stream, now) + countInARow(evidence.whole, now)
}

/** Probes have cleared this form once: then the next failures in a row decide without probes. */
function isDoubted({ evidence }: InUse, form: Form): boolean {
  const failures = evidence.stream.failures.length + evidence.whole.failures.length
  return failures >= proofCount && !evidence[form].isCleared
}

export function retract(
  state: InUse,
  event: Extract<HealthEvent, { kind: 'retracted' }>,
  { now }: Moment,
): Step {
  const { form, keyId } = event
  const evidence = withRetraction(state.evidence[form], keyId)
  const retracted = withEvidence(state, form, evidence)
  if (isDoubted(retracted, form)) return startBurst(retracted, form, now)
  return unchanged(withProbe(retracted, now + probeGapMs))
}

// --- probes -------------------------------------------------------------------------------------

function withProbe(state: InUse, at: number): InUse {
  const probeAt = Math.min(state.probeAt ?? at, at)
  return probeAt === state.probeAt ? state : { ...state, probeAt }
}

function startBurst(state: InUse, form: Form, now: number): Step {
  if (state.burst !== undefined || state.check === 'none') return unchanged(state)
  if (now < state.burstFrom) return unchanged(withProbe(state, state.burstFrom))
  const burst = { form, endsAt: now + probeLostAfterMs, failed: 0 }
  return {
    state: { ...state, burst, probeAt: undefined },
    effects: [{ kind: 'probe', count: proofCount, form }],
  }
}

/** Another node or another model has switched off: asks in the form that clients here use most lately. */
export function warned(state: InUse, _event: HealthEvent, { now }: Moment): Step {
  const { stream, whole } = state.evidence
  const isWhole = (whole.outcomes?.index ?? -1) > (stream.outcomes?.index ?? -1)
  return startBurst(state, isWhole ? 'whole' : 'stream', now)
}

export function probeSilence(
  state: InUse,
  { form }: Extract<HealthEvent, { kind: 'silent' }>,
): Step {
  if (state.burst !== undefined || state.check === 'none') return unchanged(state)
  return { state, effects: [{ kind: 'probe', count: 1, form }] }
}

export function passProbe(state: InUse, { form }: AttemptResult, { now }: Moment): Step {
  const refutedAt = wasRefuted(state, now) ? now : state.refutedAt
  const proven = { ...state, lastOkAt: now, refutedAt }
  const passed = calmed(cleared(proven, form))
  return unchanged(state.burst?.form === form ? endBurst(passed, now) : passed)
}

/**
 * The requests were at fault, or the trouble is over: once, until an answer of this form shows which. A
 * listing does not prove that models answer.
 */
function cleared(state: InUse, form: Form): InUse {
  const { failures, outcomes, isCleared } = state.evidence[form]
  if (state.check !== 'request' || failures.length === 0 || isCleared) return state
  return withEvidence(state, form, { failures: [], outcomes, isCleared: true })
}

/** The gap to the next burst grows while bursts find nothing. */
function endBurst(state: InUse, now: number): InUse {
  const isForgotten = now - state.burstFrom >= forgottenAfterMs
  const gapMs = isForgotten ? probeGapMs : Math.max(state.burstGapMs * 2, probeGapMs)
  const burstGapMs = Math.min(gapMs, waitMaxMs)
  return { ...state, burst: undefined, burstGapMs, burstFrom: now + burstGapMs }
}

export function failProbe(state: InUse, event: AttemptResult, moment: Moment): Step {
  const { form } = event
  const { burst } = state
  if (burst === undefined || burst.form !== form) return startBurst(state, form, moment.now)
  const failed = burst.failed + 1
  // Scenario `errors-5`: two of three fail by chance too often.
  if (failed < proofCount) return unchanged({ ...state, burst: { ...burst, failed } })
  return switchOff(state, { cause: 'run', why: 'failures_confirmed', form }, moment)
}

/** A throttled probe, or one that the vendor calls a bad request, decides nothing. */
export function undecidedProbe(state: InUse, event: AttemptResult, { now }: Moment): Step {
  const after = rested(state, event, now)
  return unchanged(after.burst === undefined ? after : endBurst(after, now))
}

/** Sends the single probe that is due, ends a burst that is lost, and judges latency. */
export function wakeInUse(state: InUse, _event: HealthEvent, { now }: Moment): Step {
  if (state.burst !== undefined && now >= state.burst.endsAt) return unchanged(endBurst(state, now))
  const probed = probeInUse(state, now)
  const latency = settleSuspicion(state.latency, now)
  const settled = withLatency(probed.state as InUse, latency)
  const judged = judgeLatency(settled, now)
  return { state: judged.state, effects: [...probed.effects, ...judged.effects] }
}

function probeInUse(state: InUse, now: number): Step {
  if (state.probeAt === undefined || state.check === 'none') return unchanged(state)
  if (now < state.probeAt || now < state.restUntil) return unchanged(state)
  const form = formToProbe(state)
  if (isDoubted(state, form)) return startBurst({ ...state, probeAt: undefined }, form, now)
  const isSlow = state.latency.slowSince !== undefined
  const probeAt = isSlow ? now + retryMs : undefined
  return { state: { ...state, probeAt }, effects: [{ kind: 'probe', count: 1, form }] }
}

function formToProbe({ evidence }: InUse): Form {
  return evidence.whole.failures.length > evidence.stream.failures.length ? 'whole' : 'stream'
}

// --- latency ------------------------------------------------------------------------------------

export function answered(state: InUse, event: FirstEvent, { now }: Moment): Step {
  const { form, beganAt } = event
  const before = state.evidence[form]
  const evidence = withFirstEvent(before, beganAt)
  const answering = evidence === before ? state : calmed(withEvidence(state, form, evidence))
  return event.sample === undefined ? unchanged(answering) : timed(answering, event.sample, now)
}

export function headed(state: InUse, { sample }: Headed, { now }: Moment): Step {
  return timed(state, sample, now)
}

function timed(state: InUse, sample: LatencySample, now: number): Step {
  const latency = observe(state.latency, sample, { now, mayLearn: state.mode === 'on' })
  return judgeLatency(withLatency(state, latency), now)
}

export function overdue(state: InUse, _event: HealthEvent, { now }: Moment): Step {
  return judgeLatency(withLatency(state, countOverdue(state.latency, now)), now)
}

function withLatency<State extends HealthState>(state: State, latency: LatencyState): State {
  return latency === state.latency ? state : { ...state, latency }
}

/** A slow channel is compared with the others; a demoted one returns once it is fast again. */
function judgeLatency(state: InUse, now: number): Step {
  const { latency } = state
  if (latency.slowSince !== undefined) {
    if (!mayLeaveSlow(latency, now)) return unchanged(withProbe(state, now + retryMs))
    const left = withLatency(state, forgetRecent(latency))
    return unchanged(toRamp(left, now, 'as_fast_as_usual'))
  }
  if (latency.suspectedSince === undefined || now < latency.compareAt) return unchanged(state)
  // Compared again soon, in case that takes a few probes of the alternative.
  const waiting = { ...latency, compareAt: now + lookMs }
  return { state: { ...state, latency: waiting }, effects: [{ kind: 'compare' }] }
}

export function compared(state: InUse, { comparison }: Compared, { now }: Moment): Step {
  const { latency } = state
  if (latency.suspectedSince === undefined || comparison === 'waiting') return unchanged(state)
  if (comparison === 'worse') return unchanged(withLatency(state, postponeComparison(latency, now)))
  const slow = { why: 'slower_than_usual', latency: enterSlow(latency, now) }
  return unchanged({ ...state, ...slow, mode: 'on', since: now, probeAt: now + retryMs })
}
