/**
 * Reconciliation: what the gateway charged on a channel beside what the vendor counted there. The
 * vendor may have counted more, by the checks (known to the token) and by answers and attempts that
 * were charged to nobody (known by their cost, as far as their counts came before they broke off); it
 * may have counted otherwise where a charge was an estimate. So a difference is explained, possible,
 * or one that nothing here explains.
 */
import { z } from 'zod'
import {
  addPicos,
  formatUsd,
  maxPicos,
  minPicos,
  multiplyPicos,
  subtractPicos,
  zeroPicos,
  type Picos,
} from '../base/money.ts'
import { readCatalogue, type CatalogueRows } from '../channels/channel-store.ts'
import { listCosts } from '../channels/operator-cost-store.ts'
import {
  addCounts,
  noSums,
  sumChannels,
  type ChannelModel,
  type ChannelSums,
  type ClassCounts,
} from '../ledger/channel-sums.ts'
import { readExchangeCut } from '../ledger/exchange-cut-store.ts'
import { pricesAt, type Prices } from '../metering/price-book.ts'
import { readUncapped } from '../metering/price-lines.ts'
import { isRequested, undated } from '../metering/priced-model.ts'
import { listRate } from '../metering/rates.ts'
import type { UsageClass } from '../metering/usage.ts'
import { readVersions } from './catalogue/prices.ts'
import { invalid, notFound, parseInput, type OperationContext } from './context.ts'
import { fromTime, untilTime } from './input.ts'
import {
  addVendorCounts,
  readVendorCounts,
  vendorFigures,
  type VendorCounts,
} from './vendor-counts.ts'
import { groupNames } from './vendor-names.ts'
import { timeText } from './views.ts'

const reconcileInput = z.strictObject({
  /** A channel's name, or `all`. */
  channel: z.string().min(1, 'must name a channel, or all'),
  from: fromTime,
  to: untilTime,
  /** The vendor's counts, as `vendor-counts.ts` reads them. */
  vendor_counts: z.string().optional(),
})

export interface ReconciledModel {
  readonly channel: string
  readonly model: string
  readonly charged_requests: number
  readonly charged_tokens: Readonly<ClassCounts>
  readonly charged_usd: string
  readonly estimated_requests: number
  readonly estimated_usd: string
  /** Charged no more than their hold, because the vendor's counts were not believed. */
  readonly capped_requests: number
  /** What these counts came to beyond the charges. */
  readonly not_charged_usd: string
  readonly uncharged_requests: number
  readonly other_attempts: number
  /** What uncharged answers and failed attempts may have cost the operator. */
  readonly operator_cost_usd: string
  readonly checks: number
  readonly check_tokens: Readonly<ClassCounts>
  readonly check_usd: string
}

export interface ReconciledFigure {
  /** As the verdict on it has it. */
  readonly model: string
  readonly figure: string
  readonly vendor: number
  /** Charged, and spent on checks. */
  readonly ours: number
  readonly difference: number
}

export interface Comparison {
  readonly figures: readonly ReconciledFigure[]
  /** Models of which the vendor counted something and the gateway nothing. */
  readonly unknown_models: readonly string[]
  readonly verdicts: readonly ModelVerdict[]
}

export interface ModelVerdict {
  /** Ours; `one + other` where the vendor has one name for both, so that they are judged together. */
  readonly model: string
  /** The same one by one. */
  readonly models: readonly string[]
  /** The names in the vendor's counts that this is about. */
  readonly vendor_models: readonly string[]
  /**
   * `explained` by recorded cost and estimates; `possible` beyond them, by answers and attempts whose
   * counts never came; `unexplained` by neither.
   */
  readonly verdict: 'explained' | 'possible' | 'unexplained'
  /** The tokens the vendor counted beyond ours, at list price. */
  readonly difference_usd: string
  /** The recorded cost and the estimates. */
  readonly explained_up_to_usd: string
  /** With the most that answers without counts can have cost. */
  readonly possible_up_to_usd: string
  /** Counted as charged, and not paid for by anyone: what caps on implausible counts came to. */
  readonly not_charged_usd: string
  readonly reasons: readonly string[]
}

