/** What a scripted vendor says, in the bytes of each operation: streams as frames, whole bodies. */
import type { BodyFormat } from '../../support/requests.ts'

/** Tokens of an answer; `cached` ones are beside `input`. */
export interface Counts {
  readonly input: number
  readonly cached: number
  readonly output: number
}

interface Told {
  readonly callId: string
  readonly format: BodyFormat
  readonly counts: Counts
  readonly hasUsage: boolean
}

export function buildUsage(counts: Counts): Readonly<Record<keyof Counts, bigint>> {
  return {
    input: BigInt(counts.input),
    cached: BigInt(counts.cached),
    output: BigInt(counts.output),
  }
}

/** One word for each token of the output. */
function wordsOf({ output }: Counts): string[] {
  return Array.from({ length: output }, (_, index) => (index === 0 ? 'word' : ' word'))
}

/** In few frames: what matters is where they can be cut, not how many there are. */
const framesMax = 4

function textPieces(counts: Counts): string[] {
  const words = wordsOf(counts)
  const size = Math.max(1, Math.ceil(words.length / framesMax))
  return Array.from({ length: Math.ceil(words.length / size) }, (_, index) =>
    words.slice(index * size, (index + 1) * size).join(''),
  )
}

function messagesUsage({ input, cached, output }: Counts): object {
  return { input_tokens: input, cache_read_input_tokens: cached, output_tokens: output }
}

function chatUsage({ input, cached, output }: Counts): object {
  return {
    prompt_tokens: input + cached,
    completion_tokens: output,
    total_tokens: input + cached + output,
    prompt_tokens_details: { cached_tokens: cached },
  }
}

export function framesOf(told: Told): Buffer[] {
  return streams[told.format](told).map((frame) => Buffer.from(frame))
}

const streams: Readonly<Record<BodyFormat, (told: Told) => string[]>> = {
  messages: messagesFrames,
  chat: chatFrames,
  responses: responsesFrames,
  completions: completionsFrames,
  embeddings: () => [],
}

function messagesFrames({ callId, counts, hasUsage }: Told): string[] {
  const event = (type: string, more: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
  const message = {
    id: callId,
    type: 'message',
    role: 'assistant',
    model: 'large-1',
    content: [],
    ...(hasUsage ? { usage: messagesUsage({ ...counts, output: 0 }) } : {}),
  }
  const block =
    counts.output === 0
      ? []
      : [
          event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
          ...textPieces(counts).map((text) =>
            event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
          ),
          event('content_block_stop', { index: 0 }),
        ]
  return [
    event('message_start', { message }),
    event('ping', {}),
    ...block,
    event('message_delta', {
      delta: { stop_reason: 'end_turn' },
      ...(hasUsage ? { usage: messagesUsage(counts) } : {}),
    }),
    event('message_stop', {}),
  ]
}

function chatFrames({ callId, counts, hasUsage }: Told): string[] {
  const chunk = (more: object): string => {
    const frame = { id: callId, object: 'chat.completion.chunk', model: 'chat-1', ...more }
    return `data: ${JSON.stringify(frame)}\n\n`
  }
  const choice = (delta: object, reason: string | null): object => ({
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  return [
    chunk(choice({ role: 'assistant', content: '' }, null)),
    ...textPieces(counts).map((content) => chunk(choice({ content }, null))),
    chunk(choice({}, 'stop')),
    ...(hasUsage ? [chunk({ choices: [], usage: chatUsage(counts) })] : []),
    'data: [DONE]\n\n',
  ]
}

function completionsFrames({ callId, counts, hasUsage }: Told): string[] {
  const chunk = (more: object): string => {
    const frame = { id: callId, object: 'text_completion', model: 'chat-1', ...more }
    return `data: ${JSON.stringify(frame)}\n\n`
  }
  const choice = (text: string, reason: string | null): object => ({
    choices: [{ index: 0, text, finish_reason: reason }],
  })
  return [
    ...textPieces(counts).map((text) => chunk(choice(text, null))),
    chunk(choice('', 'stop')),
    ...(hasUsage ? [chunk({ choices: [], usage: chatUsage(counts) })] : []),
    'data: [DONE]\n\n',
  ]
}

function responsesUsage({ input, cached, output }: Counts): object {
  return {
    input_tokens: input + cached,
    output_tokens: output,
    total_tokens: input + cached + output,
    input_tokens_details: { cached_tokens: cached },
  }
}

function responseOf(told: Told, status: string): object {
  const { callId, counts, hasUsage } = told
  const text = wordsOf(counts).join('')
  const item = {
    id: `msg_${callId}`,
    type: 'message',
    role: 'assistant',
    status,
    content: [{ type: 'output_text', text, annotations: [] }],
  }
  const isDone = status === 'completed'
  return {
    id: `resp_${callId}`,
    object: 'response',
    status,
    error: null,
    model: 'chat-1',
    store: true,
    output: isDone && counts.output > 0 ? [item] : [],
    usage: isDone && hasUsage ? responsesUsage(counts) : null,
  }
}

function responsesFrames(told: Told): string[] {
  const event = (type: string, more: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
  const working = { response: responseOf(told, 'in_progress') }
  return [
    event('response.created', working),
    event('response.in_progress', working),
    ...textPieces(told.counts).map((delta) =>
      event('response.output_text.delta', { output_index: 0, delta }),
    ),
    event('response.completed', { response: responseOf(told, 'completed') }),
  ]
}

export function wholeBodyOf(told: Told): Buffer {
  return Buffer.from(JSON.stringify(wholeOf(told)))
}

function wholeOf(told: Told): object {
  const { callId, format, counts, hasUsage } = told
  const text = wordsOf(counts).join('')
  const chat = { id: callId, model: 'chat-1', ...(hasUsage ? { usage: chatUsage(counts) } : {}) }
  switch (format) {
    case 'messages':
      return {
        id: callId,
        type: 'message',
        role: 'assistant',
        model: 'large-1',
        content: counts.output === 0 ? [] : [{ type: 'text', text }],
        stop_reason: 'end_turn',
        ...(hasUsage ? { usage: messagesUsage(counts) } : {}),
      }
    case 'chat': {
      const message = { role: 'assistant', content: text }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      return { ...chat, object: 'chat.completion', choices }
    }
    case 'responses':
      return responseOf(told, 'completed')
    case 'completions':
      return {
        ...chat,
        object: 'text_completion',
        choices: [{ index: 0, text, finish_reason: 'stop' }],
      }
    case 'embeddings':
      return {
        ...chat,
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      }
  }
}
