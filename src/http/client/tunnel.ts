/**
 * Opens a tunnel through an HTTP proxy. Node's own client asks for it by CONNECT; the tunnel carries TLS
 * to the vendor, so the proxy sees a name, a port and lengths. The proxy looks the vendor's name up.
 */
import { request } from 'node:http'
import { isIPv6, type Socket } from 'node:net'
import { unescape } from 'node:querystring'
import type { Secret } from '../../base/secret.ts'

export interface TunnelEnds {
  /** `http://proxy.example:3128`, or with a user name and a password in front of the host. */
  readonly proxy: Secret
  /** The vendor's host, without the brackets of a URL. */
  readonly host: string
  readonly port: number
}

export interface Tunnel {
  /** Closes the connection to the proxy unless the tunnel is open. Idempotent. */
  close(): void
}

/** Calls one of both functions, once: the proxy has connected to the vendor, or there is no tunnel. */
export function openTunnel(
  { proxy, host, port }: TunnelEnds,
  ended: { readonly onOpen: (socket: Socket) => void; readonly onFailure: (error: Error) => void },
): Tunnel {
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`
  const { origin, username, password } = new URL(proxy.reveal())
  const asked = request(origin, {
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...credentialOf(username, password) },
    agent: false,
  })
  let isOver = false
  const fail = (error: Error): void => {
    if (isOver) return
    isOver = true
    asked.destroy()
    ended.onFailure(error)
  }
  asked.once('connect', ({ statusCode = 0 }, socket, early) => {
    // A server with TLS waits for its client: earlier bytes are none of the vendor's.
    if (statusCode >= 200 && statusCode <= 299 && early.length === 0) {
      isOver = true
      ended.onOpen(socket)
    } else {
      socket.destroy()
      fail(new Error(`the proxy answered with status ${statusCode}`))
    }
  })
  asked.on('error', fail)
  asked.end()
  return {
    close() {
      if (isOver) return
      isOver = true
      asked.destroy()
    },
  }
}

/** Basic credentials (RFC 7617). The URL has both percent-encoded. */
function credentialOf(username: string, password: string): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {}
  const text = `${unescape(username)}:${unescape(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(text).toString('base64')}` }
}
