/**
 * SIGTERM: what runs may finish and is charged, what is new is refused, the process ends by itself
 * with code 0 and the next one finds everything. Processes of their own, real signals.
 */
import assert from 'node:assert/strict'
import { Agent, request as httpRequest } from 'node:http'
import { test } from 'node:test'
import { send, usage } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startPostgres } from '../support/postgres.ts'
import {
  assertClean,
  byValue,
  chargesOf,
  exchangesOf,
  formats,
  framesIn,
  hasEnd,
  hasTerminalEvent,
  isErrorEvent,
  only,
  openAsk,
  sendAsk,
  urlOf,
  vendorPrice,
  wireRequest,
  type Ask,
} from './harness.ts'
import { openStand, type GatewayProcess } from './process-stand.ts'

/** The gateway has taken note of the signal. */
async function untilDraining(gateway: GatewayProcess): Promise<void> {
  for (;;) {
    const ready = await send(`${gateway.adminUrl}/readyz`)
    if (ready.status === 503) return
  }
}

test('answers that run are finished and charged, new requests refused, exit code 0', async () => {
  const stand = await openStand()
  try {
    const gateway = await stand.start()
    const account = await stand.createAccount()
    const asks = formats.flatMap((format) =>
      [true, true, false].map((isStream, index): Ask => {
        const marker = `${format}-${index}`
        return { format, isStream, marker, sandbox: `hold=${marker}@mid` }
      }),
    )
    const running = asks.map((ask) => sendAsk(gateway.url, account.key, ask))
    for (const { marker } of asks) await stand.sandbox.faults.reached(marker ?? '')
    gateway.signal('SIGTERM')
    await untilDraining(gateway)
    for (const format of formats) {
      const refused = await sendAsk(gateway.url, account.key, { format, isStream: true })
      assert.equal(refused.status, 503)
      assert.equal(refused.headers.connection, 'close')
      assert.equal(refused.headers['retry-after'], '1')
    }
    for (const { marker } of asks) stand.sandbox.faults.release(marker ?? '')
    for (const [index, answer] of (await Promise.all(running)).entries()) {
      const ask = asks[index]
      assert.ok(ask !== undefined && hasEnd(answer, ask), answer.body.toString())
    }
    assert.equal(await gateway.ended, 0)
    const charges = [...(await chargesOf(stand.context.database, account.id)).values()]
    const prices = stand.sandbox.log.records.map(vendorPrice)
    assert.deepEqual(charges.toSorted(byValue), prices.toSorted(byValue))
    await assertClean(stand)

    const next = await stand.start()
    const figures = await usage(next.url, account.token, 'total')
    assert.equal((figures['usage'] as { requests: number }).requests, asks.length)
    const ask: Ask = { format: 'messages', isStream: true }
    assert.ok(hasEnd(await sendAsk(next.url, account.key, ask), ask))
  } finally {
    await stand.close()
  }
})

test('a terminal that closes lets answers finish too', async () => {
  const stand = await openStand()
  try {
    const gateway = await stand.start()
    const account = await stand.createAccount()
    const ask: Ask = { format: 'messages', isStream: true, marker: 'm', sandbox: 'hold=m@mid' }
    const running = sendAsk(gateway.url, account.key, ask)
    await stand.sandbox.faults.reached('m')
    gateway.signal('SIGHUP')
    await untilDraining(gateway)
    stand.sandbox.faults.release('m')
    assert.ok(hasEnd(await running, ask))
    assert.equal(await gateway.ended, 0)
    await assertClean(stand)
  } finally {
    await stand.close()
  }
})

test('a second signal ends the process at once, and the books are clean', async () => {
  const stand = await openStand()
  try {
    for (const signals of [
      ['SIGTERM', 'SIGTERM'],
      ['SIGINT', 'SIGTERM'],
    ] as const) {
      const gateway = await stand.start()
      const account = await stand.createAccount()
      const gate = signals.join('-')
      const ask: Ask = { format: 'chat', isStream: true, sandbox: `hold=${gate}@mid` }
      const client = openAsk(gateway.url, account.key, ask)
      await stand.sandbox.faults.reached(gate)
      gateway.signal(signals[0])
      await untilDraining(gateway)
      gateway.signal(signals[1])
      assert.equal(await gateway.ended, 1)
      const { text, isComplete } = await client.ended
      assert.ok(!isComplete && !hasTerminalEvent(text, 'chat'))
      assert.equal((await chargesOf(stand.context.database, account.id)).size, 0)
      await assertClean(stand)
    }
  } finally {
    await stand.close()
  }
})

