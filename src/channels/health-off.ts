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
  unchanged,
  type AttemptResult,
  type HealthEffect,
  type Moment,
  type Outcome,
  type Step,
} from './health-event.ts'
import type { HealthState, OffCause } from './health-state.ts'
import { forgetRecent } from './latency.ts'
import { emptyWindow } from './outcome-window.ts'

const holdBaseMs = 30_000
export const holdMaxMs = 600_000
const configHoldMs = 600_000
const relapseWithinMs = 600_000
const trialPasses = 3
const trialPassesDoubtful = 5

interface SwitchOff extends Moment {
  readonly cause: OffCause
  readonly why: string
}

export function switchOff(state: HealthState, reason: SwitchOff): Step {
  const { cause, why, now, random } = reason
  const wasInUse = isInUse(state)
  const relapse = wasInUse ? relapseOf(state, now) : state.relapse
  const baseMs = cause === 'run' ? holdBaseMs * 2 ** Math.min(relapse, 10) : configHoldMs
  const holdMs = Math.min(jittered(baseMs, random), holdMaxMs)
  const isDoubtful = why === 'too_few_successes' || relapse > 0
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
    probeAt: undefined,
    burst: undefined,
    doubtGapMs: 0,
    doubtAt: now,
    badProbes: 0,
    suspects: 0,
    passed: 0,
    passesNeeded: isDoubtful ? trialPassesDoubtful : trialPasses,
    isConfirming: false,
    run: noFailures,
    unrefuted: noFailures,
    outcomes: emptyWindow,
    downSince: state.downSince ?? now,
    relapse,
    latency: forgetRecent(state.latency),
  })
}

function relapseOf(state: HealthState, now: number): number {
  if (state.returnedAt === undefined || now - state.returnedAt >= relapseWithinMs) return 0
  return state.relapse + 1
}

/**
 * The channel refuses its credential, its account or the model. Believed at once, because every
 * request would fail; a probe confirms it. Where one has refuted such a claim of late, the next
 * claim waits for its probe: what one request is refused for need not hold for others.
 */
export function refuse(state: HealthState, result: AttemptResult, moment: Moment): Step {
  const { now } = moment
  const isConfig = result.outcome === 'config'
  const cause: OffCause = isConfig ? 'config' : 'missing'
  const why = isConfig ? 'credential_refused' : 'model_missing'
  const isProbe = result.caller === undefined
  if (state.mode === 'off' && (state.cause === cause || state.cause === 'config'))
    return unchanged({ ...leavePlace(state), isConfirming: state.isConfirming && !isProbe })
  if (!isProbe && isStale(state, result)) return unchanged(state)
  const mayConfirm = !isProbe && state.check === 'request' && isInUse(state)
  if (mayConfirm && wasRefuted(state, now)) return askForRefusal(state, now)
  const isNews = state.cause !== cause
  const off = switchOff(state, { cause, why, ...moment })
  const effects: HealthEffect[] = isNews
    ? [...off.effects, { kind: 'alert', why }]
    : [...off.effects]
  if (!mayConfirm) return { state: off.state, effects }
  effects.push({ kind: 'probe', count: 1 })
  return { state: { ...off.state, isConfirming: true }, effects }
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

/** The probe that was to confirm a refusal. Any other probe that ends while off comes too late. */
export function confirmOff(state: HealthState, outcome: Outcome, now: number): HealthState {
  if (!state.isConfirming) return state
  if (outcome !== 'ok') return { ...state, isConfirming: false }
  return {
    ...state,
    mode: 'on',
    since: now,
    why: 'refusal_not_confirmed',
    cause: undefined,
    isConfirming: false,
    downSince: undefined,
    lastOkAt: now,
    refutedAt: now,
  }
}
