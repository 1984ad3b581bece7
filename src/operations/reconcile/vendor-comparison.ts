/**
 * Compares a vendor's counts with the gateway's charges. Pure. The vendor may count more: checks (their
 * tokens are known), and answers and attempts without a charge (their cost is known as far as counts
 * arrived). It may count differently where a charge was estimated, and more where a gateway stopped
 * uncleanly. So a difference is `explained`, `possible` or `unexplained`.
 */
import { z } from 'zod'
import {
  addPicos,
  formatUsd,
  maxPicos,
  minPicos,
  multiplyPicos,
  picos,
  subtractPicos,
  zeroPicos,
  type Picos,
} from '../../base/money.ts'
import type { CatalogueRows } from '../../channels/channel-store.ts'
import type { ChannelSums, ClassCounts } from '../../ledger/channel-sums.ts'
import { costPricesAt } from '../../metering/cost-prices.ts'
import { pricesAt, unchangedPpm, type Prices } from '../../metering/prices.ts'
import { listRate } from '../../metering/rates.ts'
import type { UsageClass } from '../../metering/usage.ts'
import { usd, type Answer } from '../answer-forms.ts'
import { readVersions } from '../prices/versions.ts'
import {
  addVendorCounts,
  vendorFigures,
  type VendorCounts,
  type VendorExport,
} from './vendor-counts.ts'
import { groupNames } from './vendor-names.ts'

/** One model on one channel, with its checks. */
export interface ReconciledRow extends ChannelSums {
  checks: number
  readonly checkCounts: ClassCounts
  checkPicos: Picos
}

const figureForm = z.strictObject({
  model: z.string(),
  figure: z.string(),
  vendor: z.number(),
  /** Charged, and spent on checks. */
  ours: z.number(),
  difference: z.number(),
})

const verdictForm = z.strictObject({
  /** Ours; `one + other` where the vendor has one name for both, so that they are judged together. */
  model: z.string(),
  /** The same one by one. */
  models: z.array(z.string()),
  /** The names in the vendor's counts that this is about. */
  vendor_models: z.array(z.string()),
  /**
   * `explained` by recorded cost and estimates; `possible` beyond them, by answers and attempts whose
   * counts never came, or by what a gateway served when it stopped uncleanly; `unexplained` by neither.
   */
  verdict: z.enum(['explained', 'possible', 'unexplained']),
  /** The tokens the vendor counted beyond ours, at the cheapest of list price and cost price. */
  difference_usd: usd,
  /** The recorded cost and the estimates. */
  explained_up_to_usd: usd,
  /** With the most that answers without counts can have cost. */
  possible_up_to_usd: usd,
  /** Counted as charged, and not paid for by anyone: what caps on implausible counts came to. */
  not_charged_usd: usd,
  reasons: z.array(z.string()),
})

const costForm = z.strictObject({
  /** Null for a cost that the vendor gives no model. */
  model: z.string().nullable(),
  vendor_models: z.array(z.string()),
  vendor_usd: usd,
  charged_usd: usd,
  /** With the checks. Null where the own cost of some request is not known exactly. */
  own_cost_usd: usd.nullable(),
  /** The vendor's less the own cost. */
  difference_usd: usd.nullable(),
})

export const comparisonForm = z.strictObject({
  figures: z.array(figureForm),
  /** Models that the vendor counted and the gateway did not. */
  unknown_models: z.array(z.string()),
  verdicts: z.array(verdictForm),
  /** What the vendor bills; empty where its files name no cost. */
  costs: z.array(costForm),
  /** Columns and fields of the files that are not compared. */
  fields_not_compared: z.array(z.string()),
  /** Rows of days outside the period, which are not counted. */
  rows_outside_period: z.int(),
  /** A page of an API says that more pages follow, and the next one is not given. */
  has_more_pages: z.boolean(),
})

type Figure = Answer<typeof figureForm>
export type ModelVerdict = Answer<typeof verdictForm>
type VendorCost = Answer<typeof costForm>
export type Comparison = Answer<typeof comparisonForm>

export interface ComparisonFacts {
  readonly catalogue: CatalogueRows
  readonly atMs: number
  readonly channel: string
  /** A gateway stopped uncleanly: it may have sent requests that are not recorded. */
  readonly hasUncleanStop: boolean
}

/** Returns the channels' names for a model. */
function namesOf(model: string, { catalogue, channel }: ComparisonFacts): readonly string[] {
  const names = catalogue.channels
    .filter(({ name, models }) => (channel === 'all' || name === channel) && models.has(model))
    .map(({ models }) => models.get(model) ?? model)
  return names.length === 0 ? [model] : names
}

