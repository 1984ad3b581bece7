/**
 * Streams that take their time. Goal: a client that does not read stops its vendor instead of
 * filling memory, and a thousand streams that mostly wait all live, all end whole and are all
 * charged. Nothing here is timed.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServedRecord } from '../../sandbox/served-record.ts'
import { releaseMemory } from '../../src/gateway/memory.ts'
import { openUnread, send, usage } from '../support/http-client.ts'
import { hasEnd, lastEvents } from '../support/answers.ts'
import { advanceUntil, ManualClock } from '../support/manual-clock.ts'
import { assertClean, chargesOf, only, usd, vendorPrice } from '../support/money.ts'
import {
  type Ask,
  sendAsk,
  streamedFormats,
  type StreamedFormat,
  urlOf,
  wireRequest,
  alike,
} from '../support/requests.ts'
import { type Scenario, scenario, withScenario } from '../support/scenario.ts'

const mebibyte = 1_048_576
/** What the operating system's buffers of two connections take, and a little of ours. */
const underwayBytesMax = 24 * mebibyte

/** In buffers of this process, without those that wait to be collected. */
function keptBytes(): number {
  releaseMemory()
  return process.memoryUsage().arrayBuffers
}

/** Makes streams of about the same size: a response has its text five times. */
function piecesOf(format: StreamedFormat, pieces: number): number {
  return format === 'responses' ? pieces / 5 : pieces
}

for (const format of alike(streamedFormats))
  test(`a client that does not read a large ${format} stream pauses the vendor`, async () => {
    // Bodies are not kept: this process is the gateway and the vendor, and its memory is looked at.
    await withScenario({ sandbox: { keepBodies: false } }, async (gateway) => {
      const account = await gateway.createAccount()
      const sandbox = `output=${piecesOf(format, 4_000)}; frame=16384`
      const ask: Ask = { format, isStream: true, marker: 'large', maxTokens: 4_000, sandbox }
      const memoryBefore = keptBytes()
      const response = await openUnread(
        urlOf(gateway.url, ask.format),
        wireRequest(account.key, ask),
      )
      const record = await gateway.sandbox.log.waitFor(({ marker }) => marker === 'large')
      await untilStopped(gateway, record)
      assert.ok(record.responseBytes < underwayBytesMax, `${record.responseBytes} bytes are out`)
      const grown = keptBytes() - memoryBefore
      assert.ok(grown < 8 * mebibyte, `${grown} bytes are kept in memory`)
      assert.equal((await chargesOf(gateway.context.database)).size, 0)

      let receivedBytes = 0
      let tail = ''
      let hasLast = false
      for await (const chunk of response as AsyncIterable<Buffer>) {
        receivedBytes += chunk.length
        tail += chunk.toString('latin1')
        hasLast ||= tail.includes(lastEvents[format])
        tail = tail.slice(-400)
      }
      assert.ok(response.complete && hasLast)
      assert.ok(receivedBytes > 60 * mebibyte)
      const exchange = only(await gateway.ended(account, 1))
      assert.equal(exchange.amountPicos, vendorPrice(record))
    })
  })

test('a client that reads nothing for too long counts as disconnected and pays', async () => {
  const clock = new ManualClock()
  const settings = { write_stall_timeout: '60s', client_left_grace: '0s' }
  await withScenario({ clock, settings, sandbox: { keepBodies: false } }, async (gateway) => {
    const account = await gateway.createAccount({ balance_usd: '100' })
    const sandbox = 'output=4000; frame=16384'
    // More than the buffers on the way take, so the vendor keeps its limit.
    const maxTokens = 8_000_000
    const ask: Ask = { format: 'chat', isStream: true, marker: 'm', maxTokens, sandbox }
    const response = await openUnread(urlOf(gateway.url, ask.format), wireRequest(account.key, ask))
    response.on('error', () => undefined)
    const record = await gateway.sandbox.log.waitFor(({ marker }) => marker === 'm')
    await untilStopped(gateway, record)
    // The kernel may still move a few bytes when the vendor has stopped; then the time begins anew.
    const waitedMs = await advanceUntil(clock, 300_000, async () => {
      await gateway.health()
      return (await chargesOf(gateway.context.database)).size > 0
    })
    assert.ok(waitedMs >= 60_000)
    const exchange = only(await gateway.ended(account, 1))
    assert.equal(exchange.ending, 'client_left')
    assert.deepEqual(exchange.marks, ['estimated'])
    assert.ok(exchange.amountPicos > 0n)
  })
})