for (const format of formats)
  test(`a ${format} stream that outlasts the drain time ends with an error event, never cleanly`, async () => {
    const stand = await openStand()
    try {
      const gateway = await stand.start({ drain_timeout: '1s' })
      const account = await stand.createAccount()
      const ask: Ask = { format, isStream: true, sandbox: 'hold=g@mid' }
      const running = openAsk(gateway.url, account.key, ask)
      await running.until((text) => framesIn(text) > 1)
      await stand.sandbox.faults.reached('g')
      gateway.signal('SIGTERM')
      assert.equal(await gateway.ended, 0)
      const { text, isComplete } = await running.ended
      assert.equal(isComplete, false)
      assert.ok(isErrorEvent(text, format) && !hasTerminalEvent(text, format), text)
      const exchange = only(await exchangesOf(stand.context.database, account.id))
      assert.equal(exchange.ending, 'gateway_cut')
      assert.ok(exchange.amountPicos > 0n, 'what was produced is charged')
      assert.deepEqual(exchange.marks, ['estimated'])
      await assertClean(stand)
    } finally {
      await stand.close()
    }
  })

for (const format of formats)
  test(`a ${format} request still without an answer then is told so, and costs nothing`, async () => {
    const stand = await openStand()
    try {
      const gateway = await stand.start({ drain_timeout: '1s' })
      const account = await stand.createAccount()
      const sandbox = 'hold=g@before_head'
      const ask: Ask = { format, isStream: false, marker: 'waiting', sandbox }
      const running = sendAsk(gateway.url, account.key, ask)
      await stand.sandbox.faults.reached('g')
      gateway.signal('SIGTERM')
      const answer = await running
      assert.equal(answer.status, 503)
      assert.ok(answer.isComplete && Number(answer.headers['retry-after']) >= 1)
      assert.equal(await gateway.ended, 0)
      const exchange = only(await exchangesOf(stand.context.database, account.id))
      assert.deepEqual([exchange.ending, exchange.attemptCount], ['failed', 1])
      assert.equal(exchange.amountPicos, 0n)
      await assertClean(stand)
    } finally {
      await stand.close()
    }
  })

test('a client that had left before the drain time was over pays for what it got', async () => {
  const stand = await openStand()
  try {
    const gateway = await stand.start({ drain_timeout: '1s', client_left_grace: '30s' })
    const account = await stand.createAccount()
    const ask: Ask = { format: 'messages', isStream: true, sandbox: 'output=40; stall_event=20' }
    const client = openAsk(gateway.url, account.key, ask)
    await client.until((text) => framesIn(text) >= 20)
    client.leave()
    gateway.signal('SIGTERM')
    assert.equal(await gateway.ended, 0)
    const exchange = only(await exchangesOf(stand.context.database, account.id))
    assert.equal(exchange.ending, 'client_left')
    assert.ok(exchange.amountPicos > 0n)
    await assertClean(stand)
  } finally {
    await stand.close()
  }
})

test('the last stream has its clean end, though the vendor closes late and a client idles', async () => {
  const vendorClock = new ManualClock()
  const stand = await openStand({ vendorClock })
  const agent = new Agent({ keepAlive: true })
  try {
    const gateway = await stand.start()
    const account = await stand.createAccount()
    await new Promise<void>((resolve, reject) => {
      const url = urlOf(gateway.url, 'chat')
      const { headers = {}, body } = wireRequest(account.key, { format: 'chat', isStream: false })
      const request = httpRequest(url, { method: 'POST', agent, headers: { ...headers } })
      request.on('error', reject)
      request.on('response', (response) => response.resume().on('end', resolve))
      request.end(body)
    })
    // What the vendor sends behind its last event never comes, and so neither does its end.
    const sandbox = 'output=2; event_delay_ms=1; after_terminal=: bye%0A%0A'
    const ask: Ask = { format: 'messages', isStream: true, marker: 'late', sandbox }
    const running = sendAsk(gateway.url, account.key, ask)
    await stand.sandbox.log.waitFor((record) => record.marker === 'late')
    gateway.signal('SIGTERM')
    await untilDraining(gateway)
    while (stand.sandbox.log.forMarker('late')[0]?.phase === 'received') {
      if (vendorClock.pendingCount > 0) vendorClock.advance(1)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    assert.ok(hasEnd(await running, ask))
    assert.equal(await gateway.ended, 0)
  } finally {
    agent.destroy()
    await stand.close()
  }
})

test('a request whose key is still being looked for is refused, not begun', async () => {
  const server = await startPostgres()
  const storeUrl = await server.createDatabase()
  const gateway = await startGateway({ storeUrl })
  try {
    const { key } = await gateway.createAccount()
    const isLocked = Promise.withResolvers<void>()
    const mayGoOn = Promise.withResolvers<void>()
    const locking = gateway.context.database.transact(async (transaction) => {
      await transaction.query('LOCK TABLE key IN ACCESS EXCLUSIVE MODE')
      isLocked.resolve()
      await mayGoOn.promise
    })
    await isLocked.promise
    const asked = sendAsk(gateway.url, key, { format: 'messages', isStream: false })
    const waiting = `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
    while ((await server.run(waiting)) !== '1') continue
    const drained = gateway.app.drain(60_000)
    mayGoOn.resolve()
    await locking
    const answer = await asked
    assert.equal(answer.status, 503)
    assert.equal(answer.headers['retry-after'], '1')
    await drained
    assert.deepEqual(await gateway.context.database.query('SELECT * FROM exchange'), [])
  } finally {
    await gateway.close()
    await server.close()
  }
})
