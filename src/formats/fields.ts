/**
 * The rules for the fields of a request body: which values they may have, and what the gateway reads from
 * them. It gets a parsed body and knows no bytes. Messages of its faults are public.
 */
import type { NamedService } from '../metering/usage.ts'
import type {
  LimitField,
  OperatorFeature,
  OutputLimits,
  ReadRequestOptions,
  RefusedFeature,
  RequestExtras,
  RequestFacts,
  RequestFault,
  ServerTools,
  Span,
} from './format.ts'
import { asArray, asObject, asText, isAsked, ownText, type JsonObject } from './json.ts'
import type { PayloadSum } from './payloads.ts'
import { reasoningFields } from './reasoning.ts'

/** The text of a body as latin1, and where its members are. */
export interface BodyText {
  readonly text: string
  readonly spans: ReadonlyMap<string, Span>
}

/** The differences between the formats when a request is read. */
export interface RequestRules {
  /** Names of members that the rules read; none may occur twice, or in another letter case. */
  readonly fields: ReadonlySet<string>
  /** Fields that limit the output. Empty where nothing is generated. */
  readonly limitFields: readonly LimitField[]
  /** The least that they may be; 1 where absent. */
  readonly limitMin?: number
  /** The vendor reads null in an optional field as "absent". */
  readonly isNullAbsent: boolean
  /** The format has `n` and `stream_options`. */
  readonly hasChoices: boolean
  /** … and `best_of`: more choices are made than shown. */
  readonly hasBestOf?: boolean
  /** False where no field limits the output, and no answer is streamed. */
  readonly hasOutput: boolean
  /** Returns the mistake in the prompt, such as that there is none. */
  findPromptFault(body: JsonObject, source: BodyText): RequestFault | undefined
  /** How many prompts the body has, each with its choices; absent where there is always one. */
  countPrompts?(source: BodyText): number
  /** What the body names of earlier answers; absent where the operation knows none. */
  findState?(body: JsonObject): RequestState
  /** Text, images, documents and audio in a parsed body without its tools; its strings are latin1. */
  estimatePayloads(body: JsonObject, source: BodyText): PayloadSum
  /** Features that act on the operator's account, without files: the payloads cover those. */
  findOperatorFeatures(body: JsonObject): OperatorFeature[]
  /** Undefined for a request for text and nothing else. */
  findBillableFeatures(body: JsonObject): RequestExtras | undefined
  findService(body: JsonObject): NamedService | undefined
  /** By which `ttl` a body asks for a cache write of the longer lifetime. Absent = it cannot. */
  readonly longLifetime?: string
}

/** What a request names of earlier answers, and whether its own answer is kept. */
type RequestState = Pick<RequestFacts, 'references' | 'storesAnswer' | 'asksStorage'>

export function fault(message: string): RequestFault {
  return { kind: 'fault', message }
}

export function isFault(value: unknown): value is RequestFault {
  return asObject(value)?.['kind'] === 'fault'
}

/** Returns the output limits by field; empty where none is given and none is required. */
export function readLimits(
  body: JsonObject,
  rules: RequestRules,
  options: ReadRequestOptions,
): OutputLimits | RequestFault {
  const limits: { [Field in LimitField]?: number } = {}
  if (!rules.hasOutput) return limits
  for (const name of rules.limitFields) {
    const value = body[name]
    if (value === undefined || value === null) continue
    if (!isCount(value, rules.limitMin))
      return fault(`\`${name}\` must be an integer of at least ${rules.limitMin ?? 1}.`)
    limits[name] = value
  }
  const [name] = rules.limitFields
  const isGiven = Object.keys(limits).length > 0
  if (isGiven || name === undefined || !options.requireMaxTokens) return limits
  return fault(
    `\`${name}\` is required: set it to the most tokens the answer may have, an integer of at least 1.`,
  )
}

interface AnswerForm {
  readonly isStream: boolean
  readonly choiceCount: number
}

const choiceCountMax = 128

