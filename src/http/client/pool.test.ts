/** Round trips against scripted sockets: every moment at which a vendor can fail, and what is kept. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  connect,
  createServer,
  type AddressInfo,
  type Server,
  Socket,
  type TcpNetConnectOpts,
} from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
} from 'node:tls'
import * as fc from 'fast-check'
import { makeCertificate } from '../../../test/support/certificate.ts'
import { requestLines } from '../wire/head-lines.ts'
import { type UpstreamOptions, UpstreamPools } from './pool.ts'
import type {
  UpstreamCall,
  UpstreamFailure,
  UpstreamHead,
  UpstreamReceiver,
  UpstreamRequest,
} from './upstream.ts'

const cleanups: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function open(options: Partial<UpstreamOptions> = {}): UpstreamPools {
  const upstream = new UpstreamPools({ connectTimeoutMs: 2_000, ...options })
  cleanups.push(() => upstream.close())
  return upstream
}

interface Vendor {
  readonly target: { readonly url: string; readonly name: string }
  readonly connections: Socket[]
  /** Requests seen so far, as text, across all connections. */
  readonly requests: string[]
}

/** `answer` runs for each complete request; `index` counts requests over all connections. */
async function startVendor(
  answer: (socket: Socket, index: number) => void,
  server: Server = createServer(),
  event = 'connection',
): Promise<Vendor> {
  const connections: Socket[] = []
  const requests: string[] = []
  server.on(event, (socket: Socket) => {
    connections.push(socket)
    let received = ''
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
      for (;;) {
        const length = findRequestLength(received)
        if (length === undefined) break
        requests.push(received.slice(0, length))
        received = received.slice(length)
        answer(socket, requests.length - 1)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    for (const socket of connections) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const scheme = event === 'connection' ? 'http' : 'https'
  return {
    target: { url: `${scheme}://127.0.0.1:${port}`, name: 'alpha-main' },
    connections,
    requests,
  }
}

function findRequestLength(received: string): number | undefined {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const length = /content-length: (\d+)/i.exec(received.slice(0, headEnd))?.[1] ?? '0'
  const total = headEnd + 4 + Number(length)
  return received.length < total ? undefined : total
}

type Outcome =
  | { readonly kind: 'end' }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure }

class Recorder implements UpstreamReceiver {
  head: UpstreamHead | undefined
  body = ''
  receivedBytes = 0
  readonly outcomes: Outcome[] = []
  onChunk: () => boolean = () => true
  readonly #first = Promise.withResolvers<UpstreamHead>()
  readonly #done = Promise.withResolvers<Outcome>()

  onHead(head: UpstreamHead): void {
    assert.equal(this.head, undefined, 'one head')
    assert.equal(this.outcomes.length, 0, 'no head after the outcome')
    this.head = head
    this.#first.resolve(head)
  }

  onBytes(bytes: Buffer, start: number, end: number): boolean {
    assert.notEqual(this.head, undefined, 'no data before the head')
    assert.equal(this.outcomes.length, 0, 'no data after the outcome')
    this.body += bytes.toString('latin1', start, end)
    this.receivedBytes += end - start
    return this.onChunk()
  }

  onEnd(): void {
    this.#settle({ kind: 'end' })
  }

  onFailure(failure: UpstreamFailure): void {
    this.#settle({ kind: 'failure', failure })
  }

  headCame(): Promise<UpstreamHead> {
    return this.#first.promise
  }

  done(): Promise<Outcome> {
    return this.#done.promise
  }

  async failed(): Promise<UpstreamFailure> {
    const outcome = await this.#done.promise
    assert.equal(outcome.kind, 'failure')
    return outcome.kind === 'failure' ? outcome.failure : assert.fail()
  }

  async ended(): Promise<void> {
    assert.deepEqual(await this.#done.promise, { kind: 'end' })
  }

  #settle(outcome: Outcome): void {
    this.outcomes.push(outcome)
    assert.equal(this.outcomes.length, 1, 'one outcome')
    this.#done.resolve(outcome)
  }
}

const post: UpstreamRequest = {
  method: 'POST',
  path: '/v1/messages?beta=true',
  headers: requestLines(['content-type', 'application/json', 'X-Api-Key', 'secret']),
  body: Buffer.from('{"model":"m"}'),
}

function send(
  upstream: UpstreamPools,
  vendor: Pick<Vendor, 'target'>,
  request: UpstreamRequest = post,
): { recorder: Recorder; call: UpstreamCall } {
  const recorder = new Recorder()
  return { recorder, call: upstream.send(vendor.target, request, recorder) }
}

/** A few turns of the event loop: enough for anything already under way to have been called. */
async function settle(): Promise<void> {
  for (let count = 0; count < 4; count++) await turn()
}

function failedWith(code: string): Error {
  return Object.assign(new Error(code), { code })
}

function ok(body: string, extra = ''): string {
  return `HTTP/1.1 200 OK\r\nRequest-Id: req_1\r\n${extra}content-length: ${body.length}\r\n\r\n${body}`
}

/** Resolves when the condition holds, looking once per turn; fails the test after a bounded wait. */
async function until(condition: () => boolean): Promise<void> {
  const startedMs = performance.now()
  while (!condition()) {
    assert.ok(performance.now() - startedMs < 60_000, 'the condition never came to hold')
    await turn()
  }
}

describe('a round trip', () => {
  it('sends exactly the given head and body, with its own host and length', async () => {
    const vendor = await startVendor((socket) => socket.write(ok('hi')))
    const { recorder } = send(open(), vendor)
    await recorder.ended()
    const port = new URL(vendor.target.url).port
    assert.deepEqual(vendor.requests, [
      `POST /v1/messages?beta=true HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: keep-alive\r\n` +
        'content-type: application/json\r\nX-Api-Key: secret\r\n' +
        'content-length: 13\r\n\r\n{"model":"m"}',
    ])
    assert.equal(recorder.body, 'hi')
  })

  it('sends the pieces of a body one behind the other, and a large one in slices', async () => {
    const vendor = await startVendor((socket) => socket.write(ok('hi')))
    const sizes: number[] = []
    const openSocket = (options: TcpNetConnectOpts): Socket => {
      const socket = connect(options)
      const write = socket.write.bind(socket) as (...given: unknown[]) => boolean
      socket.write = (chunk: Buffer | string, ...rest: unknown[]) => {
        sizes.push(chunk.length)
        return write(chunk, ...rest)
      }
      return socket
    }
    const upstream = open({ openSocket })
    const pieces = [Buffer.alloc(1_000_000, 'a'), Buffer.from('-'), Buffer.alloc(600_000, 'b')]
    for (const body of [[Buffer.from('on'), Buffer.from('e')], pieces]) {
      const { recorder } = send(upstream, vendor, { ...post, body })
      await recorder.ended()
      const sent = vendor.requests.at(-1) ?? ''
      assert.equal(sent.slice(sent.indexOf('\r\n\r\n') + 4), Buffer.concat(body).toString())
    }
    assert.ok(Math.max(...sizes) <= 262_144)
    assert.equal(vendor.connections.length, 1)
  })

  it('keeps the base path of the channel and an accept-encoding of the caller', async () => {
    const vendor = await startVendor((socket) => socket.write(ok('')))
    const target = { name: 'x', url: vendor.target.url + '/proxy/alpha/' }
    const request: UpstreamRequest = {
      method: 'GET',
      path: '/v1/models',
      headers: requestLines(['Accept-Encoding', 'x']),
      body: undefined,
    }
    const { recorder } = send(open(), { target }, request)
    await recorder.ended()
    assert.match(vendor.requests[0] ?? '', /^GET \/proxy\/alpha\/v1\/models HTTP\/1\.1\r\n/)
    assert.match(vendor.requests[0] ?? '', /\r\nAccept-Encoding: x\r\n\r\n$/)
  })

  it('returns the head as received and finds headers by lower-case name', async () => {
    const vendor = await startVendor((socket) =>
      socket.write(ok('', 'X-Twice: one\r\nx-twice: two\r\n__proto__: x\r\nCaf: \xe9\r\n')),
    )
    const { recorder } = send(open(), vendor)
    const head = await recorder.headCame()
    assert.equal(head.status, 200)
    assert.equal(head.header('request-id'), 'req_1')
    assert.equal(head.header('x-twice'), 'one')
    assert.equal(head.header('constructor'), undefined)
    assert.equal(head.header('absent'), undefined)
    assert.deepEqual(head.fields.flat().slice(0, 6), [
      'Request-Id',
      'req_1',
      'X-Twice',
      'one',
      'x-twice',
      'two',
    ])
    assert.ok(head.fields.flat().includes('__proto__'))
  })

  it('passes chunked data on without its framing', async () => {
    const vendor = await startVendor((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n')
      setImmediate(() => socket.write('2;ext=1\r\nde\r\n0\r\ntrailer: x\r\n\r\n'))
    })
    const { recorder } = send(open(), vendor)
    await recorder.ended()
    assert.equal(recorder.body, 'abcde')
  })

  it('skips interim answers, also a 100 Continue that was not requested', async () => {
    const vendor = await startVendor((socket) =>
      socket.write(
        'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n' +
          'HTTP/1.1 102 Processing\r\n\r\n' +
          ok('x'),
      ),
    )
    const { recorder } = send(open(), vendor)
    await recorder.ended()
    assert.equal(recorder.head?.status, 200)
    assert.equal(recorder.head?.header('link'), undefined)
  })

  it('does not follow a redirect', async () => {
    const vendor = await startVendor((socket) =>
      socket.write(
        'HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n',
      ),
    )
    const { recorder } = send(open(), vendor)
    await recorder.ended()
    assert.equal(recorder.head?.status, 307)
  })

  it('reads no body for a 204 answer', async () => {
    const vendor = await startVendor((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
    const { recorder } = send(open(), vendor)
    await recorder.ended()
    assert.equal(recorder.body, '')
  })

  it('ends an answer without length or chunks at the end of the connection', async () => {
    const vendor = await startVendor((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nhalf a'))
    const { recorder } = send(open(), vendor)
    await recorder.ended()
    assert.equal(recorder.body, 'half a')
  })

  it('delivers an answer that comes before the request has been read, and drops the connection', async () => {
    let answered = 0
    const server = createServer({ pauseOnConnect: true })
    server.on('connection', (socket: Socket) => {
      answered++
      cleanups.push(() => void socket.destroy())
      socket.on('error', () => socket.destroy())
      socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => void server.close())
    const { port } = server.address() as AddressInfo
    const vendor = { target: { url: `http://127.0.0.1:${port}`, name: 'x' } }
    const upstream = open()
    const large = { ...post, body: Buffer.alloc(32_000_000) }
    const first = send(upstream, vendor, large)
    await first.recorder.ended()
    assert.equal(first.recorder.head?.status, 413)
    assert.equal(first.recorder.body, 'big')
    const second = send(upstream, vendor)
    await second.recorder.ended()
    assert.equal(answered, 2)
  })
})

/** A socket whose writes are under way until the test ends them, as those of a vendor that does not read. */
class SlowSocket extends Socket {
  readonly writes: { readonly bytes: number; readonly end: (error?: Error) => void }[] = []

  override _write(piece: Buffer, _: BufferEncoding, end: (error?: Error | null) => void): void {
    this.writes.push({ bytes: piece.length, end })
  }

  override _writev(
    pieces: { chunk: Buffer; encoding: BufferEncoding }[],
    end: (error?: Error | null) => void,
  ): void {
    this.writes.push({ bytes: pieces.reduce((sum, { chunk }) => sum + chunk.length, 0), end })
  }
}

describe('the memory of a body', () => {
  /** Sends a body on a slow socket; `unused` counts the calls that say that its memory is not read. */
  async function sendSlowly(bytes: number) {
    const socket = new SlowSocket()
    let unused = 0
    const upstream = open({ openSocket: () => socket })
    const body = Buffer.alloc(bytes, 'a')
    const request = { ...post, body, onBodyUnused: () => void unused++ }
    const sent = send(upstream, { target: { name: 'x', url: 'http://127.0.0.1:1' } }, request)
    setImmediate(() => socket.emit('connect'))
    await settle()
    return { socket, unused: () => unused, ...sent }
  }

  it('is used until the last write of it has ended', async () => {
    const { socket, unused } = await sendSlowly(1_000_000)
    let bytes = 0
    for (let index = 0; index < 4; index++) {
      assert.equal(unused(), 0)
      bytes += socket.writes[index]?.bytes ?? 0
      socket.writes[index]?.end()
      await settle()
    }
    assert.ok(bytes > 1_000_000)
    assert.equal(socket.writes.length, 4)
    assert.equal(unused(), 1)
  })

  for (const error of [undefined, failedWith('ECANCELED')])
    it(`is used by a write under way after the exchange was given up; it ends with ${error?.message ?? 'success'}`, async () => {
      for (const ended of [0, 1, 3]) {
        const { socket, call, unused } = await sendSlowly(1_000_000)
        for (let index = 0; index < ended; index++) {
          socket.writes[index]?.end()
          await settle()
        }
        call.abort()
        await settle()
        assert.ok(socket.destroyed)
        assert.equal(unused(), 0)
        socket.writes[ended]?.end(error)
        await settle()
        assert.equal(unused(), 1)
        assert.equal(socket.writes.length, ended + 1)
      }
    })

  it('is used by a write under way when the connection is lost', async () => {
    const { socket, recorder, unused } = await sendSlowly(1_000_000)
    socket.destroy(failedWith('ECONNRESET'))
    assert.equal((await recorder.failed()).kind, 'reset')
    assert.equal(unused(), 0)
    socket.writes[0]?.end()
    await settle()
    assert.equal(unused(), 1)
  })

  it('is not used where it was copied or not sent', async () => {
    const copied = await sendSlowly(1_000)
    assert.equal(copied.unused(), 1)
    let unused = 0
    const request = { ...post, onBodyUnused: () => void unused++ }
    const unsent = send(open(), { target: { name: 'x', url: 'ftp://127.0.0.1' } }, request)
    await unsent.recorder.failed()
    assert.equal(unused, 1)
    const openSocket = (): Socket => new SlowSocket()
    const waiting = send(
      open({ openSocket }),
      { target: { name: 'x', url: 'http://127.0.0.1:1' } },
      request,
    )
    waiting.call.abort()
    assert.equal(unused, 2)
  })
})

describe('connections', () => {
  it('are used again, one exchange at a time', async () => {
    const vendor = await startVendor((socket) => socket.write(ok('x')))
    const upstream = open()
    for (let count = 0; count < 5; count++) {
      await send(upstream, vendor).recorder.ended()
      await settle()
    }
    assert.equal(vendor.connections.length, 1)
    assert.deepEqual(upstream.stats().get('alpha-main'), { connectionCount: 1, exchangeCount: 0 })
  })

  it('are opened for each of 1,000 exchanges at once', async () => {
    const waiting: Socket[] = []
    const vendor = await startVendor((socket) => {
      waiting.push(socket)
      if (waiting.length === 1_000) for (const each of waiting) each.write(ok('x'))
    })
    const upstream = open()
    const all = Array.from({ length: 1_000 }, () => send(upstream, vendor).recorder)
    await until(() => waiting.length === 1_000)
    assert.equal(upstream.stats().get('alpha-main')?.exchangeCount, 1_000)
    for (const recorder of all) await recorder.ended()
    await settle()
    assert.equal(upstream.stats().get('alpha-main')?.exchangeCount, 0)
  })

  it('are bounded: one exchange more fails at once and unsent', async () => {
    const vendor = await startVendor(() => undefined)
    const shortages: string[] = []
    const upstream = open({ connectionsMax: 2, onShortage: (of) => void shortages.push(of) })
    send(upstream, vendor)
    send(upstream, vendor)
    const failure = await send(upstream, vendor).recorder.failed()
    assert.deepEqual(failure, { kind: 'shortage', isUnsent: true, isReusedConnection: false })
    assert.deepEqual(shortages, ['open_files'])
  })

  it('that are idle make room for another channel, where no more may be open', async () => {
    const vendor = await startVendor((socket) => socket.write(ok('x')))
    const other = await startVendor((socket) => socket.write(ok('y')))
    const target = { ...other.target, name: 'alpha-backup' }
    const upstream = open({ connectionsMax: 1 })
    await send(upstream, vendor).recorder.ended()
    await send(upstream, { target }).recorder.ended()
    await until(() => upstream.stats().get('alpha-main')?.connectionCount === 0)
    assert.equal(upstream.stats().get('alpha-backup')?.connectionCount, 1)
  })

  it('that the vendor marks as closing are not used again', async () => {
    const vendor = await startVendor((socket) => socket.write(ok('x', 'connection: close\r\n')))
    const upstream = open()
    await send(upstream, vendor).recorder.ended()
    await send(upstream, vendor).recorder.ended()
    await settle()
    assert.equal(vendor.connections.length, 2)
    await until(() => upstream.stats().get('alpha-main')?.connectionCount === 0)
  })

  it('closed by the vendor while idle are noticed, and the next exchange gets a new one', async () => {
    const vendor = await startVendor((socket) => socket.write(ok('x')))
    const upstream = open()
    await send(upstream, vendor).recorder.ended()
    vendor.connections[0]?.end()
    await until(() => upstream.stats().get('alpha-main')?.connectionCount === 0)
    await send(upstream, vendor).recorder.ended()
    assert.equal(vendor.connections.length, 2)
  })

  it('that die under the next request are reported as reused', async () => {
    const vendor = await startVendor((socket, index) => {
      if (index === 0) socket.write(ok('x'))
      else socket.destroy()
    })
    const upstream = open()
    await send(upstream, vendor).recorder.ended()
    await settle()
    const failure = await send(upstream, vendor).recorder.failed()
    assert.deepEqual(failure, { kind: 'reset', isUnsent: false, isReusedConnection: true })
  })

  it('idle for longer than allowed are closed', async () => {
    const vendor = await startVendor((socket) => socket.write(ok('x')))
    const upstream = open({ keepAliveMs: 20 })
    await send(upstream, vendor).recorder.ended()
    await until(() => upstream.stats().get('alpha-main')?.connectionCount === 0)
    await until(
      () =>
        vendor.connections[0]?.destroyed === true || vendor.connections[0]?.readableEnded === true,
    )
  })

  it('never give leftover bytes to the next exchange', async () => {
    const forged = ok('forged')
    const vendor = await startVendor((socket) => socket.write(ok('real') + forged))
    const upstream = open()
    for (let count = 0; count < 3; count++) {
      const { recorder } = send(upstream, vendor)
      await recorder.ended()
      assert.equal(recorder.body, 'real')
    }
    assert.equal(vendor.connections.length, 3)
  })

  it('never give bytes that came while idle to the next exchange', async () => {
    const vendor = await startVendor((socket, index) => socket.write(ok(`answer ${index}`)))
    const upstream = open()
    await send(upstream, vendor).recorder.ended()
    vendor.connections[0]?.write(ok('forged'))
    await until(() => upstream.stats().get('alpha-main')?.connectionCount === 0)
    const { recorder } = send(upstream, vendor)
    await recorder.ended()
    assert.equal(recorder.body, 'answer 1')
  })

  it('never give bytes that cross a request to it', async () => {
    const vendor = await startVendor((socket) => socket.write(ok('real')))
    const upstream = open()
    await send(upstream, vendor).recorder.ended()
    // Behind this, what has come is read before anything is written.
    await turn()
    vendor.connections[0]?.write(ok('forged'))
    const failure = await send(upstream, vendor).recorder.failed()
    assert.deepEqual(failure, { kind: 'reset', isUnsent: false, isReusedConnection: true })
  })

  it('serve requests that are sent from inside the end of the one before', async () => {
    const vendor = await startVendor((socket, index) => socket.write(ok(String(index))))
    const upstream = open()
    const bodies: string[] = []
    await new Promise<void>((resolve, reject) => {
      const sendNext = (): void => {
        let body = ''
        upstream.send(vendor.target, post, {
          onHead: () => undefined,
          onBytes: (bytes, start, end) => (body += bytes.toString('utf8', start, end)) !== '',
          onEnd: () => (bodies.push(body) < 50 ? sendNext() : resolve()),
          onFailure: (failure) => reject(new Error(failure.kind)),
        })
      }
      sendNext()
    })
    assert.deepEqual(
      bodies,
      Array.from({ length: 50 }, (_, index) => String(index)),
    )
  })

  it('of a removed channel are closed, idle ones at once, running ones when done', async () => {
    const unanswered: Socket[] = []
    const vendor = await startVendor((socket, index) => {
      if (index === 0) socket.write(ok('x'))
      else unanswered.push(socket)
    })
    const upstream = open()
    const other = { target: { url: vendor.target.url, name: 'kept' } }
    await send(upstream, vendor).recorder.ended()
    const running = send(upstream, vendor)
    const kept = send(upstream, other)
    upstream.retain(new Set(['kept']))
    await until(() => unanswered.length === 2)
    for (const socket of unanswered) socket.write(ok('late'))
    await running.recorder.ended()
    await kept.recorder.ended()
    await until(() => upstream.stats().get('alpha-main')?.connectionCount === 0)
    upstream.retain(new Set(['kept']))
    assert.deepEqual([...upstream.stats().keys()], ['kept'])
  })

  it('follow a changed address of a channel', async () => {
    const one = await startVendor((socket) => socket.write(ok('one')))
    const two = await startVendor((socket) => socket.write(ok('two')))
    const upstream = open()
    await send(upstream, one).recorder.ended()
    const { recorder } = send(upstream, two)
    await recorder.ended()
    assert.equal(recorder.body, 'two')
  })
})

describe('failures before the request is written', () => {
  const unsent = { isUnsent: true, isReusedConnection: false }

  it('the port is closed', async () => {
    const vendor = await startVendor(() => undefined)
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const target = { ...vendor.target, url: `http://127.0.0.1:${port}` }
    assert.deepEqual(await send(open(), { target }).recorder.failed(), {
      kind: 'connect',
      ...unsent,
    })
  })

  it('the name does not exist', async () => {
    const target = { name: 'x', url: 'https://no-such-host.invalid' }
    assert.deepEqual(await send(open(), { target }).recorder.failed(), {
      kind: 'lookup',
      ...unsent,
    })
  })

  it('the gateway itself is short of files, memory or ports', async () => {
    const failures: readonly [Error, string, readonly string[]][] = [
      [failedWith('EMFILE'), 'shortage', ['open_files']],
      [failedWith('ENFILE'), 'shortage', ['open_files']],
      [failedWith('ENOBUFS'), 'shortage', ['memory']],
      [failedWith('ENOMEM'), 'shortage', ['memory']],
      [failedWith('EADDRNOTAVAIL'), 'shortage', ['ports']],
      [
        new AggregateError([failedWith('ECONNREFUSED'), failedWith('EMFILE')]),
        'shortage',
        ['open_files'],
      ],
      [
        new AggregateError([failedWith('EADDRNOTAVAIL'), failedWith('ECONNREFUSED')]),
        'connect',
        [],
      ],
    ]
    for (const [error, kind, of] of failures) {
      const shortages: string[] = []
      const openSocket = (): Socket => {
        const socket = new Socket()
        setImmediate(() => socket.destroy(error))
        return socket
      }
      const upstream = open({ openSocket, onShortage: (short) => void shortages.push(short) })
      const target = { name: 'x', url: 'http://127.0.0.1:1' }
      assert.deepEqual(await send(upstream, { target }).recorder.failed(), { kind, ...unsent })
      assert.deepEqual(shortages, of, kind)
    }
  })

  it('the address is not an HTTP address', async () => {
    const upstream = open()
    for (const url of ['', 'vendor.example', 'ftp://vendor.example', 'unix:/tmp/x']) {
      const failure = await send(upstream, { target: { name: 'x', url } }).recorder.failed()
      assert.deepEqual(failure, { kind: 'connect', ...unsent })
    }
  })

  it('the handshake times out', async () => {
    const vendor = await startVendor(() => undefined)
    const target = { name: 'x', url: vendor.target.url.replace('http:', 'https:') }
    const { recorder } = send(open({ connectTimeoutMs: 30 }), { target })
    assert.deepEqual(await recorder.failed(), { kind: 'connect', ...unsent })
  })

  it('a header cannot be written, reported after send has returned', async () => {
    const vendor = await startVendor(() => undefined)
    for (const headers of [
      ['x', 'a\r\nb'],
      ['bad name', 'x'],
      ['expect', '100-continue'],
    ]) {
      const { recorder } = send(open(), vendor, {
        ...post,
        headers: requestLines(headers),
      })
      assert.equal(recorder.outcomes.length, 0)
      assert.deepEqual(await recorder.failed(), { kind: 'protocol', ...unsent })
    }
    assert.equal(vendor.requests.length, 0)
  })
})

describe('TLS', () => {
  const { cert, key } = makeCertificate('vendor.test')

  async function startTls(): Promise<Vendor> {
    return startVendor(
      (socket) => socket.write(ok('x')),
      createTlsServer({ cert, key }),
      'secureConnection',
    )
  }

  it('refuses an untrusted certificate', async () => {
    const vendor = await startTls()
    const failure = await send(open(), vendor).recorder.failed()
    assert.deepEqual(failure, { kind: 'tls', isUnsent: true, isReusedConnection: false })
    assert.equal(vendor.requests.length, 0)
  })

  it('refuses a server without TLS', async () => {
    const vendor = await startVendor(() => undefined)
    vendor.connections.length = 0
    const server = createServer((socket) => socket.end('HTTP/1.1 400 no\r\n\r\n')).listen(
      0,
      '127.0.0.1',
    )
    await once(server, 'listening')
    cleanups.push(() => void server.close())
    const target = { name: 'x', url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` }
    assert.equal((await send(open(), { target }).recorder.failed()).kind, 'connect')
  })

  it('accepts a trusted certificate for the right name only', async () => {
    const before = getCACertificates()
    setDefaultCACertificates([...before, cert])
    try {
      const vendor = await startTls()
      const upstream = open()
      await send(upstream, vendor).recorder.ended()
      const wrongName = { name: 'x', url: vendor.target.url.replace('127.0.0.1', 'localhost') }
      assert.equal((await send(upstream, { target: wrongName }).recorder.failed()).kind, 'tls')
    } finally {
      setDefaultCACertificates(before)
    }
  })
})

describe('failures after the request is written', () => {
  const headOfTen = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n'
  const chunkedHead = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  const cases: ReadonlyArray<{
    readonly name: string
    readonly bytes: string
    readonly kind: UpstreamFailure['kind']
    readonly hasHead: boolean
  }> = [
    { name: 'nothing comes', bytes: '', kind: 'reset', hasHead: false },
    { name: 'half a status line comes', bytes: 'HTTP/1.1 20', kind: 'reset', hasHead: false },
    {
      name: 'half a head comes',
      bytes: 'HTTP/1.1 200 OK\r\ncontent-',
      kind: 'reset',
      hasHead: false,
    },
    {
      name: 'only an interim answer comes',
      bytes: 'HTTP/1.1 102 P\r\n\r\n',
      kind: 'reset',
      hasHead: false,
    },
    { name: 'no body follows the head', bytes: headOfTen, kind: 'reset', hasHead: true },
    { name: 'the body is short', bytes: headOfTen + 'short', kind: 'reset', hasHead: true },
    {
      name: 'the body is short and the connection was to close',
      bytes: 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 10\r\n\r\nshort',
      kind: 'reset',
      hasHead: true,
    },
    { name: 'a chunk is cut', bytes: chunkedHead + '5\r\nab', kind: 'reset', hasHead: true },
    {
      name: 'the last chunk is missing',
      bytes: chunkedHead + '2\r\nab\r\n',
      kind: 'reset',
      hasHead: true,
    },
    {
      name: 'the last chunk is missing and the connection was to close',
      bytes: chunkedHead.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n') + '2\r\nab\r\n',
      kind: 'reset',
      hasHead: true,
    },
    {
      name: 'the end of the last chunk is cut',
      bytes: chunkedHead + '0\r\n',
      kind: 'reset',
      hasHead: true,
    },
  ]

  for (const { name, bytes, kind, hasHead } of cases) {
    for (const way of ['end', 'reset'] as const) {
      it(`${name}, then the connection's ${way}`, async () => {
        const vendor = await startVendor((socket) => socket.write(bytes, 'latin1'))
        const upstream = open()
        const { recorder } = send(upstream, vendor)
        await until(() => vendor.requests.length === 1)
        // A reset may overtake what has not been read.
        if (hasHead) await recorder.headCame()
        if (way === 'end') vendor.connections[0]?.end()
        else vendor.connections[0]?.resetAndDestroy()
        const failure = await recorder.failed()
        assert.deepEqual(failure, { kind, isUnsent: false, isReusedConnection: false })
        assert.equal(recorder.head !== undefined, hasHead)
        await settle()
        assert.equal(upstream.stats().get('alpha-main')?.connectionCount, 0)
      })
    }
  }

  const malformed: ReadonlyArray<readonly [name: string, bytes: string]> = [
    ['not HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd'],
    ['a negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -3\r\n\r\nabc'],
    ['a bare line feed in the head', 'HTTP/1.1 200 OK\nx: y\n\n'],
    ['a space before the colon', 'HTTP/1.1 200 OK\r\ncontent-length : 3\r\n\r\nabc'],
    ['a folded header', 'HTTP/1.1 200 OK\r\nx: a\r\n b\r\ncontent-length: 0\r\n\r\n'],
    ['a NUL in a header', 'HTTP/1.1 200 OK\r\nx: a\0b\r\ncontent-length: 0\r\n\r\n'],
    ['a bad chunk size', chunkedHead + 'zz\r\n'],
    ['a chunk longer than it says', chunkedHead + '2\r\nabcd\r\n0\r\n\r\n'],
    [
      'another coding before chunked',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    ],
    ['another coding alone', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nabc'],
    [
      'an upgrade that was not requested',
      'HTTP/1.1 101 Switch\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n',
    ],
    [
      'a head of more than 64 KiB',
      `HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(1_000)}\r\n`.repeat(70)}\r\n`,
    ],
  ]
  for (const [name, bytes] of malformed) {
    it(`refuses ${name}`, async () => {
      const vendor = await startVendor((socket) => socket.write(bytes, 'latin1'))
      const upstream = open()
      const failure = await send(upstream, vendor).recorder.failed()
      assert.deepEqual(failure, { kind: 'protocol', isUnsent: false, isReusedConnection: false })
      await settle()
      assert.equal(upstream.stats().get('alpha-main')?.connectionCount, 0)
    })
  }

  it('a reset inside a close-delimited body is a failure', async () => {
    const vendor = await startVendor((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nsome'))
    const { recorder } = send(open(), vendor)
    await until(() => recorder.body === 'some')
    vendor.connections[0]?.resetAndDestroy()
    assert.equal((await recorder.failed()).kind, 'reset')
    assert.equal(recorder.body, 'some')
  })

  it('ends a body at its length and discards the connection with the rest', async () => {
    const vendor = await startVendor((socket) => socket.write(ok('four') + 'more'))
    const upstream = open()
    const { recorder } = send(upstream, vendor)
    await recorder.ended()
    assert.equal(recorder.body, 'four')
    await until(() => upstream.stats().get('alpha-main')?.connectionCount === 0)
  })

  it('random bytes as an answer always end in exactly one outcome', async () => {
    let answer = Buffer.alloc(0)
    const vendor = await startVendor((socket) => socket.end(answer))
    const upstream = open()
    const fragment = fc.constantFrom(
      'HTTP/1.1 200 OK\r\n',
      'HTTP/1.0 200 OK\r\n',
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 204 x\r\n',
      'content-length: 5\r\n',
      'content-length: 0\r\n',
      'transfer-encoding: chunked\r\n',
      'connection: close\r\n',
      'keep-alive: timeout=1\r\n',
      'x: y\r\n',
      '\r\n',
      '5\r\nhello\r\n',
      '0\r\n\r\n',
      'hello',
      '\n',
      ' ',
      '\0',
    )
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
      fc.array(fragment, { maxLength: 12 }).map((parts) => Buffer.from(parts.join(''), 'latin1')),
    )
    await fc.assert(
      fc.asyncProperty(bytes, fc.boolean(), async (candidate, isPausing) => {
        answer = candidate
        const { recorder, call } = send(upstream, vendor)
        recorder.onChunk = () => {
          if (isPausing) setImmediate(() => call.resume())
          return !isPausing
        }
        await recorder.done()
        await settle()
        assert.equal(recorder.outcomes.length, 1)
      }),
      { numRuns: 800 },
    )
    assert.equal(upstream.stats().get('alpha-main')?.exchangeCount, 0)
  })

  it('a valid answer cut anywhere fails unless it is whole, however it is split', async () => {
    const whole =
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nabcd\r\nA\r\n0123456789\r\n0\r\n\r\n'
    let cutAt = 0
    const vendor = await startVendor((socket) => {
      const middle = Math.floor(cutAt / 2)
      socket.write(whole.slice(0, middle), () =>
        setImmediate(() => socket.end(whole.slice(middle, cutAt))),
      )
    })
    const upstream = open()
    for (cutAt = 1; cutAt <= whole.length; cutAt++) {
      const { recorder } = send(upstream, vendor)
      const outcome = await recorder.done()
      assert.equal(outcome.kind, cutAt === whole.length ? 'end' : 'failure', `cut at ${cutAt}`)
      if (outcome.kind === 'failure') assert.equal(outcome.failure.kind, 'reset', `cut at ${cutAt}`)
    }
  })
})

describe('back-pressure', () => {
  it('stops reading until resumed, with bounded bytes in flight', async () => {
    const total = 64_000_000
    const block = Buffer.alloc(65_536, 0x61)
    let written = 0
    const vendor = await startVendor((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${total}\r\n\r\n`)
      const pump = (): void => {
        while (written < total) {
          const part = block.subarray(0, Math.min(block.length, total - written))
          written += part.length
          if (!socket.write(part)) return void socket.once('drain', pump)
        }
      }
      pump()
    })
    const { recorder, call } = send(open(), vendor)
    let isOpen = false
    const count = recorder
    recorder.onChunk = () => isOpen
    // Text of this size is not worth keeping.
    recorder.onBytes = function (_bytes, start, end): boolean {
      this.receivedBytes += end - start
      return this.onChunk()
    }
    await recorder.headCame()
    await until(() => count.receivedBytes > 0)
    const stalledAt = await stalled(() => written)
    assert.ok(count.receivedBytes <= 131_072, `received ${count.receivedBytes} while paused`)
    assert.ok(stalledAt < total / 2, `the vendor could write ${stalledAt}`)
    isOpen = true
    call.resume()
    await recorder.ended()
    assert.equal(recorder.receivedBytes, total)
  })

  it('loses nothing when paused at every chunk and resumed from inside the callback', async () => {
    const vendor = await startVendor((socket) => {
      let text = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
      for (let count = 0; count < 500; count++) text += `4\r\n${String(count).padStart(4, '0')}\r\n`
      socket.write(text + '0\r\n\r\n')
    })
    const recorder = new Recorder()
    const call = open().send(vendor.target, post, recorder)
    recorder.onChunk = () => {
      call.resume()
      return false
    }
    await recorder.ended()
    assert.equal(recorder.body.length, 2_000)
    assert.ok(recorder.body.endsWith('0499'))
  })

  it('reports a reset that comes while paused', async () => {
    const vendor = await startVendor((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'),
    )
    const { recorder } = send(open(), vendor)
    recorder.onChunk = () => false
    await until(() => recorder.body === 'abc')
    vendor.connections[0]?.resetAndDestroy()
    assert.equal((await recorder.failed()).kind, 'reset')
  })

  /** Paused at its first piece; a second has been read and the vendor has broken off behind it. */
  async function breakBehindHeld(
    rest: string,
  ): Promise<{ recorder: Recorder; call: UpstreamCall; upstream: UpstreamPools }> {
    const vendor = await startVendor((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n'),
    )
    const upstream = open()
    const { recorder, call } = send(upstream, vendor)
    recorder.onChunk = () => false
    await until(() => recorder.body === 'a')
    vendor.connections[0]?.end(`1\r\nb\r\n${rest}`)
    await until(() => upstream.stats().get('alpha-main')?.connectionCount === 0)
    return { recorder, call, upstream }
  }

  for (const [what, rest, kind] of [
    ['closes without the last chunk', '', 'reset'],
    ['says what is no chunk', 'no chunk\r\n', 'protocol'],
  ] as const)
    it(`loses nothing of what was read before a vendor ${what} while paused`, async () => {
      const { recorder, call, upstream } = await breakBehindHeld(rest)
      await settle()
      assert.deepEqual(recorder.outcomes, [], 'there is more to come before the failure')
      assert.equal(upstream.stats().get('alpha-main')?.exchangeCount, 0)
      call.resume()
      assert.deepEqual(await recorder.failed(), {
        kind,
        isUnsent: false,
        isReusedConnection: false,
      })
      assert.equal(recorder.body, 'ab')
    })

  it('makes no further call once aborted, also with data held', async () => {
    const { recorder, call } = await breakBehindHeld('')
    call.abort()
    call.resume()
    await settle()
    assert.equal(recorder.body, 'a')
    assert.deepEqual(recorder.outcomes, [])
  })

  it('reports the closing of the gateway at once while paused', async () => {
    const vendor = await startVendor((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n'),
    )
    const upstream = open()
    const { recorder } = send(upstream, vendor)
    recorder.onChunk = () => false
    await until(() => recorder.body === 'a')
    vendor.connections[0]?.write('1\r\nb\r\n')
    await settle()
    await upstream.close()
    assert.equal((await recorder.failed()).kind, 'aborted')
  })

  it('reports the end when the vendor closes while paused, once resumed', async () => {
    const vendor = await startVendor((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nabc'))
    const { recorder, call } = send(open(), vendor)
    recorder.onChunk = () => false
    await recorder.headCame()
    await settle()
    call.resume()
    await recorder.ended()
    assert.equal(recorder.body, 'abc')
  })
})

/** The value once so many turns of the event loop, both sides' own, have not changed it. */
async function stalled(read: () => number): Promise<number> {
  let last = read()
  for (let quietTurns = 0; quietTurns < 200; quietTurns++) {
    await turn()
    const now = read()
    if (now !== last) quietTurns = 0
    last = now
  }
  return last
}

describe('abort', () => {
  async function expectClosed(vendor: Vendor): Promise<void> {
    await until(
      () =>
        vendor.connections.length > 0 &&
        vendor.connections.every((socket) => socket.destroyed || socket.readableEnded),
    )
  }

  it('before the connection is open is silent and writes nothing', async () => {
    const vendor = await startVendor(() => undefined)
    const upstream = open()
    const { recorder, call } = send(upstream, vendor)
    call.abort()
    assert.equal(upstream.stats().get('alpha-main')?.connectionCount, 0)
    send(upstream, vendor).call.abort()
    await settle()
    assert.equal(vendor.requests.length, 0)
    assert.equal(recorder.outcomes.length, 0)
  })

  it('while waiting for the head closes the connection', async () => {
    const vendor = await startVendor(() => undefined)
    const upstream = open()
    const { recorder, call } = send(upstream, vendor)
    await until(() => vendor.requests.length === 1)
    call.abort()
    call.abort()
    await expectClosed(vendor)
    assert.equal(recorder.outcomes.length, 0)
    assert.equal(upstream.stats().get('alpha-main')?.connectionCount, 0)
  })

  for (const moment of ['onHead', 'onBytes'] as const) {
    it(`from inside ${moment} ends all calls`, async () => {
      const vendor = await startVendor((socket) =>
        socket.write(
          'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n',
        ),
      )
      const recorder = new Recorder()
      const upstream = open()
      let chunks = 0
      const call: UpstreamCall = upstream.send(vendor.target, post, {
        onHead: (head) => {
          recorder.onHead(head)
          if (moment === 'onHead') call.abort()
        },
        onBytes: () => {
          chunks++
          call.abort()
          return false
        },
        onEnd: () => recorder.onEnd(),
        onFailure: (failure) => recorder.onFailure(failure),
      })
      await expectClosed(vendor)
      assert.equal(recorder.outcomes.length, 0)
      assert.equal(chunks, moment === 'onHead' ? 0 : 1)
      assert.equal(upstream.stats().get('alpha-main')?.connectionCount, 0)
    })
  }

  it('while paused mid-body closes the connection', async () => {
    const vendor = await startVendor((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n'),
    )
    const { recorder, call } = send(open(), vendor)
    recorder.onChunk = () => false
    await until(() => recorder.body === 'a')
    call.abort()
    call.resume()
    await expectClosed(vendor)
    assert.equal(recorder.outcomes.length, 0)
  })

  it('after the end does nothing to the connection', async () => {
    const vendor = await startVendor((socket) => socket.write(ok('x')))
    const upstream = open()
    const { recorder, call } = send(upstream, vendor)
    await recorder.ended()
    call.abort()
    call.resume()
    await send(upstream, vendor).recorder.ended()
    assert.equal(vendor.connections.length, 1)
  })

  it('during a TLS handshake is silent', async () => {
    const vendor = await startVendor(() => undefined)
    const target = { name: 'x', url: vendor.target.url.replace('http:', 'https:') }
    const upstream = open({ connectTimeoutMs: 50 })
    const { recorder, call } = send(upstream, { target })
    await until(() => vendor.connections.length === 1)
    call.abort()
    await expectClosed(vendor)
    assert.equal(recorder.outcomes.length, 0)
  })
})

describe('close', () => {
  it('fails running exchanges as aborted, refuses new ones, and resolves when all is closed', async () => {
    const vendor = await startVendor((socket, index) => {
      if (index === 0) socket.write(ok('x'))
      if (index === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\na')
    })
    const upstream = new UpstreamPools({ connectTimeoutMs: 1_000 })
    await send(upstream, vendor).recorder.ended()
    const midBody = send(upstream, vendor)
    await midBody.recorder.headCame()
    const waiting = send(upstream, vendor)
    await until(() => vendor.requests.length === 3)
    const connecting = send(upstream, vendor)
    const closed = upstream.close()
    assert.equal((await midBody.recorder.failed()).kind, 'aborted')
    assert.equal((await waiting.recorder.failed()).kind, 'aborted')
    assert.deepEqual(await connecting.recorder.failed(), {
      kind: 'aborted',
      isUnsent: true,
      isReusedConnection: false,
    })
    await closed
    assert.equal((await send(upstream, vendor).recorder.failed()).kind, 'aborted')
  })
})
