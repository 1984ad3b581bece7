/** The proxy that breaks connections: each end has seen exactly what its rule says. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, test } from 'node:test'
import { startFaultProxy, type FaultProxy, type Moment } from '../support/fault-proxy.ts'

/** A server that answers every line with it in capitals. */
interface Shouter {
  readonly port: number
  readonly heard: () => string
  /** Resolves when the last connection has ended. */
  ended(): Promise<unknown>
  close(): void
}

async function startShouter(): Promise<Shouter> {
  let heard = ''
  let last: Promise<unknown> = Promise.resolve()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    last = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => undefined)
    socket.setEncoding('utf8').on('data', (text: string) => {
      heard += text
      socket.write(text.toUpperCase())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    heard: () => heard,
    ended: () => last,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

interface Caller {
  readonly socket: Socket
  readonly heard: () => string
  until(text: string): Promise<void>
  /** Error code of its end, or undefined where it was orderly. */
  readonly ended: Promise<string | undefined>
}

function call(port: number): Caller {
  const socket = connect({ port, host: '127.0.0.1' })
  let heard = ''
  let code: string | undefined
  let look = (): void => undefined
  socket.on('error', (error: NodeJS.ErrnoException) => void (code = error.code))
  socket.setEncoding('utf8').on('data', (text: string) => {
    heard += text
    look()
  })
  return {
    socket,
    heard: () => heard,
    until: (text) =>
      new Promise((resolve) => {
        look = () => {
          if (heard.includes(text)) resolve()
        }
        look()
      }),
    ended: new Promise((resolve) => socket.once('close', () => resolve(code))),
  }
}

let server: Shouter
let proxy: FaultProxy
let caller: Caller
beforeEach(async () => {
  server = await startShouter()
  proxy = await startFaultProxy(server)
  caller = call(proxy.port)
  caller.socket.write('hello ')
  await caller.until('HELLO ')
})
afterEach(async () => {
  caller.socket.destroy()
  server.close()
  await proxy.close()
})

const expected: Readonly<Record<Moment, { server: string; client: string }>> = {
  before: { server: 'hello ', client: 'HELLO ' },
  after: { server: 'hello commit ', client: 'HELLO ' },
  answered: { server: 'hello commit ', client: 'HELLO ' },
}
for (const moment of ['before', 'after', 'answered'] as const)
  test(`a pattern on its way to the server, cut: ${moment}`, async () => {
    const cut = proxy.cutNext({ direction: 'to_server', pattern: 'commit', moment })
    caller.socket.write('commit ')
    await cut
    assert.equal(await caller.ended, 'ECONNRESET')
    await server.ended()
    assert.equal(server.heard(), expected[moment].server)
    assert.equal(caller.heard(), expected[moment].client)
  })

test('a pattern in an answer, cut before it arrives, on that one connection only', async () => {
  const other = call(proxy.port)
  other.socket.write('other ')
  await other.until('OTHER ')
  const cut = proxy.cutNext({ direction: 'to_client', pattern: 'COMMIT', moment: 'before' })
  caller.socket.write('commit ')
  await cut
  assert.equal(await caller.ended, 'ECONNRESET')
  assert.match(server.heard(), /commit/)
  assert.equal(caller.heard(), 'HELLO ')
  other.socket.write('again ')
  await other.until('AGAIN ')
  other.socket.destroy()
})

test('a pattern that comes in pieces is found', async () => {
  const cut = proxy.cutNext({ direction: 'to_server', pattern: 'commit', moment: 'before' })
  caller.socket.write('com')
  await caller.until('COM')
  caller.socket.write('mit')
  await cut
  await caller.ended
  assert.equal(server.heard(), 'hello com')
})

test('a number of bytes is counted from when the rule is armed', async () => {
  const cut = proxy.cutNext({ direction: 'to_client', bytes: 6, moment: 'before' })
  caller.socket.write('four')
  await caller.until('FOUR')
  caller.socket.write('ab')
  await cut
  assert.equal(await caller.ended, 'ECONNRESET')
  assert.equal(caller.heard(), 'HELLO FOUR')
})

test('delivers stalled bytes later; resets refused connections', async () => {
  proxy.stall()
  caller.socket.write('late ')
  const other = call(proxy.port)
  other.socket.write('later ')
  await once(other.socket, 'connect')
  proxy.resume()
  await Promise.all([caller.until('LATE '), other.until('LATER ')])
  proxy.refuse()
  assert.equal(await caller.ended, 'ECONNRESET')
  const refused = call(proxy.port)
  assert.equal(await refused.ended, 'ECONNRESET')
  proxy.accept()
  const accepted = call(proxy.port)
  accepted.socket.write('back ')
  await accepted.until('BACK ')
  accepted.socket.destroy()
})

test('a server that is lost is silence to the client', async () => {
  proxy.loseServer()
  await server.ended()
  caller.socket.write('anybody? ')
  const other = call(proxy.port)
  other.socket.write('round trip ')
  await other.until('ROUND TRIP ')
  assert.equal(caller.socket.destroyed, false)
  assert.ok(!server.heard().includes('anybody'))
  other.socket.destroy()
})
