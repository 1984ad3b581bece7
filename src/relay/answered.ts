/**
 * What the client is to be shown of an exchange's attempts: the answer that was committed to, a
 * vendor's own error as it came, or an error of ours. Pure. The invariant: nothing that speaks of the
 * operator's account at the vendor passes.
 */
import { refuse, type Refusal } from '../base/errors.ts'
import type { Channel } from '../channels/channel.ts'
import type { OpenAttempt } from '../channels/health-place.ts'
import type { UpstreamHead } from '../channels/upstream.ts'
import { namesVendorAccount } from '../formats/vendor-error.ts'
import type { AttemptOutcome, BrokenCause } from './attempt-outcome.ts'
import type { AttemptNotes } from './stages.ts'

type Streaming = Extract<AttemptOutcome, { kind: 'streaming' }>
export type Whole = Extract<AttemptOutcome, { kind: 'whole' }>

/** What the client is to be shown, with nothing shown yet. */
export type Answered = { readonly notes: AttemptNotes; readonly deadlineMs: number } & (
  | (Streaming & { readonly channel: Channel; readonly attempt: OpenAttempt })
  | (Whole & { readonly channel: Channel })
  | {
      /** A vendor's own error that the client is to see as it came. */
      readonly kind: 'passed_error'
      readonly channel: Channel
      readonly head: UpstreamHead
      readonly body: Buffer
      readonly isClientFault: boolean
    }
  | {
      /** An error event of the vendor's that came first, to be the answer it should have been. */
      readonly kind: 'passed_event'
      readonly channel: Channel
      readonly head: UpstreamHead
      readonly status: number
      readonly envelope: Buffer
    }
  | { readonly kind: 'own_error'; readonly refusal: Refusal }
  | { readonly kind: 'client_left' }
)

type Shown<Kind extends Answered['kind']> = Omit<
  Extract<Answered, { kind: Kind }>,
  'notes' | 'deadlineMs'
>

type ShownError = Shown<'passed_error'> | Shown<'passed_event'> | Shown<'own_error'>
type VendorErrorOutcome = Extract<AttemptOutcome, { kind: 'vendor_error' }>

export function committed(
  outcome: AttemptOutcome,
  attempt: OpenAttempt,
): Shown<'streaming'> | Shown<'whole'> | ShownError {
  const { channel } = attempt
  if (outcome.kind === 'streaming') return { ...outcome, channel, attempt }
  if (outcome.kind === 'whole') return { ...outcome, channel }
  if (outcome.kind === 'vendor_error') return passError(outcome, channel)
  return ownError('relay.upstream_failed')
}

function passError(outcome: VendorErrorOutcome, channel: Channel): ShownError {
  const { head, body } = outcome
  if (head.status < 300) return passEvent(outcome, channel)
  // What is no answer to the request, and a refusal of the operator's credential, are ours to tell:
  // the latter may come as a page of whatever stands in front of the vendor.
  if (head.status < 400 || accountStatuses.has(head.status))
    return ownError('relay.upstream_failed')
  const isClientFault = isFaultOfClient(outcome)
  if (
    body === undefined ||
    (!isClientFault && namesVendorAccount(body.readable.toString('latin1')))
  )
    return ownError(codeOfStatus(head.status))
  return { kind: 'passed_error', channel, head, body: body.bytes, isClientFault }
}

/** An error that came as the first event of a 200 stream: shown where the client can mend it. */
function passEvent(outcome: VendorErrorOutcome, channel: Channel): ShownError {
  const { head, status, error } = outcome
  const envelope = outcome.body?.bytes
  const message = error.message ?? ''
  const isTelling =
    namesVendorAccount(message) || namesVendorAccount(envelope?.toString('latin1') ?? '')
  if (!isFaultOfClient(outcome) || isTelling) return ownError(codeOfStatus(status))
  if (envelope !== undefined) return { kind: 'passed_event', channel, head, status, envelope }
  return { kind: 'own_error', refusal: refuse('relay.request_invalid', message) }
}

