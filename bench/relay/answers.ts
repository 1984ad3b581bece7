/**
 * The bytes of the answers of a slow vendor, by format: whole JSON, or a stream with its beginning, equal
 * events and end. All are made once, so that an event costs the vendor one write.
 */
import {
  answerBodies,
  formatPaths,
  freeAnswerBody,
  freePath,
  streamModels,
  streamStartCounts,
  type StreamFormatName,
} from '../exchanges.ts'

/** Each event contains it, also after a gateway has written the event anew. */
export const eventMark = 'a word of it'

/** The last event of each format contains one of them. */
export const lastEventMark = /message_stop|\[DONE\]|"response\.completed"/

export interface StreamBytes {
  /** The head and the first events. */
  readonly opening: string
  readonly event: string
  /** The last events and the end of the body. */
  readonly closing: (events: number) => string
}

export function findFormat(path: string): StreamFormatName {
  if (path.endsWith(formatPaths.messages)) return 'messages'
  return path.endsWith(formatPaths.responses) ? 'responses' : 'chat'
}

function jsonAnswer(body: string): string {
  return (
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n' +
    `content-length: ${body.length}\r\n\r\n${body}`
  )
}

const jsonAnswers = {
  chat: jsonAnswer(answerBodies.chat),
  messages: jsonAnswer(answerBodies.messages),
  free: jsonAnswer(freeAnswerBody),
}

export function jsonAnswerTo(path: string): string {
  if (path.endsWith(freePath)) return jsonAnswers.free
  return path.endsWith(formatPaths.messages) ? jsonAnswers.messages : jsonAnswers.chat
}

export const streamBytes: Readonly<Record<StreamFormatName, StreamBytes>> = {
  messages: {
    opening: head() + chunk(messageBeginning()),
    event: chunk(
      named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: eventMark } }),
    ),
    closing: (events) => chunk(messageEnding(events)) + end,
  },
  chat: {
    opening: head() + chunk(chatChunk({ role: 'assistant', content: '' })),
    event: chunk(chatChunk({ content: eventMark })),
    closing: (events) =>
      chunk(chatChunk({}, 'stop') + chatUsage(events) + 'data: [DONE]\n\n') + end,
  },
  responses: {
    opening: head() + chunk(responseBeginning()),
    event: chunk(
      named('response.output_text.delta', {
        item_id: 'msg_0',
        output_index: 0,
        content_index: 0,
        delta: eventMark,
      }),
    ),
    closing: (events) => chunk(named('response.completed', { response: response(events) })) + end,
  },
}

const end = '0\r\n\r\n'

function head(): string {
  return (
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n' +
    'cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n'
  )
}

function chunk(text: string): string {
  return text.length.toString(16) + '\r\n' + text + '\r\n'
}

function named(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`
}

function messageBeginning(): string {
  const { input, output } = streamStartCounts
  const message = {
    id: 'msg_0000000000000000',
    type: 'message',
    role: 'assistant',
    model: streamModels.messages,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: input, output_tokens: output },
  }
  return (
    named('message_start', { message }) +
    named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
  )
}

function messageEnding(outputTokens: number): string {
  return (
    named('content_block_stop', { index: 0 }) +
    named('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: outputTokens },
    }) +
    named('message_stop', {})
  )
}

function chatChunk(delta: object, reason: string | null = null): string {
  return chatData({ choices: [{ index: 0, delta, finish_reason: reason }] })
}

function chatUsage(events: number): string {
  const { input } = streamStartCounts
  const usage = {
    prompt_tokens: input,
    completion_tokens: events,
    total_tokens: input + events,
  }
  return chatData({ choices: [], usage })
}

function chatData(fields: object): string {
  const data = {
    id: 'chatcmpl-0000000000000000',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model: streamModels.chat,
    ...fields,
  }
  return `data: ${JSON.stringify(data)}\n\n`
}

/** The first event says only that the vendor works; the second begins the answer. */
function responseBeginning(): string {
  const item = {
    id: 'msg_0',
    type: 'message',
    role: 'assistant',
    status: 'in_progress',
    content: [],
  }
  return (
    named('response.created', {
      response: { ...response(0), status: 'in_progress', usage: null },
    }) + named('response.output_item.added', { output_index: 0, item })
  )
}

function response(events: number) {
  const { input } = streamStartCounts
  return {
    id: 'resp_0000000000000000',
    object: 'response',
    created_at: 1_760_000_000,
    status: 'completed',
    model: streamModels.responses,
    output: [],
    usage: { input_tokens: input, output_tokens: events, total_tokens: input + events },
  }
}