export interface Reconciliation {
  readonly channel: string
  readonly from: string
  readonly to: string
  /** Exchanges before this day are no longer kept, and nothing here counts them; null = all are. */
  readonly explained_from: string | null
  readonly models: readonly ReconciledModel[]
  /** Null where no counts of the vendor were given. */
  readonly comparison: Comparison | null
}

interface Row extends ChannelSums {
  checks: number
  readonly checkCounts: ClassCounts
  checkPicos: Picos
}

export function reconcileChannel(
  context: OperationContext,
  input: unknown,
): Promise<Reconciliation> {
  const { channel, from, to, vendor_counts } = parseInput(reconcileInput, input)
  if (from >= to) throw invalid('to: must be after from')
  const counts = vendor_counts === undefined ? undefined : readVendorCounts(vendor_counts)
  if (typeof counts === 'string') throw invalid(`the vendor's counts cannot be read: ${counts}`)
  return context.database.snapshot(async (snapshot) => {
    const catalogue = await readCatalogue(snapshot)
    if (channel !== 'all' && !catalogue.channels.some(({ name }) => name === channel))
      throw notFound(`There is no channel ${channel}.`)
    const cutMs = await readExchangeCut(snapshot)
    refuseWhatIsCut({ fromMs: from, toMs: to, cutMs, hasCounts: counts !== undefined })
    const period = { fromMs: Math.max(from, cutMs), toMs: to }
    const isWanted = (row: { readonly channel: string }): boolean =>
      channel === 'all' || row.channel === channel || row.channel === ''
    const sums = await sumChannels(snapshot, {
      ...period,
      readUncapped,
      isOwnName: (place, served) => isOwnName(catalogue, place, served),
    })
    const rows = mergeNames(sums.filter(isWanted), catalogue)
    for (const cost of await listCosts(snapshot, { fromMs: period.fromMs, untilMs: to }))
      if (isWanted(cost)) addCheck(rows, cost)
    const sorted = [...rows.values()].sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1))
    return {
      channel,
      from: timeText(from),
      to: timeText(to),
      explained_from: cutMs > from ? timeText(cutMs) : null,
      models: sorted.map(viewRow),
      comparison:
        counts === undefined
          ? null
          : compareAll(sorted, counts, { catalogue, atMs: to - 1, channel }),
    }
  })
}

interface CutPeriod {
  readonly fromMs: number
  readonly toMs: number
  readonly cutMs: number
  readonly hasCounts: boolean
}

/** What retention has let go is nobody's fault: no vendor is blamed for what is only missing here. */
function refuseWhatIsCut({ fromMs, toMs, cutMs, hasCounts }: CutPeriod): void {
  if (cutMs <= fromMs) return
  const gone = `exchanges before ${timeText(cutMs)} are no longer kept`
  if (cutMs >= toMs) throw invalid(`to: ${gone}, so nothing of this period can be reconciled`)
  if (hasCounts)
    throw invalid(`from: ${gone}, so a vendor's counts can be compared from then on only`)
}

type Rows = Map<string, Row>

function nameOf({ channel, model }: { readonly channel: string; readonly model: string }): string {
  return `${channel}\0${model}`
}

function rowOf(rows: Rows, place: { readonly channel: string; readonly model: string }): Row {
  const name = nameOf(place)
  const known = rows.get(name)
  if (known !== undefined) return known
  const row: Row = {
    ...noSums(place.channel, place.model),
    checks: 0,
    checkCounts: {},
    checkPicos: zeroPicos,
  }
  rows.set(name, row)
  return row
}

/** Under one name for each model: the catalogue's, where the vendor's answers call it otherwise. */
function mergeNames(sums: readonly ChannelSums[], catalogue: CatalogueRows): Rows {
  const rows: Rows = new Map()
  for (const sum of sums) {
    const model = ourName(sum.model, catalogue, sum.channel)
    const row = rowOf(rows, { channel: sum.channel, model })
    row.charged += sum.charged
    row.chargedPicos = addPicos(row.chargedPicos, sum.chargedPicos)
    row.largestPicos = maxPicos(row.largestPicos, sum.largestPicos)
    row.estimated += sum.estimated
    row.estimatedPicos = addPicos(row.estimatedPicos, sum.estimatedPicos)
    row.capped += sum.capped
    row.notChargedPicos = addPicos(row.notChargedPicos, sum.notChargedPicos)
    row.uncharged += sum.uncharged
    row.otherAttempts += sum.otherAttempts
    row.operatorCostPicos = addPicos(row.operatorCostPicos, sum.operatorCostPicos)
    addCounts(row.counts, sum.counts)
    addCounts(row.estimatedCounts, sum.estimatedCounts)
  }
  return rows
}

