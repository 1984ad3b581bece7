/**
 * The events and effects of the health machine, and the types that its rules share. It has no rule;
 * the rules are the table in `rules.ts`.
 */
import type { Random } from '../../base/random.ts'
import type { Caller, Form } from './evidence.ts'
import type { HealthState, ShownMode } from './health-state.ts'
import type { LatencySample } from './latency.ts'

export type { Form }

/**
 * How an attempt ended, as far as the channel is concerned.
 *
 *  - `ok`: a complete answer
 *  - `client`: the request was at fault, or the client left: says nothing about the channel
 *  - `nobody`: the gateway ended it, or the connection had gone stale: says nothing either
 *  - `throttle`: the channel has no rate or capacity left for now
 *  - `config`: the vendor refuses the credential, the account or the address
 *  - `no_credit`: the operator's credit or spend limit at the vendor is used up
 *  - `model_missing`: the vendor does not know the model
 *  - `hard`: failed before the first event; `broken`: failed after it
 *  - `suspect`: the exchange failed on two channels, so the request itself may be the cause
 */
export type Outcome =
  | 'ok'
  | 'client'
  | 'nobody'
  | 'throttle'
  | 'config'
  | 'no_credit'
  | 'model_missing'
  | 'hard'
  | 'broken'
  | 'suspect'

export interface AttemptResult {
  readonly kind: 'ended'
  readonly outcome: Outcome
  /** Whether a stream or a whole answer was requested. */
  readonly form: Form
  /** Undefined for a probe. */
  readonly caller: Caller | undefined
  /** Monotonic. */
  readonly beganAt: number
  /** The wait that the vendor requested with a throttle. */
  readonly retryAfterMs?: number | undefined
  /** Its first event has arrived before, as a separate event. */
  readonly wasAnswered?: boolean
  /** It happened on another model of the channel and is true for all of them. */
  readonly isSpread?: boolean
}

export interface FirstEvent extends LatencySample {
  /** The first event of a stream, or a whole answer, has arrived. */
  readonly kind: 'answered'
  readonly form: Form
  readonly beganAt: number
}

export interface Outlasted extends LatencySample {
  /** A failure was a time limit that another channel then outlasted; the sample is that channel's. */
  readonly kind: 'outlasted'
  readonly form: Form
  readonly keyId: string
}

export interface Compared {
  /** The result of a `compare` effect. */
  readonly kind: 'compared'
  readonly comparison: 'better' | 'worse' | 'waiting'
}

export type HealthEvent =
  | AttemptResult
  | FirstEvent
  | Outlasted
  | Compared
  /** An attempt of traffic has started. */
  | { readonly kind: 'begun' }
  /** An attempt has waited for its first event longer than usual. */
  | { readonly kind: 'overdue' }
  /** Requests of this form wait, and nothing has arrived for a long time. */
  | { readonly kind: 'silent'; readonly form: Form }
  /** The exchange of an earlier failure has failed on another channel too. */
  | { readonly kind: 'retracted'; readonly form: Form; readonly keyId: string }
  /** Another node, or another model of this channel, has switched off. */
  | { readonly kind: 'warned' }
  /** Time has passed. */
  | { readonly kind: 'wake' }
  /** An operator requests a check now. */
  | { readonly kind: 'asked' }
  /** Another model of the channel has shown that the credential works again. */
  | { readonly kind: 'released' }
  /** A probe on another model of the channel has refuted the refusal. */
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
  /** Send this many probes of this form. */
  | { readonly kind: 'probe'; readonly count: number; readonly form: Form }
  /** The channel is slow: compare it with the other channels of the model. */
  | { readonly kind: 'compare' }

/** The effects that leave the health book; it makes comparisons itself. */
export type PlacedEffect = Exclude<HealthEffect, { kind: 'compare' }>

export interface Step {
  readonly state: HealthState
  readonly effects: readonly HealthEffect[]
}

export interface Moment {
  /** Monotonic milliseconds. */
  readonly now: number
  readonly random: Random
}

const noEffects: readonly HealthEffect[] = []

export function unchanged(state: HealthState): Step {
  return { state, effects: noEffects }
}
