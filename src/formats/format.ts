/**
 * What a wire format must declare so that the relay can stay ignorant of vendors: its routes, how a
 * request is read and amended, how an answer is metered, how errors look. Everything here is pure:
 * bytes and facts in, bytes and facts out; no sockets, no clock, no money.
 */
import type { ErrorCode } from '../base/errors.ts'
import type { Usage } from '../metering/usage.ts'

export type FormatName = 'messages' | 'chat'

export type OperationName =
  | 'messages.create'
  | 'messages.count_tokens'
  | 'chat.completions.create'
  | 'models.list'
  | 'models.get'
  | 'hello'

/** One endpoint under a vendor's prefix. `path` is exact; of what is not forwarded it may end in `*id`. */
export interface FormatRoute {
  readonly method: 'GET' | 'POST' | 'HEAD'
  readonly path: string
  readonly operation: OperationName
}

/** Everything the gateway reads from a request body. */
export interface RequestFacts {
  readonly model: string
  /** `max_tokens` or `max_completion_tokens`; undefined only where the vendor does not require it. */
  readonly maxOutputTokens: number | undefined
  readonly isStream: boolean
  /** `n` of the chat format, else 1. */
  readonly choiceCount: number
  /** Upper guess of the prompt's tokens; blobs (images, documents) by a bound of their own, not as text. */
  readonly inputTokensEstimate: number
  /** A cache write with a one-hour lifetime is asked for somewhere in the body. */
  readonly asksOneHourCache: boolean
  /** Chat streams: the client itself asked for the usage chunk. */
  readonly asksUsageChunk: boolean
  /** What the request asks to be served as, for the hold; the answer says what it was. */
  readonly asked?: AskedService
  readonly extras: RequestExtras
  /** Where in the body the parts stand that an amendment may touch (byte offsets, end exclusive). */
  readonly spans: RequestSpans
}

/** In the words of the vendors' answers, where they differ from those of requests. */
export interface AskedService {
  readonly tier?: string
  readonly speed?: string
  readonly geo?: string
}

/** What a request brings and asks for beyond text; each is counted or priced by a rule of its own. */
export interface RequestExtras {
  /** The most tokens its images and documents can be; the estimate takes what is usual. */
  readonly blobTokensMax: number
  /** How many tokens of the estimate are sound. */
  readonly audioTokens: number
  /** How many these usually come to, for an estimated charge. */
  readonly audioTokensUsual: number
  readonly asksAudioOutput: boolean
  /** The sound asked for has fewer bytes than its samples. */
  readonly isSpeechCompressed: boolean
  /** Tools that the vendor runs itself: what they find is put before the model and counted as input. */
  readonly hasServerTools: boolean
  /** Part of the prompt lies with the vendor and not in the body: how much, the answer tells. */
  readonly hasStoredPrompt: boolean
  readonly webSearchesMax: number
  /** Models beside the request's own that may answer or advise, as the request names them. */
  readonly otherModels: readonly string[]
}

export interface Span {
  readonly start: number
  readonly end: number
}

export interface RequestSpans {
  /** The whole JSON string of `model`, quotes included. */
  readonly model: Span
  /** The value of `stream_options`, where the key stands in the body. */
  readonly streamOptions?: Span
  /** The offset just behind the body's opening brace. */
  readonly firstMember: number
}

/** The body cannot be accepted; `message` is public and says what to change. */
export interface RequestFault {
  readonly kind: 'fault'
  readonly message: string
  /** What clients of this format read to go on in another way, as `error.details` of its envelope. */
  readonly details?: ErrorDetails
}

export type ErrorDetails = Readonly<Record<string, unknown>>

export interface ReadRequestOptions {
  /** Whether a body without an output limit is refused. */
  readonly requireMaxTokens: boolean
  /** `messages.count_tokens` has neither an output limit nor a stream. */
  readonly operation: OperationName
  /** Features the operator has allowed for this vendor; all others are refused. Absent = none. */
  readonly allowedFeatures?: ReadonlySet<OperatorFeature>
}

/**
 * What a request can ask for that acts on the operator's own vendor account, where one account's
 * data would be another's to find, or that costs money no answer's usage shows.
 */
export const operatorFeatures = [
  'account_files',
  'code_execution',
  'containers',
  'moderation',
  'stored_completions',
  'threads',
  'web_search_options',
] as const

export type OperatorFeature = (typeof operatorFeatures)[number]

/** Output seen so far, for an estimate. */
export interface SeenOutput {
  /** As far as it was kept; put together when it is asked for. */
  readonly text: string
  /** UTF-8 bytes of all of it. */
  readonly bytes: number
  /** Length of all sound, as the base64 it came in; it is not in `bytes`. */
  readonly audioBytes: number
}

/** What a meter knows about an answer at some moment. */
export interface MeterReading {
  /** The vendor's counts as far as they have come; undefined while there are none. */
  readonly usage: Usage | undefined
  /** True when `usage` holds the final counts of the whole answer. */
  readonly isFinal: boolean
  /** The vendor's counts contradicted themselves (negative, fractional, falling): do not believe them. */
  readonly isImplausible: boolean
  /** Some output has been seen: text, tool arguments, thinking, a refusal's text, a stop sequence met. */
  readonly hasOutput: boolean
  /** The answer is a refusal before any output, which vendors do not bill. */
  readonly isRefusal: boolean
  /** Goes on with the answer: asked later, it tells of what came since. */
  readonly output: SeenOutput
  /** Searches of the vendor's own tools whose results have come. */
  readonly webSearches: number
  /** The answering model as the vendor names it, where it says so. */
  readonly model: string | undefined
}

