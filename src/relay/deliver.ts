/**
 * Sends the client the result of the attempts: everything but the last piece, which waits in `finish`
 * until the charge is durable. A stream's delivery resolves once the ending is known, and never rejects.
 * Nothing here calls the ledger to settle.
 */
import { refuse, type ErrorCode, type Refusal } from '../base/errors.ts'
import { formatUsd, type Picos } from '../base/money.ts'
import type { Channel } from '../channels/channel.ts'
import { idleLimitOf } from '../channels/silence.ts'
import type { MeterReading, VendorError } from '../formats/answer.ts'
import { forwardResponseHeaders, withContentType } from '../formats/headers.ts'
import { restMsOf } from '../channels/health/out-of-use.ts'
import { limitRetryAfter, readRetryAfterMs } from '../formats/rate-headers.ts'
import { reasonOf, type VendorReason } from '../formats/vendor-reason.ts'
import type { UpstreamHead } from '../http/client/upstream.ts'
import { exchangeIdHeader, sendReply, type VendorReply } from '../http/server/reply.ts'
import type { HeadLines } from '../http/wire/head-lines.ts'
import type { Ending } from '../metering/settlement.ts'
import type { Answered } from './answered.ts'
import type { ClientLink } from './client-link.ts'
import { KeepAlive } from './keep-alive.ts'
import { findLabelFault, labelIgnoredHeader } from './label.ts'
import { outputTokensMax } from './output-limits.ts'
import { accountLimitHeaders, errorReply, errorToShow, statusOf } from './own-replies.ts'
import type { Admitted, RelayServices } from './stages.ts'
import { StreamDelivery } from './stream-delivery.ts'

type DeliverServices = Pick<
  RelayServices,
  'clock' | 'ledger' | 'watchdog' | 'settings' | 'onTracePoint'
>

/** All but the last piece is with the client. */
export interface Delivered {
  readonly ending: Ending
  /** HTTP status that the client sees, or would have seen. */
  readonly status: number
  readonly channel: Channel | undefined
  readonly reading: MeterReading | undefined
  /** The client left before the first byte. */
  readonly isUnseen: boolean
  readonly vendorRequestId: string | undefined
  /** The vendor's reason for ending its stream with an error; absent where it gave none that is kept. */
  readonly reason?: VendorReason | undefined
  /** The code of the gateway's own error, where the client gets one. */
  readonly code: ErrorCode | undefined
  /** Writes the last piece; with `isDurable` false an error in its place. Call once. */
  finish(settled: Settled): void
}

/** The result of settling. */
export interface Settled {
  readonly isDurable: boolean
  readonly chargedPicos: Picos
}

/** The exact cost of an answer in USD. A stream's head is written before its cost is known. */
const costHeader = 'x-turnpike-cost-usd'

export function deliver(
  admitted: Admitted,
  answered: Answered,
  client: ClientLink,
  services: DeliverServices,
): Promise<Delivered> | Delivered {
  switch (answered.kind) {
    case 'streaming':
      return deliverStream(admitted, answered, client, services)
    case 'whole':
      return deliverWhole(admitted, answered, client, services)
    case 'passed_error':
      return deliverVendorError(admitted, answered, services)
    case 'own_error':
      return deliverOwnError(admitted, answered.refusal)
    case 'client_left':
      return leftUnanswered(answered.channel)
  }
}

const nothing = {
  channel: undefined,
  reading: undefined,
  isUnseen: false,
  vendorRequestId: undefined,
  code: undefined,
} as const

/** Nothing had come when the client left. */
const noReading: MeterReading = {
  usage: undefined,
  isFinal: false,
  isImplausible: false,
  hasOutput: false,
  isRefusal: false,
  output: { text: '', bytes: 0, audioBytes: 0 },
  webSearches: 0,
  model: undefined,
}

/** The vendor may have read the prompt. */
function leftUnanswered(channel: Channel | undefined): Delivered {
  return {
    ...nothing,
    ending: 'client_left',
    status: 499,
    channel,
    reading: channel && noReading,
    isUnseen: true,
    finish: () => undefined,
  }
}

