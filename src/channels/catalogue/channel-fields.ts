/** The fields of a channel in the catalogue. */
import { z } from 'zod'
import { formatDuration, hourMs } from '../../base/clock.ts'
import { limitFields } from '../../formats/format.ts'
import { credentialForms } from '../../formats/headers.ts'
import { costSchema, decodeCost, encodeCost, printCost } from '../../metering/cost-form.ts'
import type { CostPrices } from '../../metering/cost-prices.ts'
import { urlFault } from './channel-address.ts'
import { field, type Kind } from './field.ts'
import {
  basePath,
  betas,
  credentialText,
  fixedHeaders,
  proxyAddress,
  queryParameters,
} from './reach-kinds.ts'
import {
  anyText,
  choice,
  durationSchema,
  flag,
  optional,
  text,
  timeLimit,
  usually,
  vendorName,
  visibleText,
  wholeNumber,
  withDefault,
  words,
} from './kinds.ts'

const vendorSideNameLengthMax = 256

const address = anyText('must be a web address such as https://vendor.example').transform(
  (given, context): string => {
    const fault = urlFault(given)
    if (fault === undefined) return new URL(given).href.replace(/\/+$/, '')
    context.addIssue({ code: 'custom', message: fault })
    return z.NEVER
  },
)

const shownCredential = z.string().meta({ description: '`env:NAME`, `file:/path` or `sealed`.' })

type ServedModels = ReadonlyMap<string, string | undefined>

const modelsRule = 'must be a list of models, or a mapping of models to their names at the vendor'

