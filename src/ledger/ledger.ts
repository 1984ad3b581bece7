/**
 * The contract of the ledger: holds before an exchange, charges after it, sums of usage. Knows accounts and
 * pico-dollars; knows no HTTP, no vendor and no price. Two engines implement it (embedded on SQLite;
 * PostgreSQL for several nodes) and pass one conformance suite.
 *
 * Life of a hold (each arrow at most once, and every hold takes exactly one):
 *
 *     open ── settle ──▶ settled     a charge is booked, be it zero, the rest is free again
 *       └──── expire ──▶ expired     its node died or never got the answer; nothing is charged
 */
import { GatewayError } from '../base/errors.ts'
import type { KeyLimits } from '../base/key-limits.ts'
import type { Picos } from '../base/money.ts'
import type { Ending } from '../metering/settlement.ts'
import type { Usage, UsageMark } from '../metering/usage.ts'
import type { MadeStates } from './answer-state-store.ts'

/** Whose limits a question is about, and when. */
export interface LimitsQuestion {
  readonly accountId: string
  readonly keyId: string
  /** As its principal carries them. */
  readonly keyLimits: KeyLimits
  /** Wall time; decides the UTC day and month that the limits count. */
  readonly atMs: number
}

/** Asks for a hold. */
export interface HoldRequest extends LimitsQuestion {
  readonly exchangeId: string
  /** The hold: the most that the exchange can cost. */
  readonly amountPicos: Picos
  /** The amount that must be left for admission, at most the hold: the usual cost. */
  readonly likelyPicos: Picos
}

/** Counts a request that needs no hold: of the limits, only requests per minute are looked at. */
export interface CountRequest extends LimitsQuestion {
  /** Its allowance: requests per minute, or the separate one for free operations. */
  readonly allowance: 'requests' | 'free_requests'
}

/** The allowance for free operations, as a multiple of requests per minute. */
export const freeRequestsPerRequest = 10

export interface Hold {
  readonly kind: 'hold'
  readonly exchangeId: string
  readonly accountId: string
  readonly keyId: string
  readonly amountPicos: Picos
  /** In some scope less was left than the amount: its charge may pass a limit or the credit line. */
  readonly isUncovered: boolean
}

export type HoldRefusal =
  | {
      readonly kind: 'insufficient_balance'
      readonly balancePicos: Picos
      /** How far below zero the balance may go. */
      readonly creditLinePicos: Picos
      readonly heldPicos: Picos
      /** True when balance and line would suffice: only the account's running requests stand in the way. */
      readonly isHeldOnly: boolean
    }
  | {
      readonly kind: 'spending_limit'
      /** Whose limit: the account's or the key's own. */
      readonly scope: 'account' | 'key'
      readonly period: UsagePeriod
      readonly limitPicos: Picos
      readonly usedPicos: Picos
      readonly heldPicos: Picos
    }
  | {
      readonly kind: 'rate_limited'
      readonly scope: 'account' | 'key'
      readonly retryAfterMs: number
      /** The allowance per minute. */
      readonly rpm: number
      readonly windowMinutes: number
    }
  | {
      readonly kind: 'token_limited'
      readonly scope: 'account' | 'key'
      /** Until fewer tokens than the limit are counted. */
      readonly retryAfterMs: number
      /** The limit per minute. */
      readonly tpm: number
    }
  | { readonly kind: 'unknown_account' }
  | { readonly kind: 'unavailable' }

/** A vendor's error without its message, in the vendor's own words. */
export interface VendorReason {
  readonly type: string | null
  readonly code: string | null
  /** The field of the request that it is about, without names that a client has chosen. */
  readonly param: string | null
}

/** One attempt of an exchange, as it is recorded. */
export interface AttemptRecord {
  readonly channel: string
  /** The vendor's status; null where no answer came. */
  readonly status: number | null
  /** Its outcome, as `channels/outcomes.ts` names it. */
  readonly class: string
  /** From the start of the request to that of the attempt. */
  readonly startedMs: number
  /** From the start of the attempt to its first event; null where there was none. */
  readonly firstEventMs: number | null
  /** From the start of the attempt to its outcome; of a stream that was delivered, to its end. */
  readonly durationMs: number
  /** The betas of the client that the channel left out. Absent = none. */
  readonly droppedBetas?: readonly string[]
  /** Why the vendor refused, or ended its stream. Absent = it did not, or gave no word that is kept. */
  readonly reason?: VendorReason
}