function isFaultOfClient({ fault }: VendorErrorOutcome): boolean {
  return fault === 'client' || fault === 'conflict'
}

const accountStatuses: ReadonlySet<number> = new Set([401, 402, 403])

function codeOfStatus(status: number): OwnErrorCode {
  if (status === 429) return 'relay.upstream_throttled'
  return status === 503 || status === 529 ? 'relay.overloaded' : 'relay.upstream_failed'
}

export interface FailedAttempt {
  readonly channel: Channel
  readonly outcome: AttemptOutcome
}

/**
 * No channel is left: the most telling failure is shown. A vendor's own 429 or 5xx passes as it
 * came; what speaks of the operator's account, and what has no answer at all, becomes ours.
 */
export function giveUp(failed: readonly FailedAttempt[]): ShownError {
  let best: FailedAttempt | undefined
  for (const candidate of failed) {
    if (best === undefined || telling(candidate.outcome) >= telling(best.outcome)) best = candidate
  }
  if (best === undefined) return ownError('relay.no_channel_available')
  const { outcome, channel } = best
  if (outcome.kind === 'broken') return ownError(brokenCode[outcome.cause])
  if (outcome.kind !== 'vendor_error') return ownError('relay.upstream_failed')
  if (outcome.fault === 'not_offered') return ownError('relay.not_offered')
  if (outcome.fault === 'model_missing')
    return ownError(
      accountStatuses.has(outcome.status) ? 'relay.upstream_failed' : 'relay.model_unknown',
    )
  if (outcome.fault === 'config') return ownError('relay.upstream_failed')
  return passError(outcome, channel)
}

/** How much a failure tells a client about what to do: throttling most, a broken connection least. */
function telling(outcome: AttemptOutcome): number {
  if (outcome.kind !== 'vendor_error') return 0
  switch (outcome.fault) {
    case 'throttle':
      return 4
    case 'lone_500':
    case 'hard':
      return 3
    case 'model_missing':
    case 'not_offered':
      return 2
    case 'config':
    case 'client':
    case 'conflict':
      return 1
  }
}

type OwnErrorCode =
  | 'relay.upstream_failed'
  | 'relay.upstream_timeout'
  | 'relay.upstream_throttled'
  | 'relay.overloaded'
  | 'relay.no_channel_available'
  | 'relay.model_unknown'
  | 'relay.not_offered'
  | 'relay.shutting_down'

const brokenCode: Readonly<Record<BrokenCause, OwnErrorCode>> = {
  connect: 'relay.upstream_failed',
  tls: 'relay.upstream_failed',
  reset: 'relay.upstream_failed',
  protocol: 'relay.upstream_failed',
  not_the_format: 'relay.upstream_failed',
  timeout: 'relay.upstream_timeout',
  deadline: 'relay.upstream_timeout',
  shutdown: 'relay.shutting_down',
}

const ownMessages: Readonly<Record<OwnErrorCode, string>> = {
  'relay.upstream_failed': 'The vendor could not be reached or gave no usable answer. Try again.',
  'relay.upstream_timeout': 'The vendor did not answer in time. Try again.',
  'relay.upstream_throttled': 'The vendor takes no more requests right now. Try again shortly.',
  'relay.overloaded': 'The vendor is overloaded right now. Try again shortly.',
  'relay.no_channel_available': 'No channel serves this model right now. Try again shortly.',
  'relay.model_unknown': 'The vendor does not serve this model right now.',
  'relay.not_offered': 'The vendor of this model does not count tokens.',
  'relay.shutting_down': 'This gateway had to stop before there was an answer. Try again.',
}

const briefRetry = { 'retry-after': '5' }
const hasBriefRetry: ReadonlySet<OwnErrorCode> = new Set([
  'relay.upstream_throttled',
  'relay.overloaded',
  'relay.no_channel_available',
  'relay.shutting_down',
])

function ownError(code: OwnErrorCode): Shown<'own_error'> {
  const headers = hasBriefRetry.has(code) ? briefRetry : undefined
  return { kind: 'own_error', refusal: refuse(code, ownMessages[code], headers) }
}
