/** One client's connection on a real socket, with time held still: its order, its limits, its end. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { after, afterEach, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { watchAnswer } from '../../../test/support/answer-news.ts'
import { listenerDefaults } from '../../../test/support/listener-options.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { cutAt, everySplit, fuzzRuns, places } from '../../../test/support/pieces.ts'
import { connectRaw, type RawConnection } from '../../../test/support/http-client.ts'
import { systemClock } from '../../base/clock.ts'
import { readBody, type IncomingRequest } from './request.ts'
import { listen, type Listener } from './listener.ts'
import { sendReply } from './reply.ts'
import type { ResponseWriter } from './response-writer.ts'

interface Arrived {
  readonly request: IncomingRequest
  readonly response: ResponseWriter
}

interface Rig {
  readonly clock: ManualClock
  readonly listener: Listener
  readonly url: string
  readonly client: RawConnection
  /** The next request, unanswered. */
  next(): Promise<Arrived>
  readonly arrivedCount: () => number
}

const cleanups: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function start(): Promise<Rig> {
  const clock = new ManualClock()
  const waiting: Arrived[] = []
  let arrivedCount = 0
  let wake: () => void = () => undefined
  const listener = await listen({ ...listenerDefaults, clock }, (request, response) => {
    arrivedCount++
    waiting.push({ request, response })
    wake()
  })
  const url = `http://127.0.0.1:${listener.address.port}`
  const client = await connectRaw(url)
  cleanups.push(async () => {
    client.close()
    await listener.close()
  })
  return {
    clock,
    listener,
    url,
    client,
    arrivedCount: () => arrivedCount,
    async next() {
      for (;;) {
        const arrived = waiting.shift()
        if (arrived !== undefined) return arrived
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}

function answer(response: ResponseWriter, text: string, headers: readonly string[] = []): void {
  response.writeHead(200, headers)
  response.end([Buffer.from(text)])
}

const get = 'GET /a HTTP/1.1\r\nHost: x\r\n\r\n'

function post(body: string, lines = ''): string {
  return `POST /b HTTP/1.1\r\nHost: x\r\n${lines}Content-Length: ${body.length}\r\n\r\n${body}`
}

/** Each writes far more than the kernel holds, and returns how much at least. */
const largeAnswers: Readonly<Record<string, (response: ResponseWriter) => number>> = {
  'a whole answer': (response) => {
    const body = Buffer.alloc(30_000_000, 0x61)
    response.writeHead(200, [])
    response.end([body])
    return body.length
  },
  'an answer under way': writeLarge,
  'an answer that is broken off': (response) => {
    const length = writeLarge(response)
    response.breakOff()
    return length
  },
}

function writeLarge(response: ResponseWriter): number {
  const piece = Buffer.alloc(30_000_000, 0x61)
  response.writeHead(200, [])
  assert.equal(response.write([piece]), false, 'the client is behind')
  return piece.length
}

/** Waits until everything under way between the two ends of a local connection has arrived. */
async function roundTrip(rig: Rig): Promise<void> {
  const other = await connectRaw(rig.url)
  other.write('x\r\n\r\n')
  await other.next()
  other.close()
}

describe('requests on one connection', () => {
  it('reach the handler one at a time, in their order', async () => {
    const rig = await start()
    rig.client.write(get + post('one') + get)
    const first = await rig.next()
    await roundTrip(rig)
    assert.equal(rig.arrivedCount(), 1)
    answer(first.response, 'first')
    const second = await rig.next()
    assert.equal(second.request.method, 'POST')
    assert.equal(Buffer.concat(second.request.body.takeArrived()).toString(), 'one')
    answer(second.response, 'second')
    answer((await rig.next()).response, 'third')
    for (const text of ['first', 'second', 'third'])
      assert.equal((await rig.client.next())?.body.toString(), text)
  })

  it('are read in every split', async () => {
    const bytes = Buffer.from(`${get}\r\n${post('hello')}${get}`)
    const rig = await start()
    // Every third place: with all of them this would be the longest test of the folder.
    for (const pieces of everySplit(bytes).filter((_, index) => index % 3 < 1)) {
      const client = await connectRaw(rig.url)
      const written = client.writePieces(pieces)
      for (const body of ['', 'hello', '']) {
        const { request, response } = await rig.next()
        const reading = await readBody(request.body, {
          bytesMax: 10,
          timeoutMs: 1_000,
          clock: rig.clock,
        })
        assert.equal(reading.kind === 'body' && reading.body.toString(), body)
        answer(response, body)
      }
      for (const body of ['', 'hello', ''])
        assert.equal((await client.next())?.body.toString(), body)
      await written
      client.close()
    }
  })

  it('do not grow the stack when thousands are answered at once', async () => {
    const listener = await listen(
      { ...listenerDefaults, clock: systemClock },
      (request, response) =>
        sendReply(request, response, { status: 200, headers: [], body: Buffer.from('x') }),
    )
    cleanups.push(() => listener.close())
    const client = await connectRaw(`http://127.0.0.1:${listener.address.port}`)
    cleanups.push(() => client.close())
    const count = 3_000
    client.write(get.repeat(count))
    for (let index = 0; index < count; index++)
      assert.equal((await client.next())?.body.toString(), 'x')
  })

  it('are served one per turn, and other clients are served in between', async () => {
    const served: string[] = []
    let onFirst: () => void = () => undefined
    const listener = await listen(
      { ...listenerDefaults, clock: systemClock },
      (request, response) => {
        if (served.length === 0) onFirst()
        served.push(request.target)
        sendReply(request, response, { status: 200, headers: [], body: Buffer.from('x') })
      },
    )
    cleanups.push(() => listener.close())
    const url = `http://127.0.0.1:${listener.address.port}`
    const greedy = await Promise.all(Array.from({ length: 5 }, () => connectRaw(url)))
    const other = await connectRaw(url)
    cleanups.push(() => [...greedy, other].forEach((client) => client.close()))
    // On loopback the bytes are at the other end when `write` returns.
    onFirst = () => other.write('GET /other HTTP/1.1\r\nHost: x\r\n\r\n')
    const perClient = 300
    greedy.forEach((client, at) =>
      client.write(`GET /${at} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(perClient)),
    )
    assert.equal((await other.next())?.body.toString(), 'x')
    for (const client of greedy)
      for (let index = 0; index < perClient; index++) assert.ok((await client.next())?.isComplete)

    // It arrived with the first request. In each turn a client gets one answer at most.
    const waited = served.indexOf('/other')
    assert.ok(waited <= 5 * greedy.length, `${waited} requests were served first`)
    const rounds = served.filter((target) => target !== '/other')
    const turn = rounds.slice(rounds.length / 2).slice(0, greedy.length)
    assert.equal(new Set(turn).size, greedy.length, `a turn served ${turn.join()}`)
  })

  it('that wait for their turn are answered although the client has closed its side', async () => {
    for (const isAsync of [false, true]) {
      const listener = await listen(
        { ...listenerDefaults, clock: systemClock },
        (request, response) => {
          const reply = (): void =>
            sendReply(request, response, { status: 200, headers: [], body: Buffer.from('x') })
          if (isAsync) void Promise.resolve().then(reply)
          else reply()
        },
      )
      cleanups.push(() => listener.close())
      const client = await connectRaw(`http://127.0.0.1:${listener.address.port}`)
      client.write(get.repeat(20))
      client.socket.end()
      let answerCount = 0
      while ((await client.next()) !== undefined) answerCount++
      client.close()
      assert.equal(answerCount, 20)
    }
  })

  it('that wait for their turn do not begin work for a client that has closed its side', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const gone: Array<Promise<void>> = []
    const listener = await listen(
      { ...listenerDefaults, clock: systemClock },
      (request, response) => {
        if (request.method === 'POST') {
          gone.push(watchAnswer(response).gone)
          resolve()
        } else {
          answer(response, 'x')
        }
      },
    )
    cleanups.push(() => listener.close())
    const client = await connectRaw(`http://127.0.0.1:${listener.address.port}`)
    cleanups.push(() => client.close())
    client.write(get + get + post('work') + post('more work'))
    client.socket.end()
    await promise
    await gone[0]
    await until(() => listener.connectionCount() === 0)
    assert.equal(gone.length, 1)
  })

  it('are answered where bytes that are no request came with them, and the connection ends', async () => {
    for (const bytes of ['\0\0\r\n\r\n', '\x16\x03\x01', 'no request\r\n\r\n', `x\r\n\r\n${get}`]) {
      const rig = await start()
      rig.client.write(Buffer.from(get + bytes, 'latin1'))
      const { response } = await rig.next()
      rig.client.write(get)
      await roundTrip(rig)
      answer(response, 'whole')
      const whole = await rig.client.next()
      assert.equal(whole?.body.toString(), 'whole')
      assert.equal(whole.headers['connection'], 'close')
      assert.equal(await rig.client.next(), undefined)
      assert.equal(rig.arrivedCount(), 1)
    }
  })

  it('are answered where bytes that are no request came with the end of their body', async () => {
    for (const split of [1, 4, 5]) {
      const rig = await start()
      const whole = post('hello', 'Connection: keep-alive\r\n')
      const rest = whole.length - split
      rig.client.write(whole.slice(0, rest))
      const { request, response } = await rig.next()
      const reading = readBody(request.body, { bytesMax: 5, timeoutMs: 1_000, clock: rig.clock })
      rig.client.write(`${whole.slice(rest)}no request\r\n\r\n`)
      const read = await reading
      assert.equal(read.kind === 'body' && read.body.toString(), 'hello')
      answer(response, 'whole')
      const answered = await rig.client.next()
      assert.equal(answered?.body.toString(), 'whole')
      assert.equal(answered.headers['connection'], 'close')
      assert.equal(await rig.client.next(), undefined)
      assert.equal(rig.arrivedCount(), 1)
    }
  })

  it('sent ahead are kept up to a bound, then reading pauses', async () => {
    const rig = await start()
    rig.client.write(get)
    const { response } = await rig.next()
    const socket = rig.client.socket
    const block = Buffer.from(get.repeat(2_000))
    let writtenCount = 0
    // The kernel takes some megabytes at most; a listener that read on would take all of it.
    while (writtenCount < 1_000 && socket.writableLength === 0) {
      socket.write(block)
      writtenCount++
      await new Promise((resolve) => setImmediate(resolve))
      if (socket.writableLength > 0) await roundTrip(rig)
    }
    assert.ok(writtenCount < 1_000, 'everything was read')
    assert.equal(rig.arrivedCount(), 1)
    answer(response, 'first')
    answer((await rig.next()).response, 'second')
    assert.equal((await rig.client.next())?.body.toString(), 'first')
    assert.equal((await rig.client.next())?.body.toString(), 'second')
  })

  it('of a client that receives no answers stop being read', async () => {
    const big = Buffer.alloc(200_000, 0x61)
    let servedCount = 0
    const listener = await listen(
      { ...listenerDefaults, clock: systemClock },
      (request, response) => {
        servedCount++
        sendReply(request, response, { status: 200, headers: [], body: big })
      },
    )
    cleanups.push(() => listener.close())
    const socket = connect(listener.address.port, '127.0.0.1')
    cleanups.push(() => void socket.destroy())
    await once(socket, 'connect')
    // Far more than the kernel's buffers and ours take together, the requests as well as the answers.
    socket.write(get.repeat(500_000))
    await until(() => servedCount > 0)
    const stoppedAt = await settled(() => servedCount)
    assert.ok(stoppedAt < 4_000, `${stoppedAt} were answered, and no answer was taken`)
    assert.ok(socket.writableLength > 0, 'all requests were read, and no answer was taken')
    socket.resume()
    await until(() => servedCount > stoppedAt)
  })

  it('are the last with connection: close or HTTP/1.0', async () => {
    for (const last of [
      'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      'GET / HTTP/1.0\r\n\r\n',
    ]) {
      const rig = await start()
      rig.client.write(last + get)
      answer((await rig.next()).response, 'only')
      const only = await rig.client.next()
      assert.equal(only?.body.toString(), 'only')
      assert.equal(only.headers['connection'], 'close')
      assert.equal(await rig.client.next(), undefined)
      assert.equal(rig.arrivedCount(), 1)
    }
  })

  it('answered before their body was read leave no byte of it to the next', async () => {
    const rig = await start()
    rig.client.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${get.length}\r\n\r\n`)
    const { request, response } = await rig.next()
    sendReply(request, response, { status: 401, headers: [], body: Buffer.from('no') })
    assert.equal((await rig.client.next())?.status, 401)
    rig.client.write(get + get)
    const next = await rig.next()
    answer(next.response, 'yes')
    assert.equal((await rig.client.next())?.body.toString(), 'yes')
    assert.equal(rig.arrivedCount(), 2)
  })
})

describe('an answer', () => {
  it('is one write on the wire, and a stream one write for each piece', async () => {
    const rig = await start()
    const pieces: string[] = []
    const socket = connect(rig.listener.address.port, '127.0.0.1')
    cleanups.push(() => void socket.destroy())
    socket.on('data', (piece: Buffer) => pieces.push(piece.toString()))
    socket.write(get)
    answer((await rig.next()).response, 'whole', ['a', 'b'])
    await until(() => pieces.length > 0)
    assert.match(pieces.join('|'), /^HTTP\/1\.1 200 OK\r\na: b\r\ndate: [^|]*\r\n\r\nwhole$/)
    pieces.length = 0
    socket.write(get)
    const { response } = await rig.next()
    response.writeHead(200, [])
    response.write([Buffer.from('one'), Buffer.from(' two')])
    await until(() => pieces.length > 0)
    assert.match(pieces.join('|'), /transfer-encoding: chunked\r\n\r\n7\r\none two\r\n$/)
    response.end([Buffer.from('three')])
    await until(() => pieces.length > 1)
    assert.equal(pieces.slice(1).join('|'), '5\r\nthree\r\n0\r\n\r\n')
  })

  it('to HEAD has the length and no body; 204 has neither', async () => {
    const rig = await start()
    rig.client.write('HEAD / HTTP/1.1\r\nHost: x\r\n\r\n')
    answer((await rig.next()).response, 'unseen')
    const head = await rig.client.next({ isHead: true })
    assert.equal(head?.headers['content-length'], '6')
    rig.client.write(get)
    const { response } = await rig.next()
    response.writeHead(204, [])
    response.end()
    const empty = await rig.client.next()
    assert.equal(empty?.status, 204)
    assert.equal(empty.headers['content-length'], undefined)
    rig.client.write(get)
    answer((await rig.next()).response, 'seen')
    assert.equal((await rig.client.next())?.body.toString(), 'seen')
  })

  it('streamed to HTTP/1.0 has no chunks and ends with the connection', async () => {
    const rig = await start()
    rig.client.write('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
    const { response } = await rig.next()
    response.writeHead(200, [])
    response.write([Buffer.from('one')])
    response.end([Buffer.from(' two')])
    const streamed = await rig.client.next()
    assert.ok(streamed?.isComplete)
    assert.equal(streamed.headers['transfer-encoding'], undefined)
    assert.equal(streamed.headers['connection'], 'close')
    assert.equal(streamed.body.toString(), 'one two')
  })

  it('of any size arrives whole', async () => {
    const rig = await start()
    for (const size of [16_000, 20_000, 5_000_000]) {
      const body = Buffer.alloc(size, 0x61)
      for (const isStream of [false, true]) {
        rig.client.write(get)
        const { response } = await rig.next()
        response.writeHead(200, [])
        if (isStream) response.write([body])
        response.end(isStream ? [] : [body])
        const received = await rig.client.next()
        assert.ok(received?.isComplete)
        assert.ok(received.body.equals(body))
      }
    }
  })

  it('reports when the client is behind, and when it has caught up', async () => {
    const rig = await start()
    rig.client.socket.pause()
    rig.client.write(get)
    const { response } = await rig.next()
    response.writeHead(200, [])
    const block = Buffer.alloc(100_000, 0x61)
    const { drained } = watchAnswer(response)
    let blockCount = 1
    while (response.write([block])) blockCount++
    rig.client.socket.resume()
    await drained
    response.end()
    assert.equal((await rig.client.next())?.body.length, blockCount * block.length)
  })

  it('that is broken off is flushed and incomplete', async () => {
    const rig = await start()
    rig.client.write(get)
    const { response } = await rig.next()
    response.writeHead(200, [])
    response.write([Buffer.from('half')])
    response.breakOff()
    const broken = await rig.client.next()
    assert.equal(broken?.body.toString(), 'half')
    assert.equal(broken.isComplete, false)
  })

  it('rejects an invalid header and a header about its framing', async () => {
    const rig = await start()
    rig.client.write(get)
    const { response } = await rig.next()
    for (const header of [
      ['a', 'b\r\nc: d'],
      ['a b', 'c'],
      ['a', '\u0100'],
      ['Content-Length', '1'],
      ['transfer-encoding', 'chunked'],
    ])
      assert.throws(() => response.writeHead(200, header), { name: 'InvariantError' })
    answer(response, 'still possible')
    assert.equal((await rig.client.next())?.body.toString(), 'still possible')
  })
})

describe('a client that leaves', () => {
  for (const way of ['end', 'resetAndDestroy'] as const) {
    it(`by ${way} during its request is noticed once`, async () => {
      const rig = await start()
      rig.client.write(get)
      const { response } = await rig.next()
      const { gone, goneCount } = watchAnswer(response)
      rig.client.socket[way]()
      await gone
      assert.equal(response.isGone, true)
      response.writeHead(200, [])
      assert.equal(response.write([Buffer.from('unheard')]), true)
      response.end()
      await until(() => rig.listener.connectionCount() === 0)
      assert.equal(goneCount(), 1)
    })
  }

  it('after a whole answer is not reported', async () => {
    const rig = await start()
    rig.client.write(get)
    const { response } = await rig.next()
    const { goneCount } = watchAnswer(response)
    answer(response, 'whole')
    rig.client.socket.resetAndDestroy()
    await until(() => rig.listener.connectionCount() === 0)
    assert.equal(goneCount(), 0)
  })

  it('or sends what cannot become a request during an answer is cut off', async () => {
    for (const bytes of ['\0\0\r\n\r\n', '\x16\x03\x01', 'no request\r\n\r\n']) {
      const rig = await start()
      rig.client.write(get)
      const { response } = await rig.next()
      const { gone } = watchAnswer(response)
      rig.client.write(Buffer.from(bytes, 'latin1'))
      await gone
      assert.equal(await rig.client.next(), undefined)
    }
  })
})

describe('the time', () => {
  it('for a head runs from the start of the connection, also for a slow sender', async () => {
    const rig = await start()
    for (const byte of get.slice(0, 9)) {
      rig.client.write(byte)
      await roundTrip(rig)
      rig.clock.advance(1_000)
    }
    rig.clock.advance(1_100)
    assert.equal((await rig.client.next())?.status, 408)
    assert.equal(await rig.client.next(), undefined)
    assert.equal(rig.arrivedCount(), 0)
  })

  it('for a later head runs from its first byte', async () => {
    const rig = await start()
    rig.client.write(get)
    answer((await rig.next()).response, 'x')
    await rig.client.next()
    rig.clock.advance(70_000)
    rig.client.write('GET / ')
    await roundTrip(rig)
    rig.clock.advance(9_900)
    rig.client.write('HTTP/1.1\r\nHost: x\r\n\r\n')
    answer((await rig.next()).response, 'in time')
    assert.equal((await rig.client.next())?.body.toString(), 'in time')
  })

  it('for an unread body is bounded', async () => {
    const rig = await start()
    rig.client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab')
    const { response } = await rig.next()
    const { gone } = watchAnswer(response)
    rig.clock.advance(60_100)
    await gone
    assert.equal((await rig.client.next())?.status, 408)
  })

  it('for the rest of a body after its answer is bounded', async () => {
    const rig = await start()
    rig.client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab')
    const { request, response } = await rig.next()
    sendReply(request, response, { status: 401, headers: [], body: Buffer.from('no') })
    assert.equal((await rig.client.next())?.status, 401)
    rig.clock.advance(60_100)
    assert.equal(await rig.client.next(), undefined)
  })

  it('for an answer is not bounded here', async () => {
    const rig = await start()
    rig.client.write(get)
    const { response } = await rig.next()
    rig.clock.advance(10_000_000)
    answer(response, 'late')
    assert.equal((await rig.client.next())?.body.toString(), 'late')
  })

  it('between requests is bounded, and a silent connection is closed without an answer', async () => {
    const rig = await start()
    rig.client.write(get)
    answer((await rig.next()).response, 'x')
    await rig.client.next()
    let hasEnded = false
    void rig.client.ended.then(() => (hasEnded = true))
    rig.clock.advance(74_900)
    await roundTrip(rig)
    assert.equal(hasEnded, false)
    rig.clock.advance(200)
    assert.equal(await rig.client.next(), undefined)

    const silent = await start()
    silent.clock.advance(10_100)
    assert.equal(await silent.client.next(), undefined)
  })

  it('to receive a refusal is bounded, and so are the bytes read behind it', async () => {
    const rig = await start()
    rig.client.socket.on('error', () => undefined)
    rig.client.write('no request\r\n\r\n')
    assert.equal((await rig.client.next())?.status, 400)
    await rig.client.ended
    // Our end is closed and the client's is not: it has a moment, and no more.
    assert.equal(rig.listener.connectionCount(), 1)
    rig.clock.advance(1_100)
    await until(() => rig.listener.connectionCount() === 0)
  })

  it('for a large answer is not up while the client receives some of it', async () => {
    for (const last of ['', 'Connection: close\r\n']) {
      const rig = await start()
      const reader = await slowReader(rig, last)
      const body = Buffer.alloc(60_000_000, 0x61)
      const { response } = await rig.next()
      response.writeHead(200, [])
      response.end([body])
      // More at a time than the kernel keeps for both ends: some of it has just left the gateway.
      for (let taken = 12_000_000; taken < body.length; taken += 12_000_000) {
        rig.clock.advance(50_000)
        await reader.take(taken)
        await turn()
        assert.equal(rig.listener.connectionCount(), 1)
      }
      await reader.take(body.length)
    }
  })

  it('to receive nothing of a large answer is bounded', async () => {
    for (const last of ['', 'Connection: close\r\n']) {
      const rig = await start()
      await slowReader(rig, last)
      answer((await rig.next()).response, 'x'.repeat(30_000_000))
      await turn()
      rig.clock.advance(59_000)
      await turn()
      assert.equal(rig.listener.connectionCount(), 1)
      // Once more the whole limit: the kernel may have taken the last it can hold just before.
      rig.clock.advance(61_000)
      await until(() => rig.listener.connectionCount() === 0)
    }
  })

  for (const [name, go] of Object.entries(largeAnswers)) {
    it(`for ${name} is up when the client has received nothing for as long`, async () => {
      const rig = await start()
      const reader = await slowReader(rig)
      go((await rig.next()).response)
      await reader.take(600_000)
      await turn()
      rig.clock.advance(59_000)
      await turn()
      assert.equal(rig.listener.connectionCount(), 1)
      rig.clock.advance(70_000)
      await until(() => rig.listener.connectionCount() === 0)
    })
  }

  it('between requests runs from when the client has received the answer', async () => {
    const rig = await start()
    const reader = await slowReader(rig)
    const body = Buffer.alloc(30_000_000, 0x61)
    const { response } = await rig.next()
    response.writeHead(200, [])
    response.end([body])
    rig.clock.advance(50_000)
    await reader.take(body.length)
    await roundTrip(rig)
    await until(() => rig.listener.connectionCount() === 1)
    rig.clock.advance(73_000)
    await turn()
    assert.equal(rig.listener.connectionCount(), 1)
    rig.clock.advance(3_000)
    await until(() => rig.listener.connectionCount() === 0)
  })
})

it('a drain closes each connection after its answer', async () => {
  const rig = await start()
  rig.client.write(get)
  const { response } = await rig.next()
  const drained = rig.listener.drain()
  answer(response, 'last')
  assert.equal((await rig.client.next())?.headers['connection'], 'close')
  await drained
  assert.equal(rig.listener.connectionCount(), 0)
})

interface SlowReader {
  /** Takes so many bytes in all, and then no more. Rejects where the connection ends before. */
  take(bytes: number): Promise<void>
}

/**
 * Sends a request on a second connection, because the rig's is closed, and reads only as much of the answer
 * as the test says.
 */
async function slowReader(rig: Rig, lines = ''): Promise<SlowReader> {
  rig.client.close()
  const socket = connect(rig.listener.address.port, '127.0.0.1')
  cleanups.push(() => void socket.destroy())
  let takenBytes = 0
  let onTaken: () => void = () => undefined
  let onClosed: () => void = () => undefined
  socket.on('close', () => onClosed())
  socket.on('data', (piece: Buffer) => {
    takenBytes += piece.length
    onTaken()
  })
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\n${lines}\r\n`)
  socket.pause()
  return {
    take: (bytes) =>
      new Promise((resolve, reject) => {
        onTaken = () => {
          if (takenBytes < bytes) return
          socket.pause()
          resolve()
        }
        onClosed = () => reject(new Error(`ended behind ${takenBytes} bytes`))
        socket.resume()
        onTaken()
      }),
  }
}

async function turn(): Promise<void> {
  for (let step = 0; step < 3; step++) await new Promise((resolve) => setImmediate(resolve))
}

/** The value once it has stood still for many turns; a slow machine has it stand still earlier, no more. */
async function settled(read: () => number): Promise<number> {
  let value = read()
  for (let still = 0; still < 50; still++) {
    await turn()
    if (read() !== value) still = 0
    value = read()
  }
  return value
}

/** Resolves when it is so, looking once per turn; the runner's own limit ends what never comes. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}

// --- beside Node's own server ------------------------------------------------------------------

interface Seen {
  readonly method: string | undefined
  readonly target: string | undefined
  readonly headers: readonly string[]
  readonly body: string
}

const firstLines = fc.constantFrom(
  'GET / HTTP/1.1\r\n',
  'POST /a?b HTTP/1.1\r\n',
  'POST /a HTTP/1.1\r\n',
  'HEAD / HTTP/1.0\r\n',
  'POST  / HTTP/1.1\r\n',
  '\r\nPOST / HTTP/1.1\r\n',
  'PROPFIND / HTTP/1.1\r\n',
)
const fieldLines = fc.constantFrom(
  'Host: a\r\n',
  'Host: a\r\n',
  'Host: a\r\n',
  'X-A:\t b \r\n',
  'a : b\r\n',
  ' c\r\n',
  'a: b\n',
  'Connection: close\r\n',
  'Expect: x\r\n',
)
const bodies = fc.constantFrom(
  '\r\n',
  '\r\n',
  'Content-Length: 5\r\n\r\nhello',
  'content-length: 05\r\n\r\nhello',
  'Content-Length: 5\r\ncontent-length: 5\r\n\r\nhello',
  'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n1\r\n!\r\n0\r\na: b\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n-1\r\nhello\r\n0\r\n\r\n',
)
const requests = fc
  .tuple(firstLines, fc.array(fieldLines, { minLength: 1, maxLength: 3 }), bodies)
  .map(([line, fields, body]) => line + fields.join('') + body)

describe("beside Node's server", () => {
  const seenByNode: Seen[] = []
  const node = createServer((request: IncomingMessage, response) => {
    let body = ''
    request.setEncoding('latin1')
    request.on('data', (text: string) => (body += text))
    request.on('end', () => {
      const { method, url: target, rawHeaders: headers } = request
      seenByNode.push({ method, target, headers, body })
      response.end()
    })
  })
  after(() => node.close())

  it('a request in any pieces is read as Node reads it', async () => {
    const seen: Seen[] = []
    const listener = await listen(
      { ...listenerDefaults, clock: systemClock },
      (request, response) => {
        void record(request, response, seen)
      },
    )
    cleanups.push(() => listener.close())
    node.listen(0, '127.0.0.1')
    await once(node, 'listening')
    const nodeUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
    const ourUrl = `http://127.0.0.1:${listener.address.port}`
    let comparedCount = 0
    await fc.assert(
      fc.asyncProperty(requests, places(60), async (text, cuts) => {
        const bytes = Buffer.from(text)
        const pieces = cutAt(
          bytes,
          cuts.map((cut) => Math.min(cut, bytes.length)),
        )
        await ask(ourUrl, pieces)
        await ask(nodeUrl, [bytes])
        if (seen.length > 0) {
          comparedCount++
          assert.deepEqual(seen, seenByNode)
        }
        seen.length = 0
        seenByNode.length = 0
      }),
      { numRuns: fuzzRuns },
    )
    assert.ok(comparedCount > fuzzRuns / 30, `only ${comparedCount} requests were compared`)
  })
})

async function record(
  request: IncomingRequest,
  response: ResponseWriter,
  seen: Seen[],
): Promise<void> {
  const limitsOfBody = { bytesMax: 1_000, timeoutMs: 60_000, clock: systemClock }
  const reading = await readBody(request.body, limitsOfBody)
  if (reading.kind !== 'body') return
  const { method, target, fields } = request
  seen.push({ method, target, headers: fields.flat(), body: reading.body.toString('latin1') })
  sendReply(request, response, { status: 200, headers: [], body: Buffer.alloc(0) })
}

/** Sends the bytes and waits for one answer, or for the end. */
async function ask(url: string, pieces: readonly Buffer[]): Promise<void> {
  const client = await connectRaw(url)
  await client.writePieces(pieces.filter((piece) => piece.length > 0))
  await client.next({ isHead: pieces[0]?.subarray(0, 4).toString() === 'HEAD' })
  client.close()
}
