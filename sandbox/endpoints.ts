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
  | 'responses.create'
  | 'responses.retrieve'
  | 'responses.delete'
  | 'responses.cancel'
  | 'responses.input_items'
  | 'conversations.create'
  | 'conversations.retrieve'
  | 'conversations.delete'
  | 'embeddings.create'
  | 'completions.create'
  | 'models.list'
  | 'models.get'

type Method = 'GET' | 'POST' | 'DELETE'

export interface SandboxRoute {
  readonly format: Format
  readonly operation: Operation
  readonly channel: string
  readonly method: Method
  /** The path from `/v1/` on, without the query. */
  readonly path: string
  /** The id in the path, as in `GET /v1/models/{id}`. */
  readonly id: string | undefined
}

interface Endpoint {
  readonly method: Method
  /** What follows `/v1/`. */
  readonly path: RegExp
  readonly operation: Operation
  /** Absent where both vendors have the endpoint. */
  readonly format?: Format
}

function messages(method: Method, path: RegExp, operation: Operation): Endpoint {
  return { method, path, operation, format: 'messages' }
}

function chat(method: Method, path: RegExp, operation: Operation): Endpoint {
  return { method, path, operation, format: 'chat' }
}

const endpoints: readonly Endpoint[] = [
  messages('POST', /^messages$/, 'messages.create'),
  messages('POST', /^messages\/count_tokens$/, 'messages.count_tokens'),
  chat('POST', /^chat\/completions$/, 'chat.completions.create'),
  chat('POST', /^responses$/, 'responses.create'),
  chat('GET', /^responses\/([^/]+)$/, 'responses.retrieve'),
  chat('DELETE', /^responses\/([^/]+)$/, 'responses.delete'),
  chat('POST', /^responses\/([^/]+)\/cancel$/, 'responses.cancel'),
  chat('GET', /^responses\/([^/]+)\/input_items$/, 'responses.input_items'),
  chat('POST', /^conversations$/, 'conversations.create'),
  chat('GET', /^conversations\/([^/]+)$/, 'conversations.retrieve'),
  chat('DELETE', /^conversations\/([^/]+)$/, 'conversations.delete'),
  chat('POST', /^embeddings$/, 'embeddings.create'),
  chat('POST', /^completions$/, 'completions.create'),
  { method: 'GET', path: /^models$/, operation: 'models.list' },
  { method: 'GET', path: /^models\/([^/]+)$/, operation: 'models.get' },
]

/** Operations by the first part of their name. */
export const operationGroups = [
  'messages',
  'chat',
  'responses',
  'conversations',
  'embeddings',
  'completions',
  'models',
] as const

export function groupOf(operation: Operation): string {
  return operation.slice(0, operation.indexOf('.'))
}

/** The channel of requests that do not name one. */
const unnamedChannel = 'default'

const versionPart = '/v1/'

export function findRoute(request: IncomingMessage): SandboxRoute | undefined {
  const [path = ''] = (request.url ?? '').split('?')
  const at = path.lastIndexOf(versionPart)
  if (at === -1) return undefined
  const rest = path.slice(at + versionPart.length).replace(/\/$/, '')
  const found = endpoints.filter((endpoint) => endpoint.path.test(rest))
  // With another method it is the endpoint's first operation, which then differs in its method.
  const endpoint = found.find(({ method }) => method === request.method) ?? found[0]
  if (endpoint === undefined) return undefined
  const id = endpoint.path.exec(rest)?.[1]
  return {
    format: endpoint.format ?? formatOfCaller(request),
    operation: endpoint.operation,
    channel: at === 0 ? unnamedChannel : decodeURIComponent(path.slice(1, at)),
    method: endpoint.method,
    path: versionPart + rest,
    id: id === undefined ? undefined : decodeURIComponent(id),
  }
}

/** Both vendors list models at one path; their clients differ in the headers they send. */
function formatOfCaller({ headers }: IncomingMessage): Format {
  const isMessages =
    headers['anthropic-version'] !== undefined || headers['x-api-key'] !== undefined
  return isMessages ? 'messages' : 'chat'
}
