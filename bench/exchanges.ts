/**
 * The requests and answers of the benchmark, the same bytes for every proxy. The gateway must have charged
 * the token counts in the answers.
 */

export const models = {
  chat: 'bench-chat',
  messages: 'bench-messages',
  stream: 'bench-stream',
  chatStream: 'bench-chat-stream',
  responseStream: 'bench-response-stream',
} as const

export type FormatName = 'chat' | 'messages'
/** The formats of streams. */
export type StreamFormatName = FormatName | 'responses'

/** USD per million tokens, for every model of the benchmark. */
export const price = { input: 3, output: 15 } as const

/** Counts of each answer that is not streamed. */
export const answerCounts = { input: 26, output: 34 } as const
/** Counts at the start of each stream; its output is the number of its events. */
export const streamStartCounts = { input: 26, output: 1 } as const

const prompt = 'In two sentences: why does a ledger record every entry only once?'
const answerText =
  'A second record of one event would count it twice, and no sum could be trusted any more. ' +
  'An entry is therefore named by its exchange, and naming it again changes nothing.'

function question(model: string, content = prompt) {
  return {
    model,
    max_tokens: 256,
    temperature: 0.7,
    messages: [{ role: 'user', content }],
  }
}

/** About 200 bytes each. */
export const requestBodies = {
  chat: JSON.stringify(question(models.chat)),
  messages: JSON.stringify(question(models.messages)),
} as const

/** A chat request with a body of this many bytes. */
export function sizedRequestBody(bytes: number): string {
  const rest = bytes - JSON.stringify(question(models.chat, '')).length
  return JSON.stringify(
    question(models.chat, prompt.repeat(rest / prompt.length + 1).slice(0, rest)),
  )
}

/** Requests of streams that end by themselves. */
export const streamRequestBodies: Readonly<Record<StreamFormatName, string>> = {
  messages: JSON.stringify({ ...question(models.stream), stream: true }),
  chat: JSON.stringify({
    ...question(models.chatStream),
    stream: true,
    stream_options: { include_usage: true },
  }),
  responses: JSON.stringify({
    model: models.responseStream,
    input: prompt,
    max_output_tokens: 256,
    store: false,
    stream: true,
  }),
}

export const streamModels: Readonly<Record<StreamFormatName, string>> = {
  messages: models.stream,
  chat: models.chatStream,
  responses: models.responseStream,
}

/** About 400 bytes each. */
export const answerBodies: Readonly<Record<FormatName, string>> = {
  chat: JSON.stringify({
    id: 'chatcmpl-0000000000000000',
    object: 'chat.completion',
    created: 1_760_000_000,
    model: models.chat,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: answerText },
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: answerCounts.input,
      completion_tokens: answerCounts.output,
      total_tokens: answerCounts.input + answerCounts.output,
    },
  }),
  messages: JSON.stringify({
    id: 'msg_0000000000000000',
    type: 'message',
    role: 'assistant',
    model: models.messages,
    content: [{ type: 'text', text: answerText }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: answerCounts.input, output_tokens: answerCounts.output },
  }),
}

/** A request that the gateway relays without a charge. */
export const freePath = '/v1/messages/count_tokens'
export const freeAnswerBody = JSON.stringify({ input_tokens: answerCounts.input })

/** The path of each format, at the vendor and after the gateway's vendor prefix. */
export const formatPaths: Readonly<Record<StreamFormatName, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
}
