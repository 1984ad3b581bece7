/**
 * What the two stream programs share: the bytes of one event, the clock in it, and the reader of a streamed
 * answer. Both programs run on one machine, so they share the monotonic clock, and an event can contain
 * the time at which it was written.
 */
import { models, streamStartCounts } from '../exchanges.ts'

/** Digits of the time in each event; a fixed number gives all events one length. */
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

/** Returns one event of about 120 bytes in its own chunk, with the current time. */
export function stampedEvent(): string {
  const stamp = Math.floor(monotonicUs()).toString().padStart(stampDigits, '0')
  return framedHead + stamp + framedTail
}

/** Returns the time in a stamped event, or undefined for another frame. */
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

/** The head and the first events of an answer. */
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

/** Returns the last events of an answer and the end of its body. */
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

/** Returns where the body starts, or undefined while the head is incomplete. */
export function findBodyStart(text: string): number | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  if (!/^HTTP\/1\.[01] 200 /.test(head)) {
    throw new Error(`the answer to a stream request was: ${text.slice(0, 500)}`)
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) throw new Error('the stream is not chunked')
  return end + 4
}

export class ChunkedEvents {
  readonly #onFrame: (frame: string) => void
  #unread = ''
  #frames = ''
  #hasEnded = false

  constructor(onFrame: (frame: string) => void) {
    this.#onFrame = onFrame
  }

  /** True after the last, empty chunk. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  read(text: string): void {
    const bytes = this.#unread === '' ? text : this.#unread + text
    let at = 0
    while (!this.#hasEnded) {
      const sizeEnd = bytes.indexOf('\r\n', at)
      if (sizeEnd < 0) break
      const size = Number.parseInt(bytes.slice(at, sizeEnd), 16)
      if (Number.isNaN(size)) throw new Error('a chunk does not begin with its size')
      const dataEnd = sizeEnd + 2 + size
      if (bytes.length < dataEnd + 2) break
      if (size === 0) this.#hasEnded = true
      else this.#readFrames(bytes.slice(sizeEnd + 2, dataEnd))
      at = dataEnd + 2
    }
    this.#unread = bytes.slice(at)
  }

  #readFrames(text: string): void {
    const frames = this.#frames === '' ? text : this.#frames + text
    let at = 0
    for (let end = frames.indexOf('\n\n'); end >= 0; end = frames.indexOf('\n\n', at)) {
      this.#onFrame(frames.slice(at, end))
      at = end + 2
    }
    this.#frames = frames.slice(at)
  }
}
