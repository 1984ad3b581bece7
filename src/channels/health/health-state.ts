/**
 * The state of one model on one channel: a union by mode, with evidence, latency and rests beside it.
 * Plain data and pure readings of it; the rules that change it are in `rules.ts`. All times are
 * monotonic milliseconds.
 */
import type { CheckKind } from '../channel.ts'
import { noEvidence, type Evidence, type Form } from './evidence.ts'
import { freshLatency, type LatencyState } from './latency.ts'

/** The modes that operators see: slow is a channel that is on, demoted for its latency. */
export const shownModes = ['on', 'off', 'trial', 'ramp', 'slow'] as const

export type ShownMode = (typeof shownModes)[number]

/** Why it is off: failures in a `run`, `config` of the channel, or the model is `missing`. */
export type OffCause = 'run' | 'config' | 'missing'

/** The part that every mode has. */
interface Known {
  readonly since: number
  readonly why: string
  /** How this channel may be probed; without probes only traffic can bring it back. */
  readonly check: CheckKind
  readonly restUntil: number
  readonly lastOkAt: number | undefined
  readonly evidence: Readonly<Record<Form, Evidence>>
  readonly latency: LatencyState
  /** When it last returned, and how many times in a row it went off soon after a return. */
  readonly returnedAt: number | undefined
  readonly relapse: number
  /** When a probe last refuted a refusal: for some time the next refusal waits for its probe. */
  readonly refutedAt: number | undefined
}

/** Three probes under way: the channel is off if all of them fail. */
interface Burst {
  readonly form: Form
  readonly endsAt: number
  readonly failed: number
}

export interface InUse extends Known {
  readonly mode: 'on' | 'ramp'
  /** When the next single probe is due. */
  readonly probeAt: number | undefined
  readonly burst: Burst | undefined
  /** No burst before; the gap grows while bursts find nothing. */
  readonly burstFrom: number
  readonly burstGapMs: number
}

interface OutOfUse extends Known {
  readonly cause: OffCause
  /** The form of request that failed: only successes of this form bring the channel back. */
  readonly form: Form
  /** When it first went off in this outage. */
  readonly downSince: number
  readonly probeAt: number | undefined
  /** An attempt of traffic occupies the single place of an unused channel until then. */
  readonly tryingUntil: number
}

export interface Off extends OutOfUse {
  readonly mode: 'off'
  readonly backOffUntil: number
  /** It is off for a refusal that no probe has confirmed yet. */
  readonly isConfirming: boolean
}

export interface Trial extends OutOfUse {
  readonly mode: 'trial'
  /** Successes in a row. */
  readonly passed: number
}

export type HealthState = InUse | Off | Trial

/** The state of a channel of which nothing is known. */
export function startState(check: CheckKind, now = 0): InUse {
  return {
    mode: 'on',
    since: now,
    why: 'start',
    check,
    restUntil: 0,
    lastOkAt: undefined,
    evidence: { stream: noEvidence, whole: noEvidence },
    latency: freshLatency,
    returnedAt: undefined,
    relapse: 0,
    refutedAt: undefined,
    ...noDoubt(0),
  }
}

export const freshState: InUse = startState('request')

/** Every mode in use begins without a doubt. */
export function noDoubt(
  now: number,
): Pick<InUse, 'probeAt' | 'burst' | 'burstFrom' | 'burstGapMs'> {
  return { probeAt: undefined, burst: undefined, burstFrom: now, burstGapMs: 0 }
}

export function isInUse(state: HealthState): state is InUse {
  return state.mode === 'on' || state.mode === 'ramp'
}

export const rampMs = 120_000
const rampShareMin = 0.1
const slowShare = 0.05

/**
 * How fit a channel is for the next attempt; `select.ts` has the order.
 *
 *  - `on`: takes traffic; `ramp`, `slow`: takes its share, and more only as a fallback
 *  - `trial`: takes one exchange, where no probe can decide
 *  - `doubted`: in use, but requests have failed and a burst of probes is under way
 *  - `resting`: the vendor has set a pause; `off`: switched off, or on trial by probes
 */
