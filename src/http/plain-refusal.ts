/**
 * Answers to what is no request: written by the connection itself, before anybody else has seen it,
 * always with an end of the connection behind it.
 */
import { exchangeIdHeader } from './headers.ts'
import type { RequestFault } from './wire/request-head.ts'
import { fieldLine, statusLine } from './wire/response-pieces.ts'

const types: Readonly<Record<RequestFault['status'], string>> = {
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

export const tooLate: RequestFault = {
  kind: 'fault',
  status: 408,
  message: 'The request did not arrive in time.',
}

export const notHttp: RequestFault = {
  kind: 'fault',
  status: 400,
  message: 'This is not a well-formed HTTP/1.1 request.',
}

/**
 * The whole answer. A request that could not be read may have been one for a head only: that reads
 * on to the end.
 */
export function plainRefusal(fault: RequestFault, requestId: string): Buffer {
  const { status, message } = fault
  const body = JSON.stringify({ error: { type: types[status], message } })
  const head =
    statusLine(status) +
    fieldLine('content-type', 'application/json') +
    fieldLine(exchangeIdHeader, requestId) +
    (status === 405 ? fieldLine('allow', 'GET, HEAD, POST') : '') +
    `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`
  return Buffer.from(head + body, 'latin1')
}