/** Reads how the answer is to be sent. */
export function readAnswerForm(body: JsonObject, rules: RequestRules): AnswerForm | RequestFault {
  const given = (name: string): unknown => {
    const value = body[name]
    return value === null && rules.isNullAbsent ? undefined : value
  }
  const temperature = given('temperature')
  if (temperature !== undefined && typeof temperature !== 'number') {
    return fault('`temperature` must be a number.')
  }
  const stream = given('stream')
  if (stream !== undefined && typeof stream !== 'boolean') {
    return fault('`stream` must be true or false.')
  }
  let choiceCount = 1
  for (const name of choiceFields(rules)) {
    const count = given(name) ?? 1
    if (!isCount(count) || count > choiceCountMax)
      return fault(`\`${name}\` must be an integer from 1 to ${choiceCountMax}.`)
    choiceCount = Math.max(choiceCount, count)
  }
  return { isStream: stream === true, choiceCount }
}

/** The vendor bills every choice that it makes, those that it does not show as well. */
function choiceFields({ hasChoices, hasBestOf }: RequestRules): readonly string[] {
  if (!hasChoices) return noNames
  return hasBestOf === true ? bothChoiceFields : oneChoiceField
}

const noNames: readonly string[] = []
const oneChoiceField = ['n'] as const
const bothChoiceFields = ['n', 'best_of'] as const

/** Reads whether the client itself requests the usage chunk. */
export function readStreamOptions(body: JsonObject, rules: RequestRules): boolean | RequestFault {
  const value = body['stream_options']
  if (!rules.hasChoices || value === undefined || value === null) return false
  const streamOptions = asObject(value)
  if (streamOptions === undefined) return fault('`stream_options` must be an object.')
  const asks = streamOptions['include_usage'] ?? false
  if (typeof asks === 'boolean') return asks
  return fault('`stream_options.include_usage` must be true or false.')
}

export function findMessagesFault(body: JsonObject): RequestFault | undefined {
  if ((asArray(body['messages'])?.length ?? 0) > 0) return undefined
  return fault('`messages` is required and must be a non-empty array.')
}

/** Fields by which an aggregator picks another model or adds paid work; each is a feature of its name. */
export const aggregatorFields = [
  'enable_search',
  'models',
  'plugins',
  'route',
  'search_parameters',
] as const satisfies readonly OperatorFeature[]

/** What the rules of the two formats for messages read of a body. */
export const messageFields: ReadonlySet<string> = new Set([
  'model',
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stream_options',
  'n',
  'messages',
  'system',
  'tools',
  'service_tier',
  'prompt_cache_key',
  'temperature',
  'speed',
  'inference_geo',
  'store',
  'container',
  'thread',
  'moderation',
  'web_search_options',
  'modalities',
  'fallbacks',
  'mcp_servers',
  'context_management',
  ...reasoningFields,
  ...aggregatorFields,
])

/** What the rules for responses read of a body. */
export const responsesFields: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'stream',
  'temperature',
  'tools',
  'service_tier',
  'background',
  'store',
  'previous_response_id',
  'prompt_cache_key',
  'prompt_cache_options',
  'generate',
  'conversation',
  'prompt',
  'moderation',
  'modalities',
  'context_management',
  ...reasoningFields,
  ...aggregatorFields,
])

const featureFaults: Readonly<Record<OperatorFeature, string>> = {
  account_files: 'Files are not available here by id; send their content within the request.',
  code_execution: 'The code execution tool is not available here.',
  enable_search: 'Searches are not available here; leave `enable_search` out.',
  containers: 'Containers are not available here; leave `container` and tools that run in one out.',
  conversations:
    'Conversations are not available here; leave `conversation` out and send all of `input`, or name `previous_response_id`.',
  file_search: 'File search is not available here; leave that tool out.',
  mcp: 'Remote MCP servers are not available here; leave that tool out.',
  models: 'Other models are not available here; leave `models` out.',
  moderation: 'Moderation with the answer is not available here; leave `moderation` out.',
  other_tools:
    '`tools` names a type of tool, or an option of one, that is not available here; name only tools that you run yourself.',
  plugins: 'Plugins are not available here; leave `plugins` out.',
  route: 'Other models are not available here; leave `route` out.',
  search_parameters: 'Searches are not available here; leave `search_parameters` out.',
  stored_completions: 'Stored completions are not available here; leave `store` out.',
  stored_prompts:
    'Stored prompts are not available here; leave `prompt` out and send its text within the request.',
  threads: 'Threads are not available here; leave `thread` out and send all of `messages`.',
  web_search_options: 'Web search is not available here; leave `web_search_options` out.',
}

