/** No connection is opened to an address that is not public, in whatever way it is written or resolved. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { systemClock } from '../../base/clock.ts'
import { createOutgoingPost, type OutgoingPostOptions } from './outgoing-post.ts'

function sender(options: Partial<OutgoingPostOptions> = {}) {
  const send = createOutgoingPost({
    clock: systemClock,
    timeoutMs: 2_000,
    allowed: undefined,
    ...options,
  })
  return (url: string) => send({ url, headers: {}, body: '{}' })
}

async function withServer(
  work: (port: number, requestCount: () => number) => Promise<void>,
): Promise<void> {
  let count = 0
  const server = createServer((request, response) => {
    count++
    request.resume()
    response.writeHead(200).end('x'.repeat(100_000))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  try {
    await work((server.address() as AddressInfo).port, () => count)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => {
      server.close(resolve)
    })
  }
}

const refusal = /the address is not public/

test('refuses addresses of this machine and of private networks in every spelling', async () => {
  await withServer(async (port, requestCount) => {
    const hosts = [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f.0.0.1',
      '0177.0.0.1',
      '0.0.0.0',
      '10.1.2.3',
      '172.16.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::127.0.0.1]',
      '[fe80::1]',
      '[fc00::1]',
      '[fd12::1]',
      '[ff02::1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
    ]
    for (const host of hosts)
      for (const scheme of ['http', 'https']) {
        const result = await sender()(`${scheme}://${host}:${port}/`)
        assert.equal(result.kind, 'failed', host)
        assert.match(result.reason, refusal, host)
      }
    assert.equal(requestCount(), 0)
  })
})

test('refuses a name that resolves to this machine, also beside a public address', async () => {
  await withServer(async (port, requestCount) => {
    const names: Record<string, readonly string[]> = {
      'rebound.example': ['127.0.0.1'],
      'mixed.example': ['192.0.32.8', '127.0.0.1'],
      'mapped.example': ['::ffff:127.0.0.1'],
    }
    const resolve: OutgoingPostOptions['resolve'] = (host, done) =>
      done(
        null,
        (names[host] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    for (const name of Object.keys(names)) {
      const result = await sender({ resolve })(`https://${name}:${port}/`)
      assert.equal(result.kind, 'failed', name)
      assert.match(result.reason, refusal)
    }
    const byName = await sender()(`https://localhost:${port}/`)
    assert.equal(byName.kind, 'failed')
    assert.match(byName.reason, refusal)
    assert.equal(requestCount(), 0)
  })
})

test('refuses http:// to a public address', async () => {
  const resolve: OutgoingPostOptions['resolve'] = (_host, done) =>
    done(null, [{ address: '192.0.32.8', family: 4 }])
  for (const url of ['http://192.0.32.8/', 'http://public.example/']) {
    const result = await sender({ resolve })(url)
    assert.deepEqual(result, { kind: 'failed', reason: 'the URL must begin with https://' })
  }
})

test('reaches networks that are allowed, and reads little of what they answer', async () => {
  await withServer(async (port) => {
    const send = sender({ allowed: ['127.0.0.0/8'] })
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]']) {
      const result = await send(`http://${host}:${port}/`)
      assert.deepEqual(result, { kind: 'answered', status: 200, retryAfterMs: undefined })
    }
  })
})

test('names why a connection failed, without the path', async () => {
  const result = await sender({ allowed: ['127.0.0.1'] })('http://127.0.0.1:1/secret-path')
  assert.deepEqual(result, { kind: 'failed', reason: 'the connection failed (ECONNREFUSED)' })
})

test('names an unknown host; without addresses there is only the error', async () => {
  const unknown = Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
  // Node gives no addresses with an error, whatever its types say.
  const resolve: OutgoingPostOptions['resolve'] = (_host, done) =>
    done(unknown, undefined as unknown as [])
  const result = await sender({ resolve })('https://nowhere.invalid/')
  assert.deepEqual(result, { kind: 'failed', reason: 'the connection failed (ENOTFOUND)' })
})
