/**
 * Reads the community's list of model prices (`model_prices_and_context_window.json`): one object per
 * model, prices in USD per token. Pure. The invariant: prices are exact. They are read from their
 * digits, never through a float; a price that is not a whole number of pico-dollars is a mistake, and
 * a cost that no class can carry is reported.
 */
import { formatUsd, picos, picosPerUsd, type Picos } from '../../base/money.ts'
import { isObject } from '../../base/object.ts'
import { priceSchema, type PriceForm } from '../../metering/price-form.ts'
import type { UsageFormat } from '../../metering/rates.ts'
import type { UsageClass } from '../../metering/usage.ts'

export interface ListedModel {
  /** Its name in the list. */
  readonly name: string
  readonly vendor: string | undefined
  readonly fields: ReadonlyMap<string, unknown>
}

export type PriceList = ReadonlyMap<string, ListedModel>

/** A number as the file writes it. A map: JSON has none, and a thread can post it. */
type Digits = ReadonlyMap<'digits', string>

function isDigits(value: unknown): value is Digits {
  return value instanceof Map
}

function digitsOf(number: Digits): string {
  return number.get('digits') ?? ''
}

/** Returns the list, or the mistake in the file. */
export function readPriceList(text: string): PriceList | string {
  let parsed: unknown
  try {
    parsed = JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' ? new Map([['digits', context?.source ?? String(value)]]) : value,
    )
  } catch (error) {
    return `it is not JSON: ${error instanceof Error ? error.message : 'unknown reason'}`
  }
  if (!isEntry(parsed)) return 'it must be an object with one entry per model'
  const list = new Map<string, ListedModel>()
  for (const [name, entry] of Object.entries(parsed)) {
    if (!isEntry(entry) || name === 'sample_spec') continue
    const vendor = entry['litellm_provider']
    list.set(name, {
      name,
      vendor: typeof vendor === 'string' ? vendor : undefined,
      fields: new Map(Object.entries(entry)),
    })
  }
  return list
}

function isEntry(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !isDigits(value)
}

/** Returns a number of the model that is no price; undefined where the list has none. */
export function numberIn(model: ListedModel, field: string): number | undefined {
  const given = model.fields.get(field)
  return isDigits(given) ? Number(digitsOf(given)) : undefined
}

interface UnpricedField {
  readonly field: string
  readonly value: string
}

export type ListedPrices =
  | {
      readonly kind: 'prices'
      readonly form: PriceForm
      /** Costs in the list that no class can carry. */
      readonly unpriced: readonly UnpricedField[]
    }
  | { readonly kind: 'mistakes'; readonly list: readonly string[] }

const classFields: Readonly<Record<string, UsageClass>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost: 'cache_write_5m',
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h',
  input_cost_per_audio_token: 'input_audio',
  output_cost_per_audio_token: 'output_audio',
  cache_read_input_audio_token_cost: 'cache_read_audio',
}

const tierNames: Readonly<Record<string, string>> = {
  flex: 'flex',
  priority: 'priority',
  ultrafast: 'ultrafast',
  batches: 'batch',
}

/**
 * Factors on the tokens of an answer that was served so; answers of the messages format say it. Other
 * names in the same place have other meanings at other vendors.
 */
const servedFactors: Readonly<Record<string, 'speeds' | 'geos'>> = { fast: 'speeds', us: 'geos' }

/** Modes that are billed by tokens. */
const tokenModes: readonly unknown[] = [undefined, 'chat', 'completion', 'responses', 'embedding']

type ClassAmounts = { [Class in UsageClass]?: string }

interface Factor {
  readonly multiplier: string
}

/** Prices of one model by where they apply: above how many tokens, in which tier. */
interface Gathered {
  readonly format: UsageFormat
  readonly base: ClassAmounts
  readonly above: Map<number, ClassAmounts>
  readonly tiers: Map<string, { readonly base: ClassAmounts; readonly above: ClassAmounts }>
  readonly speeds: Record<string, Factor>
  readonly geos: Record<string, Factor>
  request: string | undefined
  readonly unpriced: UnpricedField[]
  readonly mistakes: string[]
}

