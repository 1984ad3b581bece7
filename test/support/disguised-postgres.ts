/**
 * A PostgreSQL that says it is of another version: a connection's end between program and server,
 * which replaces the number in what the server answers. Both numbers are of one length, as
 * `server_version_num` has it, so no length of a message changes.
 */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface DisguisedPostgres {
  readonly port: number
  close(): Promise<void>
}

export async function disguisePostgres(
  target: { readonly port: number },
  version: { readonly real: string; readonly shown: string },
): Promise<DisguisedPostgres> {
  if (version.real.length !== version.shown.length) throw new Error('not of one length')
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    return socket
  }
  const server = createServer((client) => {
    const upstream = keep(connect(target.port, '127.0.0.1'))
    keep(client).pipe(upstream)
    upstream.on('data', (bytes: Buffer) => {
      const text = bytes.toString('latin1').replaceAll(version.real, version.shown)
      client.write(text, 'latin1')
    })
    upstream.on('end', () => client.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
