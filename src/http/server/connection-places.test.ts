/** Whose connections are closed when there are too many, on real sockets, with time held still. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { connectRaw, type RawConnection } from '../../../test/support/http-client.ts'
import { listenerDefaults } from '../../../test/support/listener-options.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { buildIpRanges } from '../../base/ip-address.ts'
import { ClientAddresses } from './client-address.ts'
import { listen, type ListenerOptions } from './listener.ts'
import { sendReply } from './reply.ts'

interface Rig {
  readonly clock: ManualClock
  readonly url: string
  /** Opens a connection, and sends one request: `/key` shows a key, `/busy` gets no answer. */
  open(path: string, localAddress?: string): Promise<RawConnection>
  /** Why connections were closed, in order. */
  readonly closed: readonly string[]
}

const cleanups: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const office = '127.0.0.1'
const elsewhere = '127.0.0.2'

async function start(options: Partial<ListenerOptions>): Promise<Rig> {
  const clock = new ManualClock()
  const closed: string[] = []
  let onBusy: () => void = () => undefined
  const onConnectionClosed = (why: string): void => void closed.push(why)
  const listener = await listen(
    { ...listenerDefaults, onConnectionClosed, ...options, clock },
    (request, response) => {
      if (request.target === '/key') request.place.showKey()
      if (request.target === '/busy') return onBusy()
      const status = request.place.isForHealthOnly ? 503 : 200
      sendReply(request, response, { status, headers: [], body: Buffer.from('x') })
    },
  )
  cleanups.push(() => listener.close())
  const url = `http://127.0.0.1:${listener.address.port}`
  return {
    clock,
    url,
    closed,
    async open(path, localAddress = office) {
      const connection = await connectRaw(url, localAddress)
      cleanups.push(() => connection.close())
      const arrived = new Promise<void>((resolve) => (onBusy = resolve))
      connection.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
      if (path === '/busy') await arrived
      else if ((await connection.next()) === undefined) await connection.ended
      return connection
    },
  }
}

async function isOpen(connection: RawConnection): Promise<boolean> {
  connection.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  return (await connection.next())?.status === 200
}

describe('connections of one address without a key', () => {
  it('over the limit are closed, the oldest first, and those of others and with a key stay', async () => {
    const rig = await start({ keylessPerAddressMax: 3 })
    const withKey: RawConnection[] = []
    const without: RawConnection[] = []
    for (let index = 0; index < 5; index++) {
      withKey.push(await rig.open('/key'))
      without.push(await rig.open('/'))
    }
    const others = [await rig.open('/', elsewhere), await rig.open('/', elsewhere)]
    rig.clock.advance(900)
    assert.deepEqual(rig.closed, [], 'each has a second to show its key')
    rig.clock.advance(1_200)
    await Promise.all(without.slice(0, 2).map(({ ended }) => ended))
    assert.deepEqual(rig.closed, ['address', 'address'])
    for (const connection of [...withKey, ...without.slice(2), ...others])
      assert.ok(await isOpen(connection))
  })

  it('do not count once they have shown one', async () => {
    const rig = await start({ keylessPerAddressMax: 1 })
    const connections = [await rig.open('/'), await rig.open('/'), await rig.open('/')]
    for (const connection of connections) {
      connection.write('GET /key HTTP/1.1\r\nHost: x\r\n\r\n')
      await connection.next()
    }
    rig.clock.advance(5_000)
    for (const connection of connections) assert.ok(await isOpen(connection))
    rig.clock.advance(5_000)
    assert.deepEqual(rig.closed, [])
  })

  it('are not closed while a request is being served', async () => {
    const rig = await start({ keylessPerAddressMax: 1 })
    for (let index = 0; index < 3; index++) await rig.open('/busy')
    const idle = await rig.open('/')
    rig.clock.advance(2_200)
    await idle.ended
    assert.deepEqual(rig.closed, ['address'])
  })

  it('are not limited for a trusted proxy', async () => {
    const addresses = new ClientAddresses({
      trusted: buildIpRanges([office]),
      header: 'x-forwarded-for',
      onUnlistedProxy: () => undefined,
    })
    const rig = await start({ keylessPerAddressMax: 1, addresses })
    const connections = [await rig.open('/'), await rig.open('/'), await rig.open('/')]
    rig.clock.advance(5_000)
    for (const connection of connections) assert.ok(await isOpen(connection))
    assert.deepEqual(rig.closed, [])
  })
})

describe('a full listener', () => {
  it('closes for a new connection one without a key, then an idle one with, and none in use', async () => {
    const rig = await start({ connectionsMax: 4 })
    const withKey = await rig.open('/key')
    await rig.open('/busy')
    const without = [await rig.open('/'), await rig.open('/')]
    await rig.open('/busy')
    await without[0]?.ended
    await rig.open('/busy')
    await without[1]?.ended
    assert.deepEqual(rig.closed, ['another', 'another'])
    await rig.open('/busy')
    await withKey.ended
    assert.deepEqual(rig.closed, ['another', 'another', 'another'])
    await rig.open('/')
    assert.deepEqual(rig.closed.slice(3), ['full'])
  })

  it('closes the connection that has been idle for longest', async () => {
    const rig = await start({ connectionsMax: 3 })
    const first = await rig.open('/key')
    const second = await rig.open('/key')
    await rig.open('/key')
    assert.ok(await isOpen(first))
    await rig.open('/key')
    await second.ended
    assert.ok(await isOpen(first))
    assert.deepEqual(rig.closed, ['another'])
  })

  it('is not filled by connections that send nothing, or half a request', async () => {
    const rig = await start({ connectionsMax: 3 })
    for (let index = 0; index < 10; index++) {
      const hostile = await rig.open('/', elsewhere)
      hostile.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf')
      assert.equal((await hostile.next())?.status, 200)
    }
    const withKey = await rig.open('/key')
    for (let index = 0; index < 10; index++) (await rig.open('/', elsewhere)).write('GET / HT')
    assert.ok(await isOpen(withKey))
  })

  it('keeps its last places for /health, one request each', async () => {
    const rig = await start({ connectionsMax: 200 })
    for (let index = 0; index < 192; index++) await rig.open('/busy')
    for (let index = 0; index < 5; index++) {
      const connection = await connectRaw(rig.url)
      connection.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      const last = await connection.next()
      await connection.ended
      connection.close()
      assert.equal(last?.status, 503, 'the handler knows that only /health is served')
      assert.equal(last.headers['connection'], 'close')
    }
    assert.deepEqual(rig.closed, [])
  })
})
