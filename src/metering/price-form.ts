/**
 * The form in which operators write prices in the catalogue, and in which the store keeps them: USD per
 * million tokens. Invariant: printing prices and parsing the text gives the same prices.
 */
import { z } from 'zod'
import { invariant } from '../base/errors.ts'
import { formatUsd, parseUsd, picos, zeroPicos, type Picos } from '../base/money.ts'
import { changeRule, refineSets } from './price-sets.ts'
import type { ClassPrices, ModelPrices, PriceChange, Prices } from './prices.ts'
import { isUse, usageClasses, type UsageClass } from './usage.ts'

export type DecimalForm = number | string
type ClassPriceForm = { readonly [Class in UsageClass]?: DecimalForm | undefined }

interface PriceChangeForm extends ClassPriceForm {
  readonly multiplier?: DecimalForm | undefined
  readonly long_context?: ClassPriceForm | undefined
}

type PriceChangeForms = Readonly<Record<string, PriceChangeForm>>

/** Prices as an operator writes them: USD per million tokens; the extras as their keys say below. */
export interface PriceForm extends ClassPriceForm {
  readonly input: DecimalForm
  /** Left out for a model that makes no output. */
  readonly output?: DecimalForm | undefined
  /** USD per exchange. */
  readonly request?: DecimalForm | undefined
  readonly long_context?: (ClassPriceForm & { readonly above: number }) | undefined
  readonly tiers?: PriceChangeForms | undefined
  readonly speeds?: PriceChangeForms | undefined
  readonly geos?: PriceChangeForms | undefined
  /** `2026-12-01` (00:00 UTC) or a full UTC time; absent = always valid. */
  readonly valid_from?: string | undefined
}

/** A class is priced per million tokens; tools are priced per thousand uses. */
function unitsPerPrice(usageClass: UsageClass): bigint {
  return isUse(usageClass) ? 1_000n : 1_000_000n
}

const priceMaxPicos = parseUsd('1000000') ?? zeroPicos
const requestDecimals = 12
const usualDecimals = 6

/** Parses exact decimal text to picos; undefined for signs, exponents and too many decimals. */
function parseDecimal(value: unknown, decimalsMax: number): Picos | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const text = typeof value === 'number' ? writeOut(value) : value
  const point = text.indexOf('.')
  if (point >= 0 && text.length - point - 1 > decimalsMax) return undefined
  const amount = parseUsd(text)
  return amount === undefined || amount < 0n || amount > priceMaxPicos ? undefined : amount
}

/** JavaScript writes numbers below a millionth with an exponent, however their author wrote them. */
function writeOut(number: number): string {
  const text = String(number)
  const [, whole, decimals = '', exponent] = /^(\d)(?:\.(\d+))?e-(\d+)$/.exec(text) ?? []
  if (whole === undefined) return text
  return `0.${'0'.repeat(Number(exponent) - 1)}${whole}${decimals}`
}

function decimalSchema(key: string, unit: string, decimalsMax = usualDecimals) {
  const rule = `${key} must be ${unit}: a decimal number from 0 to 1000000 with at most ${decimalsMax} decimals`
  return z
    .union([z.number(), z.string()], {
      error: (issue) => (issue.input === undefined ? `${key} is missing: ${rule}` : rule),
    })
    .refine((value) => parseDecimal(value, decimalsMax) !== undefined, { error: rule })
}

function classSchema(key: UsageClass) {
  return decimalSchema(key, isUse(key) ? 'USD per 1000 uses' : 'USD per million tokens')
}

/** Replaces zod's message for a value of the wrong type; its other messages stay. */
function ofKind(rule: string) {
  return {
    error: (issue: { readonly code?: string | undefined }) =>
      issue.code === 'invalid_type' ? rule : undefined,
  }
}

/** A factor on prices, from 0, with at most six decimals. */
export function isFactor(value: unknown): value is DecimalForm {
  return parseDecimal(value, usualDecimals) !== undefined
}

/** Parses a valid factor into millionths. */
export function parseFactor(value: DecimalForm): number {
  // Picos of a dollar are millionths of millionths; a factor has six decimals.
  return Number(toPicos(value, usualDecimals) / 1_000_000n)
}

/** Inverse of `parseFactor`. */
export function printFactor(ppm: number): DecimalForm {
  return printDecimal(picos(BigInt(ppm) * 1_000_000n))
}

type OptionalClassSchema = z.ZodOptional<ReturnType<typeof classSchema>>

/** The shape of a set of class prices, every class optional. */
const optionalClasses = Object.fromEntries(
  usageClasses.map((key) => [key, classSchema(key).optional()]),
) as { readonly [Class in UsageClass]: OptionalClassSchema }

const classes = { ...optionalClasses, input: classSchema('input') }

