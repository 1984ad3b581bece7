/**
 * SIGTERM: what runs may finish and is charged, what is new is refused, the process ends by itself
 * with code 0 and the next one finds everything. Processes of their own, real signals.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { eventCount, send, usage } from '../support/http-client.ts'
import { hasEnd, hasTerminalEvent, isErrorEvent } from '../support/answers.ts'
import { eventually } from '../support/eventually.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { createAdminToken } from '../support/operations.ts'
import {
  assertClean,
  byValue,
  chargesOf,
  exchangesOf,
  only,
  vendorPrice,
} from '../support/money.ts'
import {
  type Ask,
  bodyFormats,
  formsOf,
  openAsk,
  sendAsk,
  streamedFormats,
  urlOf,
  wireRequest,
  alike,
} from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'
import { startPostgres } from '../support/postgres.ts'

/** The gateway has taken note of the signal. */
async function untilDraining(gateway: GatewayProcess): Promise<void> {
  for (;;) {
    const ready = await send(`${gateway.adminUrl}/readyz`)
    if (ready.status === 503) return
  }
}

test('finishes and charges running answers, refuses new requests, and exits with code 0', async () => {
  const setup = await scenario({ process: 'own' })
  try {
    const gateway = await setup.start()
    const account = await setup.createAccount()
    const asks = bodyFormats.flatMap((format) =>
      [...formsOf(format), ...formsOf(format)].map((isStream, index): Ask => {
        const marker = `${format}-${index}`
        return { format, isStream, marker, sandbox: `hold=${marker}@mid` }
      }),
    )
    const running = asks.map((ask) => sendAsk(gateway.url, account.key, ask))
    for (const { marker } of asks) await setup.sandbox.faults.reached(marker ?? '')
    gateway.signal('SIGTERM')
    await untilDraining(gateway)
    for (const format of alike(bodyFormats)) {
      const refused = await sendAsk(gateway.url, account.key, { format, isStream: false })
      assert.equal(refused.status, 503)
      assert.equal(refused.headers.connection, 'close')
      assert.equal(refused.headers['retry-after'], '1')
    }
    for (const { marker } of asks) setup.sandbox.faults.release(marker ?? '')
    for (const [index, answer] of (await Promise.all(running)).entries()) {
      const ask = asks[index]
      assert.ok(ask !== undefined && hasEnd(answer, ask), answer.body.toString())
    }
    assert.equal(await gateway.ended, 0)
    const charges = [...(await chargesOf(setup.context.database, account.id)).values()]
    const prices = setup.sandbox.log.records.map(vendorPrice)
    assert.deepEqual(charges.toSorted(byValue), prices.toSorted(byValue))
    await assertClean(setup)

    const next = await setup.start()
    const figures = await usage(next.url, account.token, 'total')
    assert.equal((figures['usage'] as { requests: number }).requests, asks.length)
    const ask: Ask = { format: 'messages', isStream: true }
    assert.ok(hasEnd(await sendAsk(next.url, account.key, ask), ask))
  } finally {
    await setup.close()
  }
})

test('finishes running answers also when the terminal closes', async () => {
  const setup = await scenario({ process: 'own' })
  try {
    const gateway = await setup.start()
    const account = await setup.createAccount()
    const ask: Ask = { format: 'messages', isStream: true, marker: 'm', sandbox: 'hold=m@mid' }
    const running = sendAsk(gateway.url, account.key, ask)
    await setup.sandbox.faults.reached('m')
    gateway.signal('SIGHUP')
    await untilDraining(gateway)
    setup.sandbox.faults.release('m')
    assert.ok(hasEnd(await running, ask))
    assert.equal(await gateway.ended, 0)
    await assertClean(setup)
  } finally {
    await setup.close()
  }
})

test('a second signal ends the process at once, and the audit passes', async () => {
  const setup = await scenario({ process: 'own' })
  try {
    for (const signals of [
      ['SIGTERM', 'SIGTERM'],
      ['SIGINT', 'SIGTERM'],
    ] as const) {
      const gateway = await setup.start()
      const account = await setup.createAccount()
      const gate = signals.join('-')
      const ask: Ask = { format: 'chat', isStream: true, sandbox: `hold=${gate}@mid` }
      const client = openAsk(gateway.url, account.key, ask)
      await setup.sandbox.faults.reached(gate)
      gateway.signal(signals[0])
      await untilDraining(gateway)
      gateway.signal(signals[1])
      assert.equal(await gateway.ended, 1)
      const { text, isComplete } = await client.ended
      assert.ok(!isComplete && !hasTerminalEvent(text, 'chat'))
      assert.equal((await chargesOf(setup.context.database, account.id)).size, 0)
      await assertClean(setup)
    }
  } finally {
    await setup.close()
  }
})

for (const format of alike(streamedFormats))
  test(`a ${format} stream that outlasts the drain timeout ends with an error event, never cleanly`, async () => {
    const setup = await scenario({ process: 'own' })
    try {
      const gateway = await setup.start({ drain_timeout: '1s' })
      const account = await setup.createAccount()
      const ask: Ask = { format, isStream: true, sandbox: 'hold=g@mid' }
      const running = openAsk(gateway.url, account.key, ask)
      await running.until((text) => eventCount(text) > 1)
      await setup.sandbox.faults.reached('g')
      gateway.signal('SIGTERM')
      assert.equal(await gateway.ended, 0)
      const { text, isComplete } = await running.ended
      assert.equal(isComplete, false)
      assert.ok(isErrorEvent(text, format) && !hasTerminalEvent(text, format), text)
      const exchange = only(await exchangesOf(setup.context.database, account.id))
      assert.equal(exchange.ending, 'gateway_cut')
      assert.ok(exchange.amountPicos > 0n, 'what was produced is charged')
      assert.deepEqual(exchange.marks, ['estimated'])
      await assertClean(setup)
    } finally {
      await setup.close()
    }
  })

