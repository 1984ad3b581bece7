/**
 * Sends one probe to a channel: a real, tiny model request (streamed or not) or a cheap listing call, and
 * judges the answer by the same classes as traffic. It knows no health and books no money.
 */
import type { Clock } from '../../base/clock.ts'
import { formatOf } from '../../formats/registry.ts'
import type { StreamMeter } from '../../formats/answer.ts'
import type { Format, ForwardedOperation, UpstreamFault } from '../../formats/format.ts'
import { parseBody } from '../../formats/json.ts'
import { readListing, type ModelListing } from '../../formats/model-listing.ts'
import { readVendorError, unreadError } from '../../formats/vendor-error.ts'
import { reasonOf, type VendorReason } from '../../formats/vendor-reason.ts'
import { readableBody } from '../../http/client/content-encoding.ts'
import { sendDecoding } from '../../http/client/decoded-answer.ts'
import type { Usage } from '../../metering/usage.ts'
import type { Channel, Vendor } from '../channel.ts'
import { classOfFailure, outcomes, type BrokenClass } from '../outcomes.ts'
import { formatOfPlace, modelOfPlace } from '../places.ts'
import { reachOf } from '../reach.ts'
import type { Form, Outcome } from '../health/health-event.ts'
import { readRetryAfterMs } from '../../formats/rate-headers.ts'
import {
  isStaleConnection,
  type Upstream,
  type UpstreamHead,
  type UpstreamReceiver,
  type UpstreamRequest,
} from '../../http/client/upstream.ts'
import { fieldsOf } from '../../http/wire/fields.ts'
import { copyOf } from '../../http/wire/framing.ts'

export interface CheckRequest {
  readonly vendor: Vendor
  readonly channel: Channel
  /** The place of a model that the channel serves. */
  readonly model: string
  /** What a real request asks for. */
  readonly operation: ForwardedOperation
  /** What to send: the channel's own setting, unless an operator requests a real request. */
  readonly by: 'request' | 'models'
  /** Whether the answer of a real request is streamed. */
  readonly form?: Form
  /** Set where the listing is to be read, as whole as one answer has it. */
  readonly readsListing?: boolean
  readonly timeoutMs: number
}

export interface CheckResult {
  readonly outcome: Outcome
  readonly durationMs: number
  /** HTTP status, or undefined where no answer came. */
  readonly status: number | undefined
  /** Why no answer came, where the connection failed. */
  readonly failure?: BrokenClass
  /** The wait that the vendor requested with a throttle. */
  readonly retryAfterMs?: number | undefined
  /** The vendor's own counts for a real request. */
  readonly usage?: Usage | undefined
  /** The model that answered a real request, as the vendor names it. */
  readonly model?: string | undefined
  /** What the vendor has said of its refusal. */
  readonly reason?: VendorReason | undefined
  readonly listing?: ModelListing | undefined
}

const answerBytesMax = 1_048_576
/** Aggregators list hundreds of models, each with its prices and limits. */
const listingBytesMax = 8_388_608

interface CheckParts {
  readonly upstream: Upstream
  readonly clock: Clock
}

export async function checkChannel(request: CheckRequest, parts: CheckParts): Promise<CheckResult> {
  const startedMs = parts.clock.monotonic()
  let answer: ProbeAnswer = { outcome: 'hard', status: undefined }
  for (const body of bodiesOf(request)) {
    answer = await sendWithRetry(request, body, parts)
    if (answer.outcome !== 'client') break
  }
  return { ...answer, durationMs: parts.clock.monotonic() - startedMs }
}

function bodiesOf(request: CheckRequest): readonly (Buffer | undefined)[] {
  const { operation, channel, model, by, form } = request
  if (by === 'models') return [undefined]
  const upstreamModel = channel.models.get(model) ?? modelOfPlace(model)
  return operation.checkBodies?.(upstreamModel, form === 'stream', channel.streamUsage) ?? []
}

/** Repeats a probe whose connection had gone stale, as traffic does; that is no fault of the channel. */
async function sendWithRetry(
  request: CheckRequest,
  body: Buffer | undefined,
  parts: CheckParts,
): Promise<ProbeAnswer> {
  const first = await sendOnce(request, body, parts)
  const last = first === 'stale_connection' ? await sendOnce(request, body, parts) : first
  return last === 'stale_connection' ? { outcome: 'hard', status: undefined } : last
}

type ProbeAnswer = Omit<CheckResult, 'durationMs'>
type Sent = ProbeAnswer | 'stale_connection'

