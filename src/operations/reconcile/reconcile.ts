/**
 * Reconciliation: what a vendor counted and bills for a period, beside what the gateway expects it to. Sums
 * and differences only: the gateway does not judge where a difference comes from. A run with files is kept,
 * with their hashes and with who accepted the result.
 */
import { hash } from 'node:crypto'
import { z } from 'zod'
import { newId } from '../../base/id.ts'
import { addPicos, parseUsd, zeroPicos } from '../../base/money.ts'
import { readCatalogue, type CatalogueRows } from '../../channels/channel-store.ts'
import { listCosts } from '../../channels/cluster/operator-cost-store.ts'
import {
  addCounts,
  noSums,
  sumChannels,
  type ChannelModel,
  type ChannelSums,
} from '../../ledger/channel-sums.ts'
import { readExchangeCut } from '../../ledger/exchange-retention.ts'
import { isRequested, undated } from '../../metering/prices.ts'
import type { Queryable } from '../../storage/database.ts'
import { readStoreTime } from '../../storage/node-store.ts'
import { moment, type Answer } from '../answer-forms.ts'
import { recordAction } from '../actions.ts'
import { fromTime, note, printableText, untilTime } from '../input.ts'
import {
  invalid,
  invalidField,
  notFound,
  operation,
  timeText,
  type OperationContext,
} from '../operation.ts'
import { readUncleanStops, uncleanStopForm } from '../unclean-stops.ts'
import { comparisonShape, compareSums, resultOf } from './comparison.ts'
import { insertRun } from './run-store.ts'
import { readVendorCounts } from './vendor-counts.ts'

const namedFile = z.strictObject({ name: printableText(256, 1), text: z.string() })

const reconcileInput = z.strictObject({
  channel: z
    .string()
    .min(1, 'must name a channel, or all')
    .describe('Name of the channel, or all.'),
  from: fromTime,
  to: untilTime,
  /** In forms that `vendor-counts.ts` reads. */
  vendor_counts: z
    .union([
      z.string(),
      z
        .array(z.union([z.string(), namedFile]))
        .min(1)
        .max(1_000),
    ])
    .optional()
    .describe("The vendor's exports, CSV files or pages of its API; one or several."),
  note: note.optional().describe('A note that is kept with the result.'),
  accept: z
    .boolean('must be true or false')
    .default(false)
    .describe('Keep the result as accepted by you.'),
})

const reconciliationForm = z.strictObject({
  id: z.string().nullable().meta({ description: 'Of the kept run; null without a file.' }),
  channel: z.string(),
  result: z.string().meta({
    description: 'In one line: `vendor bills 38.10, expected 37.90, 0.20 unexplained`.',
  }),
  from: moment,
  to: moment,
  /** Exchanges before this day are removed and not counted; null = none are. */
  explained_from: moment.nullable(),
  /** Unclean stops in the period: their last answers are not recorded. */
  unclean_stops: z.array(uncleanStopForm),
  ...comparisonShape,
})

export type Reconciliation = Answer<typeof reconciliationForm>

export const reconcileChannel = operation(
  { input: reconcileInput, answer: reconciliationForm },
  async (context, { channel, from, to, vendor_counts = [], note, accept }) => {
    if (from >= to) throw invalidField('to', 'must be after from')
    const files = [vendor_counts].flat()
    if (accept && files.length === 0)
      throw invalidField('accept', "needs the vendor's files; their result is what you accept")
    const texts = files.map((file) => (typeof file === 'string' ? file : file.text))
    const vendor = readVendorCounts(texts, { fromMs: from, toMs: to })
    if (typeof vendor === 'string') throw invalid(`The vendor's counts cannot be read: ${vendor}.`)
    const nowMs = await readStoreTime(context.database, context.clock)
    const found = await context.database.snapshot(async (snapshot) => {
      const catalogue = await readCatalogue(snapshot)
      if (channel !== 'all' && !catalogue.channels.some(({ name }) => name === channel))
        throw notFound(`There is no channel ${channel}.`)
      const cutMs = await readExchangeCut(snapshot)
      refuseRemovedPeriod({ fromMs: from, toMs: to, cutMs, hasCounts: texts.length > 0 })
      const period = { channel, fromMs: Math.max(from, cutMs), toMs: to }
      const sums = await sumPeriod(snapshot, catalogue, period)
      const compared = compareSums(sums, vendor, (model) => namesOf(model, catalogue, channel))
      return {
        channel,
        result: resultOf(compared),
        from: timeText(from),
        to: timeText(to),
        explained_from: cutMs > from ? timeText(cutMs) : null,
        unclean_stops: await readUncleanStops(snapshot, { ...period, nowMs }),
        ...compared,
      }
    })
    if (files.length === 0) return { id: null, ...found }
    const kept = { id: newId('rec', nowMs), atMs: nowMs, fromMs: from, toMs: to, note, accept }
    await keepRun(context, { ...kept, found, files })
    return { id: kept.id, ...found }
  },
)

