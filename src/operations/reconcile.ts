/**
 * Reconciliation: what the gateway charged on a channel in a period, what it cost beside, and where the
 * vendor's counts are given, what they say to it (`vendor-comparison.ts`).
 */
import { z } from 'zod'
import { addPicos, formatUsd, maxPicos, zeroPicos, type Picos } from '../base/money.ts'
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
import { readUncapped } from '../metering/price-lines.ts'
import { isRequested, undated } from '../metering/priced-model.ts'
import { invalid, notFound, parseInput, type OperationContext } from './context.ts'
import { fromTime, untilTime } from './input.ts'
import { compareCounts, type Comparison, type ReconciledRow } from './vendor-comparison.ts'
import { readVendorCounts } from './vendor-counts.ts'
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
          : compareCounts(sorted, counts, { catalogue, atMs: to - 1, channel }),
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

function viewRow(row: ReconciledRow): ReconciledModel {
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
