/**
 * Writes whole answers of our own: one head, one body, one write. Used for our JSON endpoints and
 * for errors in any format; streamed and relayed answers have their own writer in relay/deliver.ts.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { abandonBody, isBodySmall } from './listener.ts'

export interface Reply {
  readonly status: number
  /** Flat name, value list; without length and connection headers. */
  readonly headers: readonly string[]
  readonly body: Buffer
}

/**
 * Sends a reply and takes care of a request body nobody will read: a small rest is swallowed, a
 * large one costs the client its connection. Does nothing when the client has gone.
 */
export function sendReply(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  if (response.destroyed || response.headersSent) return
  const headers = [...reply.headers, 'content-length', String(reply.body.length)]
  // What a client in delay sends next could no more be told from a new request.
  const keepsConnection = reply.status !== 408 && isBodySmall(request)
  if (!keepsConnection) headers.push('connection', 'close')
  response.writeHead(reply.status, headers)
  response.end(request.method === 'HEAD' ? undefined : reply.body)
  if (!keepsConnection) abandonBody(request)
}

/** A JSON reply; private data is never to be stored on the way. */
export function jsonReply(
  status: number,
  value: unknown,
  extraHeaders: readonly string[] = [],
): Reply {
  return {
    status,
    headers: ['content-type', 'application/json', 'cache-control', 'no-store', ...extraHeaders],
    body: Buffer.from(JSON.stringify(value)),
  }
}
