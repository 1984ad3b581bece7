/**
 * What the two stream programs share: the bytes of one event, and the clock in it. Both run on one
 * machine, so the monotonic clock is the same for both and an event can carry its time of writing.
 */
import { models, streamStartCounts } from '../exchanges.ts'

/** Digits of the time in each event; fixed, so that all events have one length. */
export const stampDigits = 16

/** Microseconds of the monotonic clock, which all processes of a machine share. */
export function monotonicUs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000_000 + nanoseconds / 1_000
}

const eventHead =
  'event: content_block_delta\n' +
  'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"'
const eventTail = '"}}\n\n'
const eventBytes = eventHead.length + stampDigits + eventTail.length

const framedHead = eventBytes.toString(16) + '\r\n' + eventHead
const framedTail = eventTail + '\r\n'

/** One event of about 120 bytes in a chunk of its own, stamped with the time. */
export function stampedEvent(): string {
  const stamp = Math.floor(monotonicUs()).toString().padStart(stampDigits, '0')
  return framedHead + stamp + framedTail
}

/** The time an event was written, or undefined where the frame is no stamped event. */
export function readStamp(frame: string): number | undefined {
  if (!frame.startsWith(eventHead)) return undefined
  return Number(frame.slice(eventHead.length, eventHead.length + stampDigits))
}

export const lastEventName = 'event: message_stop'

function frame(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`
}

function chunk(text: string): string {
  return text.length.toString(16) + '\r\n' + text + '\r\n'
}

/** Head and first events of an answer. */
export const streamOpening =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n' +
  'cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n' +
  chunk(
    frame('message_start', {
      message: {
        id: 'msg_0000000000000000',
        type: 'message',
        role: 'assistant',
        model: models.stream,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: streamStartCounts.input,
          output_tokens: streamStartCounts.output,
        },
      },
    }) + frame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  )

/** Last events of an answer, and its end. */
export function streamClosing(outputTokens: number): string {
  return (
    chunk(
      frame('content_block_stop', { index: 0 }) +
        frame('message_delta', {
          delta: { stop_reason: 'end_turn', stop_sequence: null },
          usage: { output_tokens: outputTokens },
        }) +
        frame('message_stop', {}),
    ) + '0\r\n\r\n'
  )
}
