/**
 * Puts a vendor's counts and bill beside the gateway's own sums, model by model. Pure. It tells differences,
 * and never what causes them.
 */
import { z } from 'zod'
import { addPicos, formatUsd, subtractPicos, zeroPicos, type Picos } from '../../base/money.ts'
import type { ChannelSums } from '../../ledger/channel-sums.ts'
import { usageClasses } from '../../metering/usage.ts'
import { usd, type Answer } from '../answer-forms.ts'
import {
  addVendorCounts,
  classesOfCount,
  type VendorExport,
  type VendorSums,
} from './vendor-counts.ts'
import { groupNames } from './vendor-names.ts'

const countForm = z.strictObject({
  /** `requests`, a price class, or a count by the vendor's name for it. */
  figure: z.string(),
  /** Null without the vendor's count. */
  vendor: z.int().nullable(),
  /** Charged requests and checks. */
  expected: z.int(),
})

const usdShape = {
  vendor_usd: usd.nullable().meta({ description: 'Null where the files name no cost.' }),
  expected_usd: usd.meta({
    description:
      'Own cost of requests, or their charge where it is not known, and estimated cost of failed attempts and checks.',
  }),
  difference_usd: usd.nullable().meta({ description: "The vendor's less the expected." }),
}

const modelForm = z.strictObject({
  /**
   * Ours, `one + other` where the vendor has one name for both; the vendor's where we have none; null for a
   * cost of no model.
   */
  model: z.string().nullable().meta({ description: 'Null for a cost of no model.' }),
  /** The same one by one; empty where the gateway has no such model. */
  models: z.array(z.string()),
  vendor_models: z.array(z.string()),
  counts: z.array(countForm),
  charged_usd: usd,
  ...usdShape,
})

export const comparisonShape = {
  ...usdShape,
  models: z.array(modelForm),
  /** Columns and fields of the files that are not compared. */
  fields_not_compared: z.array(z.string()),
  /** Rows of days outside the period, which are not counted. */
  rows_outside_period: z.int(),
  /** A page of an API says that more pages follow, and the next one is not given. */
  has_more_pages: z.boolean(),
}

type Comparison = Answer<z.ZodObject<typeof comparisonShape>>
type ReconciledModel = Answer<typeof modelForm>
type ReconciledCount = Answer<typeof countForm>
type ReconciledUsd = Pick<ReconciledModel, keyof typeof usdShape>

/** Compares sums by the catalogue's ids with the vendor's counts by its names, `namesOf` a model. */
export function compareSums(
  sums: readonly ChannelSums[],
  { counts, notCompared, rowsOutside, hasMore }: VendorExport,
  namesOf: (model: string) => readonly string[],
): Comparison {
  const ours = [...new Set(sums.map(({ model }) => model))]
  const groups = groupNames(
    counts.map(({ model }) => model).filter((model) => model !== ''),
    ours.map((model) => ({ model, names: namesOf(model) })),
  )
  const noModel = counts.some(({ model }) => model === '')
    ? [{ models: [], vendorNames: [''] }]
    : []
  const rows = [...groups, ...noModel].map(({ models, vendorNames }) => {
    const own = sums.filter(({ model }) => models.includes(model))
    const vendor = addVendorCounts(counts.filter(({ model }) => vendorNames.includes(model)))
    const title = (models.length === 0 ? vendorNames : models).join(' + ')
    return {
      model: models.length === 0 && title === '' ? null : title,
      models,
      vendor_models: vendorNames.filter((name) => name !== ''),
      counts: compareCounts(vendor, own),
      charged_usd: formatUsd(sumPicos(own, ({ chargedPicos }) => chargedPicos)),
      ...compareUsd(vendor.costPicos, own),
    }
  })
  return {
    ...compareUsd(addVendorCounts(counts).costPicos, sums),
    // Vendors also list models without any usage, and we know those that other channels served.
    models: rows.filter((row) => row.model === null || hasUsage(row)),
    fields_not_compared: notCompared,
    rows_outside_period: rowsOutside,
    has_more_pages: hasMore,
  }
}

/** Says the result in one line. */
export function resultOf({ vendor_usd, expected_usd, difference_usd }: ReconciledUsd): string {
  return vendor_usd === null || difference_usd === null
    ? `expected ${centsOf(expected_usd)}; no file names what the vendor bills`
    : `vendor bills ${centsOf(vendor_usd)}, expected ${centsOf(expected_usd)}, ${centsOf(difference_usd)} unexplained`
}

/** Writes at least the cents of an exact amount. */
function centsOf(usd: string): string {
  const [whole = '', decimals = ''] = usd.split('.')
  return `${whole}.${decimals.padEnd(2, '0')}`
}

function hasUsage({ counts, vendor_usd: billed, expected_usd: own }: ReconciledModel): boolean {
  const isCounted = counts.some(({ vendor, expected }) => (vendor ?? 0) !== 0 || expected !== 0)
  return isCounted || (billed ?? '0') !== '0' || own !== '0'
}

function compareUsd(vendorPicos: Picos | undefined, sums: readonly ChannelSums[]): ReconciledUsd {
  const expected = sumPicos(sums, ({ expectedPicos }) => expectedPicos)
  return {
    vendor_usd: vendorPicos === undefined ? null : formatUsd(vendorPicos),
    expected_usd: formatUsd(expected),
    difference_usd:
      vendorPicos === undefined ? null : formatUsd(subtractPicos(vendorPicos, expected)),
  }
}

/** Lists the counts that the vendor gives, and ours that none of them contains. */
function compareCounts(
  { byName }: VendorSums,
  sums: readonly ChannelSums[],
): readonly ReconciledCount[] {
  const counted = new Set([...byName.keys()].flatMap((name) => classesOfCount[name] ?? []))
  const others = usageClasses.filter((one) => !counted.has(one))
  return [...new Set(['requests', ...byName.keys(), ...others])]
    .map((name) => ({
      figure: name,
      vendor: byName.get(name) ?? null,
      expected: sumNumbers(sums, (sum) => countOf(sum, name)),
    }))
    .filter(({ vendor, expected }) => vendor !== null || expected > 0)
}

function countOf({ requests, counts }: ChannelSums, name: string): number {
  if (name === 'requests') return requests
  return sumNumbers(classesOfCount[name] ?? [], (usageClass) => counts[usageClass] ?? 0)
}

function sumNumbers<Item>(items: readonly Item[], read: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + read(item), 0)
}

function sumPicos(sums: readonly ChannelSums[], read: (sum: ChannelSums) => Picos): Picos {
  return sums.reduce((amount, sum) => addPicos(amount, read(sum)), zeroPicos)
}