/** The vendor's own details: its SDKs then send the whole conversation without a thread. */
const threadsUnsupported = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }

export function findFeatureFault(
  features: readonly OperatorFeature[],
  options: ReadRequestOptions,
): RequestFault | undefined {
  for (const feature of features) {
    if (options.allowedFeatures?.has(feature) === true) continue
    const refused = fault(featureFaults[feature])
    return feature === 'threads' ? { ...refused, details: threadsUnsupported } : refused
  }
  return undefined
}

const refusedFaults: Readonly<Record<RefusedFeature, string>> = {
  no_server_tools:
    'Tools that the vendor runs are not available here; name only tools that you run yourself.',
}

/** Refuses tools that the vendor runs, where the operator does not want them. */
export function findToolsFault(
  { serverTools }: RequestExtras,
  { allowedFeatures }: ReadRequestOptions,
): RequestFault | undefined {
  const isRefused = serverTools !== undefined && allowedFeatures?.has('no_server_tools') === true
  return isRefused ? fault(refusedFaults.no_server_tools) : undefined
}

/** Reads the tier, speed and region that the fields of a body name. */
export function requestedService(names: {
  readonly tier: unknown
  readonly speed?: unknown
  readonly geo?: unknown
}): NamedService | undefined {
  const tier = asText(names.tier)
  const speed = asText(names.speed)
  const geo = asText(names.geo)
  if (tier === undefined && speed === undefined && geo === undefined) return undefined
  return {
    ...(tier !== undefined && { tier: ownText(tier) }),
    ...(speed !== undefined && { speed: ownText(speed) }),
    ...(geo !== undefined && { geo: ownText(geo) }),
  }
}

/** An aggregator does this work by itself, and adds its results to the prompt. */
export function asksAggregatorWork(body: JsonObject): boolean {
  return (
    isAsked(body['plugins']) || isAsked(body['search_parameters']) || isAsked(body['enable_search'])
  )
}

/** Models beside `model` that an aggregator may choose from. */
export function listedModels(body: JsonObject): readonly string[] {
  return (asArray(body['models']) ?? []).filter((model) => typeof model === 'string').map(ownText)
}

/** For a tool without a limit. */
const usualUses = 10
/** A larger limit holds no more money, and no answer with more is believed. */
const usesMax = 200

/** Adds up the limits that a request gives for the uses of its tools: a server may take none for one. */
export function toolUses(limits: readonly unknown[]): ServerTools {
  let uses = 0
  for (const limit of limits)
    uses += typeof limit === 'number' ? Math.max(Math.ceil(limit), 1) : usualUses
  const isLimited = limits.every((limit) => typeof limit === 'number')
  return { uses: Math.min(uses, usesMax), isLimited }
}

export const unlimitedTools: ServerTools = { uses: usualUses, isLimited: false }

/** Of operations that have nothing else beyond text. */
export function findAggregatorWork(body: JsonObject): RequestExtras | undefined {
  const otherModels = listedModels(body)
  const hasServerTools = asksAggregatorWork(body)
  if (otherModels.length === 0 && !hasServerTools) return undefined
  return { ...noExtras, ...(hasServerTools && { serverTools: unlimitedTools }), otherModels }
}

export const noExtras: RequestExtras = {
  asksAudioOutput: false,
  isSpeechCompressed: false,
  webSearchesMax: 0,
  otherModels: [],
}

/** Whether the vendor is asked to shorten the conversation, for which it reads it once more. */
export function asksCompaction(body: JsonObject): boolean {
  const given = body['context_management']
  const edits = asArray(given) ?? asArray(asObject(given)?.['edits']) ?? []
  return edits.some((edit) => asText(asObject(edit)?.['type'])?.startsWith('compact') === true)
}

function isCount(value: unknown, min = 1): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min
}
