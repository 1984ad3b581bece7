/**
 * Schemas of the catalogue file's entries: vendor, model, channel, each on its own. `review.ts` checks
 * the references between them. Pure; it reads no store and no environment.
 */
import { BlockList, isIP } from 'node:net'
import { z } from 'zod'
import { formatDuration, hourMs, parseDuration } from '../../base/clock.ts'
import { isLocalHost } from '../../base/local-host.ts'
import { mayCarryVersion } from '../../formats/headers.ts'
import type {
  CheckKind,
  CredentialScheme,
  PinnedBaseline,
  StoredResponses,
} from '../../channels/channel.ts'
import {
  modelOperations,
  vendorFeatures,
  type ModelOperation,
  type VendorFeature,
} from '../../formats/format.ts'
import { needsOutputPrice } from '../../channels/offer.ts'
import { costSchema } from '../../metering/cost-form.ts'
import type { CostPrices } from '../../metering/cost-prices.ts'
import { parseModelPrices, priceSchema, type PriceForm } from '../../metering/price-form.ts'
import { type ModelPrices } from '../../metering/prices.ts'

export interface VendorEntry {
  readonly format: 'messages' | 'chat'
  readonly credential: CredentialScheme
  readonly versionHeader: string | undefined
  readonly defaultVersion: string | undefined
  readonly requireMaxTokens: boolean
  readonly allowedFeatures: ReadonlySet<VendorFeature>
  readonly storedResponses: StoredResponses
}

export interface ModelEntry {
  readonly vendor: string
  readonly maxOutputTokens: number | undefined
  /** Undefined: the file gives none, and the stored one stays. */
  readonly maxInputTokens: number | undefined
  readonly firstEventTimeoutMs: number | undefined
  readonly pingTimeoutMs: number | undefined
  /** Undefined: all that its prices allow. */
  readonly operations: ReadonlySet<ModelOperation> | undefined
  /** Undefined: the file gives no price, and the stored prices stay. */
  readonly prices: ModelPrices | undefined
}

export interface ChannelEntry {
  readonly vendor: string
  /** Without a slash at the end. */
  readonly url: string
  /** `env:NAME`, `file:/path`, `sealed:…` or the plain secret. */
  readonly credential: string
  readonly models: ReadonlyMap<string, string | undefined>
  readonly rank: number
  readonly weight: number
  readonly maxConcurrent: number | undefined
  readonly check: CheckKind
  readonly baselines: ReadonlyMap<string, PinnedBaseline>
  /** What the operator pays; undefined = not known. */
  readonly cost: CostPrices | undefined
}

const rankMax = 99
const weightMax = 10_000
const maxConcurrentMax = 1_000_000
/** The most that a limit on tokens can be. */
export const tokenLimitMax = 100_000_000
const credentialLengthMax = 8_192
const vendorSideNameLengthMax = 256

const timeoutMaxMs = hourMs

const visibleText = /^[\x21-\x7e]+$/

function wholeNumber(range: { readonly min: number; readonly max: number }) {
  const error = `must be a whole number from ${range.min} to ${range.max}`
  return z.int({ error }).min(range.min, { error }).max(range.max, { error })
}

function choice<const Choice extends string>(choices: readonly [Choice, ...Choice[]]) {
  return z.enum(choices, { error: `must be one of ${choices.join(', ')}` })
}

function text(error: string) {
  return z.string({ error })
}

/** Milliseconds. */
function duration(range: { readonly min: number; readonly max: number }) {
  const error = `must be a duration such as 800ms, 30s or 10m, from ${formatDuration(range.min)} to ${formatDuration(range.max)}`
  return text(error).transform((given, context): number => {
    const durationMs = parseDuration(given)
    if (durationMs !== undefined && durationMs >= range.min && durationMs <= range.max)
      return durationMs
    context.addIssue({ code: 'custom', message: error })
    return z.NEVER
  })
}

const firstEventTime = duration({ min: 1, max: timeoutMaxMs })

