/**
 * Exact counts of what became of the attempts of the last two minutes, by key, in ten buckets. It
 * knows no rule and no threshold. The invariant: at most `bucketCount` buckets of at most
 * `keysPerBucketMax` keys, however busy a channel is.
 */

/** Whose request an attempt was made for. A key belongs to one account. */
export interface Caller {
  readonly keyId: string
  readonly accountId: string
}

/** By what callers are told apart. */
export type Identity = (caller: Caller) => string

export const accountOf: Identity = (caller) => caller.accountId
export const keyOf: Identity = (caller) => caller.keyId

/** Successes and failures of one key within one bucket. */
interface Tally extends Caller {
  readonly ok: number
  readonly failed: number
}

interface Bucket {
  readonly index: number
  readonly tallies: readonly Tally[]
}

/** Oldest bucket first. */
export type OutcomeWindow = readonly Bucket[]

export interface WindowSummary {
  readonly ok: number
  readonly failed: number
  /** How many accounts failed, or keys where only one account is about. */
  readonly failingCallers: number
}

const bucketMs = 12_000
const bucketCount = 10
const keysPerBucketMax = 32
/** Keys beyond the bound of a bucket are counted together. */
const others: Caller = { keyId: '', accountId: '' }

export const emptyWindow: OutcomeWindow = []

export function countOutcome(
  window: OutcomeWindow,
  outcome: { readonly caller: Caller; readonly isOk: boolean },
  now: number,
): OutcomeWindow {
  const index = Math.floor(now / bucketMs)
  const last = window.at(-1)
  if (last !== undefined && last.index === index) {
    const copy = window.slice()
    copy[copy.length - 1] = { index, tallies: added(last.tallies, outcome) }
    return copy
  }
  const kept = window.filter((bucket) => bucket.index > index - bucketCount)
  return [...kept, { index, tallies: added([], outcome) }]
}

function added(
  tallies: readonly Tally[],
  { caller, isOk }: { readonly caller: Caller; readonly isOk: boolean },
): readonly Tally[] {
  let position = tallies.findIndex((tally) => tally.keyId === caller.keyId)
  let known = caller
  if (position === -1 && tallies.length >= keysPerBucketMax) {
    known = others
    position = tallies.findIndex((tally) => tally.keyId === others.keyId)
  }
  const before = tallies[position]
  const after = {
    keyId: known.keyId,
    accountId: known.accountId,
    ok: (before?.ok ?? 0) + (isOk ? 1 : 0),
    failed: (before?.failed ?? 0) + (isOk ? 0 : 1),
  }
  if (before === undefined) return [...tallies, after]
  const copy = tallies.slice()
  copy[position] = after
  return copy
}

/** Takes one failure of the key back: it has turned out to be the request's own. */
export function retractFailure(window: OutcomeWindow, keyId: string): OutcomeWindow {
  for (let position = window.length - 1; position >= 0; position--) {
    const bucket = window[position]
    const tally = bucket?.tallies.find((one) => one.keyId === keyId && one.failed > 0)
    if (bucket === undefined || tally === undefined) continue
    const tallies = bucket.tallies.map((one) =>
      one === tally ? { ...one, failed: one.failed - 1 } : one,
    )
    return window.with(position, { ...bucket, tallies })
  }
  return window
}

/**
 * The sums without the account that has most failures, or without the key where only one account is
 * about: what one client's requests do must not speak for a whole channel. With a single key there
 * is nothing to leave out.
 */
export function summarizeWithoutWorst(window: OutcomeWindow, now: number): WindowSummary {
  const byAccount = sumBy(window, accountOf, now)
  const sums = byAccount.size > 1 ? byAccount : sumBy(window, keyOf, now)
  let worst: Sum | undefined
  let ok = 0
  let failed = 0
  let failingCallers = 0
  for (const [identity, sum] of sums) {
    ok += sum.ok
    failed += sum.failed
    if (sum.failed > 0) failingCallers++
    if (identity !== '' && sum.failed > (worst?.failed ?? 0)) worst = sum
  }
  if (worst === undefined || sums.size < 2) return { ok, failed, failingCallers }
  return { ok: ok - worst.ok, failed: failed - worst.failed, failingCallers }
}

interface Sum {
  readonly ok: number
  readonly failed: number
}

function sumBy(window: OutcomeWindow, identityOf: Identity, now: number): ReadonlyMap<string, Sum> {
  const oldest = Math.floor(now / bucketMs) - bucketCount
  const sums = new Map<string, Sum>()
  for (const bucket of window) {
    if (bucket.index <= oldest) continue
    for (const tally of bucket.tallies) {
      const identity = identityOf(tally)
      const sum = sums.get(identity)
      const ok = (sum?.ok ?? 0) + tally.ok
      sums.set(identity, { ok, failed: (sum?.failed ?? 0) + tally.failed })
    }
  }
  return sums
}

/** Whether somebody who is not among these had success within the last minute. */
export function hasOtherSuccess(
  window: OutcomeWindow,
  { callers, identityOf, now }: OtherSuccess,
): boolean {
  const oldest = Math.floor(now / bucketMs) - bucketCount / 2
  return window.some(
    (bucket) =>
      bucket.index > oldest &&
      bucket.tallies.some(
        (tally) =>
          tally.ok > 0 && !callers.some((caller) => identityOf(caller) === identityOf(tally)),
      ),
  )
}

export interface OtherSuccess {
  readonly callers: readonly Caller[]
  readonly identityOf: Identity
  readonly now: number
}
