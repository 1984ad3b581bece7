/** How a listener counts, drains and closes, on real sockets. What it refuses: test/e2e/listener.test.ts. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { connect } from 'node:net'
import { test } from 'node:test'
import { connectRaw, type RawConnection } from '../../../test/support/http-client.ts'
import { listenerDefaults } from '../../../test/support/listener-options.ts'
import { systemClock } from '../../base/clock.ts'
import type { IncomingRequest } from './request.ts'
import { listen, type Listener } from './listener.ts'
import type { ResponseWriter } from './response-writer.ts'

interface Rig {
  readonly listener: Listener
  readonly url: string
  /** Resolves with the next request's response, unanswered. */
  next(): Promise<ResponseWriter>
}

async function start(connectionsMax = 100): Promise<Rig> {
  const arrived: ResponseWriter[] = []
  let wake: () => void = () => undefined
  let requestCount = 0
  const listener = await listen(
    {
      ...listenerDefaults,
      connectionsMax,
      newRequestId: () => `request-${requestCount++}`,
      clock: systemClock,
    },
    (_request: IncomingRequest, response: ResponseWriter) => {
      arrived.push(response)
      wake()
    },
  )
  return {
    listener,
    url: `http://127.0.0.1:${listener.address.port}`,
    async next() {
      while (arrived.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      const response = arrived.shift()
      assert.ok(response !== undefined)
      return response
    },
  }
}

/** Sockets tell of their end at the end of the turn in which the server knew. */
async function turn(): Promise<void> {
  for (let step = 0; step < 2; step++) await new Promise<void>((resolve) => setImmediate(resolve))
}

const plain = 'GET / HTTP/1.1\r\nHost: gateway\r\n\r\n'

function answer(response: ResponseWriter, text: string): void {
  response.writeHead(200, [])
  response.end([Buffer.from(text)])
}

/** A kept-alive connection that has had one answer. */
async function becomeIdle(rig: Rig): Promise<RawConnection> {
  const connection = await connectRaw(rig.url)
  connection.write(plain)
  const response = await rig.next()
  answer(response, 'served')
  assert.equal((await connection.next())?.body.toString(), 'served')
  return connection
}

function isRefused(rig: Rig): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: rig.listener.address.port })
    socket.on('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.on('error', () => resolve(true))
  })
}

test('clients that come all at once connect while the event loop is busy', async () => {
  const { listener } = await start(2_000)
  const { port } = listener.address
  const program = `
    let left = 2_000
    const opened = () => { if (--left === 0) process.exit(0) }
    for (let n = left; n > 0; n--) require('node:net').connect(${port}, '127.0.0.1', opened)`
  // Nothing is accepted until this call returns.
  const { status } = spawnSync(process.execPath, ['-e', program], { timeout: 60_000 })
  await listener.close()
  assert.equal(status, 0)
})

test('reports the chosen free port, and counts connections until they are closed', async () => {
  const rig = await start()
  assert.ok(rig.listener.address.port > 0)
  assert.equal(rig.listener.connectionCount(), 0)
  const connection = await becomeIdle(rig)
  assert.equal(rig.listener.connectionCount(), 1)
  connection.close()
  await rig.listener.drain()
  await turn()
  assert.equal(rig.listener.connectionCount(), 0)
})

test('a drain closes idle connections at once, lets a running answer finish, and accepts no new ones', async () => {
  const rig = await start()
  const idle = await becomeIdle(rig)
  const busy = await connectRaw(rig.url)
  busy.write(plain)
  const response = await rig.next()
  response.writeHead(200, [])
  response.write([Buffer.from('first ')])

  const drained = rig.listener.drain()
  await idle.ended
  assert.ok(await isRefused(rig))
  assert.equal(rig.listener.connectionCount(), 1)
  response.end([Buffer.from('and last')])
  const answer = await busy.next()
  assert.equal(answer?.body.toString(), 'first and last')
  assert.ok(answer.isComplete)
  // The connection is idle now: asking once more closes it, with nothing left in the way.
  await rig.listener.drain()
  await drained
  await busy.ended
  await turn()
  assert.equal(rig.listener.connectionCount(), 0)
  idle.close()
  busy.close()
})

test('a listener that stops accepting answers on kept connections, each for the last time', async () => {
  const rig = await start()
  const idle = await becomeIdle(rig)
  const fresh = await connectRaw(rig.url)
  rig.listener.stopAccepting()
  assert.ok(await isRefused(rig))
  for (const connection of [idle, fresh]) {
    connection.write(plain)
    answer(await rig.next(), 'last')
    const last = await connection.next()
    assert.equal(last?.body.toString(), 'last')
    assert.equal(last.headers['connection'], 'close')
    await connection.ended
    connection.close()
  }
  await rig.listener.close()
})

test('a close cuts running answers, is idempotent, and resolves when all connections are closed', async () => {
  const rig = await start()
  const busy = await connectRaw(rig.url)
  busy.write(plain)
  const response = await rig.next()
  response.writeHead(200, [])
  response.write([Buffer.from('never finished')])
  await Promise.all([rig.listener.close(), rig.listener.close()])
  await rig.listener.drain()
  await turn()
  assert.equal(rig.listener.connectionCount(), 0)
  assert.ok(response.isGone)
  const answer = await busy.next()
  assert.notEqual(answer?.isComplete, true)
  busy.close()
})

test('a close ends a drain that waits', async () => {
  const rig = await start()
  const busy = await connectRaw(rig.url)
  busy.write(plain)
  await rig.next()
  const drained = rig.listener.drain()
  await rig.listener.close()
  await drained
  await busy.ended
  busy.close()
})

test('where all connections are in use, drops the newest, and the others go on', async () => {
  const rig = await start(2)
  const busy = await Promise.all([1, 2].map(() => connectRaw(rig.url)))
  for (const connection of busy) connection.write(plain)
  const responses = [await rig.next(), await rig.next()]
  const third = await connectRaw(rig.url)
  await third.ended
  for (const response of responses) answer(response, 'still here')
  for (const connection of busy)
    assert.equal((await connection.next())?.body.toString(), 'still here')
  for (const connection of [...busy, third]) connection.close()
  await rig.listener.close()
})

test('a port in use is an error of the start, not of a request', async () => {
  const rig = await start()
  const { port } = rig.listener.address
  const options = { ...listenerDefaults, port, clock: systemClock }
  await assert.rejects(
    listen(options, () => undefined),
    { code: 'EADDRINUSE' },
  )
  await rig.listener.close()
})
