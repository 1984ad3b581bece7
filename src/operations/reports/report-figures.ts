/**
 * The figures of a report: their form in an answer, and how each follows from the sums of table report_day
 * and from the gateway's own checks. Pure.
 */
import { z } from 'zod'
import { addPicos, formatUsd, picos, zeroPicos, type Picos } from '../../base/money.ts'
import type { CheckSum } from '../../channels/cluster/operator-cost-store.ts'
import { hitRate } from '../../ledger/cache-use.ts'
import { firstEventColumns, type ReportSums } from '../../ledger/report-day.ts'
import { firstEventQuantile } from '../../ledger/report-store.ts'
import { usd, type Answer } from '../answer-forms.ts'

export const firstEventMs = z
  .int()
  .nullable()
  .meta({ description: 'Null without any first event.' })

export const cacheHitRate = z.number().nullable().meta({
  description: "The part of all input that came from the vendor's cache; null without input.",
})

export const totalTokens = z
  .int()
  .min(0)
  .meta({ description: 'All input, from the cache or not, and output; each token counts once.' })

export const sumFields = {
  requests: z.int(),
  charged_requests: z.int(),
  errors: z.int(),
  failovers: z.int(),
  checks: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cache_read_tokens: z.int(),
  cache_write_tokens: z.int(),
  total_tokens: totalTokens,
  cache_hit_rate: cacheHitRate,
  /** Charges, before refunds. */
  revenue_usd: usd,
  refunded_usd: usd,
  own_cost_usd: usd.meta({ description: 'Exact: what vendors counted, at cost prices.' }),
  estimated_cost_usd: usd.meta({ description: 'Estimated: lost attempts, and checks.' }),
  /** Their own cost is not known, and in neither of these two. */
  unknown_cost_requests: z.int(),
  unknown_cost_revenue_usd: usd.meta({
    description: 'Charges of requests whose own cost is unknown, less refunds.',
  }),
  margin_usd: usd
    .nullable()
    .meta({ description: 'Null where the own cost of a request is unknown.' }),
  known_margin_usd: usd.meta({
    description: 'Margin without the requests whose own cost is unknown.',
  }),
  margin_rate: z.number().nullable().meta({
    description:
      'The known margin as a part of the revenue that it comes from, less refunds; null without such revenue.',
  }),
  first_event_p50_ms: firstEventMs,
  first_event_p95_ms: firstEventMs,
}

export const sumsForm = z.strictObject(sumFields)
export type ReportSumsView = Answer<typeof sumsForm>
export type ReportFigure = keyof ReportSumsView

/** The checks of a row. No account pays for them. */
export interface Checks {
  readonly count: number
  readonly knownPicos: Picos
  readonly estimatedPicos: Picos
}

export const noChecks: Checks = { count: 0, knownPicos: zeroPicos, estimatedPicos: zeroPicos }

export function addCheck(sum: Checks, check: CheckSum): Checks {
  return {
    count: sum.count + check.checks,
    knownPicos: addPicos(sum.knownPicos, check.knownPicos),
    estimatedPicos: addPicos(sum.estimatedPicos, check.estimatedPicos),
  }
}

type Sum = keyof ReportSums

interface Figure {
  /** The sums that it follows from. */
  readonly sums: readonly Sum[]
  readonly of: (sums: Readonly<ReportSums>, checks: Checks) => number | Picos | null
}

function same(sum: Sum): Figure {
  return { sums: [sum], of: (sums) => sums[sum] }
}

const revenueSums = ['revenue_picos', 'refunded_picos', 'unknown_cost_revenue_picos'] as const
const moneySums = [...revenueSums, 'own_cost_picos', 'lost_cost_picos'] as const

/** Revenue less refunds of the requests whose own cost is known. */
function knownRevenue(sums: Readonly<ReportSums>): Picos {
  return picos(sums.revenue_picos - sums.refunded_picos - sums.unknown_cost_revenue_picos)
}

function ownCost(sums: Readonly<ReportSums>, { knownPicos }: Checks): Picos {
  return addPicos(sums.own_cost_picos, knownPicos)
}

function estimatedCost(sums: Readonly<ReportSums>, { estimatedPicos }: Checks): Picos {
  return addPicos(sums.lost_cost_picos, estimatedPicos)
}

function knownMargin(sums: Readonly<ReportSums>, checks: Checks): Picos {
  return picos(knownRevenue(sums) - ownCost(sums, checks) - estimatedCost(sums, checks))
}

function unknownCount(sums: Readonly<ReportSums>): number {
  return sums.requests - sums.known_cost_requests
}

const ratePlaces = 10_000

export const reportFigures: Readonly<Record<ReportFigure, Figure>> = {
  requests: same('requests'),
  charged_requests: same('charged_requests'),
  errors: same('errors'),
  failovers: same('failovers'),
  checks: { sums: [], of: (_, checks) => checks.count },
  input_tokens: same('input_tokens'),
  output_tokens: same('output_tokens'),
  cache_read_tokens: same('cache_read_tokens'),
  cache_write_tokens: same('cache_write_tokens'),
  total_tokens: {
    sums: ['prompt_tokens', 'output_tokens'],
    of: (sums) => sums.prompt_tokens + sums.output_tokens,
  },
  cache_hit_rate: {
    sums: ['prompt_tokens', 'cache_read_tokens'],
    of: (sums) =>
      hitRate({ promptTokens: sums.prompt_tokens, cacheReadTokens: sums.cache_read_tokens }),
  },
  revenue_usd: same('revenue_picos'),
  refunded_usd: same('refunded_picos'),
  own_cost_usd: { sums: ['own_cost_picos'], of: ownCost },
  estimated_cost_usd: { sums: ['lost_cost_picos'], of: estimatedCost },
  unknown_cost_requests: { sums: ['requests', 'known_cost_requests'], of: unknownCount },
  unknown_cost_revenue_usd: same('unknown_cost_revenue_picos'),
  margin_usd: {
    sums: [...moneySums, 'requests', 'known_cost_requests'],
    of: (sums, checks) => (unknownCount(sums) > 0 ? null : knownMargin(sums, checks)),
  },
  known_margin_usd: { sums: moneySums, of: knownMargin },
  margin_rate: {
    sums: moneySums,
    of(sums, checks) {
      const revenue = Number(knownRevenue(sums))
      if (revenue <= 0) return null
      return Math.round((ratePlaces * Number(knownMargin(sums, checks))) / revenue) / ratePlaces
    },
  },
  first_event_p50_ms: { sums: firstEventColumns, of: (sums) => firstEventQuantile(sums, 0.5) },
  first_event_p95_ms: { sums: firstEventColumns, of: (sums) => firstEventQuantile(sums, 0.95) },
}

/** Shows all figures of a row; amounts are exact decimal text. */
export function viewSums(sums: Readonly<ReportSums>, checks: Checks): ReportSumsView {
  const shown = Object.entries(reportFigures).map(([name, { of }]) => {
    const value = of(sums, checks)
    return [name, typeof value === 'bigint' ? formatUsd(value) : value]
  })
  return Object.fromEntries(shown) as ReportSumsView
}

/** Shows sums and checks as a report by `total` does. */
export function viewTotal(sums: ReportSums, checks: readonly CheckSum[]): ReportSumsView {
  return viewSums(sums, checks.reduce(addCheck, noChecks))
}
