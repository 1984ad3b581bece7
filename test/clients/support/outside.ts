/**
 * A proxy for everything beyond loopback: it lets nothing pass and records which hosts a program asked for.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Outside {
  /** Variables that send a program's traffic here, except to loopback. */
  readonly env: Readonly<Record<string, string>>
  readonly hosts: ReadonlySet<string>
  close(): Promise<void>
}

export async function watchOutside(): Promise<Outside> {
  const hosts = new Set<string>()
  const server = createServer((request, response) => {
    hosts.add(URL.parse(request.url ?? '')?.host ?? String(request.url))
    response.writeHead(403).end()
  })
  server.on('connect', ({ url }, socket) => {
    hosts.add(String(url))
    socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    env: {
      HTTP_PROXY: url,
      HTTPS_PROXY: url,
      http_proxy: url,
      https_proxy: url,
      ALL_PROXY: url,
      NO_PROXY: '127.0.0.1',
      no_proxy: '127.0.0.1',
      NODE_USE_ENV_PROXY: '1',
    },
    hosts,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
