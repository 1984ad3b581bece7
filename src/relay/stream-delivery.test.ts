/**
 * The delivery of one stream to a client on a real connection, fed piece by piece with time held still:
 * what is read of the vendor's answer while the client is behind.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { listenerDefaults } from '../../test/support/listener-options.ts'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { cutAt, everySplit, places } from '../../test/support/pieces.ts'
import { plainFacts } from '../../test/transcripts/replay.ts'
import { createWatchdog } from '../base/watchdog.ts'
import { chatCompletions } from '../formats/chat/index.ts'
import type { MeterReading, StreamMeter } from '../formats/answer.ts'
import type { ForwardedOperation } from '../formats/format.ts'
import { messagesCreate } from '../formats/messages/index.ts'
import { listen } from '../http/server/listener.ts'
import type { ResponseWriter } from '../http/server/response-writer.ts'
import type { Ending } from '../metering/settlement.ts'
import type { LiveStream, StreamReceiver } from './attempt-outcome.ts'
import { ClientLink } from './client-link.ts'
import type { Leaving } from './leaving.ts'
import { StreamDelivery } from './stream-delivery.ts'

const cleanups: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A vendor's answer as an attempt passes it on: it pauses on request and continues when resumed. */
class Feed implements LiveStream {
  readonly meter: StreamMeter
  #receiver: StreamReceiver | undefined
  #isPaused = false
  #kept: Array<string | Buffer> = []

  constructor(operation: ForwardedOperation) {
    this.meter = operation.openMeter(plainFacts)
  }

  take(receiver: StreamReceiver): void {
    this.#receiver = receiver
    receiver.onPieces([])
  }

  send(bytes: string | Buffer): void {
    if (this.#isPaused) this.#kept.push(bytes)
    else this.#isPaused = this.#pass(Buffer.from(bytes)) === false
  }

  /** The memory of bytes that pass without a copy is used again. */
  #pass(bytes: Buffer): boolean | undefined {
    const at = this.meter.passRepeats(bytes, 0, bytes.length)
    const isReady = at === 0 || this.#receiver?.onBytes(bytes, 0, at)
    bytes.fill(0, 0, at)
    if (at === bytes.length) return isReady
    return this.#receiver?.onPieces(this.meter.push(bytes.subarray(at)))
  }

  end(): void {
    this.#receiver?.onPieces(this.meter.end(true))
    this.#receiver?.onEnd()
  }