const changeSchema = z
  .strictObject(
    {
      ...optionalClasses,
      multiplier: decimalSchema('multiplier', 'a factor').optional(),
      long_context: z
        .strictObject(classes, ofKind('must be a mapping with input, output'))
        .optional(),
    },
    ofKind('must be a mapping with its own prices, or a factor such as { multiplier: 0.5 }'),
  )
  .superRefine((form, context) => {
    const given = Object.keys(form).filter((key) => key !== 'multiplier')
    if (form.multiplier !== undefined) {
      if (given.length > 0)
        context.addIssue({
          code: 'custom',
          message: `multiplier cannot be combined with other keys: remove it or ${given.join(', ')}`,
        })
      return
    }
    if (form.input === undefined) context.addIssue({ code: 'custom', message: changeRule })
  })

const changesSchema = z.record(
  z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/),
  changeSchema,
  {
    error: (issue) =>
      issue.code === 'invalid_key'
        ? 'a name has letters, digits, _ . -'
        : 'must be a mapping of names to { multiplier: 0.5 }, or to their own prices',
  },
)

const longContextSchema = z.strictObject(
  {
    above: z
      .int({ error: 'above must be a whole number of prompt tokens, at least 1' })
      .min(1, { error: 'above must be a whole number of prompt tokens, at least 1' }),
    ...classes,
  },
  ofKind('must be a mapping with above, input, output'),
)

const versionSchema = z
  .strictObject(
    {
      ...classes,
      request: decimalSchema('request', 'USD per exchange', requestDecimals).optional(),
      long_context: longContextSchema.optional(),
      tiers: changesSchema.optional(),
      speeds: changesSchema.optional(),
      geos: changesSchema.optional(),
      valid_from: z
        .string({ error: 'valid_from must be a date such as 2026-12-01' })
        .refine((text) => parseMoment(text) !== undefined, {
          error:
            'valid_from must be a date such as 2026-12-01 or a UTC time such as 2026-12-01T00:00:00Z',
        })
        .optional(),
    },
    ofKind('must be a mapping with input, output'),
  )
  .superRefine(refineSets)

const versionKeys = Object.keys(versionSchema.shape)
const longContextKeys = Object.keys(longContextSchema.shape)
const changeKeys = Object.keys(changeSchema.shape)

/** Every key that may appear somewhere under `price:`. */
export const priceKeys: readonly string[] = [
  ...new Set([...versionKeys, ...longContextKeys, ...changeKeys]),
]

/** Returns the keys that may appear at one path under `price:`. */
export function priceKeysAt(path: readonly (string | number)[]): readonly string[] {
  const [group, name, ...rest] = typeof path[0] === 'number' ? path.slice(1) : path
  if (group === undefined) return versionKeys
  if (group === 'long_context') return longContextKeys
  if (name === undefined) return []
  return rest.length === 0 ? changeKeys : Object.keys(classes)
}

const versionsSchema = z
  .array(versionSchema)
  .min(1, { error: 'give at least one set of prices' })
  .superRefine((forms, context) => {
    const seen = new Set<number>()
    forms.forEach((form, index) => {
      const validFromMs = momentOf(form)
      if (seen.has(validFromMs))
        context.addIssue({
          code: 'custom',
          path: [index, 'valid_from'],
          message: 'valid_from must differ between the versions of a price; one may leave it out',
        })
      seen.add(validFromMs)
    })
  })

/** Both forms as JSON Schema. */
function priceJson(): Readonly<Record<string, unknown>> {
  const { $schema: _, ...version } = z.toJSONSchema(versionSchema, { io: 'input' })
  return { anyOf: [version, { type: 'array', items: version, minItems: 1 }] }
}

export const priceJsonSchema = priceJson()

/**
 * Validates the value of `price:`, one set of prices or a list of versions. It is not a zod union, so
 * that an issue names the key that is wrong, and not only that no alternative fits.
 */
export const priceSchema = z
  .custom<PriceForm | readonly PriceForm[]>()
  .superRefine((value, context) => {
    if (typeof value !== 'object' || value === null) {
      const message =
        value === null
          ? 'price cannot be removed; give another price, or retire the model'
          : 'price must be a mapping with input and output in USD per million tokens, or a list of such mappings'
      context.addIssue({ code: 'custom', message })
      return
    }
    const parsed = (Array.isArray(value) ? versionsSchema : versionSchema).safeParse(value)
    for (const issue of parsed.error?.issues ?? [])
      context.addIssue({ code: 'custom', path: [...issue.path], message: issue.message })
  })
  .meta(priceJsonSchema)

/** Parses a UTC date or time; undefined for other text and for days that do not exist. */
function parseMoment(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z)?$/.test(text)) return undefined
  const atMs = Date.parse(text)
  if (Number.isNaN(atMs)) return undefined
  return new Date(atMs).toISOString().startsWith(text.slice(0, 10)) ? atMs : undefined
}

function momentOf(form: { readonly valid_from?: string | undefined }): number {
  return form.valid_from === undefined ? 0 : (parseMoment(form.valid_from) ?? 0)
}

function toPicos(value: DecimalForm, decimalsMax: number): Picos {
  const amount = parseDecimal(value, decimalsMax)
  invariant(amount !== undefined, 'a price form is validated before it is parsed')
  return amount
}