/** As an exchange of today would be charged: for the model that was asked for, or for another one. */
function isOwnName(
  { channels }: CatalogueRows,
  { channel, model }: ChannelModel,
  served: string,
): boolean {
  const upstreamModel = channels.find(({ name }) => name === channel)?.models.get(model)
  return isRequested({ requestedModel: model, upstreamModel }, served)
}

/** A model's id here: as it stands, by a channel's name for it, or without its date. */
function ourName(served: string, { models, channels }: CatalogueRows, channel: string): string {
  const ids = new Set(models.map(({ id }) => id))
  if (ids.has(served)) return served
  for (const { name, models: mapped } of channels) {
    if (channel !== '' && name !== channel) continue
    for (const [id, theirs] of mapped)
      if (theirs !== undefined && undated(theirs) === undated(served)) return id
  }
  for (const id of ids) if (undated(id) === undated(served)) return id
  return served
}

/** What the channels in question call a model. */
function namesOf(model: string, { catalogue, channel }: ComparisonFacts): readonly string[] {
  const names = catalogue.channels
    .filter(({ name, models }) => (channel === 'all' || name === channel) && models.has(model))
    .map(({ models }) => models.get(model) ?? model)
  return names.length === 0 ? [model] : names
}

function addCheck(
  rows: Rows,
  cost: {
    readonly channel: string
    readonly model: string
    readonly usage: ClassCounts
    readonly amountPicos: Picos
  },
): void {
  const row = rowOf(rows, cost)
  row.checks++
  row.checkPicos = addPicos(row.checkPicos, cost.amountPicos)
  addCounts(row.checkCounts, cost.usage)
}

function viewRow(row: Row): ReconciledModel {
  return {
    channel: row.channel,
    model: row.model,
    charged_requests: row.charged,
    charged_tokens: row.counts,
    charged_usd: formatUsd(row.chargedPicos),
    estimated_requests: row.estimated,
    estimated_usd: formatUsd(row.estimatedPicos),
    capped_requests: row.capped,
    not_charged_usd: formatUsd(row.notChargedPicos),
    uncharged_requests: row.uncharged,
    other_attempts: row.otherAttempts,
    operator_cost_usd: formatUsd(row.operatorCostPicos),
    checks: row.checks,
    check_tokens: row.checkCounts,
    check_usd: formatUsd(row.checkPicos),
  }
}

interface ComparisonFacts {
  readonly catalogue: CatalogueRows
  readonly atMs: number
  readonly channel: string
}

function isCounted(name: string, counts: readonly VendorCounts[]): boolean {
  return counts
    .filter(({ model }) => model === name)
    .some(({ requests = 0, figures }) => requests > 0 || [...figures.values()].some(Boolean))
}

function compareAll(
  rows: readonly Row[],
  counts: readonly VendorCounts[],
  facts: ComparisonFacts,
): Comparison {
  const figures: ReconciledFigure[] = []
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
    // Vendors list models that nobody used as well.
    if (models.length === 0) unknown.push(...vendorNames.filter((name) => isCounted(name, counts)))
    else if (vendorNames.length > 0) {
      const vendor = addVendorCounts(counts.filter(({ model }) => vendorNames.includes(model)))
      const compared = compareModels(titleOf(models), vendor, own)
      figures.push(...compared)
      verdicts.push(judge(compared, subject, facts))
    } else if (own.some(({ charged }) => charged > 0)) verdicts.push(missing(subject))
  }
  return { figures, verdicts, unknown_models: unknown }
}

