/** Bodies as clients really send them: whole, in crumbs, chunked, too large, too slow, cut off. */
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { watchAnswer } from '../../../test/support/answer-news.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { listenerDefaults } from '../../../test/support/listener-options.ts'
import { systemClock } from '../../base/clock.ts'
import { readBody, type BodyReading, IncomingBody, type IncomingRequest } from './request.ts'
import { listen } from './listener.ts'
import type { ResponseWriter } from './response-writer.ts'

const cleanups: Array<() => void> = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup()
})

interface Arrived {
  readonly request: IncomingRequest
  readonly response: ResponseWriter
}

interface Connection {
  readonly client: Socket
  /** The next request; its body is not yet being read. */
  readonly arrived: () => Promise<Arrived>
}

async function openConnection(): Promise<Connection> {
  const waiting: Arrived[] = []
  const news = new EventEmitter()
  const listener = await listen(
    { ...listenerDefaults, clock: systemClock },
    (request, response) => {
      waiting.push({ request, response })
      news.emit('arrived')
    },
  )
  const client = connect(listener.address.port, '127.0.0.1')
  client.on('error', () => client.destroy())
  cleanups.push(() => {
    client.destroy()
    void listener.close()
  })
  return {
    client,
    async arrived() {
      if (waiting.length === 0) await once(news, 'arrived')
      return waiting.shift() ?? assert.fail()
    },
  }
}

const head = 'POST / HTTP/1.1\r\nhost: x\r\n'

function finish(response: ResponseWriter): void {
  response.writeHead(200, [])
  response.end()
}

interface Reading {
  readonly clock: ManualClock
  readonly reading: BodyReading | Promise<BodyReading>
}

function read(request: IncomingRequest, bytesMax = 1_000_000): Reading {
  const clock = new ManualClock()
  return { clock, reading: readBody(request.body, { bytesMax, timeoutMs: 1_000, clock }) }
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

  it('that has arrived before it is read needs no timer', async () => {
    const { client, arrived } = await openConnection()
    client.write(`${head}content-length: 5\r\n\r\nhello`)
    const { request } = await arrived()
    assert.ok(request.body.isComplete)
    const started = read(request)
    assert.equal(started.clock.pendingCount, 0)
    assert.equal((await expectBody(started)).toString(), 'hello')
  })

  it('that arrives in several pieces, some before it is read, is joined', async () => {
    const { client, arrived } = await openConnection()
    for (const last of ['!', '?']) {
      client.write(`${head}content-length: 6\r\n\r\nhe`)
      const { request, response } = await arrived()
      client.write('ll')
      client.write(`o${last}`)
      const started = read(request)
      assert.equal((await expectBody(started)).toString(), `hello${last}`)
      finish(response)
    }
  })

  it('leaves the connection ready for the next request', async () => {
    const { client, arrived } = await openConnection()
    for (const text of ['first', 'other']) {
      client.write(`${head}content-length: 5\r\n\r\n${text}`)
      const { request, response } = await arrived()
      assert.equal((await expectBody(read(request))).toString(), text)
      finish(response)
    }
  })

  it('may be absent or empty', async () => {
    const { client, arrived } = await openConnection()
    for (const framing of ['', 'content-length: 0\r\n', 'transfer-encoding: chunked\r\n']) {
      client.write(`${head}${framing}\r\n${framing.startsWith('t') ? '0\r\n\r\n' : ''}`)
      const { request, response } = await arrived()
      assert.equal((await expectBody(read(request))).length, 0)
      finish(response)
    }
  })

  it('in chunks is joined, with its bytes unchanged', async () => {
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

  it('larger than the first Buffer is joined as well', async () => {
    const { client, arrived } = await openConnection()
    const body = Buffer.from(Array.from({ length: 900_001 }, (_, index) => index % 251))
    client.write(`${head}content-length: ${body.length}\r\n\r\n`)
    client.write(body)
    const { request } = await arrived()
    assert.ok((await expectBody(read(request))).equals(body))
  })

  it('in a hundred thousand pieces takes linear time', async () => {
    const { client, arrived } = await openConnection()
    client.write(`${head}transfer-encoding: chunked\r\n\r\n`)
    const { request } = await arrived()
    const started = read(request)
    client.write('1\r\na\r\n'.repeat(100_000) + '0\r\n\r\n')
    const body = await expectBody(started)
    assert.equal(body.length, 100_000)
    assert.ok(body.every((byte) => byte === 0x61))
  })

  it('of exactly the limit is accepted, of one byte more refused', async () => {
    for (const framed of [
      (text: string) => `content-length: ${text.length}\r\n\r\n${text}`,
      (text: string) => `transfer-encoding: chunked\r\n\r\n${text.length}\r\n${text}\r\n0\r\n\r\n`,
    ]) {
      const { client, arrived } = await openConnection()
      client.write(head + framed('12345'))
      const fitting = await arrived()
      assert.equal((await expectBody(read(fitting.request, 5))).length, 5)
      finish(fitting.response)
      client.write(head + framed('123456'))
      const { request } = await arrived()
      const { clock, reading } = read(request, 5)
      assert.deepEqual(await reading, { kind: 'too_large' })
      assert.equal(clock.pendingCount, 0)
    }
  })

  it('announced too large is refused before a byte has arrived', async () => {
    const { client, arrived } = await openConnection()
    client.write(`${head}content-length: 6\r\n\r\n`)
    const { request } = await arrived()
    assert.deepEqual(await read(request, 5).reading, { kind: 'too_large' })
  })

  it('found too large is read no further', async () => {
    let isReading = false
    const body = new IncomingBody(
      { kind: 'chunked' },
      {
        pauseReading: () => void (isReading = false),
        resumeReading: () => void (isReading = true),
      },
    )
    const clock = new ManualClock()
    const reading = readBody(body, { bytesMax: 5, timeoutMs: 1_000, clock })
    assert.equal(isReading, true)
    body.push(Buffer.from('6\r\n123456\r\n'), 0)
    assert.deepEqual(await reading, { kind: 'too_large' })
    assert.equal(isReading, false)
    assert.equal(clock.pendingCount, 0)
  })

  it('that does not arrive in time times out', async () => {
    const { client, arrived } = await openConnection()
    client.write(`${head}content-length: 5\r\n\r\nhal`)
    const { request } = await arrived()
    const { clock, reading } = read(request)
    clock.advance(999)
    assert.equal(clock.pendingCount, 1)
    clock.advance(1)
    assert.deepEqual(await reading, { kind: 'timed_out' })
  })

  it('of a client that leaves is not complete', async () => {
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

  it('of a client that has left already ends at once', async () => {
    const { client, arrived } = await openConnection()
    client.write(`${head}content-length: 5\r\n\r\nhal`)
    const { request, response } = await arrived()
    const { gone } = watchAnswer(response)
    client.resetAndDestroy()
    await gone
    assert.deepEqual(await read(request).reading, { kind: 'client_gone' })
  })
})
