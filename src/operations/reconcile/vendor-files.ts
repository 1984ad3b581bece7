/**
 * Reads what a vendor exports into rows: CSV with a heading, a JSON array of rows, and pages of the
 * vendors' usage and cost APIs, alone or several in one array. Pure. It knows the shapes of files and of
 * times, and no count.
 */
import { parse } from 'csv-parse/sync'
import { dayMs } from '../../base/clock.ts'
import { isObject } from '../../base/object.ts'

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

/** One page of an API's answer. Its time is undefined where it has no buckets. */
export interface VendorPage {
  readonly isCost: boolean
  readonly time: Bucket | undefined
  /** It says that more pages follow. */
  readonly hasMore: boolean
}

export interface VendorFile {
  readonly rows: readonly VendorRow[]
  readonly pages: readonly VendorPage[]
}

type Fields = Readonly<Record<string, unknown>>

/** Returns the rows of a file, or the mistake in it. */
export function readVendorFile(text: string): VendorFile | string {
  const content = text.replace(/^\uFEFF/, '')
  if (!/^\s*[[{]/.test(content)) return readCsv(content)
  let parsed: unknown
  try {
    parsed = JSON.parse(content)
  } catch (error) {
    return `it is not JSON: ${reasonOf(error)}`
  }
  const items: readonly unknown[] = Array.isArray(parsed) ? (parsed as unknown[]) : [parsed]
  if (!items.every(isObject)) return 'it must be an array of objects, or pages of a vendor’s API'
  if (!Array.isArray(parsed) && !items.every(hasBuckets))
    return 'it must be an array of objects, or pages of a vendor’s API'
  const found: (Omit<VendorRow, 'title'> | string)[] = items.flatMap(readItem)
  const mistake = found.find((row) => typeof row === 'string')
  if (mistake !== undefined) return mistake
  return {
    rows: withTitles(found.filter((row) => typeof row !== 'string')),
    pages: items.filter(isPage).map(readPage),
  }
}

/** The parsers quote the file: a mistake stays one line all the same. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replaceAll(/[\s\p{Cc}]+/gu, ' ') : 'unknown reason'
}

function readPage(page: Fields): VendorPage {
  const buckets = Array.isArray(page['data']) ? (page['data'] as unknown[]).filter(isObject) : []
  const first = readBucket(buckets[0] ?? {})
  const last = readBucket(buckets.at(-1) ?? {})
  return {
    isCost: buckets
      .map(rowsOfBucket)
      .flat()
      .some((row) => isObject(row) && 'amount' in row),
    time: first && last && { fromMs: first.fromMs, toMs: last.toMs },
    hasMore: page['has_more'] === true,
  }
}

/** A page holds a number of whole buckets, so the next one begins where it ends. */
export function isPageMissing(pages: readonly VendorPage[]): boolean {
  return pages.some(
    (page) =>
      page.hasMore &&
      !pages.some(
        ({ isCost, time }) =>
          isCost === page.isCost && time !== undefined && time.fromMs === page.time?.toMs,
      ),
  )
}

function withTitles(rows: readonly Omit<VendorRow, 'title'>[]): readonly VendorRow[] {
  return rows.map((row, index) => ({ ...row, title: `row ${index + 1}` }))
}

function isPage(item: Fields): boolean {
  return Array.isArray(item['data'])
}

function hasBuckets(item: Fields): boolean {
  return isPage(item) || Array.isArray(rowsOfBucket(item))
}

/** The chat vendor's answers have `results`; its OpenAPI document and generated clients say `result`. */
function rowsOfBucket(item: Fields): unknown {
  return item['results'] ?? item['result']
}

/** Reads a page, a bucket or a plain row; text is a mistake. */
function readItem(item: Fields): readonly (Omit<VendorRow, 'title'> | string)[] {
  const list = item['data'] ?? rowsOfBucket(item)
  if (!Array.isArray(list)) return [readPlainRow(flatten(item))]
  const inner = list as readonly unknown[]
  if (!inner.every(isObject)) return ['a page must have objects in data and results']
  if (isPage(item)) return inner.flatMap(readItem)
  const bucket = readBucket(item)
  if (bucket === undefined) return ['a time bucket has no start and end that can be read']
  return inner.map((row) => ({ fields: flatten(row), bucket }))
}

/** A day, or its midnight as a time in UTC. */
const dayPattern = /^(\d{4}-\d{2}-\d{2})(?:[T ]00:00(?::00(?:\.0+)?)?(?:Z|\+00:00)?)?$/

/** The names of a row's own day. */
const dayNames: readonly string[] = ['usage_date_utc', 'date', 'day']
const startNames: readonly string[] = ['starting_at', 'start_time']
const endNames: readonly string[] = ['ending_at', 'end_time']

/** Columns with the time of a row. */
export const timeColumns: readonly string[] = [
  ...dayNames,
  ...startNames,
  ...endNames,
  'start_time_iso',
  'end_time_iso',
]

function readPlainRow(fields: Fields): Omit<VendorRow, 'title'> | string {
  const day = findFilled(fields, dayNames)
  if (findFilled(fields, startNames) !== undefined || day === undefined) {
    const hasTimes = findFilled(fields, [...startNames, ...endNames]) !== undefined
    const bucket = readBucket(fields)
    return hasTimes && bucket === undefined
      ? 'a row has no start and end that can be read'
      : { fields, bucket }
  }
  const [, text = ''] = (typeof day === 'string' ? dayPattern.exec(day) : null) ?? []
  const fromMs = Date.parse(text)
  return Number.isNaN(fromMs)
    ? `a row is of the day ${JSON.stringify(day)}; write days as 2027-01-31`
    : { fields, bucket: { fromMs, toMs: fromMs + dayMs } }
}

function findFilled(fields: Fields, names: readonly string[]): unknown {
  return names.map((name) => fields[name]).find((value) => value !== undefined && value !== '')
}

/** One vendor writes times as text, the other as seconds since 1970. */
function readBucket(bucket: Fields): Bucket | undefined {
  const fromMs = readTime(findFilled(bucket, startNames))
  const toMs = readTime(findFilled(bucket, endNames))
  return fromMs === undefined || toMs === undefined || fromMs >= toMs ? undefined : { fromMs, toMs }
}

const secondsPattern = /^\d{9,11}$/
/** As many digits: the year 5138. */
const secondsMax = 99_999_999_999
const zonePattern = /(?:Z|[+-]\d{2}:?\d{2})$/i

/** A time without a zone is UTC, whatever the zone of this host. */
function readTime(value: unknown): number | undefined {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && Math.abs(value) <= secondsMax ? value * 1_000 : undefined
  if (typeof value !== 'string') return undefined
  if (secondsPattern.test(value)) return Number(value) * 1_000
  const isTime = /[T ]\d/.test(value)
  const atMs = Date.parse(isTime && !zonePattern.test(value) ? `${value}Z` : value)
  return Number.isNaN(atMs) ? undefined : atMs
}

/** No export nests deeper; what does is left as it is, and then it is no count. */
const nestingMax = 16

function flatten(row: Fields): Fields {
  return Object.fromEntries(flatEntries(row, '', nestingMax))
}

function flatEntries(row: Fields, path: string, depth: number): (readonly [string, unknown])[] {
  return Object.entries(row).flatMap(([name, value]) =>
    isObject(value) && depth > 0
      ? flatEntries(value, `${path}${name}.`, depth - 1)
      : [[path + name, value] as const],
  )
}

/** No export has more, and the time to read one grows with their square. */
const columnsMax = 1_000

function readCsv(text: string): VendorFile | string {
  let lines: string[][]
  try {
    lines = parse(text, { skip_empty_lines: true, relax_column_count: true, trim: true })
  } catch (error) {
    return `it is not CSV: ${reasonOf(error)}`
  }
  const [heading, ...cells] = lines
  if (heading === undefined) return 'the file is empty'
  if (heading.length > columnsMax) return `it has more than ${columnsMax} columns`
  const twice = heading.find((name, column) => heading.indexOf(name) < column)
  if (twice !== undefined) return `column ${twice} is in the heading twice`
  const short = cells.findIndex((row) => row.length !== heading.length)
  if (short >= 0) return `row ${short + 1} does not have as many cells as the heading`
  const found = cells.map((row) =>
    readPlainRow(Object.fromEntries(heading.map((name, column) => [name, row[column] ?? '']))),
  )
  const mistake = found.find((row) => typeof row === 'string')
  if (mistake !== undefined) return mistake
  return { rows: withTitles(found.filter((row) => typeof row !== 'string')), pages: [] }
}
