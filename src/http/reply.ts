/**
 * Writes whole answers of our own: one head, one body, one write. Used for our JSON endpoints and
 * for errors in any format; streamed and relayed answers have their own writer in relay/deliver.ts.
 */
import type { IncomingRequest } from './incoming-request.ts'
import type { ResponseWriter } from './response-writer.ts'

export interface Reply {
  readonly status: number
  /** Flat name, value list; without length and connection headers. */
  readonly headers: readonly string[]
  readonly body: Buffer
}

/** So much of a body nobody has read is read on, so that the connection can serve again. */
const smallBodyBytesMax = 65_536

/**
 * Sends a reply and takes care of a request body nobody will read: a small rest is swallowed, a
 * large one costs the client its connection. Does nothing when the client has gone.
 */
export function sendReply(request: IncomingRequest, response: ResponseWriter, reply: Reply): void {
  if (response.isGone || response.isHeadWritten) return
  // What a client in delay sends next could no more be told from a new request.
  if (reply.status === 408 || !isBodySmall(request)) response.closeAfterwards()
  response.writeHead(reply.status, reply.headers)
  response.end([reply.body])
}

/** True when so little of the body can be left that reading on is cheaper than a new connection. */
function isBodySmall({ body, awaitsInvitation }: IncomingRequest): boolean {
  if (body.isComplete) return true
  if (body.announcedBytes === undefined || awaitsInvitation) return false
  return body.announcedBytes <= smallBodyBytesMax
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
