/**
 * Shows the client what the attempts came to: everything but the last piece, which waits in
 * `finish` until the charge is durable. Resolves once it is known how the answer ended; it never
 * throws and never talks to the ledger.
 */
import type { Channel } from '../channels/channel.ts'
import type { UpstreamHead } from '../channels/upstream.ts'
import type { MeterReading } from '../formats/format.ts'
import {
  exchangeIdHeader,
  forwardResponseHeaders,
  limitRetryAfter,
  withContentType,
} from '../http/headers.ts'
import { sendReply, type Reply } from '../http/reply.ts'
import { errorCatalogue, refuse, type Refusal } from '../base/errors.ts'
import type { Ending, Ledger } from '../ledger/ledger.ts'
import type { Telemetry } from '../telemetry/events.ts'
import type { ClientLink } from './client-link.ts'
import { errorReply, errorToShow } from './error-reply.ts'
import type { Answered } from './answered.ts'
import { ownLimitHeaders } from './own-limits.ts'
import type { Admitted } from './stages.ts'
import { StreamDelivery, type StreamLimits } from './stream-delivery.ts'
import type { Watchdog } from '../base/watchdog.ts'

export interface DeliverParts {
  readonly ledger: Ledger
  readonly telemetry: Telemetry
  readonly watchdog: Watchdog
  readonly now: () => number
  readonly monotonic: () => number
  readonly limits: StreamLimits
}

/** All but the last piece is with the client. */
export interface Delivered {
  readonly ending: Ending
  /** HTTP status the client sees or would have seen. */
  readonly status: number
  readonly channel: Channel | undefined
  readonly reading: MeterReading | undefined
  readonly vendorRequestId: string | undefined
  /** Writes the last piece, or with `isDurable` false an honest error in its place. Call once. */
  finish(isDurable: boolean): void
}

export function deliver(
  admitted: Admitted,
  answered: Answered,
  client: ClientLink,
  parts: DeliverParts,
): Delivered | Promise<Delivered> {
  switch (answered.kind) {
    case 'streaming':
      return deliverStream(admitted, answered, client, parts)
    case 'whole':
      return deliverWhole(admitted, answered, client, parts)
    case 'passed_error':
      return deliverVendorError(admitted, answered, parts)
    case 'passed_event':
      return deliverVendorEvent(admitted, answered, parts)
    case 'own_error':
      return deliverOwnError(admitted, answered)
    case 'client_left':
      return { ...nothing, ending: 'client_left', status: 499, finish: () => undefined }
  }
}

const nothing = { channel: undefined, reading: undefined, vendorRequestId: undefined } as const

function deliverStream(
  admitted: Admitted,
  answered: Extract<Answered, { kind: 'streaming' }>,
  client: ClientLink,
  parts: DeliverParts,
): Promise<Delivered> {
  const { response, format, exchangeId } = admitted
  const { head, stream, channel } = answered
  parts.telemetry.milestone('first_event', exchangeId)
  return new Promise((resolve) => {
    const delivery = new StreamDelivery({
      response,
      client,
      stream,
      watchdog: parts.watchdog,
      monotonic: parts.monotonic,
      limits: parts.limits,
      deadlineMs: answered.deadlineMs,
      errorEvent(ending) {
        const isLate = parts.monotonic() >= answered.deadlineMs
        const requestId = shownRequestId(admitted, head)
        return format.errorEvent(errorToShow(reasonOf(ending, isLate), requestId))
      },
      onMore: () => parts.telemetry.milestone('mid_stream', exchangeId),
      onEnded(ending) {
        const { reading } = delivery
        if (reading.isFinal) parts.telemetry.milestone('usage_seen', exchangeId)
        resolve({
          ending,
          status: head.status,
          channel,
          reading,
          vendorRequestId: head.header(format.requestIdHeader),
          finish(isDurable) {
            delivery.release(isDurable)
            if (isDurable) parts.telemetry.milestone('answer_released', exchangeId)
          },
        })
      },
    })
    if (!client.isGone) {
      const headers = answerHeaders(admitted, head, parts)
      if (head.header('x-accel-buffering') === undefined) headers.push('x-accel-buffering', 'no')
      if (head.header('cache-control') === undefined)
        headers.push('cache-control', 'no-cache, no-transform')
      response.writeHead(head.status, headers)
    }
    delivery.start()
  })
}

function reasonOf(ending: Ending, isLate: boolean): Refusal {
  if (ending !== 'gateway_cut') return brokenStream
  return isLate ? lateStream : stoppedStream
}

const lateStream = refuse(
  'relay.upstream_timeout',
  'The answer took longer than one request may take. What came so far is not a whole answer.',
)

