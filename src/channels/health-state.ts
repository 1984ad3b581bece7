/**
 * What is known about one model on one channel, and what can be read from it at a moment: grade,
 * share of traffic, next wake-up. Plain data and pure readings; the rules by which it changes are in
 * `health.ts`. All times are monotonic milliseconds.
 */
import type { CheckKind } from './channel.ts'
import { freshLatency, type LatencyState } from './latency.ts'
import { emptyWindow, type Caller, type OutcomeWindow } from './outcome-window.ts'

export type HealthMode = 'on' | 'off' | 'trial' | 'ramp'

/** As operators see it: slow is a demotion, for its latency, of a channel that is on. */
export const shownModes = ['on', 'off', 'trial', 'ramp', 'slow'] as const

export type ShownMode = (typeof shownModes)[number]

/** Why it is off: `run` of failures, `config` of the channel, or this model `missing` on it. */
export type OffCause = 'run' | 'config' | 'missing'

/** Probes under way that decide whether failures seen in traffic are the channel's. */
export interface Burst {
  readonly endsAt: number
  /** How many bad ones switch off: all, where only one key's requests gave reason to ask. */
  readonly badNeeded: number
  readonly passed: number
  readonly failed: number
  readonly neutral: number
}

export interface RunFailure extends Caller {
  /** It had begun to answer: only a whole answer refutes it, not another's beginning. */
  readonly isBroken: boolean
  readonly beganAt: number
}

/** A key whose failures probes have refuted. */
export interface IgnoredKey {
  readonly keyId: string
  readonly until: number
  /** Its failures in a row since; enough of them ask for probes again. */
  readonly failures: number
}

export interface HealthState {
  readonly mode: HealthMode
  readonly since: number
  readonly why: string
  readonly cause: OffCause | undefined
  /** What began before says nothing about the channel as it is now. */
  readonly validFrom: number
  /** How this channel may be asked; without probes only traffic can bring it back. */
  readonly check: CheckKind
  /** Off: end of the hold. */
  readonly holdUntil: number
  readonly restUntil: number
  /** In doubt and in use of nobody else's: traffic waits for the burst until then. */
  readonly heldUntil: number
  /** An attempt of traffic holds the single place of a channel that is off or on trial, until then. */
  readonly tryingUntil: number
  /** A single probe is under way, and is given up for lost then. */
  readonly probingUntil: number
  /** When the next single probe is wanted: on trial, refused, in doubt, or while slow. */
  readonly probeAt: number | undefined
  readonly burst: Burst | undefined
  /** No probes for doubts before this; the gap grows while they come back clean. */
  readonly doubtAt: number
  readonly doubtGapMs: number
  /** Failed probes in a row while in use. */
  readonly badProbes: number
  /** Trial: successes in a row, how many it takes, and when the last one was. */
  readonly passed: number
  readonly passesNeeded: number
  readonly passedAt: number
  /** Off for its configuration, and a probe is to confirm that. */
  readonly isConfirming: boolean
  readonly outcomes: OutcomeWindow
  /** The counted failures since the last success, oldest first. */
  readonly run: readonly RunFailure[]
  /** Those since the last success that began after the first of them: what began before proves little. */
  readonly unrefuted: readonly RunFailure[]
  readonly ignored: IgnoredKey | undefined
  /** Requests in a row that failed here and elsewhere. */
  readonly suspects: number
  readonly lastOkAt: number | undefined
  /** When it first went off in this outage, and when it last came back. */
  readonly downSince: number | undefined
  readonly returnedAt: number | undefined
  /** How often in a row it went off soon after coming back. */
  readonly relapse: number
  /** When a probe last refuted a refusal: for a while the next one is not believed at once. */
  readonly refutedAt: number | undefined
  readonly latency: LatencyState
}

/** Nothing is known against it: where a channel starts. */
export function startState(check: CheckKind, now = 0): HealthState {
  return {
    mode: 'on',
    since: now,
    why: 'start',
    cause: undefined,
    validFrom: now,
    check,
    holdUntil: 0,
    restUntil: 0,
    heldUntil: 0,
    tryingUntil: 0,
    probingUntil: 0,
    probeAt: undefined,
    burst: undefined,
    doubtAt: 0,
    doubtGapMs: 0,
    badProbes: 0,
    passed: 0,
    passesNeeded: 0,
    passedAt: 0,
    isConfirming: false,
    outcomes: emptyWindow,
    run: [],
    unrefuted: [],
    ignored: undefined,
    suspects: 0,
    lastOkAt: undefined,
    downSince: undefined,
    returnedAt: undefined,
    relapse: 0,
    refutedAt: undefined,
    latency: freshLatency,
  }
}

