/**
 * The vendor of the stream measurements: answers every POST with an endless stream of equal events
 * at a steady rate, until the command to finish. It writes HTTP directly on `node:net`, to leave the
 * CPU time of its core to the reading client.
 */
import { createServer, type Socket } from 'node:net'
import { z } from 'zod'
import { monotonicUs, stampedEvent, streamClosing, streamOpening } from './stream-protocol.ts'

const command = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('pace'), intervalMs: z.number().positive() }),
  z.object({ kind: z.literal('finish') }),
])

/** Further behind its schedule, the upstream drops the backlog and counts a slip. */
const backlogLimitUs = 100_000
/** Short, because new connections and requests wait for its end. */
const sleepMaxMs = 0.1
const requestBytesMax = 65_536

interface Stream {
  readonly socket: Socket
  eventCount: number
}

const active: Stream[] = []
let intervalUs = 100_000
let nextIndex = 0
let nextAtUs = 0
let isPacing = false
let finished = { streams: 0, events: 0, cut: 0, slips: 0 }

const sleeper = new Int32Array(new SharedArrayBuffer(4))

/**
 * Timers count whole milliseconds, and events written in bursts would queue behind one another. Waiting on
 * memory that no thread writes is a sleep of microseconds.
 */
function pace(): void {
  if (active.length === 0) {
    isPacing = false
    return
  }
  const now = monotonicUs()
  if (now - nextAtUs > backlogLimitUs) {
    finished.slips++
    nextAtUs = now
  }
  while (nextAtUs <= now) {
    writeNext()
    nextAtUs += intervalUs / Math.max(1, active.length)
  }
  const restMs = Math.min(sleepMaxMs, (nextAtUs - monotonicUs()) / 1_000)
  if (restMs > 0.01) Atomics.wait(sleeper, 0, 0, restMs)
  setImmediate(pace)
}

function writeNext(): void {
  nextIndex = nextIndex + 1 < active.length ? nextIndex + 1 : 0
  const stream = active[nextIndex]
  if (stream === undefined) return
  stream.socket.write(stampedEvent(), 'latin1')
  stream.eventCount++
}

function begin(socket: Socket): void {
  socket.write(streamOpening, 'latin1')
  active.push({ socket, eventCount: 0 })
  if (isPacing) return
  isPacing = true
  nextAtUs = monotonicUs()
  setImmediate(pace)
}

function accept(socket: Socket): void {
  let received = ''
  socket.setNoDelay(true)
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    received += text
    if (isWholeRequest(received)) {
      received = ''
      begin(socket)
    } else if (received.length > requestBytesMax) socket.destroy()
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    const index = active.findIndex((stream) => stream.socket === socket)
    if (index < 0) return
    active.splice(index, 1)
    finished.cut++
  })
}

/** Expects a content-length: the proxies under test know the length of a body. */
function isWholeRequest(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text.slice(0, headEnd))?.[1] ?? '0')
  return text.length >= headEnd + 4 + length
}

function finish(): void {
  for (const stream of active.splice(0)) {
    stream.socket.write(streamClosing(Math.max(1, stream.eventCount)), 'latin1')
    finished.streams++
    finished.events += stream.eventCount
  }
  process.send?.({ kind: 'finished', ...finished })
  finished = { streams: 0, events: 0, cut: 0, slips: 0 }
}

process.on('message', (message) => {
  const given = command.parse(message)
  if (given.kind === 'pace') intervalUs = given.intervalMs * 1_000
  else finish()
})
process.on('disconnect', () => process.exit(0))

const server = createServer(accept)
server.listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 4096 })
