/**
 * The interface between the wire formats and the rest of the gateway. A format declares its operations:
 * how each reads a request, amends it and meters its answer. It also declares how errors look. Everything
 * here is pure: bytes and facts in, bytes and facts out; no sockets, no clock, no money.
 */
import type { ErrorCode } from '../base/errors.ts'
import type { AskedExtras, NamedService, UseCounts } from '../metering/usage.ts'
import type { AnswerEdges, AnswerReading, StateKind, StreamMeter, VendorError } from './answer.ts'
import type { WantedJson } from './json.ts'

export type FormatName = 'messages' | 'chat'

type OperationName =
  | 'messages.create'
  | 'messages.count_tokens'
  | 'chat.completions.create'
  | 'responses.create'
  | 'responses.compact'
  | 'responses.input_tokens'
  | 'responses.get'
  | 'responses.delete'
  | 'responses.cancel'
  | 'responses.input_items'
  | 'embeddings.create'
  | 'completions.create'
  | 'models.list'
  | 'models.get'
  | 'hello'

/** Fields by which requests limit the output of one choice. */
export const limitFields = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const

export type LimitField = (typeof limitFields)[number]

/** What a model can be asked for, by the names of the catalogue. */
export const modelOperations = ['chat', 'responses', 'embeddings', 'completions'] as const

export type ModelOperation = (typeof modelOperations)[number]

/**
 * One endpoint under a vendor's prefix. The relay branches on `kind` and on the facts declared here,
 * never on `name`: a new operation is a new entry in its format's list.
 */
export type Operation = ForwardedOperation | StoredOperation | ModelsOperation | WarmUpOperation

/** An operation that a vendor answers: what the attempts at it need. */
export interface VendorOperation {
  readonly name: OperationName
  readonly method: 'DELETE' | 'GET' | 'POST'
  /** It is forwarded as the client sent it. */
  readonly path: string
  /** The name by which a model of the catalogue offers it. Absent = every model of the vendor does. */
  readonly modelOperation?: ModelOperation
  /**
   * The fields by which a request limits the output of one choice, the usual one first; empty = none does.
   * Absent = answers have no output; all others run only on a model with a price for output.
   */
  readonly outputLimitFields?: readonly LimitField[]
  /** A request may have many texts, which the model reads one by one: its limit of input is that of one. */
  readonly hasManyTexts?: boolean
  /** No model makes an answer: it has no hold and no charge, and proves nothing about a channel's answers. */
  readonly isFree: boolean
  openMeter(facts: RequestFacts): StreamMeter
  /** Reads a whole answer: its JSON, as far as `answerMembers` says. */
  readAnswer(answer: unknown, facts: RequestFacts): AnswerReading
  readonly answerMembers: WantedJson
  /**
   * Reads a large answer by its edges, in a time that does not follow its size; undefined where it must be
   * read whole. Absent = every answer must.
   */
  readEdges?(edges: AnswerEdges): AnswerReading | undefined
  /** Classifies an answer that is not 2xx. */
  classify(head: UpstreamAnswerHead, error: VendorError): UpstreamFault
  /**
   * Returns a gateway error as an event of a stream that has begun; it starts a new frame. `eventCount` is
   * the stream's so far.
   */
  errorEvent(error: ErrorToShow, eventCount: number): Buffer
  /**
   * Real but tiny requests, by which a channel is checked, in order of preference: models differ in what they
   * accept, and after a 400 the next one is sent. Absent where no check asks by this operation.
   */
  checkBodies?(model: string, isStream: boolean, usage?: StreamUsage): readonly Buffer[]
}

/** Whether a vendor is asked for the usage of a stream. */
type StreamUsage = 'ask' | 'never'

/** An operation that the body of a request describes. */
export interface ForwardedOperation extends VendorOperation {
  readonly kind: 'forwarded'
  readonly method: 'POST'
  /**
   * The field that `amend` adds to a stream's request where the client has not, to get the usage. Absent =
   * none. A vendor may refuse it.
   */
  readonly usageField?: 'stream_options'
  /** Throws TooManySteps where that takes more than `options.stepsMax`. */
  readRequest(body: Buffer, options: ReadRequestOptions): RequestFacts | RequestFault
  /**
   * Returns the body as it goes to a channel: the same bytes, but for the declared amendments (usage
   * chunk requested, model renamed). Returns `body` itself when nothing changes.
   */
  amend(
    body: Buffer,
    facts: RequestFacts,
    upstreamModel: string | undefined,
  ): Buffer | readonly Buffer[]
}

