/**
 * The client of the stream measurements: opens its streams through one proxy, one after the other, waits
 * until all run, counts and times every event of one window, and measures the proxy's cost in it. Then
 * it reads until the streams end. To be cheap it has one shared read buffer and creates no object per
 * event.
 */
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { readResidentBytes, readThreadTimes, usedBetween } from '../measure/process-cost.ts'
import { Histogram } from '../measure/statistics.ts'
import {
  ChunkedEvents,
  findBodyStart,
  lastEventName,
  monotonicUs,
  readStamp,
} from './stream-protocol.ts'

const task = z
  .object({
    port: z.number(),
    path: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    streams: z.number(),
    settlingMs: z.number(),
    windowMs: z.number(),
    pids: z.array(z.number()),
  })
  .parse(JSON.parse(process.argv[2] ?? ''))

const openingLimitMs = 30_000
const histogramLimitUs = 1_000_000

const requestText =
  `POST ${task.path} HTTP/1.1\r\nhost: 127.0.0.1:${task.port}\r\n` +
  `content-type: application/json\r\ncontent-length: ${task.body.length}\r\n` +
  Object.entries(task.headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('') +
  `\r\n${task.body}`

const delays = new Histogram(histogramLimitUs)
const firstBytes = new Histogram(histogramLimitUs * 10)
const readBuffer = Buffer.allocUnsafe(65_536)

let openedCount = 0
let runningCount = 0
let endedCount = 0
let completeCount = 0
let isCounting = false
let eventCount = 0

function fail(error: unknown): void {
  console.error(error)
  process.exit(1)
}

function openStream(): void {
  openedCount++
  const requestedAtUs = monotonicUs()
  let head: string | undefined = ''
  const body = new ChunkedEvents(readFrame)
  const socket = connect({
    port: task.port,
    host: '127.0.0.1',
    noDelay: true,
    onread: { buffer: readBuffer, callback: receive },
  })
  function receive(byteCount: number, bytes: Uint8Array): boolean {
    const text = (bytes as Buffer).toString('latin1', 0, byteCount)
    try {
      if (head === undefined) body.read(text)
      else readHead(text)
    } catch (error) {
      fail(error)
    }
    if (body.hasEnded) socket.destroy()
    return true
  }
  function readHead(text: string): void {
    const received = (head ?? '') + text
    const start = findBodyStart(received)
    if (start === undefined || start === received.length) {
      head = received
      return
    }
    head = undefined
    firstBytes.record(monotonicUs() - requestedAtUs)
    runningCount++
    if (openedCount < task.streams) openStream()
    body.read(received.slice(start))
  }
  socket.on('error', fail)
  socket.on('end', () => socket.destroy())
  socket.on('close', () => {
    endedCount++
    if (isCounting) fail(new Error('a stream ended inside the window'))
    if (endedCount === task.streams) reportEnd()
  })
  socket.write(requestText, 'latin1')
}

function readFrame(frame: string): void {
  const writtenAtUs = readStamp(frame)
  if (writtenAtUs === undefined) {
    if (frame.startsWith(lastEventName)) completeCount++
    return
  }
  eventCount++
  if (isCounting) delays.record(monotonicUs() - writtenAtUs)
}

function reportEnd(): void {
  process.send?.({
    kind: 'ended',
    completeStreams: completeCount,
    cutStreams: task.streams - completeCount,
    events: eventCount,
  })
  // The channel sends its queue before it closes; then the process ends.
  process.disconnect?.()
}

async function measure(): Promise<void> {
  const limit = performance.now() + openingLimitMs
  while (runningCount < task.streams) {
    if (performance.now() > limit) {
      throw new Error(`only ${runningCount} of ${task.streams} streams began within the limit`)
    }
    await delay(20)
  }
  await delay(task.settlingMs)
  const timesBefore = readThreadTimes(task.pids)
  const startedAtUs = monotonicUs()
  isCounting = true
  await delay(task.windowMs)
  isCounting = false
  const durationUs = monotonicUs() - startedAtUs
  const cpu = usedBetween(timesBefore, readThreadTimes(task.pids))
  process.send?.({
    kind: 'measured',
    events: delays.total,
    durationUs,
    cpuUs: cpu.totalUs,
    residentBytes: readResidentBytes(task.pids),
    delayP50Us: delays.percentile(50),
    delayP99Us: delays.percentile(99),
    firstByteP50Us: firstBytes.percentile(50),
    firstByteP99Us: firstBytes.percentile(99),
  })
}

process.on('disconnect', () => process.exit(0))
openStream()
measure().catch(fail)