/** A list, or a mapping to names. Written by hand, so that a mistake has the place of its item. */
const servedModelsSchema = z.custom<unknown>().transform((given, context): ServedModels => {
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
const modelsForm = {
  anyOf: [
    { type: 'array', items: { type: 'string' }, minItems: 1 },
    { type: 'object', additionalProperties: { type: ['string', 'null'] }, minProperties: 1 },
  ],
}

function isEmptyCollection(given: unknown): boolean {
  return typeof given === 'object' && given !== null && Object.keys(given).length === 0
}

function isVendorSideName(name: unknown): name is string {
  return (
    typeof name === 'string' && name.length <= vendorSideNameLengthMax && visibleText.test(name)
  )
}

const shownModels = z.record(z.string(), z.string().nullable()).meta({
  description: "Model → the vendor's name for it; null where it is the same.",
})

function namesByModel(models: ServedModels): z.output<typeof shownModels> {
  return Object.fromEntries([...models].map(([model, name]) => [model, name ?? null]))
}

const servedModels: Kind<ServedModels, typeof shownModels> = {
  schema: servedModelsSchema.meta(modelsForm),
  store: (models) => JSON.stringify(namesByModel(models)),
  read: (stored) => {
    const names = JSON.parse(String(stored)) as z.output<typeof shownModels>
    return new Map(Object.entries(names).map(([model, name]) => [model, name ?? undefined]))
  },
  print: (models) => {
    const isList = [...models.values()].every((name) => name === undefined)
    return isList ? [...models.keys()] : namesByModel(models)
  },
  describe: (models) =>
    [...models]
      .map(([model, name]) => (name === undefined ? model : `${model} as ${name}`))
      .sort()
      .join(', '),
  shown: shownModels,
  show: namesByModel,
  control: 'models',
  fallback: 'required',
}

/** A baseline set by the operator: a model's usual time to the first event on a channel. */
interface PinnedBaseline {
  readonly p50Ms: number
  readonly p95Ms: number
}

const firstEventTime = durationSchema({ min: 1, max: hourMs })

const baselineSchema = z
  .strictObject({ p50: firstEventTime, p95: firstEventTime }, { error: 'must be p50 and p95' })
  .refine((given) => given.p50 <= given.p95, { path: ['p95'], error: 'cannot be below p50' })
  .transform((given): PinnedBaseline => ({ p50Ms: given.p50, p95Ms: given.p95 }))

type Baselines = ReadonlyMap<string, PinnedBaseline>

const baselines: Kind<Baselines, z.ZodNever> = {
  schema: z
    .record(z.string(), baselineSchema, {
      error: 'must be a mapping of models to { p50: 800ms, p95: 2s }',
    })
    .transform((given) => new Map(Object.entries(given))),
  store: (given) => JSON.stringify(Object.fromEntries(given)),
  read: (stored) =>
    new Map(Object.entries(JSON.parse(String(stored)) as Record<string, PinnedBaseline>)),
  print: (given) =>
    Object.fromEntries(
      [...given].map(([model, { p50Ms, p95Ms }]) => [
        model,
        { p50: formatDuration(p50Ms), p95: formatDuration(p95Ms) },
      ]),
    ),
  describe: (given) => {
    const texts = [...given].map(
      ([model, { p50Ms, p95Ms }]) =>
        `${model} p50 ${formatDuration(p50Ms)}, p95 ${formatDuration(p95Ms)}`,
    )
    return texts.length === 0 ? undefined : texts.sort().join('; ')
  },
  shown: z.never(),
  control: 'baselines',
  fallback: 'required',
}

const outputLimitWords = words(limitFields)

const outputLimit: typeof outputLimitWords = {
  ...outputLimitWords,
  describe: (fields) => (fields.size === 0 ? 'none' : [...fields].sort().join(', ')),
}

const cost: Kind<CostPrices | undefined, z.ZodNever> = {
  schema: costSchema.optional(),
  store: (value) => (value === undefined ? null : encodeCost(value)),
  read: (stored) => decodeCost(String(stored)),
  print: (value) => value && printCost(value),
  shown: z.never(),
  control: 'cost',
  fallback: 'not known',
}

export const channelFields = {
  vendor: field('vendor', vendorName, 'The vendor that the channel reaches.'),
  /** Origin and base path without a slash at the end. */
  url: field(
    'url',
    text(address),
    'The address without `path` and without the path of an endpoint; the gateway adds both.',
  ),
  /** In the file also the plain secret; stored as `env:NAME`, `file:/path` or `sealed:…`. */
  credential: field(
    'credential',
    { ...text(credentialText), control: 'secret', shown: shownCredential },
    '`env:NAME`, `file:/path`, or the secret itself, which is encrypted on apply.',
  ),
  /** Undefined: that of the vendor. */
  credentialForm: field(
    'credential_form',
    optional(choice(credentialForms)),
    'How this channel presents its credential: `x-api-key`, `bearer` or `api-key`.',
    { fallback: "the vendor's" },
  ),
  /** In place of the `/v1` of the endpoints' own paths. */
  path: field(
    'path',
    usually('/v1', text(basePath)),
    'What stands between the address and the path of an endpoint, such as `/messages`: `/api/paas/v4`, or `""` for nothing.',
  ),
  /** Set where a channel of a messages vendor also speaks chat completions. */
  chatPath: field(
    'chat_path',
    optional(text(basePath)),
    'For vendors of the messages format whose channel also speaks chat completions: the `path` of these, such as `/v1`. `POST {prefix}/v1/chat/completions` then goes to such channels; their health for it is kept apart.',
  ),
  query: field(
    'query',
    usually(new Map(), queryParameters),
    'Parameters of every request, in place of the client\'s of the same names: `{ api-version: "2026-10-01" }`.',
    { fallback: 'none' },
  ),
  /** Lower-case name → value, `env:NAME` or `file:/path`. */
  headers: field(
    'headers',
    usually(new Map(), fixedHeaders),
    "Headers of every request, in place of the client's of the same names. A value may be `env:NAME` or `file:/path`.",
    { fallback: 'none' },
  ),
  /** Scheme, host and port, or a reference to an address. */
  proxy: field(
    'proxy',
    optional(text(proxyAddress)),
    'An HTTP proxy on the way: `http://proxy.example:3128`; where it asks for a user name, `env:NAME` or `file:/path` with `http://USER:PASSWORD@proxy.example:3128`. The gateway asks it by CONNECT for a tunnel, in which it speaks TLS with the vendor. The address is then on the internet and begins with `https://`.',
  ),
  streamUsage: field(
    'stream_usage',
    usually('ask', choice(['ask', 'never'])),
    'Whether the gateway asks for the usage of chat streams by adding `stream_options`. `never` is for vendors that refuse this field; such streams are charged by an estimate unless their usage comes unasked.',
  ),
  /** Exact names, and beginnings with `*` behind them. */
  dropBetas: field(
    'drop_betas',
    usually([], betas),
    'Betas that this vendor does not know: names, or beginnings with `*` behind them. They are left out of `anthropic-beta`, and each attempt records which.',
    { fallback: 'none' },
  ),
  /** Model id → the channel's own name for it, where that differs. */
  models: field(
    'models',
    servedModels,
    'A list of models, or a mapping to their names at this channel: `{ large-1: vendor-side-name }`.',
  ),
  /** The lowest usable rank serves; 0 is the main route. */
  rank: field(
    'rank',
    withDefault(0, wholeNumber({ min: 0, max: 99 })),
    '0 to 99. The lowest rank with a usable channel serves; higher ranks are reserves.',
  ),
  weight: field(
    'weight',
    withDefault(1, wholeNumber({ min: 1, max: 10_000 })),
    "1 to 10000. The share of accounts among the channels of one rank. An account's calls to one model stay on one channel.",
  ),
  maxConcurrent: field(
    'max_concurrent',
    optional(wholeNumber({ min: 1, max: 1_000_000 })),
    'Concurrency limit for the attempts of clients. Further attempts go to the next channel. Each gateway counts for itself; the [processes](operating.md#use-all-cores) of one `serve` share it. Health checks do not count toward it: they use free room, or run one at a time where there is none.',
  ),
  check: field(
    'check',
    withDefault('request', choice(['request', 'models', 'none'])),
    'How the gateway checks the channel: `request` sends a tiny model request, `models` a listing call, `none` nothing.',
    { column: 'check_kind' },
  ),
  /** Undefined: the fields that the format has for it. */
  outputLimit: field(
    'output_limit',
    optional(outputLimit),
    'The fields of a request that bound all output that the vendor bills on this channel, of `max_tokens`, `max_completion_tokens` and `max_output_tokens`; `[]` for none. Another field does not lower the hold; see [below](#output-limits).',
    { fallback: "the format's" },
  ),
  /** Undefined: that of the model. */
  firstEventTimeoutMs: field(
    'first_event_timeout',
    timeLimit,
    'The longest silence before the head of a stream on this channel, and from there to its first output.',
    { column: 'first_event_timeout_ms', fallback: "the model's, else the setting of that name" },
  ),
  /** Undefined: by the model. */
  idleTimeoutMs: field(
    'idle_timeout',
    timeLimit,
    'The longest silence in the middle of a stream on this channel, also where a model thinks.',
    {
      column: 'idle_timeout_ms',
      fallback: 'the setting of that name, ten minutes where a model thinks',
    },
  ),
  /** By model; a missing baseline is learned. */
  baselines: field(
    'baselines',
    usually(new Map(), baselines),
    "The usual times to the first event of a model's streams of any size, in place of learned ones: `{ large-1: { p50: 800ms, p95: 2s } }`.",
    { fallback: 'learned' },
  ),
  /** The operator's prices here; undefined = not known. */
  cost: field(
    'cost',
    cost,
    'What you pay on this channel; see [below](#cost-prices).',
  ) /** Its address is on the operator's own network. */,
  allowPrivate: field(
    'allow_private',
    usually(false, flag()),
    '`true` for an address on your own network, such as `http://10.0.0.7:8000`. Without it such an address is refused, and so is a name that leads to one. Addresses of the same machine need nothing.',
  ),
}