function isCounted(name: string, counts: readonly VendorCounts[]): boolean {
  return counts
    .filter(({ model }) => model === name)
    .some(
      ({ requests = 0, figures, costPicos = zeroPicos }) =>
        requests > 0 || costPicos > 0n || [...figures.values()].some(Boolean),
    )
}

/** Compares `rows` (by the catalogue's ids) with the vendor's counts (by its names). */
export function compareCounts(
  rows: readonly ReconciledRow[],
  { counts: all, notCompared, rowsOutside, hasMore }: VendorExport,
  facts: ComparisonFacts,
): Comparison {
  const counts = all.filter(({ model }) => model !== '')
  const costs: VendorCost[] = []
  const addCost = (
    model: string | null,
    names: readonly string[],
    own: readonly ReconciledRow[],
  ): void => {
    const vendorNames = model === null ? [''] : names
    const { costPicos } = addVendorCounts(all.filter((one) => vendorNames.includes(one.model)))
    if (costPicos === undefined) return
    const charged = sumPicos(own, (row) => row.chargedPicos)
    const ownCost = sumPicos(own, (row) => row.ownCostPicos)
    const isKnown = own.length > 0 && own.every(({ unknownCosts }) => unknownCosts === 0)
    costs.push({
      model,
      vendor_models: names,
      vendor_usd: formatUsd(costPicos),
      charged_usd: formatUsd(charged),
      own_cost_usd: isKnown ? formatUsd(ownCost) : null,
      difference_usd: isKnown ? formatUsd(subtractPicos(costPicos, ownCost)) : null,
    })
  }
  const figures: Figure[] = []
  const verdicts: ModelVerdict[] = []
  const unknown: string[] = []
  const ours = [...new Set(rows.map(({ model }) => model))]
  const groups = groupNames(
    counts.map(({ model }) => model),
    ours.map((model) => ({ model, names: namesOf(model, facts) })),
  )
  for (const { vendorNames, models } of groups) {
    const own = rows.filter(({ model }) => models.includes(model))
    const subject = { models, vendorNames, rows: own }
    // Vendors also list models without any usage.
    addCost(titleOf(models.length === 0 ? vendorNames : models), vendorNames, own)
    if (models.length === 0) unknown.push(...vendorNames.filter((name) => isCounted(name, counts)))
    else if (vendorNames.length > 0) {
      const vendor = addVendorCounts(counts.filter(({ model }) => vendorNames.includes(model)))
      const compared = compareModels(titleOf(models), vendor, own)
      figures.push(...compared)
      // A cost alone says nothing about tokens.
      if (compared.length > 0) verdicts.push(judge(compared, subject, facts))
    } else if (own.some(({ charged }) => charged > 0)) verdicts.push(missing(subject))
  }
  addCost(null, [], [])
  return {
    figures,
    verdicts,
    unknown_models: unknown,
    costs,
    fields_not_compared: notCompared,
    rows_outside_period: rowsOutside,
    has_more_pages: hasMore,
  }
}

/** The models and names that are compared together. */
interface Subject {
  readonly models: readonly string[]
  readonly vendorNames: readonly string[]
  readonly rows: readonly ReconciledRow[]
}

function titleOf(models: readonly string[]): string {
  return models.join(' + ')
}

function missing({ models, vendorNames, rows }: Subject): ModelVerdict {
  return {
    model: titleOf(models),
    models,
    vendor_models: vendorNames,
    verdict: 'unexplained',
    difference_usd: '0',
    explained_up_to_usd: '0',
    possible_up_to_usd: '0',
    not_charged_usd: formatUsd(sumPicos(rows, (row) => row.notChargedPicos)),
    reasons: ['the gateway charged it, and the vendor counted nothing'],
  }
}

function compareModels(
  model: string,
  vendor: Omit<VendorCounts, 'model'>,
  rows: readonly ReconciledRow[],
): readonly Figure[] {
  const line = (figure: string, theirs: number, ours: number): Figure => ({
    model,
    figure,
    vendor: theirs,
    ours,
    difference: theirs - ours,
  })
  const requests = rows.reduce((sum, row) => sum + row.charged + row.checks, 0)
  return [
    ...(vendor.requests === undefined ? [] : [line('requests', vendor.requests, requests)]),
    ...[...vendor.figures].map(([figure, theirs]) => {
      const classes = vendorFigures[figure] ?? []
      const ours = rows.reduce(
        (sum, row) => sum + total(row.counts, classes) + total(row.checkCounts, classes),
        0,
      )
      return line(figure, theirs, ours)
    }),
  ]
}