export const vendorSchema = z
  .strictObject({
    format: choice(['messages', 'chat']),
    credential: choice(['x-api-key', 'bearer']).optional(),
    version_header: text('must be the name of a header, such as anthropic-version')
      .regex(/^[A-Za-z0-9-]{1,64}$/, {
        error: 'must be the name of a header, such as anthropic-version',
      })
      .refine(mayCarryVersion, {
        error: 'must be a header of the vendor; the gateway or HTTP uses that name',
      })
      .toLowerCase()
      .optional(),
    default_version: text('must be text, such as "2023-06-01"')
      .regex(visibleText, { error: 'must be text without spaces, such as "2023-06-01"' })
      .max(64, { error: 'must have at most 64 characters' })
      .optional(),
    require_max_tokens: z.boolean({ error: 'must be true or false' }).optional(),
    allow: z
      .array(choice(vendorFeatures), {
        error: `must be a list of ${vendorFeatures.join(', ')}`,
      })
      .default([]),
    stored_responses: choice(['own', 'refuse']).default('own'),
  })
  .refine((form) => form.default_version === undefined || form.version_header !== undefined, {
    path: ['default_version'],
    error: 'needs a version_header to be sent in',
  })
  .transform((form): VendorEntry => ({
    format: form.format,
    credential: form.credential ?? (form.format === 'messages' ? 'x-api-key' : 'bearer'),
    versionHeader: form.version_header,
    defaultVersion: form.default_version,
    // The vendor of the chat format takes a body without it, and most clients never send it.
    requireMaxTokens: form.require_max_tokens ?? form.format === 'messages',
    allowedFeatures: new Set(form.allow),
    storedResponses: form.stored_responses,
  }))

interface OfferForm {
  readonly operations?: readonly ModelOperation[] | undefined
  readonly price?: PriceForm | readonly PriceForm[] | undefined
}

function refineOperations({ operations, price }: OfferForm, context: z.RefinementCtx): void {
  const forms: readonly PriceForm[] = price === undefined ? [] : [price].flat()
  if (forms.every(({ output }) => output !== undefined)) return
  for (const [index, operation] of (operations ?? []).entries())
    if (needsOutputPrice(operation))
      context.addIssue({
        code: 'custom',
        path: ['operations', index],
        message: `${operation} needs an output price`,
      })
}

export const modelSchema = z
  .strictObject({
    vendor: text('must be the name of a vendor'),
    max_output_tokens: wholeNumber({ min: 1, max: tokenLimitMax }).optional(),
    max_input_tokens: wholeNumber({ min: 1, max: tokenLimitMax }).optional(),
    first_event_timeout: duration({ min: 10, max: timeoutMaxMs }).optional(),
    ping_timeout: duration({ min: 10, max: timeoutMaxMs }).optional(),
    operations: z
      .array(choice(modelOperations), { error: `must be a list of ${modelOperations.join(', ')}` })
      .min(1, { error: 'must name at least one operation' })
      .optional(),
    price: priceSchema.optional(),
  })
  .superRefine(refineOperations)
  .transform((form): ModelEntry => ({
    vendor: form.vendor,
    maxOutputTokens: form.max_output_tokens,
    maxInputTokens: form.max_input_tokens,
    firstEventTimeoutMs: form.first_event_timeout,
    pingTimeoutMs: form.ping_timeout,
    operations: form.operations === undefined ? undefined : new Set(form.operations),
    prices: form.price === undefined ? undefined : parseModelPrices(form.price),
  }))

const urlSchema = text('must be a web address such as https://vendor.example').transform(
  (given, context): string => {
    const fault = urlFault(given)
    if (fault === undefined) return new URL(given).href.replace(/\/+$/, '')
    context.addIssue({ code: 'custom', message: fault })
    return z.NEVER
  },
)

const credentialRule = 'must be env:NAME, file:/PATH, or the secret itself (apply seals it)'

const credentialSchema = text(credentialRule)
  .min(1, { error: credentialRule })
  .max(credentialLengthMax, { error: `must have at most ${credentialLengthMax} characters` })
  .regex(visibleText, { error: 'must have no spaces, line breaks or characters outside ASCII' })
  .refine((given) => !given.startsWith('env:') || /^env:[A-Za-z_][A-Za-z0-9_]*$/.test(given), {
    error: 'must name an environment variable after env:, in letters, digits and _',
  })
  .refine((given) => !given.startsWith('file:') || /^file:\/./.test(given), {
    error: 'must name a file after file: by its whole path, beginning with /',
  })

const modelsRule = 'must be a list of models, or a mapping of models to their names at the vendor'

