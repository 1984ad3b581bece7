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
    timeoutMs: 60_000,
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

/** By network: its first and last address. All are refused. */
const specialNetworks: readonly (readonly [network: string, first: string, last: string])[] = [
  ['this network', '0.0.0.0', '0.255.255.255'],
  ['private', '10.0.0.0', '10.255.255.255'],
  ['carrier-grade NAT', '100.64.0.0', '100.127.255.255'],
  ['loopback', '127.0.0.0', '127.255.255.255'],
  ['link-local', '169.254.0.0', '169.254.255.255'],
  ['private', '172.16.0.0', '172.31.255.255'],
  ['protocol assignments', '192.0.0.0', '192.0.0.255'],
  ['documentation', '192.0.2.0', '192.0.2.255'],
  ['6to4 relays', '192.88.99.0', '192.88.99.255'],
  ['private', '192.168.0.0', '192.168.255.255'],
  ['benchmarks', '198.18.0.0', '198.19.255.255'],
  ['documentation', '198.51.100.0', '198.51.100.255'],
  ['documentation', '203.0.113.0', '203.0.113.255'],
  ['multicast and reserved', '224.0.0.0', '255.255.255.255'],
  ['IPv4-compatible', '::', '::ffff:ffff'],
  ['IPv4-mapped, private', '::ffff:10.0.0.0', '::ffff:10.255.255.255'],
  ['IPv4-translated', '::ffff:0:0:0', '::ffff:0:ffff:ffff'],
  ['NAT64', '64:ff9b::', '64:ff9b::ffff:ffff'],
  ['NAT64, local use', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['discard', '100::', '100::ffff:ffff:ffff:ffff'],
  ['dummy', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
  ['Teredo', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['protocol assignments', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['documentation', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['not assigned', '4000::', '5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['segment routing', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['unique local', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['link-local', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['site-local', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['multicast', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
]

/** Next to a special network, and public. */
const publicAddresses = [
  '1.0.0.0',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.0.3.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '2001:200::',
  '2001:db7:ffff::',
  '2001:db9::',
  '2003::',
  '2600::',
  '3fff:1000::',
]

/** A plain address is judged before any connection; http:// keeps a public one from being dialled. */
async function reasonFor(address: string): Promise<string> {
  const host = address.includes(':') ? `[${address}]` : address
  const result = await sender()(`http://${host}/`)
  return result.kind === 'failed' ? result.reason : 'answered'
}

for (const [network, first, last] of specialNetworks)
  test(`refuses ${first} to ${last} (${network})`, async () => {
    for (const address of [first, last]) assert.match(await reasonFor(address), refusal, address)
  })

test('takes the addresses beside them as public', async () => {
  for (const address of publicAddresses)
    assert.equal(await reasonFor(address), 'the URL must begin with https://', address)
})

test('connects to the address that it has checked, and resolves the name anew for each message', async () => {
  await withServer(async (port, requestCount) => {
    const answers = ['127.0.0.1', '10.0.0.1']
    let count = 0
    const resolve: OutgoingPostOptions['resolve'] = (_host, done) =>
      done(null, [{ address: answers[count++] ?? '127.0.0.1', family: 4 }])
    const send = sender({ resolve, allowed: ['127.0.0.1'] })
    const url = `http://rebinding.example:${port}/`
    assert.equal((await send(url)).kind, 'answered')
    assert.deepEqual([count, requestCount()], [1, 1])
    const second = await send(url)
    assert.equal(second.kind, 'failed')
    assert.match(second.reason, refusal)
    assert.deepEqual([count, requestCount()], [2, 1])
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
