/**
 * The result of an exchange's attempts for the client: the answer that was committed to, a vendor's own error
 * as it came, or an error of ours. Pure. Invariant: no error passes that names the operator's account at the
 * vendor or shows the channel's credential.
 */
import { refuse, type Refusal } from '../base/errors.ts'
import type { Channel } from '../channels/channel.ts'
import { restMsOf } from '../channels/health/out-of-use.ts'
import { isPassing, outcomes } from '../channels/outcomes.ts'
import type { Lease } from '../channels/route.ts'
import type { VendorError } from '../formats/answer.ts'
import { readRetryAfterMs, retryAfterOf } from '../formats/rate-headers.ts'
import type { UpstreamHead } from '../http/client/upstream.ts'
import type { AttemptOutcome, VendorErrorOutcome } from './attempt-outcome.ts'
import type { AttemptNotes } from './stages.ts'

type Streaming = Extract<AttemptOutcome, { kind: 'streaming' }>
type Whole = Extract<AttemptOutcome, { kind: 'whole' }>

/** The answer for the client; no part of it has been written yet. */
export type Answered = Shown & {
  readonly notes: AttemptNotes
  /** Monotonic time by which the whole exchange must have ended. */
  readonly deadlineMs: number
}

export type Shown =
  | (Streaming & { readonly lease: Lease })
  | (Whole & { readonly channel: Channel })
  | ShownError
  | {
      readonly kind: 'client_left'
      /** The vendor still worked on it there. */
      readonly channel: Channel | undefined
    }

type ShownError = PassedError | { readonly kind: 'own_error'; readonly refusal: Refusal }

/** A vendor's own error. */
interface PassedError {
  readonly kind: 'passed_error'
  readonly channel: Channel
  readonly head: UpstreamHead
  readonly status: number
  readonly error: VendorError
  /** As it came; of an event its envelope, which becomes the body it should have been. */
  readonly body: Buffer
  readonly isEvent: boolean
  readonly isClientFault: boolean
}

/** An attempt with an outcome. */
export interface EndedAttempt {
  readonly lease: Lease
  readonly outcome: AttemptOutcome
}

/** `nowMs` is wall time, for the waits that vendors state as dates. */
export function committed({ outcome, lease }: EndedAttempt, nowMs: number): Shown {
  if (outcome.kind === 'streaming') return { ...outcome, lease }
  if (outcome.kind === 'whole') return { ...outcome, channel: lease.channel }
  if (outcome.kind === 'vendor_error') return passError(outcome, lease.channel, nowMs)
  return ownError('relay.upstream_failed')
}

function passError(outcome: VendorErrorOutcome, channel: Channel, nowMs: number): ShownError {
  const { head, body } = outcome
  if (head.status < 300) return passEvent(outcome, channel, nowMs)
  // A redirect does not answer the request. A refusal of the operator's credential may come as a page
  // of a proxy in front of the vendor. For both the client gets an error of ours.
  if (head.status < 400 || accountStatuses.has(head.status))
    return ownError('relay.upstream_failed')
  const isClientFault = isFaultOfClient(outcome)
  const isPrivate = outcome.showsSecret || (!isClientFault && outcome.namesAccount)
  if (body === undefined || isPrivate) return inPlaceOf(outcome, nowMs)
  return passed(outcome, channel, { body: body.bytes, isEvent: false, isClientFault })
}

/** Passes on an error that came as the first event of a 200 stream where the client caused it. */
function passEvent(outcome: VendorErrorOutcome, channel: Channel, nowMs: number): ShownError {
  const { body, error } = outcome
  const isPrivate = outcome.showsSecret || outcome.namesAccount
  if (!isFaultOfClient(outcome) || isPrivate) return inPlaceOf(outcome, nowMs)
  if (body !== undefined)
    return passed(outcome, channel, { body: body.bytes, isEvent: true, isClientFault: true })
  return { kind: 'own_error', refusal: refuse('relay.request_invalid', error.message ?? '') }
}

function passed(
  { head, status, error }: VendorErrorOutcome,
  channel: Channel,
  shown: Pick<PassedError, 'body' | 'isEvent' | 'isClientFault'>,
): PassedError {
  return { kind: 'passed_error', channel, head, status, error, ...shown }
}

/** An error of ours for a vendor's that cannot be shown; how long to wait is the vendor's word. */
function inPlaceOf({ head, status }: VendorErrorOutcome, nowMs: number): ShownError {
  const restMs = restMsOf(readRetryAfterMs(head, nowMs))
  return ownError(codeOfStatus(status), { retryAfter: retryAfterOf(restMs) })
}

