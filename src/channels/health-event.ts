/**
 * What the health of a model on a channel is told and what it asks for, and the few readings every
 * rule needs. No rule stands here; those are in `health.ts` and the files beside it.
 */
import type { Random } from '../base/random.ts'
import type { HealthState, ShownMode } from './health-state.ts'
import type { LatencySample } from './latency.ts'
import type { Caller } from './outcome-window.ts'

export const tripCount = 5
export const doubtCount = 3
export const burstMaxMs = 45_000
export const doubtGapMinMs = 15_000
export const doubtForgottenMs = 600_000
export const retrialMs = 30_000
export const jitterShare = 0.2
const trialLostAfterMs = 120_000
export const probeLostAfterMs = 45_000
export const slowProbeMs = 30_000
/** How often a channel is asked whether it still refuses. */
export const refusalProbeMs = 120_000

/**
 * What became of an attempt, as far as the channel is concerned.
 *
 *  - `ok`: a complete answer
 *  - `client`: the request's own fault, or the client left: says nothing about the channel
 *  - `nobody`: ended by the gateway itself, or on a connection gone stale: says nothing either
 *  - `throttle`: the channel is out of rate or capacity for now
 *  - `config`: its credential, account or address is refused
 *  - `model_missing`: it does not know this model
 *  - `hard`: failed before the first event; `broken`: failed after it
 *  - `suspect`: the same request failed on two channels: blames the request, asks for probes
 */
export type Outcome =
  | 'ok'
  | 'client'
  | 'nobody'
  | 'throttle'
  | 'config'
  | 'model_missing'
  | 'hard'
  | 'broken'
  | 'suspect'

export interface AttemptResult {
  readonly outcome: Outcome
  /** Undefined for a probe of the gateway's own. */
  readonly caller: Caller | undefined
  /** What the vendor asked for with a throttle, where it said so. */
  readonly retryAfterMs?: number | undefined
  /** It was met for another model of the channel, and holds for all of them. */
  readonly isSpread?: boolean
  /** Its first event had been told by `answered`; only its end is news then. */
  readonly wasAnswered?: boolean
  /** Monotonic; what began before the last change of mode says nothing about the present one. */
  readonly beganAt?: number | undefined
}

export type HealthEvent =
  /** An attempt of real traffic was begun; the single place of a channel that is off is taken by it. */
  | { readonly kind: 'begun' }
  | ({ readonly kind: 'ended' } & AttemptResult)
  /** The first event of a stream, or a whole answer, has come. */
  | ({ readonly kind: 'answered'; readonly beganAt?: number } & LatencySample)
  /** An attempt has waited longer than usual and waits on. */
  | { readonly kind: 'overdue' }
  /** Requests wait, and nothing has been heard for long. */
  | { readonly kind: 'unanswered' }
  /** A failure counted before was the request's own after all: it failed elsewhere too. */
  | { readonly kind: 'retracted'; readonly keyId: string }
  /** Another node, or another model of this channel, has reason to think the channel is down. */
  | { readonly kind: 'warned' }
  /** The answer to a `compare`. */
  | { readonly kind: 'compared'; readonly comparison: 'better' | 'worse' | 'waiting' }
  /** Time has passed: a hold may be over, and a probe may be due. */
  | { readonly kind: 'wake' }
  /** An operator wants to know now whether it works again: end the hold. */
  | { readonly kind: 'asked' }
  /** The reason for an off of cause `config` is gone elsewhere on this channel: end the hold. */
  | { readonly kind: 'released' }
  /** What had switched off all models of the channel was one request's own: it never was true. */
  | { readonly kind: 'refuted' }

export type HealthEffect =
  | {
      readonly kind: 'changed'
      readonly from: ShownMode
      readonly to: ShownMode
      readonly why: string
    }
  /** The operator has to act. */
  | { readonly kind: 'alert'; readonly why: string }
  /** So many real requests made by the gateway itself would settle what the channel is worth. */
  | { readonly kind: 'probe'; readonly count: number }
  /** It is slow: is there another channel for this model that is better? */
  | { readonly kind: 'compare' }

/** What the book leaves to others to do; it compares channels itself. */
export type PlacedEffect = Exclude<HealthEffect, { kind: 'compare' }>

export interface Step {
  readonly state: HealthState
  readonly effects: readonly HealthEffect[]
}

export interface Moment {
  readonly now: number
  readonly random: Random
}

const noEffects: readonly HealthEffect[] = []

export function unchanged(state: HealthState): Step {
  return { state, effects: noEffects }
}

export function isInUse(state: HealthState): boolean {
  return state.mode === 'on' || state.mode === 'ramp'
}

export function isStale(state: HealthState, result: AttemptResult): boolean {
  return result.beganAt !== undefined && result.beganAt < state.validFrom
}

export function takePlace(state: HealthState, now: number): HealthState {
  return isInUse(state) ? state : { ...state, tryingUntil: now + trialLostAfterMs }
}

export function leavePlace(state: HealthState): HealthState {
  return isInUse(state) || state.tryingUntil === 0 ? state : { ...state, tryingUntil: 0 }
}

export function withProbe(state: HealthState, at: number): HealthState {
  const probeAt = state.probeAt === undefined ? at : Math.min(state.probeAt, at)
  return probeAt === state.probeAt ? state : { ...state, probeAt }
}

export function jittered(durationMs: number, random: Random): number {
  return durationMs * (1 + jitterShare * (2 * random() - 1))
}

export const noFailures: HealthState['unrefuted'] = []