/** A list, or a mapping to names. Written by hand, so that a mistake has the place of its item. */
const channelModelsSchema = z
  .custom<unknown>()
  .transform((given, context): ReadonlyMap<string, string | undefined> => {
    const models = new Map<string, string | undefined>()
    const complain = (message: string, path: (string | number)[] = []): void =>
      context.addIssue({ code: 'custom', message, path, input: undefined })
    if (Array.isArray(given)) {
      for (const [index, model] of (given as unknown[]).entries())
        if (typeof model !== 'string') complain('must be the id of a model', [index])
        else if (models.has(model)) complain(`${model} is in the list twice`, [index])
        else models.set(model, undefined)
    } else if (typeof given === 'object' && given !== null) {
      for (const [model, name] of Object.entries(given))
        if (name === null || name === model) models.set(model, undefined)
        else if (isVendorSideName(name)) models.set(model, name)
        else complain("must be the vendor's name for the model", [model])
    } else complain(modelsRule)
    if (isEmptyCollection(given)) complain('must name at least one model')
    return models
  })

function isEmptyCollection(given: unknown): boolean {
  return typeof given === 'object' && given !== null && Object.keys(given).length === 0
}

function isVendorSideName(name: unknown): name is string {
  return (
    typeof name === 'string' && name.length <= vendorSideNameLengthMax && visibleText.test(name)
  )
}

const baselineSchema = z
  .strictObject({ p50: firstEventTime, p95: firstEventTime }, { error: 'must be p50 and p95' })
  .refine((given) => given.p50 <= given.p95, { path: ['p95'], error: 'cannot be below p50' })
  .transform((given): PinnedBaseline => ({ p50Ms: given.p50, p95Ms: given.p95 }))

export const channelSchema = z
  .strictObject({
    vendor: text('must be the name of a vendor'),
    url: urlSchema,
    credential: credentialSchema,
    models: channelModelsSchema,
    rank: wholeNumber({ min: 0, max: rankMax }).default(0),
    weight: wholeNumber({ min: 1, max: weightMax }).default(1),
    max_concurrent: wholeNumber({ min: 1, max: maxConcurrentMax }).optional(),
    check: choice(['request', 'models', 'none']).default('request'),
    baselines: z
      .record(z.string(), baselineSchema, {
        error: 'must be a mapping of models to { p50: 800ms, p95: 2s }',
      })
      .default({}),
    cost: costSchema.optional(),
  })
  .transform((form): ChannelEntry => ({
    vendor: form.vendor,
    url: form.url,
    credential: form.credential,
    models: form.models,
    rank: form.rank,
    weight: form.weight,
    maxConcurrent: form.max_concurrent,
    check: form.check,
    baselines: new Map(Object.entries(form.baselines)),
    cost: form.cost,
  }))

/**
 * Returns what is wrong with a channel's address, without repeating it. Operators write addresses, so
 * private networks are allowed. Refused are secrets in the address, an address that already has the
 * path which the gateway appends, and a credential that would cross the internet in plain text.
 */
export function urlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be a web address such as https://vendor.example'
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://'
  if (url.username !== '' || url.password !== '')
    return 'must hold no user name or password; the secret belongs under credential'
  if (text.includes('?') || text.includes('#')) return 'must have no query (?) and no fragment (#)'
  if (/\/v1(\/|$)/.test(url.pathname))
    return 'must end before /v1: the gateway appends /v1/messages or /v1/chat/completions itself'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isUnusable(host)) return 'must not point to a link-local, multicast or unspecified address'
  if (url.protocol === 'http:' && !isLocalHost(host))
    return 'must begin with https:// unless the host is in a private network, because http:// sends the credential in plain text'
  return undefined
}

const unusable = new BlockList()
unusable.addSubnet('0.0.0.0', 8, 'ipv4')
unusable.addSubnet('169.254.0.0', 16, 'ipv4')
unusable.addSubnet('224.0.0.0', 3, 'ipv4')
unusable.addAddress('::', 'ipv6')
unusable.addSubnet('fe80::', 10, 'ipv6')
unusable.addSubnet('ff00::', 8, 'ipv6')

function isUnusable(host: string): boolean {
  return isListed(unusable, host)
}

function isListed(list: BlockList, host: string): boolean {
  const family = isIP(host)
  return family !== 0 && list.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