function isFaultOfClient({ class: name }: VendorErrorOutcome): boolean {
  return outcomes[name].health === 'client'
}

const accountStatuses: ReadonlySet<number> = new Set([401, 402, 403])

function codeOfStatus(status: number): OwnErrorCode {
  if (status === 429) return 'relay.upstream_throttled'
  return status === 503 || status === 529 ? 'relay.overloaded' : 'relay.upstream_failed'
}

/**
 * Chooses what to show when no channel is left: the failure that says most. A vendor's own 429 or 5xx
 * passes as it came; an error that names the operator's account, or no answer at all, becomes ours.
 */
export function giveUp(failed: readonly EndedAttempt[], nowMs: number): ShownError {
  let best: EndedAttempt | undefined
  for (const candidate of failed)
    if (best === undefined || weightOf(candidate) >= weightOf(best)) best = candidate
  if (best === undefined) return ownError('relay.no_channel_available')
  const { outcome, lease } = best
  if (outcome.class === 'shortage') return { kind: 'own_error', refusal: noConnection }
  const isLasting = !failed.some((one) => isPassing(one.outcome.class))
  if (outcome.kind !== 'vendor_error') return ownError(outcomes[outcome.class].shows, { isLasting })
  const { shows } = outcomes[outcome.class]
  if (shows === 'vendor_error') return passError(outcome, lease.channel, nowMs)
  const code = accountStatuses.has(outcome.status) ? 'relay.upstream_failed' : shows
  return ownError(code, { isLasting })
}

/** Says that no channel could be tried, of all that the model has. */
export function noChannel(channels: readonly Channel[]): ShownError {
  const isLasting = channels.every(({ override }) => override === 'disabled')
  return ownError('relay.no_channel_available', { isLasting })
}

function weightOf({ outcome }: EndedAttempt): number {
  return outcomes[outcome.class].weight
}

const ownMessages = {
  'relay.upstream_failed': 'The vendor could not be reached or gave no usable answer. Try again.',
  'relay.upstream_timeout': 'The vendor did not answer in time. Try again.',
  'relay.upstream_throttled': 'The vendor accepts no more requests right now. Try again shortly.',
  'relay.answer_too_large':
    'The answer is larger than this gateway passes on. Ask for less, such as fewer texts or base64.',
  'relay.overloaded': 'The vendor is overloaded right now. Try again shortly.',
  'relay.no_channel_available': 'No channel serves this model right now. Try again shortly.',
  'relay.model_unknown': 'The vendor does not serve this model right now.',
  'relay.not_offered': 'The vendor of this model does not offer this endpoint.',
  'relay.shutting_down': 'This gateway stopped before there was an answer. Try again.',
} as const

type OwnErrorCode = keyof typeof ownMessages

/** Where a retry cannot help before the operator has acted. */
const lastingMessages: Readonly<Partial<Record<OwnErrorCode, string>>> = {
  'relay.upstream_failed':
    'No channel of this model works until the operator of this gateway acts. Tell the operator.',
  'relay.no_channel_available':
    'No channel serves this model until the operator of this gateway adds or enables one. Tell the operator.',
}

const briefSeconds = '5'
const noConnection = refuse(
  'relay.overloaded',
  'This gateway can open no more connections to vendors right now. Try again shortly.',
  { 'retry-after': briefSeconds },
)
const hasRetryAfter: ReadonlySet<OwnErrorCode> = new Set([
  'relay.upstream_throttled',
  'relay.overloaded',
  'relay.no_channel_available',
  'relay.shutting_down',
])

interface Prospect {
  readonly retryAfter?: string
  readonly isLasting?: boolean
}

function ownError(
  code: OwnErrorCode,
  { retryAfter = briefSeconds, isLasting = false }: Prospect = {},
): ShownError {
  const lasting = isLasting ? lastingMessages[code] : undefined
  const refusal =
    lasting === undefined
      ? refuse(code, ownMessages[code], headersOf(code, retryAfter))
      : refuse(code, lasting)
  return { kind: 'own_error', refusal }
}

function headersOf(code: OwnErrorCode, retryAfter: string): Record<string, string> | undefined {
  // The same answer would be made, and billed, once more.
  if (code === 'relay.answer_too_large') return { 'x-should-retry': 'false' }
  return hasRetryAfter.has(code) ? { 'retry-after': retryAfter } : undefined
}
