/**
 * Doubts and how they are settled: probes one at a time or in a burst, ever more seldom while they
 * come back clean, and what their results mean. Pure. The invariant: probes that pass clear the
 * channel, whatever one client alone has met.
 */
import {
  burstMaxMs,
  doubtCount,
  doubtForgottenMs,
  doubtGapMinMs,
  isInUse,
  noFailures,
  probeLostAfterMs,
  refusalProbeMs,
  retrialMs,
  slowProbeMs,
  tripCount,
  unchanged,
  withProbe,
  type Moment,
  type Outcome,
  type Step,
} from './health-event.ts'
import { switchOff, wasRefuted } from './health-off.ts'
import type { HealthState } from './health-state.ts'
import { accountOf, hasOtherSuccess, keyOf, type Identity } from './outcome-window.ts'

const burstCount = 3
const burstBad = 2
const briefHoldMs = 3_000
const broadCallers = 3
const doubtGapMaxMs = 300_000
const ignoredKeyMs = 300_000

export function askSingleProbe(state: HealthState, now: number): Step {
  if (state.probeAt === undefined || now < state.probeAt || state.check === 'none')
    return unchanged(state)
  if (now < state.probingUntil || now < state.restUntil) return unchanged(state)
  if (isInUse(state) && state.run.length >= doubtCount) return startBurst(state, now)
  const gapMs = isInUse(state) ? slowProbeMs : unusedProbeGapMs(state)
  return {
    state: { ...state, probeAt: now + gapMs, probingUntil: now + probeLostAfterMs },
    effects: [{ kind: 'probe', count: 1 }],
  }
}

function unusedProbeGapMs({ mode }: HealthState): number {
  return mode === 'off' ? refusalProbeMs : retrialMs
}

export function startBurst(state: HealthState, now: number, isCertain = false): Step {
  if (!isInUse(state) || state.burst !== undefined || state.check === 'none')
    return unchanged(state)
  // Where traffic waits for the answer, the growing gap does not apply.
  const gapMs = Math.min(state.doubtGapMs, doubtGapMinMs)
  const from = now < state.heldUntil ? state.doubtAt - state.doubtGapMs + gapMs : state.doubtAt
  if (now < from) return unchanged(withProbe(state, from))
  const isSure = isCertain || hasSeveralCallers(state, state.run, now)
  const badNeeded = isSure ? burstBad : burstCount
  const burst = { endsAt: now + burstMaxMs, badNeeded, passed: 0, failed: 0, neutral: 0 }
  // Probes answer within a second or so; meanwhile nobody else need run into the same failure.
  const isBroad = isSure || hasSeveralCallers(state, state.unrefuted, now)
  const heldUntil = isBroad ? Math.max(state.heldUntil, now + briefHoldMs) : state.heldUntil
  return {
    state: { ...state, burst, heldUntil, probeAt: now + burstMaxMs },
    effects: [{ kind: 'probe', count: burstCount }],
  }
}

/** Leaving any one client out, others have met failures too. */
function hasSeveralCallers(state: HealthState, run: HealthState['run'], now: number): boolean {
  if (new Set(run.map(accountOf)).size >= broadCallers) return true
  if (isAnotherServed(state, accountOf, now)) return false
  return new Set(run.map(keyOf)).size >= broadCallers
}

/**
 * A request that failed on two channels says little of either; several in a row with no success
 * between them may be an outage of both.
 */
export function suspect(state: HealthState, now: number): Step {
  if (!isInUse(state)) return unchanged(state)
  const suspected = { ...state, suspects: state.suspects + 1 }
  if (suspected.suspects >= doubtCount) return startBurst(suspected, now)
  return unchanged(withProbe(suspected, Math.max(now + doubtGapMinMs, state.doubtAt)))
}

function isBad(outcome: Outcome): boolean {
  return outcome === 'hard' || outcome === 'broken'
}

