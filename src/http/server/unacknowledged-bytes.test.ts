/** What the kernel says of real connections, beside what is known of them here. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, Socket, type AddressInfo } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { createUnacknowledgedBytes, type UnacknowledgedBytes } from './unacknowledged-bytes.ts'

const cleanups: Array<() => void> = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

/** Both ends of one connection; the client's end reads nothing until it is resumed. */
async function openPair(
  host: string,
  connectTo: string,
): Promise<{ served: Socket; client: Socket }> {
  const server = createServer()
  server.listen(0, host)
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, connectTo)
  client.pause()
  const [served] = (await once(server, 'connection')) as [Socket]
  cleanups.push(() => {
    client.destroy()
    served.destroy()
    server.close()
  })
  return { served, client }
}

function readAnew(): UnacknowledgedBytes {
  return createUnacknowledgedBytes({ monotonic: () => 0, ageMaxMs: 0 })
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}

const isLinux = process.platform === 'linux'

describe('bytes that the other side has not acknowledged', { skip: !isLinux }, () => {
  for (const [name, host, connectTo] of [
    ['IPv4', '127.0.0.1', '127.0.0.1'],
    ['IPv6', '::1', '::1'],
    ['IPv4 on a listener of both', '::', '127.0.0.1'],
  ] as const)
    it(`are read for ${name}: none, some while the client does not read, none once it has read all`, async () => {
      const { served, client } = await openPair(host, connectTo)
      const unacknowledgedBytes = readAnew()
      await until(() => unacknowledgedBytes(served) === 0)
      const block = Buffer.alloc(1_000_000, 0x61)
      while (served.write(block) || served.writableLength < 20 * block.length);
      await until(() => (unacknowledgedBytes(served) ?? 0) > 10_000)
      client.resume()
      await until(() => served.writableLength === 0 && unacknowledgedBytes(served) === 0)
    })

  it('are read once for all calls within a short time', async () => {
    const { served, client } = await openPair('127.0.0.1', '127.0.0.1')
    let nowMs = 0
    const kept = createUnacknowledgedBytes({ monotonic: () => nowMs, ageMaxMs: 1_000 })
    assert.equal(kept(served), 0)
    served.write(Buffer.alloc(30_000_000, 0x61))
    await until(() => (readAnew()(served) ?? 0) > 10_000)
    nowMs = 999
    assert.equal(kept(served), 0)
    nowMs = 1_000
    assert.ok((kept(served) ?? 0) > 10_000)
    client.destroy()
  })
})

it('there is no figure for a socket that is not connected', () => {
  assert.equal(readAnew()(new Socket()), undefined)
})