/** An error event inside a stream, or an error body, as far as it can be told. */
export interface VendorError {
  readonly type: string | undefined
  readonly code: string | undefined
  readonly message: string | undefined
  /** Nobody has read it: it may say anything. */
  readonly isUnread?: boolean
}

/**
 * Watches one streamed answer as its bytes pass and says which may go on at once. It never changes
 * a byte; it may drop one frame (the usage chunk a chat client did not ask for) and it keeps back
 * the terminal event until the relay has the charge durable.
 */
export interface StreamMeter {
  /**
   * Takes the next bytes and returns those that may go to the client now, in order (possibly the
   * same Buffer, possibly empty). Bytes of an unfinished frame are kept until it is complete, or
   * until it is too large to be one of those the meter must recognise whole.
   */
  push(chunk: Buffer): readonly Buffer[]
  /** Upstream has ended cleanly: takes an unterminated last frame into account and returns the rest. */
  end(): readonly Buffer[]
  /** An event that is neither ping nor error has been seen: the answer may be committed. */
  readonly hasStarted: boolean
  /**
   * The first error event seen, if any; a first event that cannot be read at all counts as one.
   * Once set, nothing after it is looked at or returned; what its blank line lacks has been returned.
   */
  readonly error: VendorError | undefined
  /** That event's data, where it is what the vendor's error answers have as their body. */
  readonly errorEnvelope: string | undefined
  /** The error event speaks of the operator's account and was kept back: another has to be told. */
  readonly isErrorWithheld: boolean
  /** The terminal event has been seen whole; `held` begins with it. */
  readonly isTerminated: boolean
  /**
   * Bytes kept back: the terminal event and everything behind it. Empty before. A frame behind the
   * terminal event joins once it is whole, or with `end`.
   */
  readonly held: readonly Buffer[]
  /** A frame or line passed the meter's bound: the answer cannot be metered and is broken. */
  readonly isOverflown: boolean
  reading(): MeterReading
}

/** A complete non-stream answer body. */
export type AnswerReading =
  { readonly kind: 'answer'; readonly reading: MeterReading } | { readonly kind: 'not_the_format' }

/**
 * The class of an upstream answer that is not a usable 2xx, or of an error event that came first.
 * docs/architecture.md has the table; `relay/verdict.ts` turns a class into what happens next.
 */
export type UpstreamFault =
  | 'client' // the request's own fault: passes through as it came, never a retry
  | 'throttle' // the channel is out of rate or capacity for now: rest it, try another
  | 'config' // the operator's credential, account or mapping: switch off, tell the operator
  | 'model_missing' // the channel does not know this model: unusable for this model
  | 'not_offered' // the vendor does not have this operation at all
  | 'lone_500' // worth one repeat on the same channel
  | 'conflict' // 408, 409: worth one repeat on the same channel, else the client's
  | 'hard' // anything else that went wrong upstream

export interface UpstreamAnswerHead {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export interface ErrorToShow {
  readonly code: ErrorCode
  readonly status: number
  readonly message: string
  readonly requestId: string
  readonly details?: ErrorDetails
}

/** A model as the list endpoints show it. */
export interface ListedModel {
  readonly id: string
  readonly createdAtMs: number
  readonly maxOutputTokens: number | undefined
  readonly vendor: string
}

export interface Format {
  readonly name: FormatName
  readonly routes: readonly FormatRoute[]
  /** The response header in which this format's clients look for a request id. */
  readonly requestIdHeader: 'request-id' | 'x-request-id'
  readRequest(body: Buffer, options: ReadRequestOptions): RequestFacts | RequestFault
  /**
   * The body as it goes to a channel: the same bytes, but for the declared amendments (usage chunk
   * asked for, model renamed). Returns `body` itself when nothing changes.
   */
  amend(body: Buffer, facts: RequestFacts, upstreamModel: string | undefined): Buffer
  openMeter(facts: RequestFacts): StreamMeter
  readAnswer(body: Buffer, facts: RequestFacts): AnswerReading
  /** Whether a body is what the operation that counts tokens answers, in a format that has one. */
  isTokenCount(body: Buffer): boolean
  /** Reads an error body; never throws. */
  readError(body: Buffer): VendorError
  /** Classifies an answer that is not 2xx. */
  classify(head: UpstreamAnswerHead, error: VendorError): UpstreamFault
  /** Classifies an error event that came before any other event. */
  classifyEvent(error: VendorError): { readonly fault: UpstreamFault; readonly status: number }
  /** An error event's envelope as the body of an answer that names the request by this id. */
  bodyOfEvent(envelope: Buffer, requestId: string): Buffer
  /** An error of ours as this format's error body. */
  errorBody(error: ErrorToShow): Buffer
  /** An error of ours inside a stream that has already begun; starts on a fresh frame boundary. */
  errorEvent(error: ErrorToShow): Buffer
  modelList(models: readonly ListedModel[]): Buffer
  modelItem(model: ListedModel): Buffer
  /**
   * A real, tiny request for an active check, in every spelling that models want it in: the next one is
   * for a vendor to whom the one before was a bad request.
   */
  checkBodies(model: string): readonly Buffer[]
}
