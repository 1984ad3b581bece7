/**
 * One HTTP round trip to a server's admin API. It follows no redirect, so the token goes to no other
 * address, and it waits for nothing without an end.
 */
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import type { ApiRequest } from './request.ts'

export interface ApiAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** The body as it comes; the caller reads it to its end or destroys it. */
  readonly body: IncomingMessage
}

const connectTimeoutMs = 10_000
/** An audit of a large store is silent until it is done. */
const silenceMaxMs = 600_000

/** Sends the request. Rejects with the error of the connection. */
export function roundTrip(
  server: URL,
  { method, target, body }: ApiRequest,
  headers: Readonly<Record<string, string>>,
): Promise<ApiAnswer> {
  return new Promise((resolve, reject) => {
    const isTls = server.protocol === 'https:'
    const send = isTls ? requestHttps : requestHttp
    const connected = isTls ? 'secureConnect' : 'connect'
    const request = send(
      {
        host: server.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: server.port,
        path: server.pathname.replace(/\/$/, '') + target,
        method,
        agent: false,
        headers: {
          accept: 'application/json',
          ...headers,
          ...(body !== undefined && {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(body)),
          }),
        },
      },
      (answer) =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answer }),
    )
    request.once('error', reject)
    request.once('socket', (socket: Socket) => {
      limitSilence(socket, connected, (error) => request.destroy(error))
    })
    request.end(body)
  })
}

/** Ends the request where nothing comes for long: first the connection, then bytes of the answer. */
function limitSilence(socket: Socket, connected: string, end: (error: Error) => void): void {
  const endAs = (code: string) => () => end(Object.assign(new Error(code), { code }))
  socket.setTimeout(connectTimeoutMs, endAs('NO_CONNECTION'))
  socket.once(connected, () => {
    socket.setTimeout(0)
    socket.setTimeout(silenceMaxMs, endAs('NO_ANSWER'))
  })
}
