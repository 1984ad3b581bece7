/**
 * Health of one model on one channel: a pure reducer. It knows outcomes and monotonic time; no
 * socket, no timer, no wall clock, no other channel. The invariant it keeps: a state that is off
 * always has a moment at which it is tried again, and what is unsure is asked of the channel itself.
 *
 *     on ─── 5 counted failures in a row ───────────────────────▶ off (hold 30 s … 120 s)
 *     on ─── 3 in a row, or too few successes ─ probes ─ bad ───▶ off
 *     on ─── credential, account or mapping refused ────────────▶ off (300 s), operator told; asked
 *                                                                 every 120 s if it still holds
 *     off ── hold over, or no longer refused ───────────────────▶ trial (probes every 30 s or 60 s)
 *     trial ─ 3 successes in a row (5 … 15 after a ratio or
 *             relapses) ────────────────────────────────────────▶ ramp
 *     ramp ── 120 s, its share growing from a tenth to all ─────▶ on; under the same rules as on
 *     on, ramp ─ slower than usual, and another is better ──────▶ slow: a share of 5 %, until it is
 *                                                                 as fast as usual again ▶ ramp
 *
 * One account (or key, where only one account is about) adds at most two to a run, and the worst is left
 * out of the ratio: a client's
 * requests alone switch nothing off while others succeed or probes pass. A rest (the vendor said
 * "later") is no fault: it changes no mode and only names a moment.
 */
import type { Random } from '../base/random.ts'
import {
  askSingleProbe,
  endBurst,
  isAnotherServed,
  isUnguarded,
  judgeProbe,
  startBurst,
  suspect,
} from './health-doubt.ts'
import {
  burstMaxMs,
  doubtCount,
  doubtGapMinMs,
  isInUse,
  isStale,
  leavePlace,
  noFailures,
  takePlace,
  tripCount,
  unchanged,
  withProbe,
  type AttemptResult,
  type HealthEffect,
  type HealthEvent,
  type Moment,
  type Step,
} from './health-event.ts'
import { confirmOff, refuse, switchOff, unrefused } from './health-off.ts'
import { advance, failAmidTrial, judgeTrial, passTrial, toTrial } from './health-return.ts'
import { compared, judgeLatency, observed } from './health-slow.ts'
import { shownMode, type HealthState, type OffCause, type RunFailure } from './health-state.ts'
import { countOverdue, settleSuspicion } from './latency.ts'
import {
  accountOf,
  countOutcome,
  keyOf,
  retractFailure,
  summarizeWithoutWorst,
  type Caller,
  type Identity,
} from './outcome-window.ts'

const countPerCallerMax = 2
const runLengthMax = 16
const ratioMin = 0.8
const ratioOutcomesMin = 20
const ratioOutcomesMinRamp = 10
const ratioFailuresMin = 4
const ratioSureOutcomes = 50
const ratioSureCallers = 3
const restDefaultMs = 5_000
const restMinMs = 1_000
const restMaxMs = 300_000

/** `now` is monotonic. An event that teaches nothing returns the very same state. */
export function step(state: HealthState, event: HealthEvent, now: number, random: Random): Step {
  const moved = react(advance(state, now), event, { now, random })
  if (state === moved.state) return moved
  return withChange(state, moved, now)
}

/** A change of what an operator is shown is told, first, whatever brought it about. */
function withChange(before: HealthState, moved: Step, now: number): Step {
  const from = shownMode(before, before.since)
  const to = shownMode(moved.state, now)
  const isRepeated = moved.state.since !== before.since && from === 'off' && to === 'off'
  if (from === to && !isRepeated) return moved
  const changed: HealthEffect = { kind: 'changed', from, to, why: moved.state.why }
  return { state: moved.state, effects: [changed, ...moved.effects] }
}

function react(state: HealthState, event: HealthEvent, moment: Moment): Step {
  const { now } = moment
  switch (event.kind) {
    case 'begun':
      return unchanged(takePlace(state, now))
    case 'wake':
      return wake(state, moment)
    case 'released':
      return unchanged(isOffFor(state, 'config') ? toTrial(state, now, 'credential_works') : state)
    case 'asked':
      return unchanged(state.mode === 'off' ? toTrial(state, now, 'operator_check') : state)
    case 'refuted':
      return unchanged(isOffFor(state, 'config') ? unrefused(state, now) : state)
    case 'answered':
      return judgeInUse(observed(withoutHard(state, event.beganAt ?? now), event, now), now)
    case 'overdue':
      return judgeInUse({ ...state, latency: countOverdue(state.latency, now) }, now)
    case 'compared':
      return unchanged(compared(state, event.comparison, now))
    case 'retracted':
      return suspect(retracted(state, event.keyId), now)
    case 'unanswered':
      return suspect(state, now)
    case 'warned':
      return startBurst(state, now)
    case 'ended':
      return event.caller === undefined
        ? learnProbe(state, event, moment)
        : learnAttempt(state, { ...event, caller: event.caller }, moment)
  }
}

