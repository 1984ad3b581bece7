/**
 * The delivery of one stream to a client on a real connection, fed piece by piece with time held still:
 * what is read of the vendor's answer while the client is behind.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { plainFacts } from '../../test/transcripts/replay.ts'
import { createWatchdog } from '../base/watchdog.ts'
import { chatCompletions } from '../formats/chat/index.ts'
import type { StreamMeter } from '../formats/format.ts'
import { listen } from '../http/server/listener.ts'
import type { ResponseWriter } from '../http/server/response-writer.ts'
import type { Ending } from '../ledger/ledger.ts'
import type { LiveStream, StreamReceiver } from './attempt-outcome.ts'
import { ClientLink } from './client-link.ts'
import { StreamDelivery } from './stream-delivery.ts'

const cleanups: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A vendor's answer as an attempt passes it on: it pauses on request and continues when resumed. */
class Feed implements LiveStream {
  readonly meter: StreamMeter = chatCompletions.openMeter(plainFacts)
  #receiver: StreamReceiver | undefined
  #isPaused = false
  #kept: string[] = []

  take(receiver: StreamReceiver): void {
    this.#receiver = receiver
    receiver.onPieces([])
  }

  send(text: string): void {
    if (this.#isPaused) this.#kept.push(text)
    else this.#isPaused = this.#receiver?.onPieces(this.meter.push(Buffer.from(text))) === false
  }

  resume(): void {
    this.#isPaused = false
    for (const text of this.#kept.splice(0)) this.send(text)
  }

  abort(): void {
    this.#receiver = undefined
  }
}

interface Rig {
  readonly clock: ManualClock
  readonly feed: Feed
  readonly delivery: StreamDelivery
  readonly ending: () => Ending | undefined
}

/** A stream about to be delivered to a client that reads nothing. */
async function start(): Promise<Rig> {
  const clock = new ManualClock()
  const monotonic = (): number => clock.monotonic()
  const response = await openResponse(clock)
  response.writeHead(200, [])
  const feed = new Feed()
  let ending: Ending | undefined
  const delivery = new StreamDelivery(
    {
      response,
      client: new ClientLink(response, monotonic, () => undefined),
      stream: feed,
      deadlineMs: 900_000,
      errorEvent: () => Buffer.from('data: {"error":{}}\n\n'),
      onMore: () => undefined,
      onEnded: (ended) => (ending = ended),
    },
    {
      clock,
      watchdog: createWatchdog(clock),
      settings: { idleTimeoutMs: 90_000, clientLeftGraceMs: 5_000 },
    },
  )
  delivery.start()
  return { clock, feed, delivery, ending: () => ending }
}

async function openResponse(clock: ManualClock): Promise<ResponseWriter> {
  const arrived = Promise.withResolvers<ResponseWriter>()
  const limits = {
    host: '127.0.0.1',
    port: 0,
    headBytesMax: 8_192,
    headTimeoutMs: 10_000,
    requestTimeoutMs: 60_000,
    keepAliveTimeoutMs: 75_000,
    writeStallTimeoutMs: 60_000,
    connectionsMax: 10,
    newRequestId: () => 'refused',
    clock,
  }
  const listener = await listen(limits, (_request, response) => arrived.resolve(response))
  const client = connect(listener.address.port, '127.0.0.1').pause()
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  cleanups.push(async () => {
    client.destroy()
    await listener.close()
  })
  return arrived.promise
}

function chunk(content: string): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
}

const done = 'data: [DONE]\n\n'
const usage = `data: ${JSON.stringify({
  choices: [],
  usage: { prompt_tokens: 5, completion_tokens: 7 },
})}\n\n`

describe('a stream whose client is behind', () => {
  it('is not read further', async () => {
    const { feed, delivery } = await start()
    feed.send(chunk('x'.repeat(200_000)))
    feed.send(usage)
    assert.equal(delivery.reading.usage, undefined)
    feed.resume()
    assert.notEqual(delivery.reading.usage, undefined)
  })

  it('is read beyond its terminal event for the counts that follow it', async () => {
    const { clock, feed, delivery, ending } = await start()
    feed.send(chunk('x'.repeat(200_000)) + done)
    assert.equal(ending(), undefined, 'the counts are still to come')
    clock.advance(100)
    feed.send(usage)
    assert.equal(ending(), 'completed')
    assert.equal(delivery.reading.isFinal, true)
  })

  it('ends one second after its terminal event where no counts follow', async () => {
    const { clock, feed, delivery, ending } = await start()
    feed.send(chunk('x'.repeat(200_000)) + done)
    clock.advance(900)
    assert.equal(ending(), undefined)
    clock.advance(200)
    assert.equal(ending(), 'completed')
    assert.equal(delivery.reading.isFinal, false)
  })
})
