/**
 * Reconciliation: what the gateway charged on a channel in a period, and what else the channel cost.
 * Where the vendor's counts are given, `vendor-comparison.ts` compares them.
 */
import { z } from 'zod'
import { addPicos, formatUsd, maxPicos, zeroPicos, type Picos } from '../../base/money.ts'
import { readCatalogue, type CatalogueRows } from '../../channels/channel-store.ts'
import { listCosts } from '../../channels/cluster/operator-cost-store.ts'
import {
  addCounts,
  noSums,
  sumChannels,
  type ChannelModel,
  type ChannelSums,
  type ClassCounts,
} from '../../ledger/channel-sums.ts'
import { readExchangeCut } from '../../ledger/exchange-retention.ts'
import type { Queryable } from '../../storage/database.ts'
import { readStoreTime } from '../../storage/node-store.ts'
import { readUncapped } from '../../metering/price-lines.ts'
import { isRequested, undated } from '../../metering/prices.ts'
import { moment, usd, type Answer } from '../answer-forms.ts'
import { fromTime, untilTime } from '../input.ts'
import { invalid, invalidField, notFound, operation, timeText } from '../operation.ts'
import { readVendorTexts } from '../read-file.ts'
import { readUncleanStops, uncleanStopForm } from '../unclean-stops.ts'
import { compareCounts, comparisonForm, type ReconciledRow } from './vendor-comparison.ts'

const reconcileInput = z.strictObject({
  channel: z
    .string()
    .min(1, 'must name a channel, or all')
    .describe('Name of the channel, or all.'),
  from: fromTime,
  to: untilTime,
  /** In forms that `vendor-counts.ts` reads. */
  vendor_counts: z
    .union([z.string(), z.array(z.string()).min(1).max(1_000)])
    .optional()
    .describe("The vendor's exports, CSV files or pages of its API; one or several."),
})

const counts = z.record(z.string(), z.int())

const rowForm = z.strictObject({
  channel: z.string(),
  model: z.string(),
  charged_requests: z.int(),
  charged_tokens: counts,
  charged_usd: usd,
  estimated_requests: z.int(),
  estimated_usd: usd,
  /** Charged at most their hold, because the vendor's counts were implausible. */
  capped_requests: z.int(),
  /** The cost of those counts beyond the charges. */
  not_charged_usd: usd,
  uncharged_requests: z.int(),
  other_attempts: z.int(),
  /** The cost of uncharged answers and failed attempts to the operator. */
  operator_cost_usd: usd,
  /** With the checks. Null where the own cost of some request is not known exactly. */
  own_cost_usd: usd.nullable(),
  checks: z.int(),
  check_tokens: counts,
  check_usd: usd,
})

const reconciliationForm = z.strictObject({
  channel: z.string(),
  from: moment,
  to: moment,
  /** Exchanges before this day are removed and not counted; null = none are. */
  explained_from: moment.nullable(),
  /** Of the period: what they served then is not recorded. */
  unclean_stops: z.array(uncleanStopForm),
  models: z.array(rowForm),
  comparison: comparisonForm.nullable().meta({ description: "Null without the vendor's counts." }),
})

export type Reconciliation = Answer<typeof reconciliationForm>

export const reconcileChannel = operation(
  { input: reconcileInput, answer: reconciliationForm },
  async (context, { channel, from, to, vendor_counts }) => {
    if (from >= to) throw invalidField('to', 'must be after from')
    const texts = vendor_counts === undefined ? [] : [vendor_counts].flat()
    const counts =
      texts.length === 0 ? undefined : await readVendorTexts(texts, { fromMs: from, toMs: to })
    if (typeof counts === 'string') throw invalid(`The vendor's counts cannot be read: ${counts}.`)
    const nowMs = await readStoreTime(context.database, context.clock)
    return context.database.snapshot(async (snapshot) => {
      const catalogue = await readCatalogue(snapshot)
      if (channel !== 'all' && !catalogue.channels.some(({ name }) => name === channel))
        throw notFound(`There is no channel ${channel}.`)
      const cutMs = await readExchangeCut(snapshot)
      refuseRemovedPeriod({ fromMs: from, toMs: to, cutMs, hasCounts: counts !== undefined })
      const period = { channel, fromMs: Math.max(from, cutMs), toMs: to }
      const rows = await sumRows(snapshot, catalogue, period)
      const stops = await readUncleanStops(snapshot, { ...period, nowMs })
      const hasUncleanStop = stops.length > 0
      return {
        channel,
        from: timeText(from),
        to: timeText(to),
        explained_from: cutMs > from ? timeText(cutMs) : null,
        unclean_stops: stops,
        models: rows.map(viewRow),
        comparison:
          counts === undefined
            ? null
            : compareCounts(hasUncleanStop ? withUnseen(rows, catalogue, channel) : rows, counts, {
                catalogue,
                atMs: to - 1,
                channel,
                hasUncleanStop,
              }),
      }
    })
  },
)