function sendOnce(
  request: CheckRequest,
  body: Buffer | undefined,
  { upstream, clock }: CheckParts,
): Promise<Sent> {
  const sent = upstreamRequest(request, body)
  const sentMs = clock.monotonic()
  const bytesMax = request.readsListing === true ? listingBytesMax : answerBytesMax
  return new Promise((resolve) => {
    let head: UpstreamHead | undefined
    const chunks: Buffer[] = []
    let bytes = 0
    const finish = (judged: Judged | 'stale_connection'): void => {
      timer.cancel()
      if (judged === 'stale_connection') resolve(judged)
      else resolve({ ...judged, status: head?.status })
    }
    const timer = clock.after(request.timeoutMs, () => {
      call.abort()
      finish({ outcome: 'hard' })
    })
    const receiver: UpstreamReceiver = {
      onHead(received) {
        head = received
      },
      onBytes(received, start, end) {
        bytes += end - start
        if (bytes <= bytesMax) chunks.push(copyOf(received, start, end))
        return true
      },
      onEnd() {
        const answer = { head, body: Buffer.concat(chunks) }
        finish(judgeCheck(request, sent.body, answer, clock.now()))
      },
      onFailure(failure) {
        const waitedMs = clock.monotonic() - sentMs
        if (isStaleConnection(failure, { hasHead: head !== undefined, waitedMs }))
          finish('stale_connection')
        else {
          const name = classOfFailure(failure.kind)
          finish({ outcome: outcomes[name].health, failure: name })
        }
      },
    }
    const bounds = { receiver, bytesMax }
    const call = sendDecoding(upstream, request.channel, sent, bounds)
  })
}

function upstreamRequest(
  { vendor, channel, model, operation, readsListing }: CheckRequest,
  body: Buffer | undefined,
): Omit<UpstreamRequest, 'body'> & { readonly body: Buffer | undefined } {
  const fields = fieldsOf(['user-agent', 'turnpike-check', 'content-type', 'application/json'])
  const path = body === undefined ? '/v1/models' : operation.path
  const format = formatOfPlace(model, vendor.format)
  const query = readsListing === true ? formatOf(format).listingQuery : ''
  const reach = reachOf(channel, vendor, { fields, path, query, format })
  return { method: body === undefined ? 'GET' : 'POST', ...reach, body }
}

interface CheckAnswer {
  readonly head: UpstreamHead | undefined
  readonly body: Buffer
}

type Judged = Omit<CheckResult, 'status' | 'durationMs'>

/** Only an answer of the format passes: a page with status 200 proves nothing. */
function judgeCheck(
  { vendor, model, operation, readsListing }: CheckRequest,
  sent: Buffer | undefined,
  answer: CheckAnswer,
  nowMs: number,
): Judged {
  const { head, body } = answer
  const format = formatOf(formatOfPlace(model, vendor.format))
  if (head === undefined) return { outcome: 'hard' }
  if (head.status >= 200 && head.status < 300) {
    const contentType = (head.header('content-type') ?? '').toLowerCase()
    return sent === undefined
      ? judgeListing(body, readsListing === true)
      : judgeAnswer(format, operation, {
          sent,
          contentType,
          body,
          isEndAnnounced: head.isEndAnnounced,
        })
  }
  const readable = readableBody(body, head.header('content-encoding'))
  const error = readable === undefined ? unreadError : readVendorError(parseBody(readable))
  const fault = operation.classify(
    { status: head.status, retryAfter: head.header('retry-after') },
    error,
  )
  const retryAfterMs = readRetryAfterMs(head, nowMs)
  return { outcome: outcomeOf(fault), retryAfterMs, reason: reasonOf(error) }
}

/** A listing is any JSON: servers differ in how they list. One that is to be read has ids of models. */
function judgeListing(body: Buffer, isRead: boolean): Judged {
  const parsed = parseBody(body)
  if (parsed === undefined) return { outcome: 'hard' }
  const listing = isRead ? readListing(parsed) : undefined
  return { outcome: isRead && listing === undefined ? 'hard' : 'ok', listing }
}

function judgeAnswer(
  format: Format,
  operation: ForwardedOperation,
  answer: StreamBody & { readonly sent: Buffer; readonly contentType: string },
): Judged {
  const { sent, contentType, body } = answer
  const facts = operation.readRequest(sent, { requireMaxTokens: true })
  if ('kind' in facts) return { outcome: 'hard' }
  const type = facts.isStream ? 'text/event-stream' : 'json'
  if (contentType !== '' && !contentType.includes(type)) return { outcome: 'hard' }
  if (facts.isStream) return judgeStream(format, operation.openMeter(facts), answer)
  const read = operation.readAnswer(parseBody(body), facts)
  if (read.kind === 'error') return { outcome: outcomeOf(format.classifyEvent(read.error).fault) }
  if (read.kind !== 'answer') return { outcome: 'hard' }
  return { outcome: 'ok', usage: read.reading.usage, model: read.reading.model }
}

interface StreamBody {
  readonly body: Buffer
  readonly isEndAnnounced: boolean
}

/** A stream passes when it is complete. */
function judgeStream(format: Format, meter: StreamMeter, answer: StreamBody): Judged {
  meter.push(answer.body)
  meter.end(answer.isEndAnnounced)
  const { error } = meter
  if (error !== undefined) return { outcome: outcomeOf(format.classifyEvent(error).fault) }
  if (meter.isTerminated) return { outcome: 'ok', usage: meter.reading().usage }
  return { outcome: meter.hasStarted ? 'broken' : 'hard' }
}

/** A channel that does not offer what probes ask for has the wrong address, or needs another check. */
function outcomeOf(fault: UpstreamFault): Outcome {
  return fault === 'not_offered' ? 'config' : outcomes[fault].health
}