for (const format of alike(streamedFormats))
  test(`a client that reads a large ${format} stream slowly gets all of it`, async () => {
    const clock = new ManualClock()
    const settings = {
      write_stall_timeout: '60s',
      idle_timeout: '60m',
      request_deadline: '24h',
    }
    await withScenario({ clock, settings, sandbox: { keepBodies: false } }, async (gateway) => {
      const account = await gateway.createAccount()
      const sandbox = `output=${piecesOf(format, 2_500)}; frame=16384`
      const ask: Ask = { format, isStream: true, marker: 'slow', maxTokens: 10_000, sandbox }
      const response = await openUnread(
        urlOf(gateway.url, ask.format),
        wireRequest(account.key, ask),
      )
      const record = await gateway.sandbox.log.waitFor(({ marker }) => marker === 'slow')
      await untilStopped(gateway, record)
      let receivedBytes = 0
      let vendorBytes = record.responseBytes
      for await (const chunk of response as AsyncIterable<Buffer>) {
        receivedBytes += chunk.length
        // The vendor could write more, so some has left the gateway: the limit runs anew.
        if (record.responseBytes === vendorBytes) continue
        vendorBytes = record.responseBytes
        clock.advance(50_000)
      }
      assert.ok(response.complete, `cut off behind ${receivedBytes} bytes`)
      assert.ok(receivedBytes > 35 * mebibyte)
      assert.ok(clock.monotonic() > 2 * 60_000)
      const exchange = only(await gateway.ended(account, 1))
      assert.equal(exchange.ending, 'completed')
      assert.equal(exchange.amountPicos, vendorPrice(record))
    })
  })

test('a slow client gets what had come by the deadline, and then the error', async () => {
  const clock = new ManualClock()
  const settings = { write_stall_timeout: '60m', request_deadline: '15m' }
  await withScenario({ clock, settings, sandbox: { keepBodies: false } }, async (gateway) => {
    const account = await gateway.createAccount()
    const sandbox = 'output=4000; frame=16384'
    const ask: Ask = { format: 'messages', isStream: true, marker: 'm', maxTokens: 4_000, sandbox }
    const response = await openUnread(urlOf(gateway.url, ask.format), wireRequest(account.key, ask))
    const record = await gateway.sandbox.log.waitFor(({ marker }) => marker === 'm')
    await untilStopped(gateway, record)
    clock.advance(15 * 60_000 + 1_000)
    let tail = ''
    response.on('data', (chunk: Buffer) => {
      tail = (tail + chunk.toString('latin1')).slice(-600)
    })
    response.on('error', () => undefined)
    await new Promise<void>((resolve) => response.on('close', resolve))
    assert.equal(response.complete, false)
    assert.match(tail, /event: error\ndata: .*longer than one request may take.*\n\n$/)
    const exchange = only(await gateway.ended(account, 1))
    assert.equal(exchange.ending, 'gateway_cut')
    assert.ok(exchange.amountPicos > 0n)
  })
})

/**
 * The vendor has written nothing during many round trips of other requests. Each of them gives a
 * stream that may go on several turns to do so in, and the gateway answers them meanwhile.
 */
async function untilStopped(gateway: Scenario, record: ServedRecord): Promise<void> {
  let bytes = -1
  for (let unchanged = 0; unchanged < 60; unchanged++) {
    if (record.responseBytes !== bytes) unchanged = 0
    bytes = record.responseBytes
    assert.ok(bytes < underwayBytesMax, 'the vendor is not stopped')
    assert.equal((await send(`${gateway.url}/health`)).status, 200)
  }
}

test('a thousand waiting streams stay open, complete and are charged', async () => {
  const count = 1_000
  let begun = 0
  const allBegun = Promise.withResolvers<void>()
  const gateway = await scenario({
    sandbox: { keepBodies: false },
    onTracePoint(point) {
      if (point === 'first_event' && ++begun === count) allBegun.resolve()
    },
  })
  try {
    const account = await gateway.createAccount()
    const asks = Array.from({ length: count }, (_, index): Ask => {
      const format = streamedFormats[index % streamedFormats.length] ?? 'chat'
      const sandbox = 'output=6; hold=all@mid'
      return { format, isStream: true, marker: `stream-${index}`, maxTokens: 20, sandbox }
    })
    const running = asks.map((ask) => sendAsk(gateway.url, account.key, ask))
    await allBegun.promise
    assert.equal((await send(`${gateway.url}/health`)).status, 200)
    const waiting = gateway.sandbox.log.records.filter(({ phase }) => phase === 'received')
    assert.equal(waiting.length, count, 'no stream has been dropped')
    assert.equal((await chargesOf(gateway.context.database)).size, 0)
    const other: Ask = { format: 'messages', isStream: false, marker: 'other' }
    assert.ok(hasEnd(await sendAsk(gateway.url, account.key, other), other))

    gateway.sandbox.faults.release('all')
    for (const [index, answer] of (await Promise.all(running)).entries()) {
      const ask = asks[index]
      assert.ok(ask !== undefined && hasEnd(answer, ask), `stream ${index}`)
    }
    let price = 0n
    // Without a marker is a check of the gateway's own, which no account pays.
    for (const record of gateway.sandbox.log.records)
      if (record.marker !== undefined) price += vendorPrice(record)
    const figures = await usage(gateway.url, account.token, 'total')
    const shown = figures['usage'] as { requests: number; cost_usd: number }
    assert.equal(shown.requests, count + 1)
    assert.equal(shown.cost_usd, usd(price))
    await assertClean(gateway)
  } finally {
    await gateway.close()
  }
})