function sumPicos(rows: readonly ReconciledRow[], read: (row: ReconciledRow) => Picos): Picos {
  return rows.reduce((amount, row) => addPicos(amount, read(row)), zeroPicos)
}

function total(counts: ClassCounts, classes: readonly (keyof ClassCounts)[]): number {
  return classes.reduce((sum, usageClass) => sum + (counts[usageClass] ?? 0), 0)
}

function judge(
  figures: readonly Figure[],
  { models, vendorNames, rows }: Subject,
  facts: ComparisonFacts,
): ModelVerdict {
  const prices = models.flatMap((model) => pricesOf(model, facts))
  const unpaid = rows.reduce((count, row) => count + row.uncharged + row.otherAttempts, 0)
  const reasons: string[] = []
  let beyond = zeroPicos
  let isMoreThanSent = false
  for (const { figure, difference } of figures) {
    const classes = vendorFigures[figure] ?? []
    const estimated = rows.reduce((count, row) => count + total(row.estimatedCounts, classes), 0)
    if (difference < 0 && -difference > estimated)
      reasons.push(`the gateway charged ${-difference} ${figure} more than the vendor counted`)
    const isMore = figure === 'requests' && difference > unpaid
    if (isMore && facts.hasUncleanStop) isMoreThanSent = true
    else if (isMore)
      reasons.push(`the vendor counted ${difference - unpaid} requests that are not explained`)
    if (difference > 0 && classes.length > 0 && prices.length === 0)
      reasons.push(`the vendor counted ${difference} ${figure} more, and the model has no price`)
    if (difference > 0) beyond = addPicos(beyond, worth(classes, prices, difference))
  }
  const explained = sumPicos(rows, (row) => row.explainedPicos)
  const largest = rows.reduce((most, row) => maxPicos(most, row.largestPicos), zeroPicos)
  const eachAtMost = addPicos(largest, maxOutputCost(models, facts))
  const possible = addPicos(explained, multiplyPicos(eachAtMost, unpaid))
  if (beyond > possible && !facts.hasUncleanStop)
    reasons.push(
      `the vendor counted tokens worth ${formatUsd(subtractPicos(beyond, possible))} USD that are not explained`,
    )
  return {
    model: titleOf(models),
    models,
    vendor_models: vendorNames,
    verdict:
      reasons.length > 0
        ? 'unexplained'
        : beyond > explained || isMoreThanSent
          ? 'possible'
          : 'explained',
    difference_usd: formatUsd(beyond),
    explained_up_to_usd: formatUsd(explained),
    possible_up_to_usd: formatUsd(possible),
    not_charged_usd: formatUsd(sumPicos(rows, (row) => row.notChargedPicos)),
    reasons,
  }
}

/** Prices, and a factor on them in millionths. */
interface FactoredPrices {
  readonly prices: Prices
  readonly ppm: number
}

/** Returns the price in force, and what it costs on each channel: estimates were made with either. */
function pricesOf(
  model: string,
  { catalogue, atMs, channel }: ComparisonFacts,
): readonly FactoredPrices[] {
  const versions = readVersions(catalogue.prices.filter((row) => row.model === model))
  const prices = pricesAt(versions, atMs)
  if (prices === undefined) return []
  const costs = catalogue.channels
    .filter(({ name }) => channel === 'all' || name === channel)
    .map(({ cost }): FactoredPrices => {
      const own = costPricesAt(cost, model, atMs)
      return own === undefined
        ? { prices, ppm: cost?.factorPpm ?? unchangedPpm }
        : { prices: own, ppm: unchangedPpm }
    })
  return [{ prices, ppm: unchangedPpm }, ...costs]
}

/** Returns the highest cost that the output of one answer of these models can have. */
function maxOutputCost(models: readonly string[], facts: ComparisonFacts): Picos {
  const amounts = models.map((model) => {
    const known = facts.catalogue.models.find(({ id }) => id === model)
    return worth(['output'], pricesOf(model, facts), known?.maxOutputTokens ?? 0)
  })
  return amounts.reduce((most, amount) => maxPicos(most, amount), zeroPicos)
}

/** Returns the least cost of `count` tokens of these classes: at the cheapest price among them. */
function worth(
  classes: readonly UsageClass[],
  factored: readonly FactoredPrices[],
  count: number,
): Picos {
  const amounts = factored.flatMap(({ prices, ppm }) =>
    classes.map((usageClass) => {
      const amount = multiplyPicos(listRate(prices, usageClass), count)
      return picos((amount * BigInt(ppm)) / BigInt(unchangedPpm))
    }),
  )
  const [first = zeroPicos, ...others] = amounts
  return others.reduce((least, amount) => minPicos(least, amount), first)
}
