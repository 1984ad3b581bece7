/**
 * Whole answers of the gateway's own: one head, one body, one write. The JSON endpoints and errors of every
 * format use `sendReply`; the connection itself writes a `plainRefusal` to bytes that are no request.
 */
import type { ErrorCode } from '../../base/errors.ts'
import type { IncomingRequest } from './request.ts'
import type { ResponseWriter } from './response-writer.ts'
import type { RequestFault } from '../wire/request-head.ts'
import type { HeadLines } from '../wire/head-lines.ts'
import { fieldLine, piecesOf, statusLine } from '../wire/message-writer.ts'

/** The header that names the request on every response of the gateway. */
export const exchangeIdHeader = 'x-turnpike-request-id'

export interface Reply {
  readonly status: number
  /** Flat name, value list; without length and connection headers. */
  readonly headers: readonly string[]
  /** In one piece or several. */
  readonly body: Buffer | readonly Buffer[]
}

/** One with a vendor's headers. */
export type VendorReply = Omit<Reply, 'headers'> & { readonly headers: HeadLines }

/** A rest of an unread body up to this size is discarded, so that the connection can serve again. */
const smallBodyBytesMax = 65_536

/**
 * Sends a reply. The connection discards a small rest of an unread request body; with a large one it closes
 * behind the reply. Does nothing when the client has gone.
 */
export function sendReply(
  request: IncomingRequest,
  response: ResponseWriter,
  reply: Reply | VendorReply,
): void {
  if (response.isGone || response.isHeadWritten) return
  // After a timeout the rest of the body could not be distinguished from a new request.
  if (reply.status === 408 || !isBodySmall(request)) response.closeAfterwards()
  response.writeHead(reply.status, reply.headers)
  response.end(piecesOf(reply.body))
}

/** Returns true where reading the rest of the body costs less than a new connection. */
function isBodySmall({ body, expectsContinue }: IncomingRequest): boolean {
  if (body.isComplete) return true
  if (body.announcedBytes === undefined || expectsContinue) return false
  return body.announcedBytes <= smallBodyBytesMax
}

/** Returns a JSON reply that no cache on the way may store. */
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

export const faultCodes: Readonly<Record<RequestFault['status'], ErrorCode>> = {
  400: 'http.malformed',
  405: 'http.method_not_allowed',
  408: 'http.body_timeout',
  417: 'http.malformed',
  431: 'http.head_too_large',
  505: 'http.malformed',
}

export const headTooLarge: RequestFault = {
  kind: 'fault',
  status: 431,
  message: 'The request headers are too large.',
}

export const requestTimeout: RequestFault = {
  kind: 'fault',
  status: 408,
  message: 'The request did not arrive in time.',
}

export const noProxyLine: RequestFault = {
  kind: 'fault',
  status: 400,
  message: 'A proxy must begin its connections to this address with the PROXY protocol.',
}

export const notHttp: RequestFault = {
  kind: 'fault',
  status: 400,
  message: 'This is not a well-formed HTTP/1.1 request.',
}

/**
 * Returns the bytes of an answer to a bad request. If the client sent HEAD, it takes the body for the
 * start of another answer; the connection closes behind it.
 */
export function plainRefusal(fault: RequestFault, requestId: string): Buffer {
  const { status, message } = fault
  const body = JSON.stringify({
    error: { type: faultCodes[status], message, request_id: requestId },
  })
  const head =
    statusLine(status) +
    fieldLine('content-type', 'application/json') +
    fieldLine(exchangeIdHeader, requestId) +
    (status === 405 ? fieldLine('allow', 'GET, HEAD, POST') : '') +
    `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`
  return Buffer.from(head + body, 'latin1')
}
