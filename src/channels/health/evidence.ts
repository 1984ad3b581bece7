/**
 * The evidence against one model on one channel, for one form of request (streamed or whole): the
 * failures that no later answer has refuted, and the success counts of the last two minutes by key.
 * Pure. Invariant: at most `bucketCount` buckets of at most `linesMax` keys, and at most
 * `linesMax` failures, however busy the channel is.
 */

import { failingCallersMin, sampleCount, sureCount, toleratedShare } from './timing.ts'

/** Streamed requests and whole answers fail in different ways, so each has its own evidence. */
export type Form = 'stream' | 'whole'

/** The key that made a request, and its account. */
export interface Caller {
  readonly keyId: string
  readonly accountId: string
}

export interface Failure extends Caller {
  /** The stream had begun: only a complete answer refutes this failure. */
  readonly isBroken: boolean
  readonly beganAt: number
  /**
   * It is part of the failures in a row. Otherwise an answer has arrived since, or the exchange failed
   * on another channel too; then the failure only gives reason to send probes.
   */
  readonly isCounted: boolean
}

export interface Evidence {
  /** Failures that no answer begun later has refuted, oldest first. */
  readonly failures: readonly Failure[]
  readonly outcomes: OutcomeWindow
  /** Probes have passed although requests failed; the next failures in a row count without probes. */
  readonly isCleared: boolean
}

/** The latest bucket, with those before it; undefined while there is none. */
type OutcomeWindow = Bucket | undefined

interface Bucket {
  readonly index: number
  readonly tallies: readonly Tally[]
  readonly before: OutcomeWindow
}

interface Tally extends Caller {
  readonly ok: number
  readonly failed: number
}

const linesMax = 32
const countPerCallerMax = 2
const bucketMs = 12_000
const bucketCount = 10
/** Keys beyond the bound of a bucket are counted together. */
const otherKeys: Caller = { keyId: '', accountId: '' }

export const noEvidence: Evidence = { failures: [], outcomes: undefined, isCleared: false }

// --- failures in a row --------------------------------------------------------------------------

export function withFailure(evidence: Evidence, failure: Failure, now: number): Evidence {
  const failures = [...evidence.failures, failure].slice(-linesMax)
  if (!failure.isCounted) return { ...evidence, failures }
  return { ...evidence, failures, outcomes: count(evidence.outcomes, failure, now, 'failed') }
}

/** A first event refutes the failures of earlier attempts that had no first event. */
export function withFirstEvent(evidence: Evidence, beganAt: number): Evidence {
  if (evidence.failures.every(({ isBroken }) => isBroken)) return evidence
  const failures = evidence.failures
    .filter((failure) => failure.isBroken || failure.beganAt > beganAt)
    .map((failure) => (failure.isBroken ? failure : { ...failure, isCounted: false }))
  return { ...evidence, failures }
}

/**
 * A complete answer refutes the failures of attempts that began before it. Where its first event has
 * arrived earlier (`wasAnswered`), it says nothing new about attempts without a first event.
 */
export function withSuccess(
  evidence: Evidence,
  success: { readonly caller: Caller; readonly beganAt: number; readonly wasAnswered: boolean },
  now: number,
): Evidence {
  const { caller, beganAt, wasAnswered } = success
  const outcomes = count(evidence.outcomes, caller, now, 'ok')
  if (evidence.failures.length === 0) return { failures: noFailures, outcomes, isCleared: false }
  const failures = evidence.failures
    .filter((failure) => failure.beganAt > beganAt)
    .map((one) => (wasAnswered && !one.isBroken ? one : { ...one, isCounted: false }))
  return { failures, outcomes, isCleared: false }
}

const noFailures: Evidence['failures'] = []

/** The exchange failed elsewhere too: its last failure here does not count any more. */
export function withRetraction(evidence: Evidence, keyId: string): Evidence {
  const position = evidence.failures.findLastIndex((one) => one.isCounted && one.keyId === keyId)
  const failure = evidence.failures[position]
  if (failure === undefined) return evidence
  const failures = evidence.failures.with(position, { ...failure, isCounted: false })
  return { ...evidence, failures, outcomes: uncount(evidence.outcomes, keyId) }
}

/**
 * How many failures in a row count. While another caller succeeds, each caller adds at most two: its own
 * requests may be the cause (scenario `failing-key`). Callers are accounts; where no other account
 * succeeds, they are keys.
 */
export function countInARow({ failures, outcomes }: Evidence, now: number): number {
  const counted = failures.filter((failure) => failure.isCounted)
  if (counted.length === 0) return 0
  const served = recentlyServed(outcomes, now)
  for (const identityOf of [accountOf, keyOf]) {
    const counts = countBy(counted, identityOf)
    // Success within the last minute, and at most one failure since: not one of those in trouble.
    const isOtherServed = served.some((caller) => (counts.get(identityOf(caller)) ?? 0) <= 1)
    if (isOtherServed)
      return counts.values().reduce((sum, one) => sum + Math.min(one, countPerCallerMax), 0)
  }
  return counted.length
}

