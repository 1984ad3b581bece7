/** An HTTP proxy that opens tunnels by CONNECT, for tests: every name leads to one port of this machine. */
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface ConnectProxy {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  /** What clients asked to be connected to, in order. */
  readonly asked: readonly string[]
  /** Their `proxy-authorization`, in order. */
  readonly credentials: readonly (string | undefined)[]
  /** What it does from now on, in place of opening a tunnel. */
  answer(script: ((socket: Duplex, request: IncomingMessage) => void) | undefined): void
  close(): Promise<void>
}

export async function startConnectProxy(port: number): Promise<ConnectProxy> {
  const asked: string[] = []
  const credentials: (string | undefined)[] = []
  const sockets = new Set<Duplex>()
  let script: Parameters<ConnectProxy['answer']>[0]
  const keep = (socket: Duplex): void => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
  }
  const server = createServer((_request, response) => void response.writeHead(405).end())
  server.on('connect', (request, socket) => {
    asked.push(String(request.url))
    credentials.push(request.headers['proxy-authorization'])
    keep(socket)
    if (script !== undefined) {
      script(socket, request)
      return
    }
    const vendor: Socket = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      vendor.pipe(socket).pipe(vendor)
    })
    keep(vendor)
  })
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    credentials,
    answer(next) {
      script = next
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
        server.closeAllConnections()
      }),
  }
}