/** Everything recorded about one admitted exchange when it ends. */
export interface ExchangeRecord {
  readonly exchangeId: string
  readonly accountId: string
  readonly keyId: string
  readonly vendor: string
  readonly model: string
  /** The name by which the client asked, where that is not the model's id. */
  readonly askedModel?: string | undefined
  readonly operation: string
  readonly isStream: boolean
  /** The channel whose answer was delivered, if any. */
  readonly channel: string | undefined
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly ending: Ending
  /** HTTP status shown to the client. */
  readonly status: number
  readonly attemptCount: number
  /** Zero = not charged. */
  readonly amountPicos: Picos
  readonly usage: Usage | undefined
  readonly marks: readonly UsageMark[]
  /** The prices used, as `metering/charge.ts` spells them; kept so that the bill can be redone. */
  readonly priceLines: string
  /** The vendor's own request id, for support. */
  readonly vendorRequestId: string | undefined
  /**
   * The operator's possible cost that no account pays: failed attempts, answers that are not charged,
   * and a charge that was withheld with the end of its answer.
   */
  readonly operatorCostPicos: Picos
  /** The vendor's own word for why its answer ended, of the first choice. */
  readonly finishReason?: string | undefined
  /** From the start of the request to the first event or byte that the client got. */
  readonly firstEventMs: number | undefined
  readonly attempts: readonly AttemptRecord[]
  /** The error code where the gateway answered with its own error. */
  readonly code: string | undefined
  /** The family of the client's user agent; empty = unknown. */
  readonly client: string
  /** As much of the client's address as the setting `record_addresses` allows. */
  readonly address: string
  /** By which its account adds it up. Absent or empty = none. */
  readonly label?: string | undefined
  /** What the vendor counted for the answer, charged or not, at the cost prices of its channel. */
  readonly ownCostPicos: Picos
  /** False where a charged answer came from a channel without cost prices; the cost is then zero here. */
  readonly isOwnCostKnown: boolean
  /** The likely cost of an exchange without a result, which is free for that. Absent = none. */
  readonly waivedPicos?: Picos | undefined
  /** What later requests of the account may name of the answer. Absent = nothing. */
  readonly made?: MadeStates | undefined
}

/** The current UTC day, the calendar month, or all time. */
export type UsagePeriod = 'day' | 'month' | 'total'

export interface ModelUsage {
  readonly model: string
  readonly requests: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheTokens: number
  readonly costPicos: Picos
}

export interface UsageSummary {
  readonly balancePicos: Picos
  /** Zero = no limit. */
  readonly dailyLimitPicos: Picos
  readonly dailyUsedPicos: Picos
  readonly windowMinutes: number
  readonly rpm: number
  /** Sorted by cost, highest first. */
  readonly byModel: readonly ModelUsage[]
}

export interface Ledger {
  /**
   * Admits or refuses. The first limit of `limits` (limits.ts) that the request would pass refuses it.
   * Balance and limits in USD have to leave its likely cost, and hold the most: so in each of them at most
   * one open hold is not covered, and until it has ended nothing that costs is admitted.
   * At most one hold per exchange: repeating it returns the hold there is. A limit in USD counts the
   * charges less refunds booked in the period of `atMs` and every open hold, whenever it was placed: its
   * charge is booked when its exchange ends. A limit of tokens per minute refuses while the tokens of
   * requests that ended in the last 60 seconds have reached it; running requests do not count.
   * Decided at once where the amounts are in memory.
   */
  place(request: HoldRequest): Hold | HoldRefusal | Promise<Hold | HoldRefusal>
  /**
   * Books the charge of an exchange and frees its hold, once: repeating it for the same exchange has no
   * effect. Resolves when it is durable; rejects with `ledger.unavailable` when it is not: the end of
   * the answer must then be withheld, and the exchange is recorded as one that cost nothing. The same
   * with `ledger.insufficient_balance`, where the hold had expired and balance and credit line less holds do
   * not cover the whole charge: the record is marked `hold_expired`, and the charge becomes the operator's
   * cost.
   */
  settle(hold: Hold, record: ExchangeRecord): Promise<void>
  /**
   * Returns what `place` would refuse now, in the same order. It counts and holds nothing, so a request
   * that it does not refuse is still decided by `place`.
   */
  check(request: HoldRequest): HoldRefusal | undefined | Promise<HoldRefusal | undefined>
  /** Counts a request toward its allowance, or refuses it where the allowance is used up. */
  count(request: CountRequest): Promise<HoldRefusal | undefined>
  /** Current to the last settled exchange, those of other nodes and commands included. */
  usage(accountId: string, period: UsagePeriod, atMs: number): Promise<UsageSummary | undefined>
  /**
   * Returns the rest of requests per minute, for rate-limit headers: of the account or of the key,
   * whichever has fewer left; cheap, may lag other nodes. Undefined where neither has a limit or the
   * account has not been seen yet.
   */
  headroom(question: HeadroomQuestion): Headroom | undefined
  /** Sum and number of holds that have not ended durably yet, for metrics. */
  openHolds(): { readonly count: number; readonly heldPicos: Picos }
  /** Reads what open holds reserve of these accounts, on every node; accounts without any are missing. */
  readHeld(accountIds: readonly string[]): Promise<ReadonlyMap<string, Picos>>
  /**
   * Reads balances, limits and used amounts that commands have changed. Call it when the store's revision of
   * `accounts` or `balances` has moved. Resolves when decisions use them.
   */
  refresh(): Promise<void>
  /** Whether durable writes are possible right now, as far as is known. */
  isAvailable(): boolean
  close(): Promise<void>
}

export type HeadroomQuestion = Pick<HoldRequest, 'accountId' | 'keyId' | 'keyLimits'>

export interface Headroom {
  /** Requests in one whole window: `rpm × windowMinutes`. */
  readonly rpmLimit: number
  readonly rpmRemaining: number
  /** Milliseconds until the oldest counted request leaves the window. */
  readonly rpmResetMs: number
}

/** Returns the one with fewer requests left. */
export function tighterOf(
  account: Headroom | undefined,
  key: Headroom | undefined,
): Headroom | undefined {
  if (account === undefined || key === undefined) return account ?? key
  return key.rpmRemaining < account.rpmRemaining ? key : account
}

export function closedError(): GatewayError {
  return new GatewayError('ledger.unavailable', 'The ledger is closed.')
}
