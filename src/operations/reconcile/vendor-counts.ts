/**
 * A vendor's own counts and costs by model, read from its exports: the columns of its console's CSV files, of
 * its usage and cost API, and the gateway's own price classes. Pure. Columns that it does not compare are
 * named and never skipped silently.
 */
import { addPicos, parseUsd, picos, zeroPicos, type Picos } from '../../base/money.ts'
import { usageClasses, type UsageClass } from '../../metering/usage.ts'
import {
  isPageMissing,
  readVendorFile,
  timeColumns,
  type Bucket,
  type VendorPage,
  type VendorRow,
} from './vendor-files.ts'

/** The counts of vendors, and the classes that each sums up. */
export const classesOfCount: Readonly<Record<string, readonly UsageClass[]>> = {
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

/** Columns of exports that are one of these counts under another name. */
const messagesColumns: Readonly<Record<string, string>> = {
  // CSV of the console's usage page.
  usage_input_tokens_no_cache: 'input',
  usage_input_tokens_cache_write: 'cache_creation_input_tokens',
  usage_input_tokens_cache_write_5m: 'cache_write_5m',
  usage_input_tokens_cache_write_1h: 'cache_write_1h',
  usage_input_tokens_cache_read: 'cache_read',
  usage_output_tokens: 'output',
  web_search_count: 'web_search',
  // Pages of /v1/organizations/usage_report/messages.
  uncached_input_tokens: 'input',
  'cache_creation.ephemeral_5m_input_tokens': 'cache_write_5m',
  'cache_creation.ephemeral_1h_input_tokens': 'cache_write_1h',
  'server_tool_use.web_search_requests': 'web_search',
}

/**
 * Pages of /v1/organization/usage/…, and the CSV of the usage page: here `input_tokens` contains the cached
 * ones (UsageCompletionsResult of the vendor's OpenAPI document 2.3.0).
 */
const organizationColumns: Readonly<Record<string, string>> = {
  input_tokens: 'prompt_tokens',
  input_cached_tokens: 'cached_tokens',
  input_cache_write_tokens: 'cache_creation_input_tokens',
  output_tokens: 'completion_tokens',
  num_model_requests: 'requests',
}

const modelColumns: readonly string[] = ['model', 'model_version', 'line_item']
const costColumns: readonly string[] = ['cost_usd', 'amount', 'amount.value', 'amount_value']
const currencyColumns: readonly string[] = ['currency', 'amount.currency', 'amount_currency']

/** Columns that describe a row or have its cost: they are no counts to compare. */
const describingColumns: ReadonlySet<string> = new Set([
  ...timeColumns,
  ...modelColumns,
  ...costColumns,
  ...currencyColumns,
  ...`account_id api_key api_key_id api_key_status api_source batch context_window cost_type
    description inference_geo list_price_usd object organization_id organization_name project_id
    project_name quantity quantity_unit service_account_id service_tier speed token_type usage_type
    user_email user_id workspace workspace_id`.split(/\s+/),
])

interface VendorCounts {
  /** The vendor's name for it; empty where a cost belongs to no model. */
  readonly model: string
  /** By the name of the count; `requests` is one. */
  readonly byName: ReadonlyMap<string, number>
  /** The vendor's bill; undefined where it does not say. */
  readonly costPicos: Picos | undefined
}

export type VendorSums = Omit<VendorCounts, 'model'>

export interface VendorExport {
  readonly counts: readonly VendorCounts[]
  /** Columns and fields that are not compared, in the order of their appearance. */
  readonly notCompared: readonly string[]
  /** Rows of other days, which are not counted. */
  readonly rowsOutside: number
  /** A page says that more follow, and the next one is not given. */
  readonly hasMore: boolean
}

/** Adds up the rows of these files that lie in the period, by model; text is the mistake. */
export function readVendorCounts(texts: readonly string[], period: Bucket): VendorExport | string {
  if (new Set(texts).size < texts.length) return 'the same file is given twice'
  const byModel = new Map<string, VendorSums>()
  const notCompared = new Set<string>()
  let rowsOutside = 0
  const pages: VendorPage[] = []
  for (const [index, text] of texts.entries()) {
    const place = texts.length === 1 ? '' : `file ${index + 1}: `
    const file = readVendorFile(text)
    if (typeof file === 'string') return place + file
    pages.push(...file.pages)
    for (const row of file.rows) {
      const where = placeOf(row.bucket, period)
      if (where === 'across')
        return `${place}${row.title} is partly outside the period; export whole days (UTC)`
      const read = readRow(row)
      if (typeof read === 'string') return `${place}${row.title}: ${read}`
      for (const name of read.notCompared) notCompared.add(name)
      if (notCompared.size > namesMax || byModel.size > namesMax)
        return `${place}there are more than ${namesMax} models or fields`
      if (where === 'outside') rowsOutside++
      else if (!isEmpty(read))
        byModel.set(read.model, addVendorCounts([byModel.get(read.model) ?? noCounts, read]))
    }
  }
  const counts = [...byModel].map(([model, sums]) => ({ model, ...sums }))
  return { counts, notCompared: [...notCompared], rowsOutside, hasMore: isPageMissing(pages) }
}

/** The CSV of the chat vendor has rows for times without usage. */
function isEmpty({ model, byName, costPicos }: ReadRow): boolean {
  return model === '' && costPicos === undefined && [...byName.values()].every((one) => one === 0)
}

/** A row without a time counts, whatever the period. */
function placeOf(bucket: Bucket | undefined, period: Bucket): 'inside' | 'outside' | 'across' {
  if (bucket === undefined) return 'inside'
  if (bucket.toMs <= period.fromMs || bucket.fromMs >= period.toMs) return 'outside'
  return bucket.fromMs >= period.fromMs && bucket.toMs <= period.toMs ? 'inside' : 'across'
}

const noCounts: VendorSums = { byName: new Map(), costPicos: undefined }

/** Adds up the counts of several rows or names. */
export function addVendorCounts(counts: readonly VendorSums[]): VendorSums {
  const byName = new Map<string, number>()
  let costPicos: Picos | undefined
  for (const one of counts) {
    if (one.costPicos !== undefined) costPicos = addPicos(costPicos ?? zeroPicos, one.costPicos)
    for (const [name, count] of one.byName) byName.set(name, (byName.get(name) ?? 0) + count)
  }
  return { byName, costPicos }
}

/** Of models, and of fields that are not compared. */
const namesMax = 10_000

interface ReadRow extends VendorCounts {
  readonly notCompared: readonly string[]
}

function readRow({ fields }: VendorRow): ReadRow | string {
  const byName = new Map<string, number>()
  const notCompared: string[] = []
  const isOrganization = isOfOrganization(fields)
  for (const [name, value] of Object.entries(fields)) {
    const counted = countNameOf(name, isOrganization)
    if (counted === undefined) {
      if (!describingColumns.has(name)) notCompared.push(name)
      continue
    }
    if (value === '' || value === null) continue
    const count = Number(value)
    if (!Number.isSafeInteger(count) || count < 0) return `${name} must be a whole number`
    byName.set(counted, (byName.get(counted) ?? 0) + count)
  }
  const costPicos = readCost(fields)
  if (typeof costPicos === 'string') return costPicos
  const row = { model: modelOf(fields), byName, costPicos, notCompared }
  if (row.model === '' && costPicos === undefined && !isEmpty(row))
    return 'model is missing; export the figures by model (group_by of an API)'
  return row
}

/** Pages of the chat vendor name their object; its CSV does not, and counts requests under this name. */
function isOfOrganization(fields: VendorRow['fields']): boolean {
  const { object } = fields
  if (typeof object === 'string') return object.startsWith('organization.')
  return Object.hasOwn(fields, 'num_model_requests')
}

/** Returns the name of the count that a column holds, or undefined where it holds none. */
function countNameOf(name: string, isOrganization: boolean): string | undefined {
  // A file may name a column like a member that every object has.
  const columns = isOrganization ? organizationColumns : messagesColumns
  if (Object.hasOwn(columns, name)) return columns[name]
  const isOwn = name === 'requests' || Object.hasOwn(classesOfCount, name)
  return isOwn && !isOrganization ? name : undefined
}

/**
 * Cost exports show names for people: `Claude Haiku 4.5` is the id `claude-haiku-4-5`. A line item is a model
 * with a part of its bill (`gpt-5-mini, input`), or a cost that belongs to no model (`Text tokens`).
 */
function modelOf(fields: VendorRow['fields']): string {
  const column = modelColumns.find((one) => typeof fields[one] === 'string' && fields[one] !== '')
  const given = column === undefined ? undefined : fields[column]
  const [name = ''] = typeof given === 'string' ? given.split(', ') : []
  if (!name.includes(' ')) return name
  return column === 'line_item' ? '' : name.toLowerCase().replaceAll(/[ .]+/g, '-')
}

function isUsd(currency: unknown): boolean {
  return typeof currency === 'string' && currency.toLowerCase() === 'usd'
}

/** Returns the cost of a row, undefined where it has none, or the mistake in it. */
function readCost(fields: VendorRow['fields']): Picos | undefined | string {
  const column = costColumns.find((name) => Object.hasOwn(fields, name))
  if (column === undefined) return undefined
  const value = fields[column]
  if (value === '' || value === null) return undefined
  const currency = currencyColumns.map((name) => fields[name]).find((text) => text !== undefined)
  if (currency !== undefined && currency !== '' && !isUsd(currency))
    return `${column} must be in USD`
  const amount = parseAmount(value)
  if (amount === undefined) return `${column} must be an amount`
  // The cost report of the messages vendor is in cents, as decimal text: "123.45" is 1.23 USD
  // (https://platform.claude.com/docs/en/api/admin/cost_report, read 2026-11-23).
  return column === 'amount' ? picos(amount / 100n) : amount
}

/**
 * Parses an amount of any length, and drops digits below a pico-dollar. The chat vendor documents numbers
 * and also sends text (https://github.com/steipete/CodexBar/issues/999, read 2026-11-23).
 */
function parseAmount(value: unknown): Picos | undefined {
  const isExponential = typeof value === 'string' && /^-?[\d.]+e[+-]?\d+$/i.test(value)
  const text =
    typeof value === 'number' || isExponential ? Number(value).toFixed(decimalsMax) : String(value)
  const match = /^(-?\d{1,12})(?:\.(\d{1,40}))?$/.exec(text)
  if (match === null) return undefined
  const [, whole = '0', decimals = ''] = match
  return parseUsd(decimals === '' ? whole : `${whole}.${decimals.slice(0, decimalsMax)}`)
}

const decimalsMax = 12
