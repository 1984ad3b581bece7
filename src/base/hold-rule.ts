/** The amount that must be left of a balance and of each limit for a request to be admitted. */

/** Its likely cost, or the most that its vendor can count for it. The hold is always the most. */
export const holdRules = ['likely', 'most'] as const
export type HoldRule = (typeof holdRules)[number]
