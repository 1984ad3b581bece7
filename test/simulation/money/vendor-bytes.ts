/** What a scripted vendor says, in the bytes of either format: streams as frames, whole bodies. */
import type { FormatName } from '../../../src/formats/format.ts'

/** Tokens of an answer; `cached` ones are beside `input`. */
export interface Counts {
  readonly input: number
  readonly cached: number
  readonly output: number
}

interface Told {
  readonly callId: string
  readonly format: FormatName
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
  const frames = told.format === 'messages' ? messagesFrames(told) : chatFrames(told)
  return frames.map((frame) => Buffer.from(frame))
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

export function wholeBodyOf({ callId, format, counts, hasUsage }: Told): Buffer {
  const text = wordsOf(counts).join('')
  const body =
    format === 'messages'
      ? {
          id: callId,
          type: 'message',
          role: 'assistant',
          model: 'large-1',
          content: counts.output === 0 ? [] : [{ type: 'text', text }],
          stop_reason: 'end_turn',
          ...(hasUsage ? { usage: messagesUsage(counts) } : {}),
        }
      : {
          id: callId,
          object: 'chat.completion',
          model: 'chat-1',
          choices: [
            { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' },
          ],
          ...(hasUsage ? { usage: chatUsage(counts) } : {}),
        }
  return Buffer.from(JSON.stringify(body))
}
