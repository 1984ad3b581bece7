/** A vendor's name is checked where it connects: what it leads to then decides, whatever it led to before. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, isIP, type AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { outcomeOf } from '../../../test/support/upstream-outcome.ts'
import { UpstreamPools } from './pool.ts'
import type { Resolve } from './checked-lookup.ts'

let connectionCount = 0
const server = createServer((socket) => {
  connectionCount++
  socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx'))
})
let port = 0
before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
after(() => server.close())
beforeEach(() => {
  connectionCount = 0
})

function leadingTo(...addresses: readonly string[]): Resolve {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, done) => done(null, found)
}

interface Way {
  readonly origin?: string
  readonly allowPrivate?: boolean
}

async function kindOf(resolve: Resolve, way: Way = {}): Promise<string> {
  const upstream = new UpstreamPools({ connectTimeoutMs: 100, resolve })
  const { origin = 'https://vendor.example', allowPrivate = false } = way
  try {
    const target = { name: 'main', url: `${origin}:${port}`, allowPrivate }
    return (await outcomeOf(upstream, target)).kind
  } finally {
    await upstream.close()
  }
}

const own = { origin: 'http://vendor.internal', allowPrivate: true }

test('a name that leads to an address which is not public is refused where it connects', async () => {
  for (const address of [
    '127.0.0.1',
    '10.1.2.3',
    '192.168.0.7',
    '100.64.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '::1',
    '::ffff:127.0.0.1',
    'fe80::1',
    'fd00::1',
  ])
    assert.equal(await kindOf(leadingTo(address)), 'address', address)
  assert.equal(await kindOf(leadingTo('203.1.113.9', '127.0.0.1')), 'address')
  assert.equal(connectionCount, 0)
})

test('a name may lead to the own network where the channel allows it', async () => {
  assert.equal(await kindOf(leadingTo('127.0.0.1'), own), 'end')
  assert.equal(connectionCount, 1)
})

test('no channel connects where clouds give out their credentials, nor to no address at all', async () => {
  for (const address of ['169.254.169.254', '0.0.0.0', '224.0.0.1', '::'])
    assert.equal(await kindOf(leadingTo(address), own), 'address', address)
})

test('plain http never reaches a public address, because it shows the credential', async () => {
  assert.equal(await kindOf(leadingTo('203.1.113.9'), own), 'address')
})

test('a name of this machine leads to this machine and nowhere else', async () => {
  const local = { origin: 'http://localhost' }
  assert.equal(await kindOf(leadingTo('127.0.0.1'), local), 'end')
  assert.equal(await kindOf(leadingTo('10.1.2.3'), local), 'address')
})

test('a name that is not known is no connection, and not one to a wrong address', async () => {
  const unknown: Resolve = (_host, done) => done(new Error('not found'), [])
  assert.equal(await kindOf(unknown), 'connect')
  assert.equal(await kindOf(leadingTo()), 'connect')
})

test('each connection looks the name up anew and checks what it then leads to', async () => {
  const answers = ['127.0.0.1', '10.1.2.3', '127.0.0.1']
  const upstream = new UpstreamPools({
    connectTimeoutMs: 100,
    resolve: (host, done) => leadingTo(answers.shift() ?? '')(host, done),
  })
  try {
    const target = { name: 'main', url: `http://localhost:${port}` }
    const kinds: string[] = []
    // The server closes each connection, so that the next request needs another.
    for (let count = 0; count < 3; count++) {
      kinds.push((await outcomeOf(upstream, target)).kind)
      upstream.retain(new Set())
    }
    assert.deepEqual(kinds, ['end', 'address', 'end'])
    assert.equal(connectionCount, 2)
  } finally {
    await upstream.close()
  }
})
