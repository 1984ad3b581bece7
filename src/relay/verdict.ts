/**
 * The verdict on an attempt's outcome: what to do next, and who is to blame. The two are independent;
 * only the blame changes a channel's health. Pure, and the only place that decides this.
 *
 *     outcome                         next                        blame
 *     stream begun, whole answer      commit                      –
 *     the request's own fault         commit (as it came)         client
 *     context too long, a 404 that
 *     names no model                  one try with another
 *                                     vendor-side model,
 *                                     else commit                 client
 *     throttled, overloaded           failover                    none: the channel rests
 *     credential, account, credit,
 *     mapping, certificate            failover                    channel, at once
 *     500                             retry where no other
 *                                     channel is fit to serve,
 *                                     else failover               channel
 *     408, 409                        retry once, else commit     none
 *     any other vendor failure        failover                    channel
 *     kept-alive connection died
 *     before a byte of the answer     retry once                  none
 *     connection lost, time limit     failover                    channel
 *     an answer beyond what is kept   give_up                     none
 *     the exchange's deadline, or
 *     the gateway is shutting down    give_up                     none
 *     client left                     abandon                     none
 *
 * A free operation proves nothing about a channel's answers: some vendors do not offer
 * it, others limit it separately. Only two of its outcomes blame the channel: it cannot be reached,
 * or it refuses the credential.
 *
 *     operation not offered           failover                    none
 */
import type { Outcome } from '../channels/route.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'

type Next = 'commit' | 'failover' | 'other_model' | 'retry_same' | 'give_up' | 'abandon'

export interface Verdict {
  readonly next: Next
  /** Reported to the channel's health; undefined while a committed stream is still running. */
  readonly blame: Outcome | undefined
  /** The vendor may have billed the operator for it although nothing was delivered. */
  readonly mayHaveCost: boolean
}

export interface VerdictContext {
  /** The exchange has no hold: no model makes an answer for it. */
  readonly isFree: boolean
  /** Whether another channel is fit to serve this exchange. Called only where the verdict needs it. */
  readonly hasAlternative: () => boolean
  /** Whether another channel is fit to serve whose vendor-side model differs, and none was tried for that. */
  readonly hasOtherModel: () => boolean
  /** Whether failover tokens allow a retry: a dead channel must not get every request twice. */
  readonly mayRepeat: () => boolean
  /** This channel has been repeated already in this exchange. */
  readonly hasRepeated: boolean
}

export function judge(outcome: AttemptOutcome, context: VerdictContext): Verdict {
  const judged = judgeAnswer(outcome, context)
  if (!context.isFree || judged.blame === undefined || blamesForEveryOperation(outcome))
    return judged
  return { ...judged, blame: 'nobody' }
}

function blamesForEveryOperation(outcome: AttemptOutcome): boolean {
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
  // The vendor had closed an idle kept-alive connection: that says nothing about the vendor.
  if (outcome.isStale && !context.hasRepeated) return verdict('retry_same', 'nobody')
  // The channel was within its own limits; the gateway stopped waiting, or does not keep so much.
  if (outcome.cause === 'deadline' || outcome.cause === 'shutdown' || outcome.cause === 'too_large')
    return { next: 'give_up', blame: 'nobody', mayHaveCost: true }
  // A certificate that cannot be trusted lasts as long as a refused credential.
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
    case 'model_dependent':
      return verdict(context.hasOtherModel() ? 'other_model' : 'commit', 'client')
    case 'throttle':
      return verdict('failover', 'throttle')
    case 'config':
    case 'no_credit':
      return verdict('failover', outcome.fault)
    case 'model_missing':
      return verdict('failover', 'model_missing')
    case 'not_offered':
      return verdict('failover', 'nobody')
    case 'lone_500':
      return verdict(mayRetry(context) ? 'retry_same' : 'failover', 'hard')
    case 'conflict':
      return context.hasRepeated ? verdict('commit', 'client') : verdict('retry_same', 'client')
    case 'hard':
      return verdict('failover', 'hard')
  }
}

function mayRetry({ hasRepeated, hasAlternative, mayRepeat }: VerdictContext): boolean {
  return !hasRepeated && !hasAlternative() && mayRepeat()
}

function verdict(next: Next, blame: Outcome | undefined): Verdict {
  return { next, blame, mayHaveCost: false }
}