/** What a verdict is about. */
interface Subject {
  readonly models: readonly string[]
  readonly vendorNames: readonly string[]
  readonly rows: readonly Row[]
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
    reasons: ['the vendor counted nothing of it, and it was charged'],
  }
}

function compareModels(
  model: string,
  vendor: Omit<VendorCounts, 'model'>,
  rows: readonly Row[],
): readonly ReconciledFigure[] {
  const line = (figure: string, theirs: number, ours: number): ReconciledFigure => ({
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

function sumPicos(rows: readonly Row[], read: (row: Row) => Picos): Picos {
  return rows.reduce((amount, row) => addPicos(amount, read(row)), zeroPicos)
}

function total(counts: ClassCounts, classes: readonly (keyof ClassCounts)[]): number {
  return classes.reduce((sum, usageClass) => sum + (counts[usageClass] ?? 0), 0)
}

function judge(
  figures: readonly ReconciledFigure[],
  { models, vendorNames, rows }: Subject,
  facts: ComparisonFacts,
): ModelVerdict {
  const prices = models.flatMap((model) => pricesOf(model, facts))
  const unpaid = rows.reduce((count, row) => count + row.uncharged + row.otherAttempts, 0)
  const reasons: string[] = []
  let beyond = zeroPicos
  for (const { figure, difference } of figures) {
    const classes = vendorFigures[figure] ?? []
    const estimated = rows.reduce((count, row) => count + total(row.estimatedCounts, classes), 0)
    if (difference < 0 && -difference > estimated)
      reasons.push(`${-difference} ${figure} were charged that it did not count`)
    if (figure === 'requests' && difference > unpaid)
      reasons.push(`it counted ${difference - unpaid} requests that nothing here explains`)
    if (difference > 0 && classes.length > 0 && prices.length === 0)
      reasons.push(`it counted ${difference} ${figure} more, of a model that has no price here`)
    if (difference > 0) beyond = addPicos(beyond, worth(classes, prices, difference))
  }
  const explained = addPicos(
    sumPicos(rows, (row) => row.operatorCostPicos),
    sumPicos(rows, (row) => row.estimatedPicos),
  )
  const largest = rows.reduce((most, row) => maxPicos(most, row.largestPicos), zeroPicos)
  const eachAtMost = addPicos(largest, dearestOutput(models, facts))
  const possible = addPicos(explained, multiplyPicos(eachAtMost, unpaid))
  if (beyond > possible)
    reasons.push(
      `it counted tokens worth ${formatUsd(subtractPicos(beyond, possible))} USD that nothing here explains`,
    )
  return {
    model: titleOf(models),
    models,
    vendor_models: vendorNames,
    verdict: reasons.length > 0 ? 'unexplained' : beyond > explained ? 'possible' : 'explained',
    difference_usd: formatUsd(beyond),
    explained_up_to_usd: formatUsd(explained),
    possible_up_to_usd: formatUsd(possible),
    not_charged_usd: formatUsd(sumPicos(rows, (row) => row.notChargedPicos)),
    reasons,
  }
}

/** A list, for models without any have an empty one. */
function pricesOf(model: string, { catalogue, atMs }: ComparisonFacts): readonly Prices[] {
  const versions = readVersions(catalogue.prices.filter((row) => row.model === model))
  const prices = pricesAt(versions, atMs)
  return prices === undefined ? [] : [prices]
}

/** What the longest answer costs of the model whose longest answers cost most. */
function dearestOutput(models: readonly string[], facts: ComparisonFacts): Picos {
  const amounts = models.map((model) => {
    const known = facts.catalogue.models.find(({ id }) => id === model)
    return worth(['output'], pricesOf(model, facts), known?.maxOutputTokens ?? 0)
  })
  return amounts.reduce((most, amount) => maxPicos(most, amount), zeroPicos)
}

/** A figure of several classes, or models, is worth what the cheapest one costs at least. */
function worth(classes: readonly UsageClass[], prices: readonly Prices[], count: number): Picos {
  const rates = prices.flatMap((one) => classes.map((usageClass) => listRate(one, usageClass)))
  const [first = zeroPicos, ...others] = rates
  const cheapest = others.reduce((least, price) => minPicos(least, price), first)
  return multiplyPicos(cheapest, count)
}
