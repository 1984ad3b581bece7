/**
 * A vendor that sends without end to a client that has left. The clock stands still, so that only the
 * bound in bytes can end the exchange.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { only } from '../support/money.ts'
import { openAsk } from '../support/requests.ts'
import { withScenario } from '../support/scenario.ts'
import { ManualClock } from '../support/manual-clock.ts'

function event(content: string): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
}

const flood = event('the '.repeat(1_000))
/** Beside what the gateway reads, the kernel takes some megabytes. */
const sentBytesMax = 20_000_000

test('ends a stream whose client has left after a bound in bytes, and charges what was delivered', async () => {
  const options = { vendors: 'scripted', clock: new ManualClock() } as const
  await withScenario(options, async (gateway) => {
    let sentBytes = 0
    const left = Promise.withResolvers<void>()
    const stopped = Promise.withResolvers<void>()
    gateway.scripted.answer(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(event('the'))
      response.on('close', () => stopped.resolve())
      await left.promise
      while (!response.destroyed && sentBytes < sentBytesMax) {
        sentBytes += flood.length
        if (!response.write(flood)) await Promise.race([once(response, 'drain'), stopped.promise])
      }
      response.end()
    })
    const answer = openAsk(gateway.url, gateway.account.key, {
      format: 'chat',
      isStream: true,
      marker: 'endless',
    })
    await answer.until((text) => text.includes('the'))
    answer.leave()
    await gateway.passed('client_left')
    left.resolve()
    const exchange = only(await gateway.ended(gateway.account, 1))
    assert.equal(exchange.ending, 'client_left')
    assert.deepEqual(exchange.marks, ['estimated'])
    assert.match(exchange.priceLines, /"output",1,/)
    await stopped.promise
    assert.ok(sentBytes < sentBytesMax, `${sentBytes} bytes were taken`)
  })
})