/**
 * An operation on one stored answer of the caller's account, whose id is in the path (`{id}`). The channel
 * that holds the answer serves it, for free and whole. No body goes to the vendor.
 */
export interface StoredOperation extends VendorOperation {
  readonly kind: 'stored'
  /** A 2xx answer means that the vendor keeps the stored answer no longer. */
  readonly deletesAnswer: boolean
  /** Returns the mistake in the raw query. */
  findQueryFault(query: string): RequestFault | undefined
}

/** A list of models or one model, which the gateway answers from its catalogue. */
export interface ModelsOperation {
  readonly kind: 'models'
  readonly name: OperationName
  readonly method: 'GET'
  /** May end in `*id`. */
  readonly path: string
  /** Returns the answer's body, or the mistake in the query; undefined where no model has the id. */
  answer(
    models: readonly ListedModel[],
    asked: { readonly id: string | undefined; readonly query: string },
  ): Buffer | RequestFault | undefined
}

/** A call that clients make to open a connection: no credential, an empty answer. */
interface WarmUpOperation {
  readonly kind: 'warm_up'
  readonly name: OperationName
  readonly method: 'HEAD'
  readonly path: string
}

/** Everything the gateway reads from a request body. */
export interface RequestFacts {
  readonly model: string
  /** The limits of one choice, by field. Empty only where the vendor does not require one. */
  readonly outputLimits: OutputLimits
  readonly isStream: boolean
  /** How many answers are made at once: `n` of the chat format, for each prompt; else 1. */
  readonly choiceCount: number
  readonly prompt: PromptTokens
  /** The prompt is text and nothing else: no tools, no other data, nothing of earlier answers. */
  readonly isPlainText: boolean
  /** The cache write that the body asks for. Absent = none. */
  readonly cacheWrite?: 'short' | 'long' | undefined
  /** Chat streams: the client itself asked for the usage chunk. */
  readonly asksUsageChunk: boolean
  /** The body asks the model to reason: much of the billed output may never show. Absent = no. */
  readonly asksReasoning?: boolean
  /** `prompt_cache_key`: requests with the same one share a prompt. Absent = none. */
  readonly cacheKey?: string | undefined
  /** The service the request names, for the hold; the answer says which one it was. */
  readonly service?: NamedService | undefined
  readonly extras: RequestExtras
  /** What the request names of earlier answers. Absent = nothing. */
  readonly references?: readonly StateReference[] | undefined
  /** The vendor keeps the answer, so that a later request can name it. Absent = it does not. */
  readonly storesAnswer?: boolean | undefined
  /** The request itself asks for that; else it is only the vendor's default. */
  readonly asksStorage?: boolean | undefined
  /** The parts of the body that an amendment may change, as byte offsets with an exclusive end. */
  readonly spans: RequestSpans
}

/** What a request says in its fields that limit the output; absent = not given. */
export type OutputLimits = { readonly [Field in LimitField]?: number }

export interface StateReference {
  readonly kind: StateKind
  /** The vendor's id; of encrypted content its SHA-256 as base64url. */
  readonly id: string
  /** The request is empty without it: it must be known. Else it only must not belong to another account. */
  readonly isNeeded: boolean
}

/** How many tokens a prompt is, before a vendor has counted it. */
export interface PromptTokens {
  /** The usual number for its text, images, documents and earlier answers; without audio. */
  readonly likely: number
  readonly audioLikely: number
  /** Of all but images and audio. Infinite where bytes do not bound the prompt. */
  readonly most: number
  /** How many images there are; the model says how many tokens one can have. */
  readonly images: number
  /** Infinite where bytes do not bound the audio. */
  readonly audioMost: number
}

/** Tools that the vendor runs itself: it reads their results, and the prompt once more for each use. */
export interface ServerTools {
  /** The most uses of all of them. */
  readonly uses: number
  /** The request itself gives the limit of each. */
  readonly isLimited: boolean
}

/** What a request asks for beyond text; each is counted or priced by another rule. */
export interface RequestExtras extends AskedExtras {
  readonly asksAudioOutput: boolean
  readonly isSpeechCompressed: boolean
  readonly serverTools?: ServerTools
  readonly webSearchesMax: number
  readonly vendorTools?: UseCounts
  /** Other models that the request names to answer or advise. */
  readonly otherModels: readonly string[]
}

export interface Span {
  readonly start: number
  readonly end: number
}

