/** Requests of every operation, as tests send them; directives tell the simulated vendors what to answer. */
import type { FormatName } from '../../src/formats/format.ts'
import { open, send, type OpenAnswer, type WireAnswer, type WireRequest } from './http-client.ts'
import { isOnPostgres } from './test-store.ts'
import { variants } from './variants.ts'

/** The formats, and the further operations of the chat vendor: each has bodies that only it has. */
export type BodyFormat = StreamedFormat | 'embeddings'
export type StreamedFormat = FormatName | 'responses' | 'completions'

export const formats: readonly FormatName[] = ['messages', 'chat']
export const streamedFormats: readonly StreamedFormat[] = [...formats, 'responses', 'completions']
export const bodyFormats: readonly BodyFormat[] = [...streamedFormats, 'embeddings']

/** For a suite that tests the same code whatever the format is: in `npm test` one of each vendor. */
export function alike<Format extends BodyFormat>(list: readonly Format[]): readonly Format[] {
  return variants<Format>(list, (format) => format === 'messages' || format === 'chat')
}

/**
 * For a suite that runs on both engines: in `npm test` all on SQLite, on PostgreSQL those that store other
 * rows.
 */
export function onThisEngine<Format extends BodyFormat>(
  list: readonly Format[],
): readonly Format[] {
  const isNeeded = (format: Format): boolean => format === 'messages' || format === 'responses'
  return isOnPostgres() ? variants<Format>(list, isNeeded) : list
}

/** How an answer of the format can be asked for. */
export function formsOf(format: BodyFormat): readonly boolean[] {
  return format === 'embeddings' ? [false] : [true, false]
}

/**
 * The number of the event with which a client gets the first bytes of a stream. A response begins with two
 * events that say only that the vendor works; the gateway keeps them until there is output.
 */
export function firstShown(format: BodyFormat): number {
  return { messages: 1, chat: 2, completions: 1, embeddings: 1, responses: 3 }[format]
}

interface FormatPlaces {
  readonly path: string
  readonly model: string
  /** The main channel and the reserve of the format's vendor in the demo's catalogue. */
  readonly main: string
  readonly reserve: string
}

const beta = { model: 'chat-1', main: 'beta-main', reserve: 'beta-reserve' }

export const places: Readonly<Record<BodyFormat, FormatPlaces>> = {
  messages: {
    path: '/alpha/v1/messages',
    model: 'large-1',
    main: 'alpha-main',
    reserve: 'alpha-reserve',
  },
  chat: { path: '/beta/v1/chat/completions', ...beta },
  responses: { path: '/beta/v1/responses', ...beta },
  completions: { path: '/beta/v1/completions', ...beta },
  embeddings: { path: '/beta/v1/embeddings', ...beta },
}

export const messagesPath = places.messages.path
export const chatPath = places.chat.path
export const responsesPath = places.responses.path

export type JsonFields = Readonly<Record<string, unknown>>

/** The body of a messages request; `undefined` as a value omits the field. */
export function messagesRequest(fields: JsonFields = {}): JsonFields {
  return {
    model: 'large-1',
    max_tokens: 16,
    messages: [{ role: 'user', content: 'hello' }],
    ...fields,
  }
}

/** The body of a chat request; `undefined` as a value omits the field. */
export function chatRequest(fields: JsonFields = {}): JsonFields {
  return {
    model: 'chat-1',
    max_tokens: 16,
    messages: [{ role: 'user', content: 'hello' }],
    ...fields,
  }
}

/** The body of a request for a response; `undefined` as a value omits the field. */
export function responsesRequest(fields: JsonFields = {}): JsonFields {
  return { model: 'chat-1', max_output_tokens: 16, input: 'hello', ...fields }
}

/** A request in the terms of a test. */
export interface Ask {
  readonly format: BodyFormat
  readonly isStream: boolean
  /** Directives for the simulated vendors; see sandbox/directives.ts. */
  readonly sandbox?: string
  /** Finds the request in the vendors' log. */
  readonly marker?: string
  readonly model?: string
  readonly maxTokens?: number
  readonly prompt?: string
  /** In place of the account's key. */
  readonly key?: string
  /** The client asks for the usage chunk of a stream, so that the vendor's bytes pass unchanged. */
  readonly includeUsage?: boolean
  /** Further members of the body. */
  readonly more?: JsonFields
  readonly onChunk?: WireRequest['onChunk']
}

export function urlOf(gatewayUrl: string, format: BodyFormat): string {
  return gatewayUrl + places[format].path
}

export function wireRequest(key: string, ask: Ask): WireRequest {
  const { onChunk } = ask
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    authorization: `Bearer ${ask.key ?? key}`,
  }
  if (ask.sandbox !== undefined) headers['x-sandbox'] = ask.sandbox
  if (ask.marker !== undefined) headers['x-sandbox-marker'] = ask.marker
  return {
    headers,
    body: JSON.stringify(bodyOf(ask)),
    ...(onChunk === undefined ? {} : { onChunk }),
  }
}

function bodyOf(ask: Ask): JsonFields {
  const { format, isStream, maxTokens = 100, prompt = 'hello' } = ask
  const model = ask.model ?? places[format].model
  const hasChunk = format === 'chat' || format === 'completions'
  const stream = {
    stream: isStream,
    ...(ask.includeUsage === true && hasChunk && isStream ? usageChunk : {}),
  }
  switch (format) {
    case 'messages':
    case 'chat': {
      const messages = [{ role: 'user', content: prompt }]
      return { model, max_tokens: maxTokens, ...stream, messages, ...ask.more }
    }
    case 'responses':
      return { model, max_output_tokens: maxTokens, ...stream, input: prompt, ...ask.more }
    case 'completions':
      return { model, max_tokens: maxTokens, ...stream, prompt, ...ask.more }
    case 'embeddings':
      return { model, input: prompt, ...ask.more }
  }
}

const usageChunk = { stream_options: { include_usage: true } }

export function sendAsk(gatewayUrl: string, key: string, ask: Ask): Promise<WireAnswer> {
  return send(urlOf(gatewayUrl, ask.format), wireRequest(key, ask))
}

/** Sends the request; the caller looks at its answer while it comes. */
export function openAsk(gatewayUrl: string, key: string, ask: Ask): OpenAnswer {
  return open(urlOf(gatewayUrl, ask.format), wireRequest(key, ask))
}
