/**
 * Vendor and client of the measurements with slow answers, in one process with one clock: the benchmark sends
 * it a task, marks the beginning and the end of the measured window, and lets it end. Each command gets one
 * report.
 */
import { monotonicUs, percentileOf } from '../measure/statistics.ts'
import { Client } from '../relay/client.ts'
import type { LoadCommand } from '../relay/load-program.ts'
import { noCounts, Vendor } from '../relay/vendor.ts'

/** Timers count whole milliseconds, and one ends late rather than early. */
const timerUsMin = 3_000
/** Short, because what arrives waits for its end. */
const sleepMaxMs = 0.1
const endPollMs = 20

const sleeper = new Int32Array(new SharedArrayBuffer(4))
const vendor = new Vendor(wake)
let client: Client | undefined
let isTurning = false
let timer: NodeJS.Timeout | undefined
let isCutShort = false

function wake(): void {
  if (isTurning) return
  clearTimeout(timer)
  isTurning = true
  setImmediate(turn)
}

function turn(): void {
  const nowUs = monotonicUs()
  vendor.writeDue(nowUs)
  client?.beginDue(nowUs)
  const restUs = Math.min(vendor.nextUs, client?.nextUs ?? Infinity) - monotonicUs()
  if (restUs > timerUsMin) {
    isTurning = false
    if (restUs < Infinity) timer = setTimeout(wake, (restUs - timerUsMin) / 1_000)
    return
  }
  // Waiting on memory that no thread writes is a sleep of microseconds.
  if (restUs > 10) Atomics.wait(sleeper, 0, 0, Math.min(sleepMaxMs, restUs / 1_000))
  setImmediate(turn)
}

function report(): void {
  if (client === undefined) throw new Error('no task has begun')
  process.send?.({
    vendor: vendor.counts,
    client: client.counts,
    begun: client.begunCount,
    failure: client.failure,
    first: describeTimes(client.firstBytesUs),
    last: describeTimes(client.lastBytesUs),
  })
  client.clear()
}

function describeTimes(timesUs: readonly number[]) {
  return { p50Us: percentileOf(timesUs, 50), p99Us: percentileOf(timesUs, 99) }
}

function reportWhenEnded(): void {
  if ((client?.runningCount ?? 0) > 0 || vendor.runningCount > 0) {
    setTimeout(reportWhenEnded, endPollMs)
    return
  }
  client?.close()
  report()
  client = undefined
}

process.on('message', (given: LoadCommand) => {
  switch (given.kind) {
    case 'begin':
      vendor.behaviour = { events: given.events, periodMs: given.periodMs }
      vendor.counts = { ...noCounts }
      isCutShort = given.isCutShort
      client = new Client({ ...given, events: isCutShort ? undefined : given.events }, wake)
      wake()
      report()
      return
    case 'mark':
      report()
      return
    case 'end':
      client?.stop()
      if (isCutShort) vendor.finish()
      reportWhenEnded()
  }
})
process.on('disconnect', () => process.exit(0))

vendor.server.listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 4096 })