/** Returns the prices of a model for answers in the format of its vendor. */
export function pricesOf(model: ListedModel, format: UsageFormat): ListedPrices {
  const mode = model.fields.get('mode')
  if (!tokenModes.includes(mode))
    return {
      kind: 'mistakes',
      list: [`the mode ${String(mode)} is not billed by tokens`],
    }
  if (mode === 'embedding' && format === 'messages')
    return { kind: 'mistakes', list: ['the mode embedding is not one of the messages format'] }
  const gathered: Gathered = {
    format,
    base: {},
    above: new Map(),
    tiers: new Map(),
    speeds: {},
    geos: {},
    request: undefined,
    unpriced: [],
    mistakes: [],
  }
  for (const [field, value] of model.fields) gather(gathered, field, value)
  if (mode === 'embedding') removeOutput(gathered)
  const needed = mode === 'embedding' ? (['input'] as const) : (['input', 'output'] as const)
  for (const usageClass of needed)
    if (gathered.base[usageClass] === undefined)
      gathered.mistakes.push(`${usageClass}_cost_per_token is missing`)
  if (gathered.mistakes.length > 0) return { kind: 'mistakes', list: gathered.mistakes }
  const form = buildForm(gathered)
  const checked = priceSchema.safeParse(form)
  if (!checked.success)
    return { kind: 'mistakes', list: checked.error.issues.map(({ message }) => message) }
  return { kind: 'prices', form, unpriced: gathered.unpriced }
}

/** The list gives most models that make no output a price of 0 for it. */
function removeOutput({ base, above, tiers, unpriced }: Gathered): void {
  const sets = [
    base,
    ...above.values(),
    ...[...tiers.values()].flatMap((own) => Object.values(own)),
  ]
  for (const set of sets)
    for (const usageClass of ['output', 'output_audio'] as const) {
      const amount = set[usageClass]
      if (amount !== undefined && amount !== '0')
        unpriced.push({ field: `${usageClass} of a model without output`, value: amount })
      delete set[usageClass]
    }
}

const fieldForm =
  /^(?<field>.+?)(?:_above_(?<thousands>\d+)k_tokens)?(?:_(?<tier>flex|priority|ultrafast|batches))?$/

function gather(gathered: Gathered, field: string, value: unknown): void {
  const place = fieldForm.exec(field)?.groups
  const usageClass = classFields[place?.['field'] ?? '']
  if (usageClass !== undefined && isDigits(value)) {
    const amount = perMillion(digitsOf(value))
    if (typeof amount === 'string') classesAt(gathered, place)[usageClass] = amount
    else gathered.mistakes.push(`${field} ${digitsOf(value)} ${amount.mistake}`)
  } else if (field === 'input_cost_per_request' && isDigits(value)) {
    const amount = exactPicos(digitsOf(value))
    if (amount === undefined) gathered.mistakes.push(`${field} ${digitsOf(value)} ${tooFine}`)
    else gathered.request = formatUsd(amount)
  } else if (field === 'search_context_cost_per_query') gatherSearch(gathered, field, value)
  else if (field === 'provider_specific_entry' && isEntry(value))
    for (const [name, factor] of Object.entries(value)) gatherFactor(gathered, field, name, factor)
  else if (mayCost.test(field) && !isCovered(gathered, field, value))
    gathered.unpriced.push({ field, value: printValue(value) })
}

/** Fields that may cost money. Uplifts by address are among them: an answer does not say its address. */
const mayCost = /cost|pric|multiplier|provider_specific_entry/

function classesAt(
  gathered: Gathered,
  place: Readonly<Record<string, string | undefined>> | undefined,
): ClassAmounts {
  const thousands = place?.['thousands']
  const tier = tierNames[place?.['tier'] ?? '']
  const aboveTokens = Number(thousands) * 1_000
  if (tier === undefined) {
    if (thousands === undefined) return gathered.base
    const classes = gathered.above.get(aboveTokens) ?? {}
    gathered.above.set(aboveTokens, classes)
    return classes
  }
  const own = gathered.tiers.get(tier) ?? { base: {}, above: {} }
  gathered.tiers.set(tier, own)
  return thousands === undefined ? own.base : own.above
}

/** A search has one price: an answer's usage does not say the size. */
function gatherSearch(gathered: Gathered, field: string, value: unknown): void {
  const sizes = isEntry(value) ? Object.values(value) : []
  const texts = sizes.map((size) => (isDigits(size) ? exactPicos(digitsOf(size)) : undefined))
  const [first, ...others] = texts
  if (first !== undefined && others.every((other) => other === first))
    gathered.base.web_search = formatUsd(picos(first * 1_000n))
  else gathered.unpriced.push({ field, value: printValue(value) })
}