for (const format of alike(bodyFormats))
  test(`a ${format} request without an answer at the drain timeout gets an error and pays nothing`, async () => {
    const setup = await scenario({ process: 'own' })
    try {
      const gateway = await setup.start({ drain_timeout: '1s' })
      const account = await setup.createAccount()
      const sandbox = 'hold=g@before_head'
      const ask: Ask = { format, isStream: false, marker: 'waiting', sandbox }
      const running = sendAsk(gateway.url, account.key, ask)
      await setup.sandbox.faults.reached('g')
      gateway.signal('SIGTERM')
      const answer = await running
      assert.equal(answer.status, 503)
      assert.ok(answer.isComplete && Number(answer.headers['retry-after']) >= 1)
      assert.equal(await gateway.ended, 0)
      const exchange = only(await exchangesOf(setup.context.database, account.id))
      assert.deepEqual([exchange.ending, exchange.attemptCount], ['failed', 1])
      assert.equal(exchange.amountPicos, 0n)
      await assertClean(setup)
    } finally {
      await setup.close()
    }
  })

test('a client that left before the drain timeout pays for what it got', async () => {
  const setup = await scenario({ process: 'own' })
  try {
    const gateway = await setup.start({ drain_timeout: '1s', client_left_grace: '30s' })
    const account = await setup.createAccount()
    const ask: Ask = { format: 'messages', isStream: true, sandbox: 'output=40; stall_event=20' }
    const client = openAsk(gateway.url, account.key, ask)
    await client.until((text) => eventCount(text) >= 20)
    client.leave()
    gateway.signal('SIGTERM')
    assert.equal(await gateway.ended, 0)
    const exchange = only(await exchangesOf(setup.context.database, account.id))
    assert.equal(exchange.ending, 'client_left')
    assert.ok(exchange.amountPicos > 0n)
    await assertClean(setup)
  } finally {
    await setup.close()
  }
})

test('the last stream ends cleanly although the vendor closes late and a client is idle', async () => {
  const vendorClock = new ManualClock()
  const setup = await scenario({ process: 'own', sandbox: { clock: vendorClock } })
  const agent = new Agent({ keepAlive: true })
  try {
    const gateway = await setup.start()
    const account = await setup.createAccount()
    const url = urlOf(gateway.url, 'chat')
    const first = wireRequest(account.key, { format: 'chat', isStream: false })
    assert.equal((await send(url, { ...first, agent })).status, 200)
    // What the vendor sends behind its last event never comes, and so neither does its end.
    const sandbox = 'output=2; event_delay_ms=1; after_terminal=: bye%0A%0A'
    const ask: Ask = { format: 'messages', isStream: true, marker: 'late', sandbox }
    const running = sendAsk(gateway.url, account.key, ask)
    await setup.sandbox.log.waitFor((record) => record.marker === 'late')
    gateway.signal('SIGTERM')
    await untilDraining(gateway)
    while (setup.sandbox.log.forMarker('late')[0]?.phase === 'received') {
      if (vendorClock.pendingCount > 0) vendorClock.advance(1)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    assert.ok(hasEnd(await running, ask))
    assert.equal(await gateway.ended, 0)
  } finally {
    agent.destroy()
    await setup.close()
  }
})

test('refuses a request whose key is still being looked up', async () => {
  const server = await startPostgres()
  const storeUrl = await server.createDatabase()
  const gateway = await scenario({ storeUrl })
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

/** As the operating system shows them: at most 15 letters. */
function threadNames(pid: number): readonly string[] {
  const folder = `/proc/${pid}/task`
  return readdirSync(folder).map((id) => {
    const path = join(folder, id, 'comm')
    // A thread may end between the two reads.
    return existsSync(path) ? readFileSync(path, 'utf8').trim() : ''
  })
}

test("an operator's file that takes long keeps no process from ending", async () => {
  const setup = await scenario({ process: 'own' })
  try {
    const gateway = await setup.start()
    const { secret } = await createAdminToken(setup.context, { name: 'files' })
    const day = new Date().toISOString().slice(0, 10)
    // Reading so many rows takes seconds.
    const rows = `${day},large-1,1\n`.repeat(300_000)
    const vendor_counts = `usage_date_utc,model_version,usage_output_tokens\n${rows}`
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ channel: 'all', from: day, to: day, vendor_counts })
    const refused = assert.rejects(
      send(`${gateway.adminUrl}/admin/v1/reconciliations`, { method: 'POST', headers, body }),
    )
    await eventually(
      'a thread reads the file',
      () => nextTurn(threadNames(gateway.pid)),
      (names) => names.includes('large-call-thre'),
    )
    gateway.signal('SIGTERM')
    assert.equal(await gateway.ended, 0)
    await refused
  } finally {
    await setup.close()
  }
})