const stoppedStream = refuse(
  'relay.shutting_down',
  'This gateway had to stop before the answer was complete. What came so far is not a whole answer.',
)

const brokenStream = refuse(
  'relay.upstream_failed',
  'The answer broke off before it was complete. What came so far is not a whole answer.',
)

function deliverWhole(
  admitted: Admitted,
  answered: Extract<Answered, { kind: 'whole' }>,
  client: ClientLink,
  parts: DeliverParts,
): Delivered {
  const { head, body, channel, reading } = answered
  parts.telemetry.milestone('usage_seen', admitted.exchangeId)
  return {
    ending: client.isGone ? 'client_left' : 'completed',
    status: head.status,
    channel,
    reading,
    vendorRequestId: head.header(admitted.format.requestIdHeader),
    finish(isDurable) {
      if (isDurable) sendWhole(admitted, head, body, parts)
      else sendReply(admitted.request, admitted.response, unbookedReply(admitted))
    },
  }
}

/** The ledger could not book the charge; the answer that exists must not be given away. */
function unbookedReply(admitted: Admitted): ReturnType<typeof errorReply> {
  const refusal = refuse(
    'ledger.unavailable',
    'The gateway could not book this request, so its answer is withheld. Try again shortly.',
    { 'retry-after': '5' },
  )
  return errorReply(admitted.format, refusal, admitted.exchangeId)
}

function deliverVendorError(
  admitted: Admitted,
  answered: Extract<Answered, { kind: 'passed_error' }>,
  parts: DeliverParts,
): Delivered {
  const { head, body, channel, isClientFault } = answered
  return {
    ...nothing,
    ending: isClientFault ? 'refused' : 'failed',
    status: head.status,
    channel,
    vendorRequestId: head.header(admitted.format.requestIdHeader),
    finish() {
      const headers = answerHeaders(admitted, head, parts)
      const shown = isClientFault ? headers : limitWait(headers, parts)
      sendBody(admitted, { status: head.status, headers: shown, body }, parts)
    },
  }
}

function deliverVendorEvent(
  admitted: Admitted,
  answered: Extract<Answered, { kind: 'passed_event' }>,
  parts: DeliverParts,
): Delivered {
  const { head, status, envelope, channel } = answered
  const { format } = admitted
  return {
    ...nothing,
    ending: 'refused',
    status,
    channel,
    vendorRequestId: head.header(format.requestIdHeader),
    finish() {
      const headers = withContentType(answerHeaders(admitted, head, parts), 'application/json')
      const body = format.bodyOfEvent(envelope, shownRequestId(admitted, head))
      sendBody(admitted, { status, headers, body }, parts)
    },
  }
}

function deliverOwnError(
  admitted: Admitted,
  answered: Extract<Answered, { kind: 'own_error' }>,
): Delivered {
  const { refusal } = answered
  return {
    ...nothing,
    ending: 'failed',
    status: errorCatalogue[refusal.code].status,
    finish: () =>
      sendReply(
        admitted.request,
        admitted.response,
        errorReply(admitted.format, refusal, admitted.exchangeId),
      ),
  }
}

function sendWhole(
  admitted: Admitted,
  head: UpstreamHead,
  body: Buffer,
  parts: DeliverParts,
): void {
  sendBody(
    admitted,
    { status: head.status, headers: answerHeaders(admitted, head, parts), body },
    parts,
  )
}

function sendBody(admitted: Admitted, reply: Reply, parts: DeliverParts): void {
  sendReply(admitted.request, admitted.response, reply)
  parts.telemetry.milestone('answer_released', admitted.exchangeId)
}

/** The longest a client is told to wait for a vendor that wants no more requests. */
const retryAfterSecondsMax = 60

function limitWait(headers: readonly string[], parts: DeliverParts): string[] {
  return limitRetryAfter(headers, { secondsMax: retryAfterSecondsMax, nowMs: parts.now() })
}

/** The vendor's end-to-end headers, our ids, and the account's own limits. */
function answerHeaders(admitted: Admitted, head: UpstreamHead, parts: DeliverParts): string[] {
  const { format, exchangeId } = admitted
  const headers = forwardResponseHeaders(head.rawHeaders)
  headers.push(exchangeIdHeader, exchangeId)
  if (head.header(format.requestIdHeader) === undefined)
    headers.push(format.requestIdHeader, exchangeId)
  const limits = ownLimitHeaders(admitted, parts.ledger, parts.now())
  for (const [name, value] of Object.entries(limits)) headers.push(name, value)
  return headers
}

/** What the answer's header in this format's own name says: the vendor's id, or ours without one. */
function shownRequestId({ format, exchangeId }: Admitted, head: UpstreamHead): string {
  return head.header(format.requestIdHeader) ?? exchangeId
}
