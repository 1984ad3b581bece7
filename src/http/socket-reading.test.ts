/** Sockets that always have more share the turns of the event loop; a stopped one stays silent. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { SocketReading } from './socket-reading.ts'

const bytesEach = 8_388_608
const sockets = 12
/** A read of each socket, once more where it was under way, and those of the turns that follow. */
const bytesPerTurnMax = 3 * sockets * 65_536

let server: Server

before(async () => {
  server = createServer((socket) =>
    socket.on('error', () => undefined).end(Buffer.alloc(bytesEach)),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
after(() => server.close())

interface Reader {
  readonly socket: Socket
  readonly reading: SocketReading
  bytes: number
}

function open(): Reader {
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  const reader = { socket, reading: new SocketReading(socket), bytes: 0 }
  socket.on('data', (piece: Buffer) => {
    reader.bytes += piece.length
    reader.reading.afterRead(piece.length)
  })
  return reader
}

function sumOf(readers: readonly Reader[]): number {
  return readers.reduce((sum, { bytes }) => sum + bytes, 0)
}

test('reads a bounded part of each socket in one turn, and all of it in the end', async () => {
  const readers = Array.from({ length: sockets }, open)
  let longest = 0
  for (let seen = 0; seen < sockets * bytesEach; seen = sumOf(readers)) {
    await turn()
    longest = Math.max(longest, sumOf(readers) - seen)
  }
  assert.ok(longest <= bytesPerTurnMax, `${longest} bytes in one turn`)
})

test('reads nothing while it is stopped, also when its turn comes', async () => {
  const [stopped, other] = [open(), open()]
  while (stopped.bytes === 0) await turn()
  stopped.reading.stop()
  const { bytes } = stopped
  while (other.bytes < bytesEach) await turn()
  assert.equal(stopped.bytes, bytes)
  stopped.reading.goOn()
  await once(stopped.socket, 'end')
  assert.equal(stopped.bytes, bytesEach)
})