export function judgeProbe(state: HealthState, outcome: Outcome, moment: Moment): Step {
  const { burst } = state
  const { now } = moment
  const refutedAt = wasRefuted(state, now) ? now : state.refutedAt
  const proven = outcome === 'ok' ? { ...state, lastOkAt: now, refutedAt } : state
  if (burst !== undefined) {
    const tallied = {
      ...burst,
      passed: burst.passed + (outcome === 'ok' ? 1 : 0),
      failed: burst.failed + (isBad(outcome) ? 1 : 0),
      neutral: burst.neutral + (outcome === 'ok' || isBad(outcome) ? 0 : 1),
    }
    const isDecided =
      tallied.failed >= burst.badNeeded ||
      tallied.passed > burstCount - burst.badNeeded ||
      tallied.passed + tallied.failed + tallied.neutral >= burstCount
    const next = { ...proven, burst: tallied }
    return isDecided ? endBurst(next, moment) : unchanged(next)
  }
  if (outcome === 'ok') return unchanged(isDoubted(proven) ? clearDoubt(proven, now) : proven)
  if (!isBad(outcome)) return unchanged(proven)
  const badProbes = proven.badProbes + 1
  // Failures of traffic count beside those of probes, but never without two of the latter.
  const evidence = badProbes + Math.min(proven.run.length, doubtCount - 1)
  if (evidence > doubtCount || badProbes >= doubtCount)
    return switchOff(proven, { cause: 'run', why: 'checks_failed', ...moment })
  return unchanged({ ...proven, badProbes, probeAt: now + doubtGapMinMs, doubtGapMs: 0 })
}

export function endBurst(state: HealthState, moment: Moment): Step {
  const { burst } = state
  const { now } = moment
  if (burst === undefined) return unchanged(state)
  const ended: HealthState = { ...state, burst: undefined }
  if (burst.failed >= burst.badNeeded)
    return switchOff(ended, { cause: 'run', why: 'failures_confirmed', ...moment })
  // Nobody said a word for the channel: then what traffic showed has to do.
  if (burst.passed === 0 && isUnguarded(state, now))
    return switchOff(ended, { cause: 'run', why: 'failures_in_a_row', ...moment })
  if (burst.passed === 0) return unchanged(postponeDoubt({ ...ended, heldUntil: 0 }, now))
  return unchanged(clearDoubt(ended, now))
}

/** A probe of its own accord is due for a doubt that its first byte has ended already. */
function isDoubted(state: HealthState): boolean {
  const { run, unrefuted, suspects, badProbes, ignored, probeAt, latency } = state
  if (probeAt !== undefined && latency.slowSince === undefined) return true
  return run.length + unrefuted.length + suspects + badProbes > 0 || ignored !== undefined
}

/** The channel has proven itself: what failed was a request's own fault, or it is over. */
function clearDoubt(state: HealthState, now: number): HealthState {
  const postponed = postponeDoubt(state, now)
  // A listing proves that somebody answers there, not that models do.
  if (state.check !== 'request') return { ...postponed, badProbes: 0 }
  return {
    ...postponed,
    badProbes: 0,
    suspects: 0,
    heldUntil: 0,
    run: noFailures,
    unrefuted: noFailures,
    ignored: refutedKey(state, now) ?? renewed(state.ignored, now),
  }
}

/** A passed probe while one key alone was failing: the fault lies with that key's requests. */
function refutedKey(state: HealthState, now: number): HealthState['ignored'] {
  const [first] = state.run
  if (first === undefined || state.run.length < doubtCount) return undefined
  if (state.run.some(({ keyId }) => keyId !== first.keyId)) return undefined
  return { keyId: first.keyId, until: now + ignoredKeyMs, failures: 0 }
}

function renewed(ignored: HealthState['ignored'], now: number): HealthState['ignored'] {
  if (ignored === undefined || ignored.failures < doubtCount) return ignored
  return { keyId: ignored.keyId, until: now + ignoredKeyMs, failures: 0 }
}

function postponeDoubt(state: HealthState, now: number): HealthState {
  const isForgotten = now - state.doubtAt >= doubtForgottenMs
  const gapMs = isForgotten ? doubtGapMinMs : Math.max(state.doubtGapMs * 2, doubtGapMinMs)
  const doubtGapMs = Math.min(gapMs, doubtGapMaxMs)
  const probeAt = state.latency.slowSince === undefined ? undefined : now + slowProbeMs
  return { ...state, doubtGapMs, doubtAt: now + doubtGapMs, probeAt }
}

export function isUnguarded(state: HealthState, now: number): boolean {
  return state.run.length >= tripCount && !isAnotherServed(state, keyOf, now)
}

/** Whether somebody who is not among those failing had success here lately. */
export function isAnotherServed(state: HealthState, identityOf: Identity, now: number): boolean {
  return hasOtherSuccess(state.outcomes, { callers: state.run, identityOf, now })
}
