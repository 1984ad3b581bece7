/**
 * A vendor's own counts: reads the file that an operator exports from the vendor's console (CSV with a
 * heading, or a JSON array, one row per model), and finds the gateway's models for the vendor's names.
 * Pure. An unknown column is a mistake and never skipped.
 */
import { undated } from '../../metering/prices.ts'
import { usageClasses, type UsageClass } from '../../metering/usage.ts'

/** The figures of vendors, and the classes that each sums up. */
export const vendorFigures: Readonly<Record<string, readonly UsageClass[]>> = {
  ...Object.fromEntries(usageClasses.map((usageClass) => [usageClass, [usageClass]])),
  input_tokens: ['input'],
  output_tokens: ['output'],
  cache_read_input_tokens: ['cache_read'],
  cache_creation_input_tokens: ['cache_write_5m', 'cache_write_1h'],
  cached_tokens: ['cache_read', 'cache_read_audio'],
  prompt_tokens: [
    'input',
    'cache_read',
    'cache_write_5m',
    'cache_write_1h',
    'input_audio',
    'cache_read_audio',
  ],
  completion_tokens: ['output', 'output_audio'],
}

export interface VendorCounts {
  /** The vendor's name for it. */
  readonly model: string
  readonly requests: number | undefined
  /** By the name of the figure. */
  readonly figures: ReadonlyMap<string, number>
}

/** Returns the counts by model, or what is wrong with the file. */
export function readVendorCounts(text: string): readonly VendorCounts[] | string {
  const rows = /^\s*[[{]/.test(text) ? readJson(text) : readCsv(text)
  if (typeof rows === 'string') return rows
  const byModel = new Map<string, Map<string, number>>()
  for (const [index, row] of rows.entries()) {
    const read = readRow(row)
    if (typeof read === 'string') return `row ${index + 1}: ${read}`
    const sums = byModel.get(read.model) ?? new Map<string, number>()
    byModel.set(read.model, sums)
    for (const [name, count] of read.counts) sums.set(name, (sums.get(name) ?? 0) + count)
  }
  return [...byModel].map(([model, sums]) => {
    const requests = sums.get('requests')
    sums.delete('requests')
    return { model, requests, figures: sums }
  })
}

/** Adds up the counts of several names. */
export function addVendorCounts(counts: readonly VendorCounts[]): Omit<VendorCounts, 'model'> {
  const figures = new Map<string, number>()
  let requests: number | undefined
  for (const one of counts) {
    if (one.requests !== undefined) requests = (requests ?? 0) + one.requests
    for (const [name, count] of one.figures) figures.set(name, (figures.get(name) ?? 0) + count)
  }
  return { requests, figures }
}

type VendorRow = Readonly<Record<string, unknown>>

function readJson(text: string): readonly VendorRow[] | string {
  try {
    const parsed: unknown = JSON.parse(text)
    const isList = Array.isArray(parsed) && parsed.every((row) => typeof row === 'object' && row)
    return isList ? (parsed as readonly VendorRow[]) : 'it must be an array of objects'
  } catch (error) {
    return `it is not JSON: ${error instanceof Error ? error.message : 'unknown reason'}`
  }
}

function readCsv(text: string): readonly VendorRow[] | string {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  const [heading, ...rows] = lines.map((line) =>
    [...`,${line}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(([, quoted, plain]) =>
      (quoted?.replaceAll('""', '"') ?? plain ?? '').trim(),
    ),
  )
  if (heading === undefined) return 'the file is empty'
  const twice = heading.find((name, column) => heading.indexOf(name) < column)
  if (twice !== undefined) return `column ${twice} is in the heading twice`
  const short = rows.findIndex((row) => row.length !== heading.length)
  if (short >= 0) return `row ${short + 1} does not have as many cells as the heading`
  return rows.map((row) =>
    Object.fromEntries(heading.map((name, column) => [name, row[column] ?? ''])),
  )
}

function readRow(
  row: VendorRow,
): { readonly model: string; readonly counts: ReadonlyMap<string, number> } | string {
  const { model } = row
  if (typeof model !== 'string' || model === '') return 'model is missing'
  const counts = new Map<string, number>()
  for (const [name, value] of Object.entries(row)) {
    if (name === 'model' || value === '' || value === null) continue
    if (name !== 'requests' && !Object.hasOwn(vendorFigures, name))
      return `unknown column ${name}; known columns are model, requests, ${Object.keys(vendorFigures).join(', ')}`
    const count = Number(value)
    if (!Number.isSafeInteger(count) || count < 0) return `${name} must be a whole number`
    counts.set(name, count)
  }
  return { model, counts }
}

export interface NamedModel {
  readonly model: string
  /** The channels' names for it. */
  readonly names: readonly string[]
}

export interface NameGroup {
  /** Empty where no vendor name matches the models. */
  readonly vendorNames: readonly string[]
  /** Empty where no model matches the vendor's name. */
  readonly models: readonly string[]
}

/** Groups the vendor's names and our models: what names cannot separate is one group. Keeps the order. */
export function groupNames(
  vendorNames: readonly string[],
  models: readonly NamedModel[],
): readonly NameGroup[] {
  const groups = [
    ...vendorNames.map((name) => ({ names: new Set([name]), ids: new Set<string>() })),
    ...models.map(({ model }) => ({ names: new Set<string>(), ids: new Set([model]) })),
  ]
  for (const [vendorName, model] of findPairs(vendorNames, models)) {
    const places = [
      groups.findIndex(({ names }) => names.has(vendorName)),
      groups.findIndex(({ ids }) => ids.has(model)),
    ]
    const kept = groups[Math.min(...places)]
    const joined = groups[Math.max(...places)]
    if (kept === undefined || joined === undefined || kept === joined) continue
    for (const name of joined.names) kept.names.add(name)
    for (const id of joined.ids) kept.ids.add(id)
    groups.splice(Math.max(...places), 1)
  }
  return groups.map(({ names, ids }) => ({
    vendorNames: vendorNames.filter((name) => names.has(name)),
    models: models.map(({ model }) => model).filter((model) => ids.has(model)),
  }))
}

type Pair = readonly [vendorName: string, model: string]

/** Matches, the most certain first: a channel's name, the same without its date, our own id. */
const matches: readonly ((model: NamedModel, vendorName: string) => boolean)[] = [
  ({ names }, vendorName) => names.includes(vendorName),
  ({ names }, vendorName) => names.some((name) => undated(name) === undated(vendorName)),
  ({ model }, vendorName) => undated(model) === undated(vendorName),
]

/** Pairs each model with its most certain names, then each remaining name with the models it may mean. */
function findPairs(vendorNames: readonly string[], models: readonly NamedModel[]): readonly Pair[] {
  const pairs = models.flatMap((model) => bestPairs([model], vendorNames))
  const paired = new Set(pairs.map(([vendorName]) => vendorName))
  const left = vendorNames.filter((vendorName) => !paired.has(vendorName))
  return [...pairs, ...left.flatMap((vendorName) => bestPairs(models, [vendorName]))]
}

function bestPairs(models: readonly NamedModel[], vendorNames: readonly string[]): readonly Pair[] {
  for (const isMatch of matches) {
    const pairs = models.flatMap((model) =>
      vendorNames
        .filter((vendorName) => isMatch(model, vendorName))
        .map((vendorName): Pair => [vendorName, model.model]),
    )
    if (pairs.length > 0) return pairs
  }
  return []
}
