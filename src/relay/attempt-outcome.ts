/**
 * The outcomes of one attempt on one channel, and how a vendor's error becomes an outcome. Also the side of
 * a stream past its commit point that the stage of delivery uses. Pure.
 */
import type { Secret } from '../base/secret.ts'
import type { AnswerReading, MeterReading, StreamMeter, VendorError } from '../formats/answer.ts'
import type { BrokenClass } from '../channels/outcomes.ts'
import type { Format, RequestFacts, UpstreamFault, VendorOperation } from '../formats/format.ts'
import { showsSecret } from '../formats/headers.ts'
import { parseBody } from '../formats/json.ts'
import { namesVendorAccount, readVendorError, unreadError } from '../formats/vendor-error.ts'
import { readableBody } from '../http/client/content-encoding.ts'
import type { UpstreamHead } from '../http/client/upstream.ts'

/** Takes the rest of a committed stream. */
export interface StreamReceiver {
  /** Bytes the client may have now. Returning false pauses the vendor until `LiveStream.resume`. */
  onPieces(pieces: readonly Buffer[]): boolean
  /** The same for a part of bytes whose memory is used again afterwards. */
  onBytes(bytes: Buffer, start: number, end: number): boolean
  onEnd(): void
  /** The stream cannot go on: connection lost, bad framing, or more than can be metered. */
  onCut(): void
}

/** A stream past its commit point. */
export interface LiveStream {
  readonly meter: StreamMeter
  /** Passes on all events, those that have come included. Call once. */
  take(receiver: StreamReceiver): void
  resume(): void
  /** Ends the upstream request; the receiver is not called again. */
  abort(): void
}

/** A whole error body: as it came, and decoded where it came compressed. */
interface ErrorBody {
  readonly bytes: Buffer
  readonly readable: Buffer
}

export type AttemptOutcome =
  | {
      readonly kind: 'streaming'
      readonly class: 'answered'
      readonly head: UpstreamHead
      readonly stream: LiveStream
      readonly firstEventMs: number
    }
  | {
      readonly kind: 'whole'
      readonly class: 'answered'
      readonly head: UpstreamHead
      readonly body: readonly Buffer[]
      readonly reading: MeterReading
      readonly firstEventMs: number
    }
  | VendorErrorOutcome
  | {
      readonly kind: 'broken'
      readonly class: BrokenClass
      /** No byte of the request had left: sending it again cannot double anything. */
      readonly isUnsent: boolean
      /** A kept-alive connection died under the request before a byte of an answer. */
      readonly isStale: boolean
    }
  | { readonly kind: 'client_left'; readonly class: 'client_left' }

/** The vendor answered with an error status, or with an error as a stream's first event. */
export interface VendorErrorOutcome extends ReadError {
  readonly kind: 'vendor_error'
  readonly head: UpstreamHead
}

/** The facts read from a vendor's error. */
interface ReadError {
  readonly status: number
  /** An event's envelope is its body. Undefined where nothing can be shown. */
  readonly body: ErrorBody | undefined
  readonly error: VendorError
  readonly class: UpstreamFault
  /** It names the operator's account at the vendor. */
  readonly namesAccount: boolean
  /** It shows a secret of the channel. */
  readonly showsSecret: boolean
}

/** What a body that was collected says. */
export type CollectedReading =
  | Extract<AnswerReading, { kind: 'answer' | 'not_the_format' }>
  | ErrorReading

type ErrorReading = ReadError & { readonly kind: 'vendor_error' }

/** Whether it is an answer for the client, whole or begun. */
export function isAnswer({ class: name }: AttemptOutcome): boolean {
  return name === 'answered'
}

/** Returns the status of the vendor's answer; of an error event the one that it would have had. */
export function statusOf(outcome: AttemptOutcome): number | null {
  if (outcome.class === 'answered') return outcome.head.status
  return outcome.kind === 'vendor_error' ? outcome.status : null
}

export function isGood({ status }: UpstreamHead): boolean {
  return status >= 200 && status <= 299
}

/** The facts beside its bytes that an answer is read by. */
export interface AnswerContext {
  readonly head: UpstreamHead
  readonly format: Format
  readonly operation: VendorOperation
  readonly facts: RequestFacts
  /** The channel's secrets. */
  readonly secrets: readonly Secret[]
}

/** A whole answer can be an error, too. */
export function judgeAnswer(answer: AnswerReading, context: AnswerContext): CollectedReading {
  return answer.kind === 'error' ? readErrorEvent(answer, context) : answer
}

/** Reads an error answer. `bytes` is undefined where the body was too large to be kept. */
export function readErrorAnswer(
  bytes: Buffer | undefined,
  context: Omit<AnswerContext, 'facts'>,
): ErrorReading {
  const body = readErrorBody(context.head, bytes)
  const error = body === undefined ? unreadError : readVendorError(parseBody(body.readable))
  const shown = shownIn(textsOf(body, error), context)
  return judgeError({ body, error, ...shown }, context)
}

/** Classifies an error answer that has been read. */
export function judgeError(
  read: Omit<ReadError, 'class' | 'status'>,
  { head, operation }: Omit<AnswerContext, 'facts'>,
): ErrorReading {
  const { status } = head
  const answer = { status, retryAfter: head.header('retry-after') }
  return { kind: 'vendor_error', class: operation.classify(answer, read.error), status, ...read }
}

interface ReportedError {
  readonly error: VendorError
  /** The event's data, where that has the form of an error answer's body. */
  readonly errorEnvelope?: string | undefined
}

/** Reads an error that the vendor reports with status 200, as an event or as an answer. */
export function readErrorEvent(
  { error, errorEnvelope }: ReportedError,
  context: Pick<AnswerContext, 'head' | 'format' | 'secrets'>,
): ErrorReading {
  const { fault, status } = context.format.classifyEvent(error)
  const bytes = errorEnvelope === undefined ? undefined : Buffer.from(errorEnvelope)
  const body = readErrorBody(context.head, bytes)
  return {
    kind: 'vendor_error',
    class: fault,
    status,
    body,
    error,
    ...shownIn(textsOf(body, error), context),
  }
}

/** A body that the gateway cannot read is not shown either: it could name the operator's account. */
export function readErrorBody(
  head: UpstreamHead,
  bytes: Buffer | undefined,
): ErrorBody | undefined {
  if (bytes === undefined) return undefined
  const readable = readableBody(bytes, head.header('content-encoding'))
  return readable === undefined ? undefined : { bytes, readable }
}

function textsOf(body: ErrorBody | undefined, { message = '' }: VendorError): readonly string[] {
  return [message, body?.readable.toString('latin1') ?? '']
}

export function shownIn(
  texts: readonly string[],
  { secrets }: Pick<AnswerContext, 'secrets'>,
): { namesAccount: boolean; showsSecret: boolean } {
  return {
    namesAccount: texts.some(namesVendorAccount),
    showsSecret: texts.some((text) => showsSecret(text, secrets)),
  }
}
