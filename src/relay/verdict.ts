/**
 * The verdict on an attempt's outcome: what to do next, and who is to blame. The two are independent;
 * only the blame changes a channel's health. Pure. `channels/outcomes.ts` has the table; this file has the
 * conditions under which a row holds.
 */
import type { Outcome } from '../channels/health/health-event.ts'
import { healthOf, outcomes } from '../channels/outcomes.ts'
import { statusOf, type AttemptOutcome } from './attempt-outcome.ts'

type Next =
  | 'commit'
  | 'failover'
  | 'other_model'
  | 'retry_same'
  | 'retry_plain'
  | 'give_up'
  | 'abandon'

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
  hasAlternative(): boolean
  /** Whether another channel is fit to serve whose vendor-side model differs, and none was tried for that. */
  hasOtherModel(): boolean
  /** Whether failover tokens allow a retry: a dead channel must not get every request twice. */
  mayRepeat(): boolean
  /** The field that the gateway has added to the request of this attempt. */
  readonly addedField: string | undefined
  /** This channel has been repeated already in this exchange. */
  readonly hasRepeated: boolean
}

export function judge(outcome: AttemptOutcome, context: VerdictContext): Verdict {
  const isBroken = outcome.kind === 'broken'
  // The vendor had closed an idle kept-alive connection: that says nothing about the vendor.
  const isStale = isBroken && outcome.isStale && !context.hasRepeated
  const name = isStale ? 'stale' : outcome.class
  const { next, mayHaveCost } = outcomes[name]
  const { isFree } = context
  return {
    next: refusesAddition(outcome, context) ? 'retry_plain' : nextOf(next, context),
    blame:
      outcome.kind === 'streaming'
        ? undefined
        : healthOf(name, { isFree, status: statusOf(outcome) }),
    mayHaveCost: mayHaveCost && !(isBroken && outcome.isUnsent),
  }
}

/** A refusal names a field at its beginning; the rest quotes the client. */
const searchedBytesMax = 1_048_576

/** Some vendors refuse the whole request for it. The vendor may also quote the client. */
function refusesAddition(outcome: AttemptOutcome, { addedField }: VerdictContext): boolean {
  if (addedField === undefined || outcome.kind !== 'vendor_error') return false
  const isRefused = outcome.class === 'client' || outcome.class === 'model_dependent'
  const beginning = outcome.body?.readable.subarray(0, searchedBytesMax)
  return isRefused && beginning?.includes(addedField) === true
}

/** What follows from a row before the commit point. */
type Plan = (typeof outcomes)[AttemptOutcome['class'] | 'stale']['next']

function nextOf(plan: Plan, context: VerdictContext): Next {
  switch (plan) {
    case 'other_model':
      return context.hasOtherModel() ? 'other_model' : 'commit'
    case 'retry':
      return 'retry_same'
    case 'retry_or_commit':
      return context.hasRepeated ? 'commit' : 'retry_same'
    case 'retry_if_alone':
      return mayRetry(context) ? 'retry_same' : 'failover'
    case 'commit':
    case 'failover':
    case 'give_up':
    case 'abandon':
      return plan
  }
}

function mayRetry(context: VerdictContext): boolean {
  return !context.hasRepeated && !context.hasAlternative() && context.mayRepeat()
}
