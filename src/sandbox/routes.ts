/**
 * Which endpoint of which format a request is for, and on behalf of which channel. Whatever stands
 * in front of `/v1/` names the channel, so that one sandbox can stand for many vendors' addresses.
 */
import type { IncomingMessage } from 'node:http'
import type { FormatName, OperationName } from '../formats/format.ts'

export interface SandboxRoute {
  readonly format: FormatName
  readonly operation: OperationName
  readonly channel: string
  readonly method: 'GET' | 'POST'
  /** Of `GET /v1/models/{id}`. */
  readonly modelId: string | undefined
}

/** The channel of requests that name none. */
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