function deliverStream(
  admitted: Admitted,
  answered: Extract<Answered, { kind: 'streaming' }>,
  client: ClientLink,
  services: DeliverServices,
): Promise<Delivered> {
  const { response, format, operation, exchangeId, model } = admitted
  const { head, stream, deadlineMs, lease } = answered
  const vendorRequestId = head.header(format.requestIdHeader)
  const { clock, watchdog, settings, onTracePoint } = services
  onTracePoint?.('first_event', exchangeId)
  const isOwnHead = response.isHeadWritten
  const isLate = (): boolean => clock.monotonic() >= deadlineMs
  const codeOfEnd = (ending: Ending): ErrorCode | undefined => {
    const isBroken = ending === 'upstream_cut' || ending === 'gateway_cut'
    const { error, isErrorWithheld } = stream.meter
    const isOurs = isBroken && (error === undefined || isErrorWithheld)
    return isOurs ? refusalOfEnd(ending, isLate()).code : undefined
  }
  return new Promise((resolve) => {
    const delivery = new StreamDelivery(
      {
        response,
        client,
        stream,
        deadlineMs,
        pingTimeoutMs: model.pingTimeoutMs ?? settings.pingTimeoutMs,
        idleTimeoutMs: idleLimitOf(lease.channel, model, settings),
        answerTokensMax: outputTokensMax(admitted) * admitted.facts.choiceCount,
        errorEvent(ending) {
          const shownId = isOwnHead ? undefined : vendorRequestId
          const shape = { format, exchangeId, vendorRequestId: shownId }
          const error = errorToShow(refusalOfEnd(ending, isLate()), shape)
          return operation.errorEvent(error, stream.meter.eventCount)
        },
        onMore: () => onTracePoint?.('mid_stream', exchangeId),
        onEnded(ending, reading) {
          if (reading.isFinal) onTracePoint?.('usage_seen', exchangeId)
          const { error } = stream.meter
          resolve({
            ending,
            status: head.status,
            channel: lease.channel,
            reading,
            isUnseen: client.isUnseen,
            vendorRequestId,
            reason: error && reasonOf(error),
            code: codeOfEnd(ending),
            finish({ isDurable }) {
              delivery.release(isDurable)
              if (isDurable) onTracePoint?.('answer_released', exchangeId)
            },
          })
        },
      },
      { clock, watchdog, settings },
    )
    if (!client.isGone) beginStream(admitted, head, services)
    delivery.start()
  })
}

/** Writes the vendor's head, unless the gateway has answered already. */
function beginStream(admitted: Admitted, head: UpstreamHead, services: DeliverServices): void {
  const { response } = admitted
  if (response.isHeadWritten) return
  const headers = streamHeaders(head, answerHeaders(admitted, head, services))
  response.writeHead(head.status, headers)
}

/** Adds the headers that keep proxies from collecting or caching a stream. */
function streamHeaders(head: UpstreamHead, headers: HeadLines): HeadLines {
  if (head.header('x-accel-buffering') === undefined) headers.add('x-accel-buffering', 'no')
  if (head.header('cache-control') === undefined)
    headers.add('cache-control', 'no-cache, no-transform')
  return headers
}

/** Breaks the silence of a stream towards its client, where the operator wants that. */
export function keepAliveOf(
  admitted: Admitted,
  client: ClientLink,
  services: DeliverServices,
): KeepAlive | undefined {
  const { facts, format, response } = admitted
  const { streamKeepaliveMs: everyMs } = services.settings
  if (everyMs === undefined || !facts.isStream || client.isGone) return undefined
  const headers = (): string[] => [...ownStreamHeaders, ...ownHeaders(admitted, services)]
  return new KeepAlive({ response, everyMs, headers, ping: format.ping }, services)
}

const ownStreamHeaders = Object.entries({
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no',
  'cache-control': 'no-cache, no-transform',
}).flat()

function refusalOfEnd(ending: Ending, isLate: boolean): Refusal {
  if (ending !== 'gateway_cut') return brokenStream
  return isLate ? lateStream : stoppedStream
}

const lateStream = refuse(
  'relay.upstream_timeout',
  'The answer took longer than one request may take. It is incomplete.',
)

const stoppedStream = refuse(
  'relay.shutting_down',
  'This gateway stopped before the answer was complete. Try again.',
)

const brokenStream = refuse('relay.upstream_failed', 'The answer broke off before it was complete.')

