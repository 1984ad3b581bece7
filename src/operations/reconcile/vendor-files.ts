/**
 * Reads what a vendor exports into rows: CSV with a heading, a JSON array of rows, and pages of the
 * vendors' usage and cost APIs, alone or several in one array. Pure. It knows the shapes of files and of
 * time buckets, and no column.
 */
import { parse } from 'csv-parse/sync'

/** A period; from inclusive, to exclusive. */
export interface Bucket {
  readonly fromMs: number
  readonly toMs: number
}

export interface VendorRow {
  /** Nested objects are flat: `cache_creation.ephemeral_5m_input_tokens`. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Undefined where neither the row nor its page names a time. */
  readonly bucket: Bucket | undefined
  /** For messages: `row 3`. */
  readonly title: string
}

export interface VendorFile {
  readonly rows: readonly VendorRow[]
  /** The last page says that more follow. */
  readonly hasMore: boolean
}

type Fields = Readonly<Record<string, unknown>>

/** Returns the rows of a file, or what is wrong with it. */
export function readVendorFile(text: string): VendorFile | string {
  const content = text.replace(/^\uFEFF/, '')
  if (!/^\s*[[{]/.test(content)) return readCsv(content)
  let parsed: unknown
  try {
    parsed = JSON.parse(content)
  } catch (error) {
    return `it is not JSON: ${error instanceof Error ? error.message : 'unknown reason'}`
  }
  const items: readonly unknown[] = Array.isArray(parsed) ? (parsed as unknown[]) : [parsed]
  if (!items.every(isFields)) return 'it must be an array of objects, or pages of a vendor’s API'
  if (!Array.isArray(parsed) && !items.every(hasBuckets))
    return 'it must be an array of objects, or pages of a vendor’s API'
  const found: (Omit<VendorRow, 'title'> | string)[] = items.flatMap(readItem)
  const mistake = found.find((row) => typeof row === 'string')
  if (mistake !== undefined) return mistake
  const last = items.findLast(isPage)
  return {
    rows: withTitles(found.filter((row) => typeof row !== 'string')),
    hasMore: last?.['has_more'] === true,
  }
}

function withTitles(rows: readonly Omit<VendorRow, 'title'>[]): readonly VendorRow[] {
  return rows.map((row, index) => ({ ...row, title: `row ${index + 1}` }))
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isPage(item: Fields): boolean {
  return Array.isArray(item['data'])
}

function hasBuckets(item: Fields): boolean {
  return isPage(item) || Array.isArray(item['results'])
}

/** Reads a page, a bucket or a plain row; text is a mistake. */
function readItem(item: Fields): readonly (Omit<VendorRow, 'title'> | string)[] {
  const list = item['data'] ?? item['results']
  if (!Array.isArray(list)) return [{ fields: flatten(item), bucket: readDay(item) }]
  const inner = list as readonly unknown[]
  if (!inner.every(isFields)) return ['a page must have objects in data and results']
  if (isPage(item)) return inner.flatMap(readItem)
  const bucket = readBucket(item)
  if (bucket === undefined) return ['a time bucket has no start and end that can be read']
  return inner.map((row) => ({ fields: flatten(row), bucket }))
}

const dayMs = 86_400_000
const dayPattern = /^\d{4}-\d{2}-\d{2}$/

/** The names of a row's own day. */
export const dayColumns: readonly string[] = ['usage_date_utc', 'date', 'day']

function readDay(row: Fields): Bucket | undefined {
  const text = dayColumns.map((name) => row[name]).find((value) => typeof value === 'string')
  if (text === undefined || !dayPattern.test(text)) return undefined
  const fromMs = Date.parse(text)
  return Number.isNaN(fromMs) ? undefined : { fromMs, toMs: fromMs + dayMs }
}

/** One vendor writes times as text, the other as seconds since 1970. */
function readBucket(bucket: Fields): Bucket | undefined {
  const fromMs = readTime(bucket['starting_at'] ?? bucket['start_time'])
  const toMs = readTime(bucket['ending_at'] ?? bucket['end_time'])
  return fromMs === undefined || toMs === undefined || fromMs >= toMs ? undefined : { fromMs, toMs }
}

function readTime(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value * 1_000 : undefined
  const atMs = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(atMs) ? undefined : atMs
}

function flatten(row: Fields, path = ''): Fields {
  const flat: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(row))
    if (isFields(value)) Object.assign(flat, flatten(value, `${path}${name}.`))
    else flat[path + name] = value
  return flat
}

function readCsv(text: string): VendorFile | string {
  let lines: string[][]
  try {
    lines = parse(text, { skip_empty_lines: true, relax_column_count: true, trim: true })
  } catch (error) {
    return `it is not CSV: ${error instanceof Error ? error.message : 'unknown reason'}`
  }
  const [heading, ...cells] = lines
  if (heading === undefined) return 'the file is empty'
  const twice = heading.find((name, column) => heading.indexOf(name) < column)
  if (twice !== undefined) return `column ${twice} is in the heading twice`
  const short = cells.findIndex((row) => row.length !== heading.length)
  if (short >= 0) return `row ${short + 1} does not have as many cells as the heading`
  const rows = cells.map((row) => {
    const fields = Object.fromEntries(heading.map((name, column) => [name, row[column] ?? '']))
    return { fields, bucket: readDay(fields) }
  })
  return { rows: withTitles(rows), hasMore: false }
}