type Identity = (caller: Caller) => string

const accountOf: Identity = (caller) => caller.accountId
const keyOf: Identity = (caller) => caller.keyId

function countBy(failures: readonly Failure[], identityOf: Identity): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const failure of failures) {
    const identity = identityOf(failure)
    counts.set(identity, (counts.get(identity) ?? 0) + 1)
  }
  return counts
}

// --- success ratio ------------------------------------------------------------------------------

/**
 * Judges the success ratio of the last two minutes without the account that has most failures (or
 * without the key, where there is only one account): one client alone cannot lower it.
 */
export function judgeRatio({ outcomes }: Evidence, now: number): 'good' | 'doubtful' | 'bad' {
  const byAccount = sumBy(outcomes, accountOf, now)
  const sums = [...(byAccount.size > 1 ? byAccount : sumBy(outcomes, keyOf, now)).values()]
  const failing = sums.filter(({ failed }) => failed > 0)
  if (failing.length === 0) return 'good'
  const worst = failing.reduce((most, one) => (one.failed > most.failed ? one : most))
  let { ok, failed } = sums.length < 2 ? none : { ok: -worst.ok, failed: -worst.failed }
  for (const sum of sums) {
    ok += sum.ok
    failed += sum.failed
  }
  const total = ok + failed
  if (total < sampleCount || ok >= (1 - toleratedShare) * total) return 'good'
  return total >= sureCount && failing.length >= failingCallersMin ? 'bad' : 'doubtful'
}

interface Sum {
  readonly ok: number
  readonly failed: number
}

const none: Sum = { ok: 0, failed: 0 }

function sumBy(window: OutcomeWindow, identityOf: Identity, now: number): ReadonlyMap<string, Sum> {
  const oldest = Math.floor(now / bucketMs) - bucketCount
  const sums = new Map<string, Sum>()
  for (const tally of talliesSince(window, oldest)) {
    const { ok, failed } = sums.get(identityOf(tally)) ?? none
    sums.set(identityOf(tally), { ok: ok + tally.ok, failed: failed + tally.failed })
  }
  return sums
}

function recentlyServed(window: OutcomeWindow, now: number): readonly Caller[] {
  const oldest = Math.floor(now / bucketMs) - bucketCount / 2
  return talliesSince(window, oldest).filter(({ ok }) => ok > 0)
}

/** Of the buckets after this index. */
function talliesSince(window: OutcomeWindow, oldest: number): readonly Tally[] {
  if (window === undefined || window.index <= oldest) return []
  return [...talliesSince(window.before, oldest), ...window.tallies]
}

// --- counts by key ------------------------------------------------------------------------------

function count(
  window: OutcomeWindow,
  caller: Caller,
  now: number,
  what: 'ok' | 'failed',
): OutcomeWindow {
  const index = Math.floor(now / bucketMs)
  if (window?.index === index)
    return { index, tallies: added(window.tallies, caller, what), before: window.before }
  return { index, tallies: added([], caller, what), before: since(window, index - bucketCount) }
}

/** Drops the buckets up to this index. */
function since(window: OutcomeWindow, oldest: number): OutcomeWindow {
  if (window === undefined || window.index <= oldest) return undefined
  return { ...window, before: since(window.before, oldest) }
}

function added(tallies: readonly Tally[], caller: Caller, what: 'ok' | 'failed'): readonly Tally[] {
  let known = caller
  let position = tallies.findIndex((tally) => tally.keyId === caller.keyId)
  if (position === -1 && tallies.length >= linesMax) {
    known = otherKeys
    position = tallies.findIndex((tally) => tally.keyId === otherKeys.keyId)
  }
  const { ok, failed } = tallies[position] ?? none
  const { keyId, accountId } = known
  const isOk = what === 'ok'
  const tally = { keyId, accountId, ok: ok + (isOk ? 1 : 0), failed: failed + (isOk ? 0 : 1) }
  return position === -1 ? [...tallies, tally] : tallies.with(position, tally)
}

/** Takes one failure of the key back. */
function uncount(window: OutcomeWindow, keyId: string): OutcomeWindow {
  if (window === undefined) return window
  const { tallies, before } = window
  const position = tallies.findIndex((tally) => tally.keyId === keyId && tally.failed > 0)
  const tally = tallies[position]
  if (tally === undefined) return { ...window, before: uncount(before, keyId) }
  return { ...window, tallies: tallies.with(position, { ...tally, failed: tally.failed - 1 }) }
}
