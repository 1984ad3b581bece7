/** Bodies as clients really send them: whole, in crumbs, chunked, too large, too slow, cut off. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { readBody, type BodyReading } from './body.ts'

const cleanups: Array<() => void> = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup()
})

interface Arrived {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

interface Connection {
  readonly client: Socket
  /** The next request; its body is not yet being read. */
  readonly arrived: () => Promise<Arrived>
}

async function openConnection(): Promise<Connection> {
  const server = createServer()
  const waiting: Arrived[] = []
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    waiting.push({ request, response })
    server.emit('arrived')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => client.destroy())
  cleanups.push(() => {
    client.destroy()
    server.closeAllConnections()
    server.close()
  })
  return {
    client,
    async arrived() {
      if (waiting.length === 0) await once(server, 'arrived')
      return waiting.shift() ?? assert.fail()
    },
  }
}

const head = 'POST / HTTP/1.1\r\nhost: x\r\n'

interface Reading {
  readonly clock: ManualClock
  readonly reading: Promise<BodyReading>
}

function read(request: IncomingMessage, bytesMax = 1_000_000): Reading {
  const clock = new ManualClock()
  return { clock, reading: readBody(request, { bytesMax, timeoutMs: 1_000, clock }) }
}

async function expectBody({ clock, reading }: Reading): Promise<Buffer> {
  const result = await reading
  assert.equal(result.kind, 'body')
  assert.equal(clock.pendingCount, 0, 'no timer is left behind')
  return result.kind === 'body' ? result.body : assert.fail()
}