function parseClasses(form: ClassPriceForm): ClassPrices {
  const prices: { [Class in UsageClass]?: Picos } = {}
  for (const usageClass of usageClasses) {
    const value = form[usageClass]
    if (value === undefined) continue
    prices[usageClass] = picos(toPicos(value, usualDecimals) / unitsPerPrice(usageClass))
  }
  const { input } = prices
  invariant(input !== undefined, 'input always has a price')
  return { ...prices, input }
}

function parseChange(form: PriceChangeForm): PriceChange {
  if (form.multiplier !== undefined)
    return { kind: 'multiplier', ppm: parseFactor(form.multiplier) }
  const classes = parseClasses(form)
  if (form.long_context === undefined) return { kind: 'prices', classes }
  return { kind: 'prices', classes, longContext: parseClasses(form.long_context) }
}

function parseChanges(forms: PriceChangeForms | undefined): ReadonlyMap<string, PriceChange> {
  const entries = Object.entries(forms ?? {})
  return new Map(entries.map(([name, form]) => [name, parseChange(form)]))
}

/** Parses one validated form without its `valid_from`, which `parseModelPrices` reads. */
export function parsePrices(form: PriceForm): Prices {
  const prices = {
    classes: parseClasses(form),
    requestFeePicos:
      form.request === undefined ? zeroPicos : toPicos(form.request, requestDecimals),
    tiers: parseChanges(form.tiers),
    speeds: parseChanges(form.speeds),
    geos: parseChanges(form.geos),
  }
  if (form.long_context === undefined) return prices
  const aboveTokens = form.long_context.above
  return { ...prices, longContext: { aboveTokens, classes: parseClasses(form.long_context) } }
}

/** Parses all versions from the validated value of `price:`. */
export function parseModelPrices(form: PriceForm | readonly PriceForm[]): ModelPrices {
  const forms: readonly PriceForm[] = isList(form) ? form : [form]
  return forms
    .map((one) => ({ validFromMs: momentOf(one), prices: parsePrices(one) }))
    .sort((left, right) => left.validFromMs - right.validFromMs)
}

function isList(form: PriceForm | readonly PriceForm[]): form is readonly PriceForm[] {
  return Array.isArray(form)
}

/** Returns a number where JavaScript prints it digit for digit, else its text. */
function printDecimal(amount: Picos): DecimalForm {
  const text = formatUsd(amount)
  const number = Number(text)
  return String(number) === text ? number : text
}

function printClasses(prices: ClassPrices): ClassPriceForm & Pick<PriceForm, 'input'> {
  const form: { [Class in UsageClass]?: DecimalForm } = {}
  for (const usageClass of usageClasses) {
    const price = prices[usageClass]
    if (price === undefined) continue
    form[usageClass] = printDecimal(picos(price * unitsPerPrice(usageClass)))
  }
  const { input } = form
  invariant(input !== undefined, 'input always has a price')
  return { ...form, input }
}

function printChanges(changes: ReadonlyMap<string, PriceChange>): PriceChangeForms {
  return Object.fromEntries(
    [...changes].map(([name, change]): [string, PriceChangeForm] => {
      if (change.kind === 'multiplier') return [name, { multiplier: printFactor(change.ppm) }]
      const form = printClasses(change.classes)
      if (change.longContext === undefined) return [name, form]
      return [name, { ...form, long_context: printClasses(change.longContext) }]
    }),
  )
}

/** Inverse of `parsePrices`; leaves out empty keys. */
export function printPrices(prices: Prices): PriceForm {
  const { longContext, requestFeePicos } = prices
  return {
    ...printClasses(prices.classes),
    ...(requestFeePicos > 0n && { request: printDecimal(requestFeePicos) }),
    ...(longContext !== undefined && {
      long_context: { above: longContext.aboveTokens, ...printClasses(longContext.classes) },
    }),
    ...(prices.tiers.size > 0 && { tiers: printChanges(prices.tiers) }),
    ...(prices.speeds.size > 0 && { speeds: printChanges(prices.speeds) }),
    ...(prices.geos.size > 0 && { geos: printChanges(prices.geos) }),
  }
}

/** Inverse of `parseModelPrices`: a single form where there is one version without a date. */
export function printModelPrices(modelPrices: ModelPrices): PriceForm | readonly PriceForm[] {
  const forms = modelPrices.map(({ validFromMs, prices }): PriceForm => {
    if (validFromMs === 0) return printPrices(prices)
    const text = new Date(validFromMs).toISOString()
    const isMidnight = text.endsWith('T00:00:00.000Z')
    return { ...printPrices(prices), valid_from: isMidnight ? text.slice(0, 10) : text }
  })
  const [only] = forms
  return forms.length === 1 && only !== undefined ? only : forms
}

/** Encodes prices as text for the store; exact, because decimals stay decimals. */
export function encodePrices(prices: Prices): string {
  return JSON.stringify(printPrices(prices))
}

/** Inverse of `encodePrices`; throws where the text is not a valid set of prices. */
export function decodePrices(text: string): Prices {
  return parsePrices(versionSchema.parse(JSON.parse(text)))
}