export const freshState: HealthState = startState('request')

export const rampMs = 120_000
const rampShareMin = 0.1
const canaryShare = 0.05

/**
 * How fit a channel is for the next attempt; see `select.ts` for the order.
 *
 *  - `on`: takes traffic; `ramp`, `slow`: takes its share of it, the rest only as a fallback
 *  - `trial`: takes one exchange, where no probe can decide
 *  - `doubted`: in use, but probes are about to say whether it should be
 *  - `resting`: asked not to be called for a while; `off`: switched off, or on trial by probes
 */
export type Grade = 'on' | 'ramp' | 'slow' | 'trial' | 'doubted' | 'resting' | 'off'

/** Allocates nothing: it is asked for every channel of every attempt. */
export function gradeOf(state: HealthState, now: number): Grade {
  if (state.mode === 'off' || state.mode === 'trial') return gradeOfUnused(state, now)
  if (now < state.restUntil) return 'resting'
  if (now < state.heldUntil) return 'doubted'
  if (state.latency.slowSince !== undefined) return 'slow'
  return state.mode === 'ramp' && now < state.since + rampMs ? 'ramp' : 'on'
}

function gradeOfUnused(state: HealthState, now: number): Grade {
  const isHolding = state.mode === 'off' && now < state.holdUntil
  if (!isHolding && state.check === 'none' && isTrialDue(state, now))
    return now < state.restUntil ? 'resting' : 'trial'
  return 'off'
}

/** Off because its credential or this model is refused: an attempt would fail for certain. */
export function isRefusing(state: HealthState, now: number): boolean {
  return state.mode === 'off' && state.cause !== 'run' && now < state.holdUntil
}

function isTrialDue(state: HealthState, now: number): boolean {
  return !isTrying(state, now) && (state.mode === 'off' || now >= (state.probeAt ?? 0))
}

/** It has answered since it went off: a better bet than what has not, while nothing is in use. */
export function worksAtTimes(state: HealthState): boolean {
  return state.lastOkAt !== undefined && state.lastOkAt >= (state.downSince ?? Infinity)
}

/** Somebody is finding out already whether a channel that is off works again. */
export function isTrying(state: HealthState, now: number): boolean {
  return now < state.tryingUntil
}

/** The part of the traffic that would be its own which it takes now. */
export function shareOf(state: HealthState, now: number): number {
  if (state.mode !== 'on' && state.mode !== 'ramp') return 0
  const ramp = state.mode === 'on' ? 1 : Math.min(1, (now - state.since) / rampMs)
  const share = rampShareMin + (1 - rampShareMin) * ramp
  return state.latency.slowSince === undefined ? share : Math.min(share, canaryShare)
}

/** A hold that is over is a trial, and a ramp that is over is on, also before anybody has tried. */
export function shownMode(state: HealthState, now: number): ShownMode {
  if (state.mode === 'off') return now >= state.holdUntil ? 'trial' : 'off'
  if (state.mode === 'trial') return 'trial'
  if (state.latency.slowSince !== undefined) return 'slow'
  return state.mode === 'ramp' && now < state.since + rampMs ? 'ramp' : 'on'
}

/** When a `wake` will do something next; undefined while only traffic can. Never undefined while off. */
export function nextWakeAt(state: HealthState): number | undefined {
  let at: number | undefined
  const consider = (moment: number | undefined): void => {
    if (moment !== undefined && (at === undefined || moment < at)) at = moment
  }
  if (state.mode === 'off') consider(state.holdUntil)
  if (state.mode === 'ramp') consider(state.since + rampMs)
  if (state.burst !== undefined) consider(state.burst.endsAt)
  if (state.check !== 'none' && state.probeAt !== undefined)
    consider(Math.max(state.probeAt, state.probingUntil, state.restUntil))
  // What is not in use is judged by its probes, whatever late answers tell of its times.
  const isInUse = state.mode === 'on' || state.mode === 'ramp'
  if (isInUse && state.latency.isSuspected) consider(state.latency.compareAt)
  return at
}