/** What is not in use is judged by its probes; attempts that began before may still tell their times. */
function judgeInUse(state: HealthState, now: number): Step {
  return isInUse(state) ? judgeLatency(state, now) : unchanged(state)
}

function isOffFor(state: HealthState, cause: OffCause): boolean {
  return state.mode === 'off' && state.cause === cause
}

function wake(state: HealthState, moment: Moment): Step {
  const { now } = moment
  if (state.burst !== undefined && now >= state.burst.endsAt) return endBurst(state, moment)
  const asked = askSingleProbe(state, now)
  if (!isInUse(state)) return asked
  const latency = settleSuspicion(asked.state.latency, now)
  const settled = latency === asked.state.latency ? asked.state : { ...asked.state, latency }
  const judged = judgeLatency(settled, now)
  return { state: judged.state, effects: [...asked.effects, ...judged.effects] }
}

type TrafficResult = AttemptResult & { readonly caller: Caller }

function learnAttempt(state: HealthState, result: TrafficResult, moment: Moment): Step {
  switch (result.outcome) {
    case 'ok':
      return succeed(leavePlace(state), result, moment)
    case 'client':
    case 'nobody':
      return unchanged(leavePlace(state))
    case 'suspect':
      return isInUse(state) && state.check === 'none'
        ? fail(state, result, moment)
        : suspect(leavePlace(state), moment.now)
    case 'throttle':
      return unchanged(rest(leavePlace(state), result.retryAfterMs, moment.now))
    case 'config':
    case 'model_missing':
      return refuse(state, result, moment)
    case 'hard':
    case 'broken':
      return fail(state, result, moment)
  }
}

function learnProbe(state: HealthState, result: AttemptResult, moment: Moment): Step {
  const { outcome } = result
  const { now } = moment
  const rested = outcome === 'throttle' ? rest(state, result.retryAfterMs, now) : state
  if (outcome === 'config' || outcome === 'model_missing') return refuse(rested, result, moment)
  switch (state.mode) {
    case 'off':
      return unchanged(confirmOff(rested, result, now))
    case 'trial':
      return unchanged(judgeTrial({ ...rested, probingUntil: 0 }, outcome, moment))
    case 'on':
    case 'ramp':
      return judgeProbe({ ...rested, probingUntil: 0 }, outcome, moment)
  }
}

function succeed(state: HealthState, result: TrafficResult, moment: Moment): Step {
  const { now } = moment
  const { caller } = result
  if (state.mode === 'off') return unchanged({ ...state, lastOkAt: now })
  if (state.mode === 'trial') {
    // An answer that had begun before the switch-off is no proof that the channel works now.
    if (isStale(state, result)) return unchanged(state)
    const working = { ...state, lastOkAt: now }
    return unchanged(state.check === 'none' ? passTrial(working, now) : working)
  }
  const outcomes = countOutcome(state.outcomes, { caller, isOk: true }, now)
  if (isCalm(state)) return unchanged({ ...state, lastOkAt: now, outcomes })
  const run = result.wasAnswered === true ? state.run.filter((one) => !one.isBroken) : noFailures
  const unrefuted = stillUnrefuted(state, result.beganAt ?? now)
  if (run.length + unrefuted.length > 0)
    return unchanged({ ...state, lastOkAt: now, outcomes, run, unrefuted })
  const calm: HealthState = {
    ...state,
    lastOkAt: now,
    outcomes,
    run,
    unrefuted,
    heldUntil: 0,
    badProbes: 0,
    suspects: 0,
    // Its failures were not of the key's own making, or not for long: they count again.
    ignored: state.ignored?.keyId === caller.keyId ? undefined : state.ignored,
    probeAt: state.latency.slowSince === undefined ? undefined : state.probeAt,
  }
  return unchanged(calm)
}

function isBroken(failure: RunFailure): boolean {
  return failure.isBroken
}

/** What began before the failures says nothing about what came over the channel since. */
function stillUnrefuted({ unrefuted }: HealthState, beganAt: number): HealthState['unrefuted'] {
  const [first] = unrefuted
  return first === undefined || beganAt >= first.beganAt ? noFailures : unrefuted
}

/**
 * The first event of a stream ends a run of attempts that had none, at once: its end may be minutes
 * away. Ends of streams that began before an outage say nothing about it, and so end no such run.
 */
function withoutHard(state: HealthState, beganAt: number): HealthState {
  if (!isInUse(state)) return state
  if (state.suspects === 0 && state.unrefuted.length === 0 && state.run.every(isBroken))
    return state
  const unrefuted = stillUnrefuted(state, beganAt)
  return { ...state, suspects: 0, run: state.run.filter(isBroken), unrefuted }
}

