/**
 * How much failing over into a channel is still allowed: a bucket per channel that failures empty
 * and successes fill. Pure. A dead main route can so hand over its whole traffic at once, and a
 * reserve that fails as well is not hammered with what others could not serve either.
 *
 * Each account has a small bucket of its own beside it, which its failures empty first. The channel's
 * is spent only while several accounts fail there: requests of one that break every channel close
 * the way for that one, and for nobody else.
 */
import type { Outcome } from './health-event.ts'

interface Bucket {
  readonly count: number
  /** Monotonic time to which the refill is counted. */
  readonly at: number
}

export interface Tokens extends Bucket {
  /** Of a full bucket; moving into the channel is allowed above half of it. */
  readonly max: number
  /** Of accounts that failed of late and have not had enough successes since, the latest last. */
  readonly accounts: ReadonlyMap<string, Bucket>
}

export const defaultTokensMax = 100
const perSuccess = 0.1
const perFailure = 1
/**
 * Without a refill a channel that only ever serves as a reserve could never show that it works
 * again, since nothing would be sent to it: one failover in five seconds finds out.
 */
const refillPerMs = 0.2 / 1_000

/** Of an account's own bucket: eight beside the usual hundred. */
const accountShare = 0.08
/** Fewer may be one client's doing, under names of its own. */
const failingAccountsMin = 3
const failedOfLateMs = 300_000
const accountsMax = 256

export function fullTokens(max: number): Tokens {
  return { count: max, max, at: 0, accounts: new Map() }
}

export function mayFailOverInto(tokens: Tokens, accountId: string, now: number): boolean {
  if (countAt(tokens, now) <= tokens.max / 2) return false
  const own = tokens.accounts.get(accountId)
  return own === undefined || ownCountAt(own, tokens, now) >= perFailure
}

/** `accountId` is undefined for a request of the gateway's own. */
export function spendTokens(
  tokens: Tokens,
  { outcome, accountId }: { readonly outcome: Outcome; readonly accountId: string | undefined },
  now: number,
): Tokens {
  const change = changeOf(outcome)
  if (change === 0) return tokens
  const accounts =
    accountId === undefined ? tokens.accounts : changeOwn(tokens, { accountId, change, now })
  const isShared = change > 0 || accountId === undefined || accounts.size >= failingAccountsMin
  const after = isShared ? changeCount(tokens, change, now) : tokens
  return accounts === tokens.accounts ? after : { ...after, accounts }
}

function changeCount(tokens: Tokens, change: number, now: number): Tokens {
  const { max } = tokens
  if (change > 0 && tokens.count >= max) return tokens
  const count = Math.min(max, Math.max(0, countAt(tokens, now) + change))
  return { ...tokens, count, at: now }
}

/** Refills no further than a little above the threshold: trust beyond that has to be earned. */
function countAt({ count, max, at }: Tokens, now: number): number {
  const refilledMax = max / 2 + perFailure
  return count >= refilledMax ? count : Math.min(refilledMax, count + (now - at) * refillPerMs)
}

function ownMax({ max }: Tokens): number {
  return Math.max(perFailure, Math.round(max * accountShare))
}

function ownCountAt({ count, at }: Bucket, tokens: Tokens, now: number): number {
  return Math.min(ownMax(tokens), count + (now - at) * refillPerMs)
}

/** The accounts' buckets with that of one changed; on the way, those long untouched are forgotten. */
function changeOwn(
  tokens: Tokens,
  { accountId, change, now }: { readonly accountId: string; change: number; now: number },
): ReadonlyMap<string, Bucket> {
  const own = tokens.accounts.get(accountId)
  if (own === undefined && change > 0) return tokens.accounts
  const changed = new Map<string, Bucket>()
  for (const [id, bucket] of tokens.accounts)
    if (id !== accountId && now - bucket.at < failedOfLateMs) changed.set(id, bucket)
  const before = own === undefined ? ownMax(tokens) : ownCountAt(own, tokens, now)
  // A success says more of an account's own requests than of the channel.
  const count = Math.max(0, before + (change > 0 ? perFailure : change))
  if (count < ownMax(tokens)) changed.set(accountId, { count, at: now })
  const [oldest] = changed.keys()
  if (changed.size > accountsMax && oldest !== undefined) changed.delete(oldest)
  return changed
}

function changeOf(outcome: Outcome): number {
  switch (outcome) {
    case 'ok':
      return perSuccess
    case 'hard':
    case 'broken':
    case 'config':
    case 'model_missing':
    case 'suspect':
      return -perFailure
    case 'client':
    case 'nobody':
    case 'throttle':
      return 0
  }
}
