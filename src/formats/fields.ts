/**
 * The rules for the single fields of a request body: which values they may have, and what the
 * gateway takes from them. It is given a parsed body and knows no bytes; messages of its faults are
 * public.
 */
import type {
  AskedService,
  OperationName,
  OperatorFeature,
  ReadRequestOptions,
  RequestExtras,
  RequestFault,
} from './format.ts'
import { asArray, asObject, asText, type JsonObject } from './json.ts'

/** Data that is not text: its bytes in the body, and a bound for the tokens it counts as. */
export interface BlobEstimate {
  readonly bytes: number
  readonly tokens: number
  /** The most tokens it can be, sound left out: that has never more than its bytes. */
  readonly tokensMax: number
  /** How many of `tokens` are sound. */
  readonly audioTokens: number
  /** How many these usually come to. */
  readonly audioTokensUsual: number
  /** Some of it is named by an id and lies in the operator's account. */
  readonly isInAccount: boolean
}

/** In what the formats differ when a request is read. */
export interface RequestRules {
  /** Fields that limit the output; the larger counts where several are given. */
  readonly limitFields: readonly [string, ...string[]]
  /** Whether null stands for "not given" in optional fields, as it does for this vendor. */
  readonly isNullAbsent: boolean
  /** Whether `n` and `stream_options` mean something. */
  readonly hasChoices: boolean
  /** The operation that neither limits nor streams its output. */
  readonly countingOperation: OperationName | undefined
  /** Tokens that the vendor adds for a system prompt of its own when there are tools. */
  readonly toolPromptTokens: number
  /** Images, documents and sound within a parsed body; its strings are latin1. */
  estimateBlobs(body: JsonObject): BlobEstimate
  /** Features asked for, but for files, which the blobs tell. */
  findFeatures(body: JsonObject): readonly OperatorFeature[]
  /** The body as latin1 text. */
  asksOneHourCache(text: string): boolean
  findAsked(body: JsonObject): AskedService | undefined
  /** Undefined for a request that asks for text and nothing else. */
  findWork(body: JsonObject): AskedWork | undefined
}

/** Work beyond answering with text. */
export type AskedWork = Pick<
  RequestExtras,
  | 'asksAudioOutput'
  | 'isSpeechCompressed'
  | 'hasServerTools'
  | 'hasStoredPrompt'
  | 'webSearchesMax'
  | 'otherModels'
>

export function fault(message: string): RequestFault {
  return { kind: 'fault', message }
}

export function isFault(value: unknown): value is RequestFault {
  return asObject(value)?.['kind'] === 'fault'
}

/** The output limit, or undefined where none is given and none is needed. */
export function readLimit(
  body: JsonObject,
  rules: RequestRules,
  options: ReadRequestOptions,
): number | undefined | RequestFault {
  if (options.operation === rules.countingOperation) return undefined
  let limit: number | undefined
  for (const name of rules.limitFields) {
    const value = body[name]
    if (value === undefined || value === null) continue
    if (!isCount(value)) return fault(`\`${name}\` must be an integer of at least 1.`)
    limit = Math.max(limit ?? 0, value)
  }
  if (limit !== undefined || !options.requireMaxTokens) return limit
  const [name] = rules.limitFields
  return fault(
    `\`${name}\` is required: set it to the most tokens the answer may have, an integer of at least 1.`,
  )
}

export interface Manner {
  readonly isStream: boolean
  readonly choiceCount: number
}

const choiceCountMax = 128

/** How the answer is to be given. */
export function readManner(body: JsonObject, rules: RequestRules): Manner | RequestFault {
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
  const choiceCount = rules.hasChoices ? (given('n') ?? 1) : 1
  if (!isCount(choiceCount) || choiceCount > choiceCountMax) {
    return fault(`\`n\` must be an integer from 1 to ${choiceCountMax}.`)
  }
  return { isStream: stream === true, choiceCount }
}

/** Whether the client itself asks for the usage chunk. */
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

const featureFaults: Readonly<Record<OperatorFeature, string>> = {
  account_files: 'Files are not available here by id; send their content within the request.',
  code_execution: 'The code execution tool is not available here.',
  containers: 'Containers are not available here; leave `container` out.',
  moderation: 'Moderation with the answer is not available here; leave `moderation` out.',
  stored_completions: 'Stored completions are not available here; leave `store` out.',
  threads: 'Threads are not available here; leave `thread` out and send all of `messages`.',
  web_search_options: 'Web search is not available here; leave `web_search_options` out.',
}

/** The vendor's own words for it: its SDKs then send the whole conversation without a thread. */
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

/** Tiers, speeds and regions as the fields of one body name them. */
export function askedService(names: {
  readonly tier: unknown
  readonly speed?: unknown
  readonly geo?: unknown
}): AskedService | undefined {
  const tier = asText(names.tier)
  const speed = asText(names.speed)
  const geo = asText(names.geo)
  if (tier === undefined && speed === undefined && geo === undefined) return undefined
  return {
    ...(tier !== undefined && { tier }),
    ...(speed !== undefined && { speed }),
    ...(geo !== undefined && { geo }),
  }
}

const noWork: AskedWork = {
  asksAudioOutput: false,
  isSpeechCompressed: false,
  hasServerTools: false,
  hasStoredPrompt: false,
  webSearchesMax: 0,
  otherModels: [],
}

export const noExtras: RequestExtras = {
  ...noWork,
  blobTokensMax: 0,
  audioTokens: 0,
  audioTokensUsual: 0,
}

export function joinExtras(blobs: BlobEstimate, work: AskedWork | undefined): RequestExtras {
  if (work === undefined && blobs.tokens === 0) return noExtras
  const { tokensMax, audioTokens, audioTokensUsual } = blobs
  return { ...(work ?? noWork), blobTokensMax: tokensMax, audioTokens, audioTokensUsual }
}

/** A field that asks for something: neither absent nor null nor false. */
export function isAsked(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
}
