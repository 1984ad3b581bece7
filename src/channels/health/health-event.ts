/**
 * The events and effects of the health machine, and the types that its rules share. It has no rule;
 * the rules are the table in `rules.ts`.
 */
import type { Random } from '../../base/random.ts'
import type { Caller, Form } from './evidence.ts'
import type { HealthState, ShownMode } from './health-state.ts'
import type { LatencySample } from './latency.ts'

export type { Form }

export type Blamed = 'channel' | 'client' | 'none'

interface OutcomeFacts {
  /** Whom it blames; null where nothing failed. */
  readonly blames: Blamed | null
  /** What health learns of it, for docs/architecture.md. */
  readonly learns: string
  /** The rows of the table of rules, for an attempt of traffic and for a probe. */
  readonly traffic: string
  readonly probe: string
}

const silent = {
  learns: 'nothing',
  traffic: 'blameless',
  probe: 'probeUndecided',
} as const
const refusal = {
  blames: 'channel',
  learns: 'off at once, an event',
  traffic: 'refused',
  probe: 'probeRefused',
} as const
const failure = {
  blames: 'channel',
  learns: 'a failure',
  traffic: 'failed',
  probe: 'probeFailed',
} as const

/** How an attempt ended, as far as the channel is concerned. */
export const outcomeFacts = {
  /** A complete answer. */
  ok: {
    blames: null,
    learns: 'a success, once complete',
    traffic: 'ok',
    probe: 'probePassed',
  },
  /** The request was at fault, or the client left: says nothing about the channel. */
  client: { ...silent, blames: 'client' },
  /** The gateway ended it or could not send it, or the connection had gone stale: says nothing either. */
  nobody: { ...silent, blames: 'none' },
  /** The channel has no rate or capacity left for now. */
  throttle: {
    blames: 'none',
    learns: 'a rest, no failure',
    traffic: 'throttled',
    probe: 'probeUndecided',
  },
  /** The vendor refuses the credential or the account. */
  config: refusal,
  /** The certificate of the vendor is over. */
  certificate_expired: refusal,
  /** The certificate of the vendor is not to be trusted for another reason. */
  certificate_refused: refusal,
  /** The name of the channel's address leads where it must not. */
  address_refused: refusal,
  /** The operator's credit or spend limit at the vendor is used up. */
  no_credit: refusal,
  /** The vendor does not know the model. */
  model_missing: { ...refusal, learns: 'off for this model' },
  /** It failed before the first event. */
  hard: failure,
  /** It failed after the first event. */
  broken: failure,
  /** The exchange failed on two channels, so the request itself may be the cause. */
  suspect: { ...failure, traffic: 'suspect', probe: 'suspect' },
} as const satisfies Readonly<Record<string, OutcomeFacts>>

export type Outcome = keyof typeof outcomeFacts

/** Returns whether the outcome is a refusal that is true for all models of the channel. */
export function isChannelRefusal(outcome: Outcome): boolean {
  return outcomeFacts[outcome].traffic === 'refused' && outcome !== 'model_missing'
}

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

export interface FirstEvent {
  /** The first event of a stream, or a whole answer, has arrived. */
  readonly kind: 'answered'
  readonly form: Form
  readonly beganAt: number
  /** Absent where the head has given it. */
  readonly sample?: LatencySample | undefined
}

export interface Headed {
  /** The head of a stream has arrived whose first event may take long. */
  readonly kind: 'headed'
  readonly sample: LatencySample
}

export interface Compared {
  /** The result of a `compare` effect. */
  readonly kind: 'compared'
  readonly comparison: 'better' | 'worse' | 'waiting'
}

export type HealthEvent =
  | AttemptResult
  | FirstEvent
  | Headed
  | Compared
  /** An attempt of traffic has started. */
  | { readonly kind: 'begun' }
  /** An attempt has waited for its first event longer than usual. */
  | { readonly kind: 'overdue' }
  /** Requests of this form wait, and nothing has arrived for a long time. */
  | { readonly kind: 'silent'; readonly form: Form }
  /** Five requests of this form wait beyond a learned limit at once. */
  | { readonly kind: 'hanging'; readonly form: Form }
  /** The exchange of an earlier failure has failed on another channel too, or taken as long there. */
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
