/** What the growth part measures, and the past that it measures on. */
import type { HistoryShape } from './history-sql.ts'

export const historyShape: HistoryShape = {
  accounts: 200,
  keysPerAccount: 3,
  models: 4,
  requestsPerDay: 27_400,
}

export type GrowthStoreName = 'sqlite' | 'postgres'

/** One store at one size. */
export interface GrowthFigures {
  readonly store: GrowthStoreName
  readonly requests: number
  readonly days: number
  /** Tables that the exchanges are spread over. */
  readonly tables: number
  readonly bytesPerRequest: number
  /** One after the other, from the hold to the durable charge. */
  readonly chargeP50Ms: number
  readonly chargeP99Ms: number
  /** 64 at once, each. */
  readonly chargeTogetherUs: number
  readonly usageDayP50Us: number
  readonly usageMonthP50Us: number
  readonly usageTotalP50Us: number
  /** From checkpoints, at the end of a day: two whole days are looked at. */
  readonly auditSinceMs: number
  /** NaN where there is too much for the run. */
  readonly auditFullSeconds: number
  readonly isClean: boolean
}

/** What it costs to let old exchanges go, and what a charge beside it feels of that. */
export interface RetentionFigures {
  readonly store: GrowthStoreName
  readonly requests: number
  /** Dropped as whole tables. */
  readonly months: number
  /** Until they were gone; NaN where there are none. */
  readonly monthsMs: number
  /** Removed one by one, in small transactions. */
  readonly rows: number
  readonly rowsSeconds: number
  readonly chargeP50Ms: number
  readonly chargeP99Ms: number
  readonly chargeHighestMs: number
}

export interface Growth {
  readonly figures: readonly GrowthFigures[]
  readonly retention: readonly RetentionFigures[]
}
