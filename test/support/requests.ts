/** Requests of both formats, as tests send them; directives tell the simulated vendors what to answer. */
import type { FormatName } from '../../src/formats/format.ts'
import { open, send, type OpenAnswer, type WireAnswer, type WireRequest } from './http-client.ts'

export const formats: readonly FormatName[] = ['messages', 'chat']

interface FormatPlaces {
  readonly path: string
  readonly model: string
  /** The main channel and the reserve of the format's vendor in the demo's catalogue. */
  readonly main: string
  readonly reserve: string
}

export const places: Readonly<Record<FormatName, FormatPlaces>> = {
  messages: {
    path: '/alpha/v1/messages',
    model: 'large-1',
    main: 'alpha-main',
    reserve: 'alpha-reserve',
  },
  chat: {
    path: '/beta/v1/chat/completions',
    model: 'chat-1',
    main: 'beta-main',
    reserve: 'beta-reserve',
  },
}

export const messagesPath = places.messages.path
export const chatPath = places.chat.path
export const responsesPath = '/beta/v1/responses'

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
  readonly format: FormatName
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
  /** The client asks a chat stream for its usage chunk, so that the vendor's bytes pass unchanged. */
  readonly includeUsage?: boolean
  /** Further members of the body. */
  readonly more?: JsonFields
  readonly onChunk?: WireRequest['onChunk']
}

export function urlOf(gatewayUrl: string, format: FormatName): string {
  return gatewayUrl + places[format].path
}

export function wireRequest(key: string, ask: Ask): WireRequest {
  const { format, isStream, onChunk } = ask
  const hasUsage = ask.includeUsage === true && format === 'chat' && isStream
  const body = {
    model: ask.model ?? places[format].model,
    max_tokens: ask.maxTokens ?? 100,
    stream: isStream,
    ...(hasUsage ? { stream_options: { include_usage: true } } : {}),
    messages: [{ role: 'user', content: ask.prompt ?? 'hello' }],
    ...ask.more,
  }
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    authorization: `Bearer ${ask.key ?? key}`,
  }
  if (ask.sandbox !== undefined) headers['x-sandbox'] = ask.sandbox
  if (ask.marker !== undefined) headers['x-sandbox-marker'] = ask.marker
  return {
    headers,
    body: JSON.stringify(body),
    ...(onChunk === undefined ? {} : { onChunk }),
  }
}

export function sendAsk(gatewayUrl: string, key: string, ask: Ask): Promise<WireAnswer> {
  return send(urlOf(gatewayUrl, ask.format), wireRequest(key, ask))
}

/** Sends the request; the caller looks at its answer while it comes. */
export function openAsk(gatewayUrl: string, key: string, ask: Ask): OpenAnswer {
  return open(urlOf(gatewayUrl, ask.format), wireRequest(key, ask))
}