interface NewRun {
  readonly id: string
  readonly atMs: number
  readonly fromMs: number
  readonly toMs: number
  readonly note: string | undefined
  readonly accept: boolean
  readonly found: Omit<Reconciliation, 'id'>
  readonly files: readonly (string | z.output<typeof namedFile>)[]
}

async function keepRun(context: OperationContext, run: NewRun): Promise<void> {
  const { found, accept, note = '', files, ...kept } = run
  const { channel, from, to, result, vendor_usd: billed, expected_usd: expected } = found
  const named = files.map((file) => (typeof file === 'string' ? { name: '', text: file } : file))
  await context.database.transact(async (transaction) => {
    await insertRun(transaction, {
      ...kept,
      actor: context.actor,
      channel,
      files: named.map(({ name, text }) => ({ name, sha256: hash('sha256', text, 'hex') })),
      vendorPicos: billed === null ? undefined : parseUsd(billed),
      expectedPicos: parseUsd(expected) ?? zeroPicos,
      note,
      acceptedBy: accept ? context.actor : undefined,
      acceptedAtMs: accept ? kept.atMs : undefined,
    })
    await recordAction(transaction, context, {
      action: accept ? 'reconciliation.accept' : 'reconciliation.run',
      subject: channel,
      detail: { reconciliation: kept.id, from, to, result, note },
    })
  })
}

/** Returns the channels' names for a model. */
function namesOf(model: string, { channels }: CatalogueRows, channel: string): readonly string[] {
  const names = channels
    .filter(({ name, models }) => (channel === 'all' || name === channel) && models.has(model))
    .map(({ models }) => models.get(model) ?? model)
  return names.length === 0 ? [model] : names
}

/** Adds up requests and checks per channel and model of the catalogue, in the order of their names. */
async function sumPeriod(
  snapshot: Queryable,
  catalogue: CatalogueRows,
  { channel, fromMs, toMs }: { channel: string; fromMs: number; toMs: number },
): Promise<readonly ChannelSums[]> {
  const isIncluded = (row: { readonly channel: string }): boolean =>
    channel === 'all' || row.channel === channel || row.channel === ''
  const sums = await sumChannels(snapshot, {
    fromMs,
    toMs,
    isOwnName: (place, served) => isOwnName(catalogue, place, served),
  })
  const merged: Sums = new Map()
  for (const sum of sums.filter(isIncluded)) {
    const model = ourName(sum.model, catalogue, sum.channel)
    addSum(merged, { ...sum, model })
  }
  for (const cost of await listCosts(snapshot, { fromMs, untilMs: toMs }))
    if (isIncluded(cost))
      addSum(merged, {
        ...noSums(cost.channel, cost.model),
        requests: 1,
        counts: cost.usage,
        expectedPicos: cost.amountPicos,
      })
  return [...merged].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, sum]) => sum)
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

type Sums = Map<string, ChannelSums>

function addSum(sums: Sums, added: ChannelSums): void {
  const name = `${added.channel}\0${added.model}`
  const sum = sums.get(name) ?? noSums(added.channel, added.model)
  sums.set(name, sum)
  sum.requests += added.requests
  sum.chargedPicos = addPicos(sum.chargedPicos, added.chargedPicos)
  sum.expectedPicos = addPicos(sum.expectedPicos, added.expectedPicos)
  addCounts(sum.counts, added.counts)
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