export type Grade = 'on' | 'ramp' | 'slow' | 'trial' | 'doubted' | 'resting' | 'off'

/** Whether it may be given an attempt in the usual course, rather than as a last resort. */
export function isFit(grade: Grade | 'disabled'): boolean {
  return grade === 'on' || grade === 'ramp' || grade === 'slow' || grade === 'trial'
}

/** Allocates nothing: it runs for every channel of every attempt. */
export function gradeOf(state: HealthState, now: number): Grade {
  if (!isInUse(state)) {
    if (!isTrialByTraffic(state, now)) return 'off'
    return now < state.restUntil ? 'resting' : 'trial'
  }
  if (now < state.restUntil) return 'resting'
  if (isDoubted(state)) return 'doubted'
  if (state.latency.slowSince !== undefined) return 'slow'
  return isRamping(state, now) ? 'ramp' : 'on'
}

/** Requests have failed here; a warning from elsewhere alone moves no traffic. */
function isDoubted({ burst, evidence }: InUse): boolean {
  return burst !== undefined && evidence[burst.form].failures.length > 0
}

function isTrialByTraffic(state: Off | Trial, now: number): boolean {
  if (state.check !== 'none' || now < state.tryingUntil) return false
  return state.mode === 'off' ? now >= state.backOffUntil : now >= (state.probeAt ?? 0)
}

function isRamping({ mode, since }: HealthState, now: number): boolean {
  return mode === 'ramp' && now < since + rampMs
}

/** The credential or the model is refused: an attempt would certainly fail. */
export function isRefusing(state: HealthState, now: number): boolean {
  return state.mode === 'off' && state.cause !== 'run' && now < state.backOffUntil
}

/** It has answered since it went off, so it is the better choice while nothing is in use. */
export function worksAtTimes(state: HealthState): boolean {
  return !isInUse(state) && state.lastOkAt !== undefined && state.lastOkAt >= state.downSince
}

/** An attempt is finding out whether an unused channel works again. */
export function isTrying(state: HealthState, now: number): boolean {
  return !isInUse(state) && now < state.tryingUntil
}

/** Resumed after a restart, and no probe has decided yet. */
export function isResumed({ mode, why }: { readonly mode: string; readonly why: string }): boolean {
  return mode === 'trial' && why === 'restarted'
}

/** The share of its own traffic that the channel takes now. */
export function shareOf(state: HealthState, now: number): number {
  if (!isInUse(state)) return 0
  const progress = state.mode === 'on' ? 1 : Math.min(1, (now - state.since) / rampMs)
  const share = rampShareMin + (1 - rampShareMin) * progress
  return state.latency.slowSince === undefined ? share : Math.min(share, slowShare)
}

/** A back-off that is over shows as trial and a ramp that is over as on, before any event says so. */
export function shownMode(state: HealthState, now: number): ShownMode {
  if (state.mode === 'off') return now >= state.backOffUntil ? 'trial' : 'off'
  if (state.mode === 'trial') return 'trial'
  if (state.latency.slowSince !== undefined) return 'slow'
  return isRamping(state, now) ? 'ramp' : 'on'
}

/** When a `wake` will do something next; undefined while only traffic can. Never undefined while off. */
export function nextWakeAt(state: HealthState): number | undefined {
  const probeAt =
    state.check === 'none' || state.probeAt === undefined
      ? Infinity
      : Math.max(state.probeAt, state.restUntil)
  const at = Math.min(probeAt, ownWakeAt(state))
  return at === Infinity ? undefined : at
}

function ownWakeAt(state: HealthState): number {
  if (state.mode === 'off') return state.backOffUntil
  if (state.mode === 'trial') return Infinity
  const { mode, since, burst, latency } = state
  return Math.min(
    mode === 'ramp' ? since + rampMs : Infinity,
    burst?.endsAt ?? Infinity,
    latency.suspectedSince === undefined ? Infinity : latency.compareAt,
  )
}