/** Nothing that a success would change: the common case costs one count. */
function isCalm(state: HealthState): boolean {
  return (
    state.run.length === 0 &&
    state.unrefuted.length === 0 &&
    state.ignored === undefined &&
    state.badProbes === 0 &&
    state.suspects === 0 &&
    (state.probeAt === undefined || state.latency.slowSince !== undefined)
  )
}

function fail(state: HealthState, result: TrafficResult, moment: Moment): Step {
  const { now } = moment
  if (isStale(state, result)) return unchanged(state)
  if (state.mode === 'off') return unchanged(leavePlace(state))
  if (state.mode === 'trial') return unchanged(failAmidTrial(leavePlace(state), moment))
  const { ignored } = state
  if (ignored !== undefined && ignored.keyId === result.caller.keyId && now < ignored.until) {
    const again = { ...state, ignored: { ...ignored, failures: ignored.failures + 1 } }
    return again.ignored.failures >= doubtCount ? startBurst(again, now) : unchanged(again)
  }
  const failure = {
    keyId: result.caller.keyId,
    accountId: result.caller.accountId,
    isBroken: result.outcome === 'broken',
    beganAt: result.beganAt ?? now,
  }
  const failing: HealthState = {
    ...state,
    run: [...state.run, failure].slice(-runLengthMax),
    unrefuted: [...state.unrefuted, failure].slice(-runLengthMax),
    outcomes: countOutcome(state.outcomes, { caller: result.caller, isOk: false }, now),
  }
  if (isTripped(failing, now))
    return switchOff(failing, { cause: 'run', why: 'failures_in_a_row', ...moment })
  const isDoubtful = isRatioBad(failing, now)
  if (isDoubtful === 'sure')
    return switchOff(failing, { cause: 'run', why: 'too_few_successes', ...moment })
  if (isDoubtful === 'doubt') return startBurst(failing, now, true)
  if (failing.unrefuted.length >= doubtCount) return startBurst(heldWhere(failing, now), now)
  // A lone failure on a quiet channel: without a success soon, a probe tells more.
  return unchanged(withProbe(failing, Math.max(now + doubtGapMinMs, state.doubtAt)))
}

/**
 * One caller adds at most two to the count, so that one client's poisoned requests cannot take a
 * channel away from the others. Callers are accounts, and their keys where no other account is about:
 * an account must not escape the cap by using many keys. Where no probe can speak for the channel and
 * nobody else has had success of late, failures count as they come: the guard would only keep a
 * dead channel in use.
 */
function isTripped(state: HealthState, now: number): boolean {
  if (countedFailures(state.run, accountOf) >= tripCount) return true
  if (state.run.length < tripCount || isAnotherServed(state, accountOf, now)) return false
  if (countedFailures(state.run, keyOf) >= tripCount) return true
  return state.check !== 'request' && isUnguarded(state, now)
}

/** Failures in a row with the share of each account, or of each key, capped. */
export function countedFailures(run: readonly Caller[], identityOf: Identity): number {
  const counts = new Map<string, number>()
  for (const caller of run) {
    const identity = identityOf(caller)
    counts.set(identity, Math.min((counts.get(identity) ?? 0) + 1, countPerCallerMax))
  }
  let total = 0
  for (const count of counts.values()) total += count
  return total
}

/** Five failures that only few keys had, and no other's success: traffic waits for the probes. */
function heldWhere(state: HealthState, now: number): HealthState {
  if (!isUnguarded(state, now)) return state
  const probesFrom = state.burst === undefined ? Math.max(now, state.doubtAt) : now
  const heldUntil = Math.min(probesFrom, now + doubtGapMinMs) + burstMaxMs
  return { ...state, heldUntil: Math.max(state.heldUntil, heldUntil) }
}

function isRatioBad(state: HealthState, now: number): 'no' | 'doubt' | 'sure' {
  const { ok, failed, failingCallers } = summarizeWithoutWorst(state.outcomes, now)
  const total = ok + failed
  const totalMin = state.mode === 'ramp' ? ratioOutcomesMinRamp : ratioOutcomesMin
  if (total < totalMin || failed < ratioFailuresMin || ok >= ratioMin * total) return 'no'
  return total >= ratioSureOutcomes && failingCallers >= ratioSureCallers ? 'sure' : 'doubt'
}

function retracted(state: HealthState, keyId: string): HealthState {
  const position = state.run.findLastIndex((one) => one.keyId === keyId)
  return {
    ...state,
    run: position === -1 ? state.run : state.run.toSpliced(position, 1),
    unrefuted: state.unrefuted.filter((one) => one.keyId !== keyId),
    outcomes: retractFailure(state.outcomes, keyId),
  }
}

function rest(state: HealthState, retryAfterMs: number | undefined, now: number): HealthState {
  const askedMs = retryAfterMs ?? restDefaultMs
  const restMs = Math.min(Math.max(askedMs, restMinMs), restMaxMs)
  return { ...state, restUntil: Math.max(state.restUntil, now + restMs) }
}
