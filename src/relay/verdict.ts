/**
 * What an attempt's outcome means: what to do next and whom to blame. Two independent facts; only
 * the second moves a channel's health. Pure, and the only place where this is decided.
 *
 *     outcome                         next                        blame
 *     stream begun, whole answer      commit                      –
 *     the request's own fault         commit (as it came)         client
 *     throttled, overloaded           failover                    nobody: the channel rests
 *     credential, account, mapping,
 *     certificate                     failover                    channel, at once
 *     500                             once again where no other
 *                                     is fit to serve, else
 *                                     failover                    channel
 *     408, 409                        once again, else commit     nobody
 *     any other vendor failure        failover                    channel
 *     kept-alive connection died
 *     before a byte of the answer     once again                  nobody
 *     connection lost, time limit     failover                    channel
 *     the exchange's deadline, or
 *     the gateway is going down       give_up                     nobody
 *     client left                     abandon                     nobody
 *
 * Asking to count tokens is another thing than asking for an answer: some vendors do not offer it,
 * others give it limits of its own. What comes of it says nothing of the channel, but for what holds
 * whatever is asked: that nobody can be reached there, or that the credential is not accepted.
 *
 *     the vendor does not count       failover                    nobody
 */
import type { Outcome } from '../channels/health-event.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'

export type Next = 'commit' | 'failover' | 'retry_same' | 'give_up' | 'abandon'

export interface Verdict {
  readonly next: Next
  /** What health is told now; undefined while a committed stream is still running. */
  readonly blame: Outcome | undefined
  /** The vendor may have billed the operator for it although nothing was delivered. */
  readonly mayHaveCost: boolean
}

export interface VerdictContext {
  /** The exchange asks for no answer, only to count. */
  readonly isCounting: boolean
  /** Another channel is fit to serve this exchange. Asked only where the answer matters. */
  readonly hasAlternative: () => boolean
  /** The channel may be asked again: a dead one is not to see everything twice. */
  readonly mayRepeat: () => boolean
  /** This channel has been repeated already in this exchange. */
  readonly hasRepeated: boolean
}

export function judge(outcome: AttemptOutcome, context: VerdictContext): Verdict {
  const judged = judgeAnswer(outcome, context)
  if (!context.isCounting || judged.blame === undefined || isBeyondCounting(outcome)) return judged
  return { ...judged, blame: 'nobody' }
}

function isBeyondCounting(outcome: AttemptOutcome): boolean {
  if (outcome.kind === 'broken') return outcome.cause === 'connect' || outcome.cause === 'tls'
  return outcome.kind === 'vendor_error' && outcome.status === 401
}

function judgeAnswer(outcome: AttemptOutcome, context: VerdictContext): Verdict {
  switch (outcome.kind) {
    case 'streaming':
      return verdict('commit', undefined)
    case 'whole':
      return verdict('commit', 'ok')
    case 'client_left':
      return { next: 'abandon', blame: 'client', mayHaveCost: true }
    case 'broken':
      return judgeBroken(outcome, context)
    case 'vendor_error':
      return judgeVendorError(outcome, context)
  }
}

function judgeBroken(
  outcome: Extract<AttemptOutcome, { kind: 'broken' }>,
  context: VerdictContext,
): Verdict {
  // A kept-alive connection that the vendor had closed meanwhile says nothing about the vendor.
  if (outcome.isStale && !context.hasRepeated) return verdict('retry_same', 'nobody')
  // The channel was within its own limits; it was the gateway that would not wait longer.
  if (outcome.cause === 'deadline' || outcome.cause === 'shutdown')
    return { next: 'give_up', blame: 'nobody', mayHaveCost: true }
  // A certificate that cannot be trusted mends itself no sooner than a refused credential.
  if (outcome.cause === 'tls') return verdict('failover', 'config')
  const mayHaveCost = outcome.cause !== 'connect' && !outcome.isUnsent
  return { next: 'failover', blame: 'hard', mayHaveCost }
}

function judgeVendorError(
  outcome: Extract<AttemptOutcome, { kind: 'vendor_error' }>,
  context: VerdictContext,
): Verdict {
  switch (outcome.fault) {
    case 'client':
      return verdict('commit', 'client')
    case 'throttle':
      return verdict('failover', 'throttle')
    case 'config':
      return verdict('failover', 'config')
    case 'model_missing':
      return verdict('failover', 'model_missing')
    case 'not_offered':
      return verdict('failover', 'nobody')
    case 'lone_500':
      return verdict(isWorthRepeating(context) ? 'retry_same' : 'failover', 'hard')
    case 'conflict':
      return context.hasRepeated ? verdict('commit', 'client') : verdict('retry_same', 'client')
    case 'hard':
      return verdict('failover', 'hard')
  }
}

function isWorthRepeating({ hasRepeated, hasAlternative, mayRepeat }: VerdictContext): boolean {
  return !hasRepeated && !hasAlternative() && mayRepeat()
}

function verdict(next: Next, blame: Outcome | undefined): Verdict {
  return { next, blame, mayHaveCost: false }
}
