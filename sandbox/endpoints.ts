/**
 * The vendors' endpoints: which operation of which format a request is for, and on which channel.
 * Everything before `/v1/` names the channel, so one sandbox can serve many vendors' addresses.
 */
import type { IncomingMessage } from 'node:http'

/** Defined here and not taken from the gateway, so that the sandbox can be wrong on its own. */
export type Format = 'messages' | 'chat'

export type Operation =
  | 'messages.create'
  | 'messages.count_tokens'
  | 'chat.completions.create'
  | 'models.list'
  | 'models.get'

export interface SandboxRoute {
  readonly format: Format
  readonly operation: Operation
  readonly channel: string
  readonly method: 'GET' | 'POST'
  /** The id in `GET /v1/models/{id}`. */
  readonly modelId: string | undefined
}

/** The channel of requests that do not name one. */
const unnamedChannel = 'default'

const pattern =
  /^(.*?)\/v1\/(?:(messages)|(messages\/count_tokens)|(chat\/completions)|models(?:\/([^/?]+))?)\/?(?:\?.*)?$/

export function findRoute(request: IncomingMessage): SandboxRoute | undefined {
  const match = pattern.exec(request.url ?? '')
  if (match === null) return undefined
  const [, prefix = '', messages, countTokens, chat, modelId] = match
  const channel = prefix === '' ? unnamedChannel : decodeURIComponent(prefix.slice(1))
  const base = { channel, modelId: modelId === undefined ? undefined : decodeURIComponent(modelId) }
  if (messages !== undefined) {
    return { ...base, format: 'messages', operation: 'messages.create', method: 'POST' }
  }
  if (countTokens !== undefined) {
    return { ...base, format: 'messages', operation: 'messages.count_tokens', method: 'POST' }
  }
  if (chat !== undefined) {
    return { ...base, format: 'chat', operation: 'chat.completions.create', method: 'POST' }
  }
  // Both vendors list models at one path; their clients differ in the headers they send.
  const { headers } = request
  const isMessages =
    headers['anthropic-version'] !== undefined || headers['x-api-key'] !== undefined
  return {
    ...base,
    format: isMessages ? 'messages' : 'chat',
    operation: modelId === undefined ? 'models.list' : 'models.get',
    method: 'GET',
  }
}