describe('a body', () => {
  it('of announced length is read whole', async () => {
    const { client, arrived } = await openConnection()
    client.write(`${head}content-length: 5\r\n\r\nhello`)
    const { request } = await arrived()
    assert.equal((await expectBody(read(request))).toString(), 'hello')
  })

  it('that has arrived before anybody reads needs no timer', async () => {
    const { client, arrived } = await openConnection()
    client.write(`${head}content-length: 5\r\n\r\nhello`)
    const { request } = await arrived()
    while (!request.complete) await new Promise((resolve) => setImmediate(resolve))
    const started = read(request)
    assert.equal(started.clock.pendingCount, 0)
    assert.equal((await expectBody(started)).toString(), 'hello')
  })

  it('that has arrived in several pieces before anybody reads is put together', async () => {
    const { client, arrived } = await openConnection()
    for (const last of ['!', '?']) {
      client.write(`${head}content-length: 6\r\n\r\nhe`)
      const { request, response } = await arrived()
      for (const [piece, bytes] of [
        ['ll', 4],
        [`o${last}`, 6],
      ] as const) {
        client.write(piece)
        while (request.readableLength < bytes) await new Promise((resolve) => setImmediate(resolve))
      }
      while (!request.complete) await new Promise((resolve) => setImmediate(resolve))
      const started = read(request)
      assert.equal(started.clock.pendingCount, 0)
      assert.equal((await expectBody(started)).toString(), `hello${last}`)
      response.end()
    }
  })

  it('leaves the connection ready for the next request', async () => {
    const { client, arrived } = await openConnection()
    for (const text of ['first', 'other']) {
      client.write(`${head}content-length: 5\r\n\r\n${text}`)
      const { request, response } = await arrived()
      assert.equal((await expectBody(read(request))).toString(), text)
      response.end()
    }
  })

  it('may be absent or empty', async () => {
    const { client, arrived } = await openConnection()
    for (const framing of ['', 'content-length: 0\r\n', 'transfer-encoding: chunked\r\n']) {
      client.write(`${head}${framing}\r\n${framing.startsWith('t') ? '0\r\n\r\n' : ''}`)
      const { request, response } = await arrived()
      assert.equal((await expectBody(read(request))).length, 0)
      response.end()
    }
  })

  it('in chunks is put together, with the bytes as they came', async () => {
    const { client, arrived } = await openConnection()
    const part = Buffer.from(Array.from({ length: 30_000 }, (_, index) => index % 251))
    client.write(`${head}transfer-encoding: chunked\r\n\r\n`)
    const { request } = await arrived()
    const started = read(request)
    for (let count = 0; count < 5; count++) {
      client.write(`${part.length.toString(16)}\r\n`)
      client.write(part)
      client.write('\r\n')
    }
    client.write('0\r\n\r\n')
    assert.deepEqual(await expectBody(started), Buffer.concat([part, part, part, part, part]))
  })

  it('larger than what is trusted at once is put together as well', async () => {
    const { client, arrived } = await openConnection()
    const body = Buffer.from(Array.from({ length: 900_001 }, (_, index) => index % 251))
    client.write(`${head}content-length: ${body.length}\r\n\r\n`)
    client.write(body)
    const { request } = await arrived()
    assert.ok((await expectBody(read(request))).equals(body))
  })

  it('in a hundred thousand crumbs takes linear time', async () => {
    const { client, arrived } = await openConnection()
    client.write(`${head}transfer-encoding: chunked\r\n\r\n`)
    const { request } = await arrived()
    const started = read(request)
    client.write('1\r\na\r\n'.repeat(100_000) + '0\r\n\r\n')
    const body = await expectBody(started)
    assert.equal(body.length, 100_000)
    assert.ok(body.every((byte) => byte === 0x61))
  })

  it('of exactly the most bytes allowed is taken, of one more refused', async () => {
    for (const framed of [
      (text: string) => `content-length: ${text.length}\r\n\r\n${text}`,
      (text: string) => `transfer-encoding: chunked\r\n\r\n${text.length}\r\n${text}\r\n0\r\n\r\n`,
    ]) {
      const { client, arrived } = await openConnection()
      client.write(head + framed('12345'))
      const fitting = await arrived()
      assert.equal((await expectBody(read(fitting.request, 5))).length, 5)
      fitting.response.end()
      client.write(head + framed('123456'))
      const { request } = await arrived()
      const { clock, reading } = read(request, 5)
      assert.deepEqual(await reading, { kind: 'too_large' })
      assert.equal(clock.pendingCount, 0)
    }
  })

  it('announced too large is refused before a byte of it has come', async () => {
    const { client, arrived } = await openConnection()
    client.write(`${head}content-length: 6\r\n\r\n`)
    const { request } = await arrived()
    assert.deepEqual(await read(request, 5).reading, { kind: 'too_large' })
  })

  it('found too large is not read on', async () => {
    const { client, arrived } = await openConnection()
    client.write(`${head}transfer-encoding: chunked\r\n\r\n6\r\n123456\r\n`)
    const { request } = await arrived()
    await read(request, 5).reading
    assert.equal(request.isPaused(), true)
    assert.equal(request.listenerCount('data'), 0)
  })

  it('that does not come in time is given up', async () => {
    const { client, arrived } = await openConnection()
    client.write(`${head}content-length: 5\r\n\r\nhal`)
    const { request } = await arrived()
    const { clock, reading } = read(request)
    clock.advance(999)
    assert.equal(clock.pendingCount, 1)
    clock.advance(1)
    assert.deepEqual(await reading, { kind: 'timed_out' })
  })

  it('of a client that goes away is not taken for a whole one', async () => {
    for (const framing of [
      'content-length: 5\r\n\r\nhal',
      'transfer-encoding: chunked\r\n\r\n3\r\nhal\r\n',
    ]) {
      for (const leave of ['end', 'reset'] as const) {
        const { client, arrived } = await openConnection()
        client.write(head + framing)
        const { request } = await arrived()
        const { clock, reading } = read(request)
        if (leave === 'end') client.end()
        else client.resetAndDestroy()
        assert.deepEqual(await reading, { kind: 'client_gone' })
        assert.equal(clock.pendingCount, 0)
      }
    }
  })

  it('of a client that has gone already is not waited for', async () => {
    const { client, arrived } = await openConnection()
    client.write(`${head}content-length: 5\r\n\r\nhal`)
    const { request } = await arrived()
    client.resetAndDestroy()
    // Not `once`, which would listen for errors as well: readBody must do without.
    await new Promise((resolve) => request.on('close', resolve))
    assert.deepEqual(await read(request).reading, { kind: 'client_gone' })
  })
})
