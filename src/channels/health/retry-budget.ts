/**
 * How many failovers a channel still accepts: a token bucket that failures empty and successes fill.
 * Pure. A dead main route can hand over its whole traffic at once, and a reserve that fails too is not
 * flooded.
 *
 * Each account has its own small bucket, which its failures empty first. The channel's bucket pays
 * only while several accounts fail there, so one account whose requests fail everywhere loses its own
 * failovers and no others.
 */
import { outcomeFacts, type Outcome } from './health-event.ts'
import { failingCallersMin, waitMaxMs } from './timing.ts'

interface Bucket {
  readonly count: number
  /** Monotonic time to which the refill is counted. */
  readonly at: number
}

export interface RetryBudget extends Bucket {
  /** Size of the bucket; failover is allowed above half of it. */
  readonly max: number
  /** Buckets of accounts that failed lately and have not had enough successes since, latest last. */
  readonly accounts: ReadonlyMap<string, Bucket>
}

const perSuccess = 0.1
/**
 * One token in five seconds: without it a channel that serves only as a reserve would get no request
 * with which it could prove that it works again.
 */
const refillPerMs = 0.2 / 1_000

/** Size of an account's bucket: eight beside a channel's hundred. */
const accountShare = 0.08
const accountsMax = 256

export function fullBudget(max: number): RetryBudget {
  return { count: max, max, at: 0, accounts: new Map() }
}

export function mayFailOverInto(budget: RetryBudget, accountId: string, now: number): boolean {
  return countAt(budget, now) > budget.max / 2 && !hasSpentOwn(budget, accountId, now)
}

/** Whether the account's own requests have failed there so often that it has no tokens left. */
export function hasSpentOwn(budget: RetryBudget, accountId: string, now: number): boolean {
  const own = budget.accounts.get(accountId)
  return own !== undefined && ownCountAt(own, budget, now) < 1
}

/** `accountId` is undefined for a probe. */
export function spendBudget(
  budget: RetryBudget,
  { outcome, accountId }: { readonly outcome: Outcome; readonly accountId: string | undefined },
  now: number,
): RetryBudget {
  const change = changeOf(outcome)
  if (change === 0) return budget
  const accounts =
    accountId === undefined ? budget.accounts : changeOwn(budget, { accountId, change, now })
  const isShared = change > 0 || accountId === undefined || accounts.size >= failingCallersMin
  const after = isShared ? changeCount(budget, change, now) : budget
  return accounts === budget.accounts ? after : { ...after, accounts }
}

function changeCount(budget: RetryBudget, change: number, now: number): RetryBudget {
  const { max } = budget
  if (change > 0 && budget.count >= max) return budget
  const count = Math.min(max, Math.max(0, countAt(budget, now) + change))
  return { ...budget, count, at: now }
}

/** Time refills it only to just above the threshold; only successes fill it further. */
function countAt({ count, max, at }: RetryBudget, now: number): number {
  const refilledMax = max / 2 + 1
  return count >= refilledMax ? count : Math.min(refilledMax, count + (now - at) * refillPerMs)
}

function ownMax({ max }: RetryBudget): number {
  return Math.max(1, Math.round(max * accountShare))
}

function ownCountAt({ count, at }: Bucket, budget: RetryBudget, now: number): number {
  return Math.min(ownMax(budget), count + (now - at) * refillPerMs)
}

/** Changes one account's bucket and forgets those that have not changed for a long time. */
function changeOwn(
  budget: RetryBudget,
  { accountId, change, now }: { readonly accountId: string; change: number; now: number },
): ReadonlyMap<string, Bucket> {
  const own = budget.accounts.get(accountId)
  if (own === undefined && change > 0) return budget.accounts
  const changed = new Map<string, Bucket>()
  for (const [id, bucket] of budget.accounts)
    if (id !== accountId && now - bucket.at < waitMaxMs) changed.set(id, bucket)
  const before = own === undefined ? ownMax(budget) : ownCountAt(own, budget, now)
  // A success says more about the account's own requests than about the channel.
  const count = Math.max(0, before + (change > 0 ? 1 : change))
  if (count < ownMax(budget)) changed.set(accountId, { count, at: now })
  const [oldest] = changed.keys()
  if (changed.size > accountsMax && oldest !== undefined) changed.delete(oldest)
  return changed
}

function changeOf(outcome: Outcome): number {
  if (outcome === 'ok') return perSuccess
  return outcomeFacts[outcome].blames === 'channel' ? -1 : 0
}
