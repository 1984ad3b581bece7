/**
 * Shows the client what the attempts came to: everything but the last piece, which waits in `finish`
 * until the charge is durable. A stream's delivery resolves once the ending is known, and never rejects.
 * Nothing here calls the ledger to settle.
 */
import { minuteMs } from '../base/clock.ts'
import { refuse, type ErrorCode, type Refusal } from '../base/errors.ts'
import { formatUsd, type Picos } from '../base/money.ts'
import type { Channel, Model } from '../channels/channel.ts'
import type { MeterReading } from '../formats/answer.ts'
import { forwardResponseHeaders, withContentType } from '../formats/headers.ts'
import { restMsOf } from '../channels/health/out-of-use.ts'
import { limitRetryAfter, readRetryAfterMs } from '../formats/rate-headers.ts'
import type { UpstreamHead } from '../http/client/upstream.ts'
import { exchangeIdHeader, sendReply, type Reply } from '../http/server/reply.ts'
import type { Ending } from '../metering/settlement.ts'
import type { Answered } from './answered.ts'
import type { ClientLink } from './client-link.ts'
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
  /** Of the gateway's own error, where the client gets one. */
  readonly code: ErrorCode | undefined
  /** Writes the last piece; with `isDurable` false an error in its place. Call once. */
  finish(settled: Settled): void
}

/** What settling came to. */
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
  const { response, format, operation, exchangeId } = admitted
  const { head, stream, deadlineMs, lease } = answered
  const vendorRequestId = head.header(format.requestIdHeader)
  const { clock, watchdog, onTracePoint } = services
  onTracePoint?.('first_event', exchangeId)
  const isLate = (): boolean => clock.monotonic() >= deadlineMs
  const codeOfEnd = (ending: Ending): ErrorCode | undefined => {
    const isBroken = ending === 'upstream_cut' || ending === 'gateway_cut'
    const { error, isErrorWithheld } = stream.meter
    return isBroken && (error === undefined || isErrorWithheld)
      ? reasonOf(ending, isLate()).code
      : undefined
  }
  return new Promise((resolve) => {
    const delivery = new StreamDelivery(
      {
        response,
        client,
        stream,
        deadlineMs,
        pingTimeoutMs: admitted.model.pingTimeoutMs ?? services.settings.pingTimeoutMs,
        answerTokensMax: outputTokensMax(admitted) * admitted.facts.choiceCount,
        errorEvent(ending) {
          const error = errorToShow(reasonOf(ending, isLate()), {
            format,
            exchangeId,
            vendorRequestId,
          })
          return operation.errorEvent(error, stream.meter.eventCount)
        },
        onMore: () => onTracePoint?.('mid_stream', exchangeId),
        onEnded(ending, reading) {
          if (reading.isFinal) onTracePoint?.('usage_seen', exchangeId)
          resolve({
            ending,
            status: head.status,
            channel: lease.channel,
            reading,
            isUnseen: client.isUnseen,
            vendorRequestId,
            code: codeOfEnd(ending),
            finish({ isDurable }) {
              delivery.release(isDurable)
              if (isDurable) onTracePoint?.('answer_released', exchangeId)
            },
          })
        },
      },
      {
        clock,
        watchdog,
        settings: streamSettings(lease.channel, admitted.model, services.settings),
      },
    )
    if (!client.isGone)
      response.writeHead(head.status, streamHeaders(head, answerHeaders(admitted, head, services)))
    delivery.start()
  })
}

/** How long a model that thinks may be silent, at least. */
const thinkingIdleMs = 10 * minuteMs

/** Returns the limits of a stream: between two of its events its channel decides, else the model. */
function streamSettings(
  { idleTimeoutMs }: Channel,
  { thinks }: Model,
  settings: RelayServices['settings'],
): RelayServices['settings'] {
  if (idleTimeoutMs !== undefined) return { ...settings, idleTimeoutMs }
  if (thinks !== true) return settings
  return { ...settings, idleTimeoutMs: Math.max(settings.idleTimeoutMs, thinkingIdleMs) }
}

/** Adds what keeps proxies from collecting or caching a stream. */
function streamHeaders(head: UpstreamHead, headers: string[]): string[] {
  if (head.header('x-accel-buffering') === undefined) headers.push('x-accel-buffering', 'no')
  if (head.header('cache-control') === undefined)
    headers.push('cache-control', 'no-cache, no-transform')
  return headers
}

function reasonOf(ending: Ending, isLate: boolean): Refusal {
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
        headers.push(costHeader, formatUsd(chargedPicos))
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
  const { head, status, body, channel, isClientFault, isEvent } = answered
  const { format, exchangeId } = admitted
  const vendorRequestId = head.header(format.requestIdHeader)
  return {
    ...nothing,
    ending: isClientFault ? 'refused' : 'failed',
    status,
    channel,
    vendorRequestId,
    finish() {
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
    finish: () => sendReply(admitted.request, admitted.response, errorReply(admitted, refusal)),
  }
}

function send(admitted: Admitted, reply: Reply, { onTracePoint }: DeliverServices): void {
  sendReply(admitted.request, admitted.response, reply)
  onTracePoint?.('answer_released', admitted.exchangeId)
}

function limitWait(
  headers: readonly string[],
  head: UpstreamHead,
  { clock }: DeliverServices,
): string[] {
  const nowMs = clock.now()
  return limitRetryAfter(headers, { restMs: restMsOf(readRetryAfterMs(head, nowMs)), nowMs })
}

/** The vendor's end-to-end headers, our ids, and the account's own limits. */
function answerHeaders(
  admitted: Admitted,
  head: UpstreamHead,
  { clock, ledger }: DeliverServices,
): string[] {
  const { format, exchangeId } = admitted
  const headers = forwardResponseHeaders(head.rawHeaders)
  headers.push(exchangeIdHeader, exchangeId)
  if (head.header(format.requestIdHeader) === undefined)
    headers.push(format.requestIdHeader, exchangeId)
  const limits = accountLimitHeaders(admitted, ledger, clock.now())
  for (const [name, value] of Object.entries(limits)) headers.push(name, value)
  return headers
}