/** Adds the models without a record: all of their requests may have been running at the unclean stop. */
function withUnseen(
  rows: readonly ReconciledRow[],
  { channels }: CatalogueRows,
  channel: string,
): readonly ReconciledRow[] {
  const all: Rows = new Map(rows.map((row) => [nameOf(row), row]))
  for (const { name, models } of channels)
    if (channel === 'all' || name === channel)
      for (const model of models.keys()) rowOf(all, { channel: name, model })
  return [...all.values()]
}

/** Adds up charges and checks per channel and model, in the order of their names. */
async function sumRows(
  snapshot: Queryable,
  catalogue: CatalogueRows,
  { channel, fromMs, toMs }: { channel: string; fromMs: number; toMs: number },
): Promise<readonly ReconciledRow[]> {
  const isIncluded = (row: { readonly channel: string }): boolean =>
    channel === 'all' || row.channel === channel || row.channel === ''
  const sums = await sumChannels(snapshot, {
    fromMs,
    toMs,
    readUncapped,
    isOwnName: (place, served) => isOwnName(catalogue, place, served),
  })
  const rows = mergeNames(sums.filter(isIncluded), catalogue)
  for (const cost of await listCosts(snapshot, { fromMs, untilMs: toMs }))
    if (isIncluded(cost)) addCheck(rows, cost)
  return [...rows.values()].sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1))
}

interface CutPeriod {
  readonly fromMs: number
  readonly toMs: number
  readonly cutMs: number
  readonly hasCounts: boolean
}

/** Refuses a period whose exchanges were removed by retention: the vendor's counts would look wrong. */
function refuseRemovedPeriod({ fromMs, toMs, cutMs, hasCounts }: CutPeriod): void {
  if (cutMs <= fromMs) return
  const removed = `exchanges before ${timeText(cutMs)} are no longer kept`
  if (cutMs >= toMs) throw invalidField('to', `${removed}; choose a later period`)
  if (hasCounts)
    throw invalidField('from', `${removed}; compare a vendor's counts from that day on`)
}

type Rows = Map<string, ReconciledRow>

function nameOf({ channel, model }: { readonly channel: string; readonly model: string }): string {
  return `${channel}\0${model}`
}

function rowOf(
  rows: Rows,
  place: { readonly channel: string; readonly model: string },
): ReconciledRow {
  const name = nameOf(place)
  const known = rows.get(name)
  if (known !== undefined) return known
  const row: ReconciledRow = {
    ...noSums(place.channel, place.model),
    checks: 0,
    checkCounts: {},
    checkPicos: zeroPicos,
  }
  rows.set(name, row)
  return row
}

/** Merges the names that answers use for one model into its id in the catalogue. */
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
    row.explainedPicos = addPicos(row.explainedPicos, sum.explainedPicos)
    row.ownCostPicos = addPicos(row.ownCostPicos, sum.ownCostPicos)
    row.unknownCosts += sum.unknownCosts
    addCounts(row.counts, sum.counts)
    addCounts(row.estimatedCounts, sum.estimatedCounts)
  }
  return rows
}

/** Whether a served name is the requested model, as `isRequested` decides for charges. */
function isOwnName(
  { channels }: CatalogueRows,
  { channel, model }: ChannelModel,
  served: string,
): boolean {
  const upstreamModel = channels.find(({ name }) => name === channel)?.models.get(model)
  return isRequested({ requestedModel: model, upstreamModel }, served)
}

/** Finds the catalogue's id for a served name: equal, by a channel's name for it, or without the date. */
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

function addCheck(
  rows: Rows,
  cost: {
    readonly channel: string
    readonly model: string
    readonly usage: ClassCounts
    readonly amountPicos: Picos
    readonly isOwnCostKnown: boolean
  },
): void {
  const row = rowOf(rows, cost)
  row.checks++
  row.checkPicos = addPicos(row.checkPicos, cost.amountPicos)
  addCounts(row.checkCounts, cost.usage)
  if (cost.isOwnCostKnown) row.ownCostPicos = addPicos(row.ownCostPicos, cost.amountPicos)
  else row.unknownCosts++
}

function viewRow(row: ReconciledRow): Answer<typeof rowForm> {
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
    own_cost_usd: row.unknownCosts > 0 ? null : formatUsd(row.ownCostPicos),
    checks: row.checks,
    check_tokens: row.checkCounts,
    check_usd: formatUsd(row.checkPicos),
  }
}
