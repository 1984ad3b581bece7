/**
 * A vendor's own counts as an operator has them from its console: CSV with a heading, or a JSON array
 * of objects; one row per model, several rows of a model added up. Pure. A column that is not known is
 * a mistake and never skipped.
 */
import { usageClasses, type UsageClass } from '../metering/usage.ts'

/** A figure a vendor may give, and the classes whose sum it is. */
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
  /** As the vendor names it. */
  readonly model: string
  readonly requests: number | undefined
  /** By the name of the figure. */
  readonly figures: ReadonlyMap<string, number>
}

/** The counts by model, or what is wrong with the file. */
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

/** The counts of several names as if they were one. */
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
    return `it is no JSON: ${error instanceof Error ? error.message : 'no reason given'}`
  }
}

function readCsv(text: string): readonly VendorRow[] | string {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  const [heading, ...rows] = lines.map((line) =>
    [...`,${line}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(([, quoted, plain]) =>
      (quoted?.replaceAll('""', '"') ?? plain ?? '').trim(),
    ),
  )
  if (heading === undefined) return 'it is empty'
  const twice = heading.find((name, column) => heading.indexOf(name) < column)
  if (twice !== undefined) return `column ${twice} stands twice`
  const short = rows.findIndex((row) => row.length !== heading.length)
  if (short >= 0) return `row ${short + 1} has another number of cells than the heading`
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
      return `unknown column ${name}; there are model, requests, ${Object.keys(vendorFigures).join(', ')}`
    const count = Number(value)
    if (!Number.isSafeInteger(count) || count < 0) return `${name} must be a whole number`
    counts.set(name, count)
  }
  return { model, counts }
}
