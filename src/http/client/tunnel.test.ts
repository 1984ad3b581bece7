/** A vendor behind an HTTP proxy: a real tunnel with TLS inside, and every way in which there is none. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { makeCertificate } from '../../../test/support/certificate.ts'
import { startConnectProxy, type ConnectProxy } from '../../../test/support/connect-proxy.ts'
import { keepAliveTimer, timersTo } from '../../../test/support/tcp-timers.ts'
import { outcomeOf } from '../../../test/support/upstream-outcome.ts'
import { Secret } from '../../base/secret.ts'
import { UpstreamPools } from './pool.ts'

const trusted = getCACertificates()
const certificate = makeCertificate('vendor.test')
const seen: { host: string | undefined; url: string | undefined; bytes: number }[] = []
const server = createServer(certificate, (request, response) => {
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  request.on('end', () => {
    seen.push({ host: request.headers.host, url: request.url, bytes })
    response.end('x'.repeat(300_000))
  })
})
let proxy: ConnectProxy
let upstream: UpstreamPools
const looked: string[] = []

before(async () => {
  setDefaultCACertificates([...trusted, certificate.cert])
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
after(() => {
  server.close()
  setDefaultCACertificates(trusted)
})
beforeEach(async () => {
  seen.length = 0
  looked.length = 0
  proxy = await startConnectProxy((server.address() as AddressInfo).port)
  upstream = new UpstreamPools({
    connectTimeoutMs: 2_000,
    resolve(host, done) {
      looked.push(host)
      done(new Error('the gateway looks no name up'), [])
    },
  })
})
afterEach(async () => {
  await upstream.close()
  await proxy.close()
})

function targetAt(url: string, address = proxy.url) {
  return { name: 'main', url, proxy: new Secret(address) }
}

test('requests go through one tunnel to the name, with TLS inside it', async () => {
  const target = targetAt('https://vendor.test/base')
  for (let count = 0; count < 3; count++) {
    const { kind, body } = await outcomeOf(upstream, target)
    assert.equal(kind, 'end')
    assert.equal(body.length, 300_000)
  }
  assert.deepEqual(proxy.asked, ['vendor.test:443'])
  assert.deepEqual(seen[0], { host: 'vendor.test', url: '/base/v1/models', bytes: 0 })
  assert.deepEqual(looked, [])
})

test('a proxy gets the user name and the password of its address, and the vendor neither', async () => {
  const address = proxy.url.replace('//', '//team%40a:p%3Ass@')
  const { kind } = await outcomeOf(upstream, targetAt('https://vendor.test', address))
  assert.equal(kind, 'end')
  assert.deepEqual(proxy.credentials, [`Basic ${Buffer.from('team@a:p:ss').toString('base64')}`])
  await outcomeOf(upstream, targetAt('https://other.test'))
  assert.deepEqual(proxy.credentials[1], undefined)
})

test('the connection through a proxy has keep-alive packets, by which a dead peer is found', async () => {
  const { kind } = await outcomeOf(upstream, targetAt('https://vendor.test'))
  assert.equal(kind, 'end')
  assert.deepEqual(timersTo(proxy.url), [keepAliveTimer])
})

test('a large body arrives whole', async () => {
  const body = Buffer.alloc(3_000_000, 'a')
  const { kind } = await outcomeOf(upstream, targetAt('https://vendor.test:8443'), body)
  assert.equal(kind, 'end')
  assert.equal(seen[0]?.bytes, body.length)
  assert.deepEqual(proxy.asked, ['vendor.test:8443'])
})

test('the certificate must be that of the name, whichever server answers behind the proxy', async () => {
  assert.equal((await outcomeOf(upstream, targetAt('https://other.test'))).kind, 'tls')
  setDefaultCACertificates(trusted)
  try {
    assert.equal((await outcomeOf(upstream, targetAt('https://vendor.test'))).kind, 'tls')
  } finally {
    setDefaultCACertificates([...trusted, certificate.cert])
  }
  assert.equal(seen.length, 0)
})

test('without a tunnel there is no connection, and the request has not left', async () => {
  const target = targetAt('https://vendor.test')
  for (const answer of [
    'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n',
    'HTTP/1.1 502 Bad Gateway\r\n\r\n',
    'HTTP/1.1 302 Found\r\nlocation: http://elsewhere.example\r\n\r\n',
    'HTTP/1.1 200 OK\r\n\r\nbytes that no server with TLS sends first',
    'not http\r\n\r\n',
    '',
  ]) {
    proxy.answer((socket) => void socket.end(answer))
    assert.equal((await outcomeOf(upstream, target)).kind, 'connect', answer)
  }
  assert.equal(upstream.stats().get('main')?.connectionCount, 0)
})

test('a proxy that says nothing, and one that is not there, end with the time to connect', async () => {
  proxy.answer(() => undefined)
  assert.equal((await outcomeOf(upstream, targetAt('https://vendor.test'))).kind, 'connect')
  const target = targetAt('https://vendor.test', 'http://127.0.0.1:1')
  assert.equal((await outcomeOf(upstream, target)).kind, 'connect')
})

test('a tunnel that breaks under a request is a lost connection', async () => {
  proxy.answer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    socket.once('data', () => socket.destroy())
  })
  assert.equal((await outcomeOf(upstream, targetAt('https://vendor.test'))).kind, 'connect')
})

test('a gateway that closes leaves no tunnel behind', async () => {
  const opening = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  proxy.answer((socket) => {
    socket.on('end', () => closed.resolve()).resume()
    opening.resolve()
  })
  const outcome = outcomeOf(upstream, targetAt('https://vendor.test'))
  await opening.promise
  await upstream.close()
  assert.equal((await outcome).kind, 'aborted')
  await closed.promise
})