function deliverWhole(
  admitted: Admitted,
  answered: Extract<Answered, { kind: 'whole' }>,
  client: ClientLink,
  services: DeliverServices,
): Delivered {
  const { head, body, channel, reading } = answered
  services.onTracePoint?.('usage_seen', admitted.exchangeId)
  return {
    ending: client.isGone ? 'client_left' : 'completed',
    status: head.status,
    channel,
    reading,
    isUnseen: client.isUnseen,
    vendorRequestId: head.header(admitted.format.requestIdHeader),
    code: undefined,
    finish({ isDurable, chargedPicos }) {
      if (isDurable) {
        const headers = answerHeaders(admitted, head, services)
        headers.add(costHeader, formatUsd(chargedPicos))
        send(admitted, { status: head.status, headers, body }, services)
      } else {
        sendReply(admitted.request, admitted.response, errorReply(admitted, unstoredCharge))
      }
    },
  }
}

/** The answer exists, but without a charge it must not be given away. */
const unstoredCharge = refuse(
  'ledger.unavailable',
  'The gateway could not record the charge, so it withholds the answer. Try again shortly.',
  { 'retry-after': '5' },
)

function deliverVendorError(
  admitted: Admitted,
  answered: Extract<Answered, { kind: 'passed_error' }>,
  services: DeliverServices,
): Delivered {
  const { head, status, error, body, channel, isClientFault, isEvent } = answered
  const { format, exchangeId } = admitted
  const vendorRequestId = head.header(format.requestIdHeader)
  return {
    ...nothing,
    ending: isClientFault ? 'refused' : 'failed',
    status,
    channel,
    vendorRequestId,
    finish() {
      if (admitted.response.isHeadWritten) {
        breakOffWith(admitted, refusalOf(status, error))
        return
      }
      const headers = answerHeaders(admitted, head, services)
      const reply = isEvent
        ? {
            status,
            headers: withContentType(headers, 'application/json'),
            body: format.bodyOfEvent(body, vendorRequestId ?? exchangeId),
          }
        : { status, headers: isClientFault ? headers : limitWait(headers, head, services), body }
      send(admitted, reply, services)
    },
  }
}

function deliverOwnError(admitted: Admitted, refusal: Refusal): Delivered {
  return {
    ...nothing,
    ending: 'failed',
    status: statusOf(refusal.code, admitted.format),
    code: refusal.code,
    finish() {
      if (admitted.response.isHeadWritten) breakOffWith(admitted, refusal)
      else sendReply(admitted.request, admitted.response, errorReply(admitted, refusal))
    },
  }
}

/** Tells an error to a client that has been answered 200 already, to keep its connection alive. */
function breakOffWith(
  { response, operation, format, exchangeId }: Admitted,
  refusal: Refusal,
): void {
  response.write([operation.errorEvent(errorToShow(refusal, { format, exchangeId }), 0)])
  response.breakOff()
}

/** A vendor's error that can no longer be shown as it came. */
function refusalOf(status: number, { message }: VendorError): Refusal {
  if (status === 429) return refuse('relay.upstream_throttled', message ?? 'The vendor is busy.')
  if (status < 500) return refuse('relay.request_invalid', message ?? 'The vendor refused it.')
  const code = status === 503 || status === 529 ? 'relay.overloaded' : 'relay.upstream_failed'
  return refuse(code, message ?? 'The vendor failed.')
}

function send(admitted: Admitted, reply: VendorReply, { onTracePoint }: DeliverServices): void {
  sendReply(admitted.request, admitted.response, reply)
  onTracePoint?.('answer_released', admitted.exchangeId)
}

function limitWait(headers: HeadLines, head: UpstreamHead, { clock }: DeliverServices): HeadLines {
  const nowMs = clock.now()
  return limitRetryAfter(headers, { restMs: restMsOf(readRetryAfterMs(head, nowMs)), nowMs })
}

/** The vendor's end-to-end headers, and ours. */
function answerHeaders(
  admitted: Admitted,
  head: UpstreamHead,
  services: DeliverServices,
): HeadLines {
  const vendorId = head.header(admitted.format.requestIdHeader)
  return forwardResponseHeaders(head.fields).addAll(ownHeaders(admitted, services, vendorId))
}

/** Our ids, the account's own limits, and what became of a bad label. */
function ownHeaders(
  admitted: Admitted,
  { clock, ledger }: DeliverServices,
  vendorId?: string,
): string[] {
  const { format, exchangeId } = admitted
  const headers = [exchangeIdHeader, exchangeId]
  if (vendorId === undefined) headers.push(format.requestIdHeader, exchangeId)
  const labelFault = findLabelFault(admitted.request.fields)
  if (labelFault !== undefined) headers.push(labelIgnoredHeader, labelFault)
  const limits = accountLimitHeaders(admitted, ledger, clock.now())
  for (const [name, value] of Object.entries(limits)) headers.push(name, value)
  return headers
}
