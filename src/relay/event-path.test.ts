/**
 * What an event of a committed stream costs in memory, from the read of the vendor's socket to the write to
 * the client's. Both sockets are left out, so that what Node itself allocates does not count, and so is the
 * one Buffer that the client's socket is given.
 */
import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { after, test } from 'node:test'
import { getHeapStatistics } from 'node:v8'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { plainFacts } from '../../test/transcripts/replay.ts'
import { createWatchdog } from '../base/watchdog.ts'
import { chatCompletions } from '../formats/chat/index.ts'
import type { ForwardedOperation } from '../formats/format.ts'
import { messagesCreate } from '../formats/messages/index.ts'
import { ClientOutput } from '../http/server/client-output.ts'
import { ResponseWriter } from '../http/server/response-writer.ts'
import { ResponseReader } from '../http/wire/response-reader.ts'
import { parseRequestHead } from '../http/wire/request-head.ts'
import type { LiveStream, StreamReceiver } from './attempt-outcome.ts'
import { ClientLink } from './client-link.ts'
import { StreamDelivery } from './stream-delivery.ts'

const events = 1_000_000
const bytesPerEventMax = 64

class Sink extends Socket {
  writes = 0
  received = 0

  override write(chunk: Uint8Array | string): boolean {
    this.writes++
    this.received += chunk.length
    return true
  }
}

class Rig {
  readonly sink = new Sink()
  readonly #output: ClientOutput
  readonly #reader = new ResponseReader(65_536)
  readonly #meter
  #receiver: StreamReceiver | undefined

  constructor(operation: ForwardedOperation) {
    this.#output = new ClientOutput(this.sink, {
      writeOut: () => undefined,
      onBehind: () => undefined,
    })
    this.#meter = operation.openMeter({ ...plainFacts, isStream: true })
    const head = parseRequestHead('POST / HTTP/1.1\r\nhost: a\r\n')
    assert.ok(head.kind === 'head')
    const response = new ResponseWriter({ ...connection, output: this.#output }, head)
    response.writeHead(200, [])
    const clock = new ManualClock()
    const client = new ClientLink({ response, exchangeId: 'ex_1' }, leaving, {
      clock,
      onTracePoint: undefined,
    })
    const stream: LiveStream = {
      meter: this.#meter,
      take: (receiver) => {
        this.#receiver = receiver
      },
      resume: () => undefined,
      abort: () => undefined,
    }
    const delivery = new StreamDelivery(
      { response, client, stream, ...limits, errorEvent: () => noBytes, ...noCalls },
      { clock, watchdog: createWatchdog(clock), settings: { clientLeftGraceMs: 5_000 } },
    )
    delivery.start()
    this.#reader.expect()
    this.read(Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'))
  }

  /** One read of the vendor's socket, and the end of the turn. */
  read(bytes: Buffer): void {
    assert.equal(this.#reader.read(bytes), 'more')
    const { content, start, end } = this.#reader
    const receiver = this.#receiver
    if (start === end || receiver === undefined) return
    if (this.#meter.passRepeats(content, start, end) === end) receiver.onBytes(content, start, end)
    else receiver.onPieces(this.#meter.push(Buffer.from(content.subarray(start, end))))
    this.#output.flush()
  }
}

const noBytes = Buffer.alloc(0)
const leaving = { mayReadOn: false, isFree: () => Promise.resolve(false) }
const noCalls = { onMore: () => undefined, onEnded: () => undefined }
const limits = {
  deadlineMs: 900_000,
  pingTimeoutMs: 600_000,
  idleTimeoutMs: 90_000,
  answerTokensMax: 100,
}
const connection = {
  isClosing: false,
  date: () => 'now',
  keepAlive: 'timeout=5',
  onAnswered: () => undefined,
  breakOff: () => undefined,
  cut: () => undefined,
}

const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'word' } }
const choice = { index: 0, delta: { content: 'word' }, finish_reason: null }
const streams = {
  messages: [messagesCreate, `event: content_block_delta\ndata: ${JSON.stringify(delta)}\n\n`],
  chat: [chatCompletions, `data: ${JSON.stringify({ id: 'x', choices: [choice] })}\n\n`],
} as const

/**
 * Returns the bytes that were allocated in each of a million calls: the median of ten parts, because the
 * first ones can run before V8 has compiled the code, and then allocate more.
 */
function allocatedBytes(call: () => void): number {
  const parts = Array.from({ length: 10 }, () => {
    const before = getHeapStatistics().total_allocated_bytes
    for (let index = 0; index < events / 10; index++) call()
    return (getHeapStatistics().total_allocated_bytes - before) / (events / 10)
  })
  return parts.toSorted((one, other) => one - other)[5] ?? Infinity
}

for (const [name, [operation, event]] of Object.entries(streams))
  test(`an event of ${name} takes under ${bytesPerEventMax} bytes, and one write`, () => {
    const rig = new Rig(operation)
    after(() => rig.sink.destroy())
    const chunk = Buffer.from(`${event.length.toString(16)}\r\n${event}\r\n`)
    const read = (): void => rig.read(chunk)
    const allocate = (): void => void Buffer.allocUnsafe(chunk.length)
    read()
    const { writes, received } = rig.sink
    const perBuffer = allocatedBytes(allocate)
    const perEvent = allocatedBytes(read) - perBuffer
    assert.ok(perEvent < bytesPerEventMax, `${perEvent} bytes beside ${perBuffer} of the Buffer`)
    assert.equal(rig.sink.writes - writes, events)
    assert.equal(rig.sink.received - received, events * chunk.length)
  })