  resume(): void {
    this.#isPaused = false
    for (const bytes of this.#kept.splice(0)) this.send(bytes)
  }

  abort(): void {
    this.#receiver = undefined
  }
}

interface Rig {
  readonly clock: ManualClock
  readonly feed: Feed
  readonly client: ClientLink
  readonly delivery: StreamDelivery
  readonly ending: () => Ending | undefined
  /** What is charged. */
  readonly charged: () => MeterReading | undefined
}

/** A stream about to be delivered to a client that reads nothing. */
async function start(): Promise<Rig> {
  const clock = new ManualClock()
  const response = await openResponse(clock)
  response.writeHead(200, [])
  return startOn(response, clock)
}

const paying: Leaving = { mayReadOn: false, isFree: () => Promise.resolve(false) }

function startOn(
  response: ResponseWriter,
  clock: ManualClock,
  { operation = chatCompletions, leaving = paying } = {},
): Rig {
  const feed = new Feed(operation)
  const client = new ClientLink({ response, exchangeId: 'ex_1' }, leaving, {
    clock,
    onTracePoint: undefined,
  })
  let ending: Ending | undefined
  let charged: MeterReading | undefined
  const delivery = new StreamDelivery(
    {
      response,
      client,
      stream: feed,
      deadlineMs: 900_000,
      pingTimeoutMs: 600_000,
      idleTimeoutMs: 90_000,
      answerTokensMax: 100,
      errorEvent: () => Buffer.from('data: {"error":{}}\n\n'),
      onMore: () => undefined,
      onEnded(ended, reading) {
        ending = ended
        charged = reading
      },
    },
    {
      clock,
      watchdog: createWatchdog(clock),
      settings: { clientLeftGraceMs: 5_000 },
    },
  )
  delivery.start()
  return { clock, feed, client, delivery, ending: () => ending, charged: () => charged }
}

async function openResponse(clock: ManualClock): Promise<ResponseWriter> {
  const arrived = Promise.withResolvers<ResponseWriter>()
  const listener = await listen({ ...listenerDefaults, clock }, (_request, response) =>
    arrived.resolve(response),
  )
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

function usageOf(tokens: unknown): string {
  const counts = { prompt_tokens: 5, completion_tokens: tokens }
  return `data: ${JSON.stringify({ choices: [], usage: counts })}\n\n`
}

const usage = usageOf(7)

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

describe('a stream that its vendor breaks off', () => {
  const much = chunk('x'.repeat(200_000))

  it('is charged as left where its client has read nothing for a second', async () => {
    const { clock, feed, ending } = await start()
    feed.send(much)
    clock.advance(1_000)
    feed.end()
    assert.equal(ending(), 'client_left')
  })

  it('is charged as left where its client reads on only when the vendor has given up', async () => {
    const { clock, feed, delivery, ending } = await start()
    feed.send(much)
    clock.advance(30_000)
    delivery.onClientDrained()
    clock.advance(900)
    feed.end()
    assert.equal(ending(), 'client_left')
  })

  it('is charged as left where its client reads a little now and then', async () => {
    const { clock, feed, delivery, ending } = await start()
    for (let round = 0; round < 10; round++) {
      feed.send(much)
      clock.advance(100)
      delivery.onClientDrained()
    }
    feed.end()
    assert.equal(ending(), 'client_left')
  })

  it('is not charged where its client was behind for a moment only', async () => {
    const { clock, feed, ending } = await start()
    feed.send(much)
    clock.advance(999)
    feed.end()
    assert.equal(ending(), 'upstream_cut')
  })

  it('is not charged where its client has kept up since', async () => {
    const { clock, feed, delivery, ending } = await start()
    feed.send(much)
    clock.advance(30_000)
    delivery.onClientDrained()
    clock.advance(1_001)
    feed.end()
    assert.equal(ending(), 'upstream_cut')
  })
})

describe('a stream whose client has left', () => {
  const graceMs = 5_000

  async function startReadOn(): Promise<Rig> {
    const clock = new ManualClock()
    const response = await openResponse(clock)
    response.writeHead(200, [])
    const rig = startOn(response, clock, { leaving: { ...paying, mayReadOn: true } })
    rig.feed.send(chunk('Hi'))
    rig.client.onGone()
    clock.advance(graceMs + 200)
    return rig
  }

  it('is read on for its count where reasoning was bought, and no output read since is delivered', async () => {
    const { clock, feed, ending, charged } = await startReadOn()
    clock.advance(60_000)
    feed.send(chunk('more'))
    assert.equal(ending(), undefined)
    feed.send(usage + done)
    assert.equal(ending(), 'client_left')
    assert.deepEqual([charged()?.isFinal, charged()?.output.text], [true, 'Hi'])
  })

  it('is read on for no more than the answer may have', async () => {
    const { feed, ending, charged } = await startReadOn()
    const piece = chunk('x'.repeat(1_024 - chunk('').length))
    // 2 MiB, and 1 KiB for each of the 100 tokens.
    for (let count = 0; count < 2_048 + 100; count++) feed.send(piece)
    assert.equal(ending(), undefined)
    feed.send(piece)
    assert.equal(ending(), 'client_left')
    assert.equal(charged()?.output.text, 'Hi')
  })

  it('is read on until its vendor falls silent', async () => {
    const { clock, ending } = await startReadOn()
    clock.advance(89_000)
    assert.equal(ending(), undefined)
    clock.advance(1_200)
    assert.equal(ending(), 'client_left')
  })
})

describe('the counts of a stream are the same however its bytes are cut', () => {
  function event(type: string, fields: object = {}): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  }

  function delta(tokens: unknown): string {
    const stopped = { stop_reason: 'end_turn' }
    return event('message_delta', { delta: stopped, usage: { output_tokens: tokens } })
  }

  const text = event('content_block_delta', { delta: { type: 'text_delta', text: 'Hi' } })
  const begun = event('message_start', { message: { usage: { input_tokens: 5 } } }) + text
  const stop = event('message_stop')
  /** The output that the vendor counted; undefined where no count is final. */
  const streams: readonly [string, ForwardedOperation, string, number | undefined][] = [
    ['a second count behind the end', chatCompletions, chunk('a') + usage + done + usageOf(9), 7],
    ['several counts behind the end', chatCompletions, chunk('a') + done + usage + usageOf(9), 7],
    ['a count that is none, then one', chatCompletions, usageOf(-1) + done + usage + usageOf(9), 7],
    [
      'a last count that is none',
      chatCompletions,
      chunk('a') + usage + usageOf(4000.5) + done,
      undefined,
    ],
    ['a count in the unfinished last frame', chatCompletions, done + usage.trimEnd(), 7],
    [
      'two counts before the end',
      messagesCreate,
      begun + delta(7) + delta(9) + stop + delta(11),
      9,
    ],
    ['a last count that is none', messagesCreate, begun + delta(7) + delta(-1) + stop, undefined],
  ]
  for (const [name, operation, stream, output] of streams)
    it(`${operation.name} with ${name}`, async () => {
      const clock = new ManualClock()
      const response = await openResponse(clock)
      response.writeHead(200, [])
      const assertCut = (pieces: readonly Buffer[]): void => {
        const { feed, charged } = startOn(response, clock, { operation })
        for (const piece of pieces) {
          feed.send(piece)
          feed.resume()
        }
        feed.end()
        const reading = charged()
        assert.equal(reading?.isFinal, output !== undefined)
        if (output !== undefined) assert.equal(reading?.usage?.reported.outputTokens, output)
      }
      const bytes = Buffer.from(stream)
      for (const pieces of everySplit(bytes)) assertCut(pieces)
      fc.assert(fc.property(places(bytes.length), (cuts) => assertCut(cutAt(bytes, cuts))))
    })
})