function gatherFactor(gathered: Gathered, field: string, name: string, value: unknown): void {
  const place = Object.hasOwn(servedFactors, name) ? servedFactors[name] : undefined
  const path = `${field}.${name}`
  if (place === undefined || gathered.format !== 'messages' || !isDigits(value)) {
    if (value !== null) gathered.unpriced.push({ field: path, value: printValue(value) })
    return
  }
  const factor = exactPicos(digitsOf(value))
  // A factor of 0 would make tokens free.
  if (factor === undefined || factor <= 0n || factor % 1_000_000n !== 0n)
    gathered.mistakes.push(
      `${path} ${digitsOf(value)} must be a factor above 0 with at most six decimals`,
    )
  else gathered[place][name] = { multiplier: formatUsd(factor) }
}

/** Whether a field costs nothing, changes nothing, or equals the price of output. */
function isCovered(gathered: Gathered, field: string, value: unknown): boolean {
  if (!isDigits(value)) return value === null
  if (field.includes('multiplier')) return exactPicos(digitsOf(value)) === picosPerUsd
  const amount = perMillion(digitsOf(value))
  if (amount === '0') return true
  return field === 'output_cost_per_reasoning_token' && amount === gathered.base.output
}

function buildForm({ base, above, tiers, speeds, geos, request, unpriced }: Gathered): PriceForm {
  const [first, ...others] = [...above].sort(([left], [right]) => left - right)
  for (const [aboveTokens] of others)
    unpriced.push({ field: `prices above ${aboveTokens} tokens`, value: 'a second threshold' })
  const tierForms: Record<string, ClassAmounts & { long_context?: ClassAmounts }> = {}
  for (const [name, own] of tiers) {
    const isListedAbove = Object.keys(own.above).length > 0
    if (first !== undefined && !isListedAbove)
      unpriced.push({ field: `tier ${name}`, value: 'no prices above the long-context threshold' })
    else if (first === undefined && isListedAbove)
      unpriced.push({ field: `tier ${name}`, value: 'another long-context threshold' })
    else
      tierForms[name] = {
        ...whole(own.base, base),
        ...(isListedAbove && { long_context: whole(own.above, first?.[1] ?? base) }),
      }
  }
  return {
    ...whole(base, base),
    ...(request !== undefined && { request }),
    ...(first !== undefined && { long_context: { above: first[0], ...whole(first[1], base) } }),
    ...(Object.keys(tierForms).length > 0 && { tiers: tierForms }),
    ...(Object.keys(speeds).length > 0 && { speeds }),
    ...(Object.keys(geos).length > 0 && { geos }),
  }
}

/** Adds input, and output where the model has a price for it: every set of prices needs them. */
function whole(classes: ClassAmounts, base: ClassAmounts) {
  const output = classes.output ?? base.output
  return {
    ...classes,
    input: classes.input ?? base.input ?? '0',
    ...(output !== undefined && { output }),
  }
}

const tooFine = 'is not a whole number of pico-dollars (10⁻¹² USD)'

/** Converts USD per token into USD per million tokens, as exact decimal text. */
function perMillion(text: string): string | { readonly mistake: string } {
  const amount = exactPicos(text)
  if (amount === undefined) return { mistake: tooFine }
  if (amount < 0n) return { mistake: 'is below zero' }
  return formatUsd(picos(amount * 1_000_000n))
}

/** Reads whole pico-dollars; undefined for a fraction of one. `3e-06`, `0.000003` and `3.0E-6` are equal. */
export function exactPicos(text: string): Picos | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text)
  if (match === null) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const shift = Number(exponent) - fraction.length + 12
  const digits = BigInt(whole + fraction)
  const scale = 10n ** BigInt(Math.abs(shift))
  if (shift < 0 && digits % scale !== 0n) return undefined
  const amount = shift < 0 ? digits / scale : digits * scale
  return picos(sign === '-' ? 0n - amount : amount)
}

function printValue(value: unknown): string {
  if (isDigits(value)) return digitsOf(value)
  return JSON.stringify(value, (_key, inner: unknown) =>
    isDigits(inner) ? digitsOf(inner) : inner,
  )
}