interface RequestSpans {
  /** The whole JSON string of `model`, quotes included. */
  readonly model: Span
  /** The value of `stream_options`, if the body has that key. */
  readonly streamOptions?: Span | undefined
  /** The offset behind the body's opening brace. */
  readonly firstMember: number
}

/** The body cannot be accepted; `message` is public and says what to change. */
export interface RequestFault {
  readonly kind: 'fault'
  readonly message: string
  /** `error.details` of the envelope: clients of this format use it to continue in another way. */
  readonly details?: ErrorDetails
}

type ErrorDetails = Readonly<Record<string, unknown>>

export interface ReadRequestOptions {
  /** Refuse a body without an output limit. */
  readonly requireMaxTokens: boolean
  /** Features the operator has allowed for this vendor, and those that are refused. Absent = none. */
  readonly allowedFeatures?: ReadonlySet<VendorFeature>
  /** How many steps of `json-reader.ts` may be taken to read it now. Absent = any number. */
  readonly stepsMax?: number
}

/**
 * Features that act on the operator's own vendor account, where one account could find another's data, that
 * cost money which no answer's usage shows, or by which an aggregator picks another model.
 */
export const operatorFeatures = [
  'account_files',
  'code_execution',
  'containers',
  'conversations',
  'enable_search',
  'file_search',
  'mcp',
  'models',
  'moderation',
  'other_tools',
  'plugins',
  'route',
  'search_parameters',
  'stored_completions',
  'stored_prompts',
  'threads',
  'web_search_options',
] as const

export type OperatorFeature = (typeof operatorFeatures)[number]

/** Named in the same list by an operator who wants them refused: they are allowed otherwise. */
const refusedFeatures = ['no_server_tools'] as const

export type RefusedFeature = (typeof refusedFeatures)[number]

export type VendorFeature = OperatorFeature | RefusedFeature

export const vendorFeatures: readonly [VendorFeature, ...VendorFeature[]] = [
  ...operatorFeatures,
  ...refusedFeatures,
]

/**
 * The class of an answer that is not a usable 2xx, or of an error event that came first.
 * `channels/outcomes.ts` has examples of each and says what follows.
 */
export type UpstreamFault =
  | 'client'
  | 'context_too_long'
  | 'model_dependent'
  | 'throttle'
  | 'config'
  | 'no_credit'
  | 'model_missing'
  | 'not_offered'
  | 'lone_500'
  | 'conflict'
  | 'hard'

/** The class of an error event, and the status it would have had as an answer. */
export interface EventFault {
  readonly fault: UpstreamFault
  readonly status: number
}

export interface UpstreamAnswerHead {
  readonly status: number
  /** The header of this name; an event has none. */
  readonly retryAfter?: string | undefined
}

export interface ErrorToShow {
  readonly code: ErrorCode
  readonly status: number
  readonly message: string
  /** The gateway's own id of the exchange. */
  readonly exchangeId: string
  /** The value of the answer's request id header: the vendor's id, or the same as `exchangeId`. */
  readonly requestId: string
  readonly details?: ErrorDetails
}

/** A model as the list endpoints show it. */
export interface ListedModel {
  readonly id: string
  readonly createdAtMs: number
  readonly maxOutputTokens: number | undefined
  readonly maxInputTokens: number | undefined
  readonly vendor: string
}

export interface Format {
  readonly name: FormatName
  /** An error for an unknown path lists them in this order. */
  readonly operations: readonly Operation[]
  /** Paths of operations that clients try over a WebSocket first. None is served over one. */
  readonly webSocketPaths: readonly string[]
  /** The path of the base address that this format's usual clients have, behind the vendor's prefix. */
  readonly basePath: '' | '/v1'
  /** The query for a vendor's list of models, with its question mark, so that it has all of them. */
  readonly listingQuery: string
  /** The response header in which this format's clients look for a request id. */
  readonly requestIdHeader: 'request-id' | 'x-request-id'
  /** A frame that this format's clients pass over. */
  readonly ping: Buffer
  /** Classifies an error event that came before any other event. */
  classifyEvent(error: VendorError): EventFault
  /** Returns an error event's envelope as the body of an answer with this request id. */
  bodyOfEvent(envelope: Buffer, requestId: string): Buffer
  /** Errors that this format's clients know by another status than the catalogue's. */
  readonly statuses: Readonly<Partial<Record<ErrorCode, number>>>
  /** Returns a gateway error as this format's error body. */
  errorBody(error: ErrorToShow): Buffer
}
