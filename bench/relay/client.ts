/**
 * The client of slow answers: begins requests at a steady rate, whether or not earlier ones have their
 * answer, on connections that it keeps. It never has more than a bound of them running: a proxy that is too
 * slow then gets the next request when it has answered one.
 */
import { connect, type Socket } from 'node:net'
import { monotonicUs } from '../measure/statistics.ts'
import { AnswerReader } from './answer-reader.ts'

export interface ClientTask {
  /** Several gateways share the connections. */
  readonly ports: readonly number[]
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The requests use these keys in turn. */
  readonly keys?: readonly string[] | undefined
  readonly body: string
  readonly ratePerSecond: number
  readonly runningMax: number
  /** Begins no more than this many. */
  readonly countMax: number
  /** Of each answer; 0 for JSON. Undefined if a stream may have any number. */
  readonly events: number | undefined
}

export interface ClientCounts {
  complete: number
  failed: number
  events: number
}

/** A backlog is dropped: a burst would measure something else. */
const backlogUsMax = 20_000
const readBuffer = Buffer.allocUnsafe(262_144)

interface Connection {
  readonly socket: Socket
  readonly reader: AnswerReader
  startedUs: number
  isRunning: boolean
  hasBegun: boolean
}

export class Client {
  readonly #task: ClientTask
  readonly #onFree: () => void
  /** They are sent in turn. */
  readonly #requests: readonly Buffer[]
  readonly #idle: Connection[] = []
  readonly #connections = new Set<Connection>()
  /** Microseconds from the request to the first and the last byte of each answer since `clear`. */
  readonly firstBytesUs: number[] = []
  readonly lastBytesUs: number[] = []
  counts: ClientCounts = { complete: 0, failed: 0, events: 0 }
  sentCount = 0
  /** Answers whose first byte has arrived. */
  begunCount = 0
  runningCount = 0
  failure: string | undefined
  #nextUs = monotonicUs()
  #hasStopped = false

  /** Calls `onFree` when a request has ended, so that the next one can begin. */
  constructor(task: ClientTask, onFree: () => void = () => undefined) {
    this.#task = task
    this.#onFree = onFree
    const keyed = (task.keys ?? []).map((key) => ({ authorization: `Bearer ${key}` }))
    const heads = keyed.length === 0 ? [task.headers] : keyed
    this.#requests = heads.map((headers) => {
      const fields = { host: 'gateway', 'content-type': 'application/json', ...headers }
      const lines = Object.entries({ ...fields, 'content-length': task.body.length })
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')
      return Buffer.from(`POST ${task.path} HTTP/1.1\r\n${lines}\r\n${task.body}`, 'latin1')
    })
  }

  /** The time of the next request; infinite if none follows. */
  get nextUs(): number {
    const { countMax, runningMax } = this.#task
    const mayBegin = this.sentCount < countMax && this.runningCount < runningMax
    return this.#hasStopped || !mayBegin ? Infinity : this.#nextUs
  }

  stop(): void {
    this.#hasStopped = true
  }

  /** Closes all connections. */
  close(): void {
    for (const { socket } of this.#connections) socket.destroy()
  }

  clear(): void {
    this.firstBytesUs.length = 0
    this.lastBytesUs.length = 0
  }

  beginDue(nowUs: number): void {
    while (this.nextUs <= nowUs) {
      this.#nextUs += 1e6 / this.#task.ratePerSecond
      if (nowUs - this.#nextUs > backlogUsMax) this.#nextUs = nowUs
      this.#begin()
    }
  }

  #begin(): void {
    const connection = this.#idle.pop() ?? this.#open()
    const request = this.#requests[this.sentCount % this.#requests.length]
    connection.reader.reset()
    connection.isRunning = true
    connection.hasBegun = false
    this.sentCount++
    this.runningCount++
    connection.startedUs = monotonicUs()
    if (request !== undefined) connection.socket.write(request)
  }

  #open(): Connection {
    const { ports } = this.#task
    const port = ports[this.#connections.size % ports.length] ?? 0
    const socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: readBuffer,
        callback: (byteCount, bytes) => {
          this.#receive(connection, (bytes as Buffer).toString('latin1', 0, byteCount))
          return true
        },
      },
    })
    const reader = new AnswerReader()
    const connection: Connection = {
      socket,
      reader,
      startedUs: 0,
      isRunning: false,
      hasBegun: false,
    }
    this.#connections.add(connection)
    socket.on('error', (error) => this.#lose(connection, String(error)))
    socket.on('end', () => socket.destroy())
    socket.on('close', () => this.#lose(connection, 'the connection was closed'))
    return connection
  }

  #receive(connection: Connection, text: string): void {
    const { reader, startedUs, isRunning } = connection
    if (!isRunning) return
    try {
      reader.read(text)
    } catch (error) {
      this.#lose(connection, String(error))
      return
    }
    if (!connection.hasBegun && reader.hasBegun) {
      connection.hasBegun = true
      this.begunCount++
      this.firstBytesUs.push(monotonicUs() - startedUs)
    }
    if (!reader.hasEnded) return
    this.lastBytesUs.push(monotonicUs() - startedUs)
    this.#end(connection, text)
  }

  #end(connection: Connection, text: string): void {
    const { reader } = connection
    const { events } = this.#task
    const isWhole =
      reader.status === 200 &&
      (events === 0 || reader.hasLastEvent) &&
      (events === undefined || events === reader.events)
    if (!isWhole) {
      this.#lose(connection, `status ${reader.status}, ${reader.events} events: ${text}`)
      return
    }
    this.counts.complete++
    this.counts.events += reader.events
    this.runningCount--
    connection.isRunning = false
    this.#idle.push(connection)
    this.#onFree()
  }

  /** After an idle connection's end, too. */
  #lose(connection: Connection, reason: string): void {
    if (!this.#connections.delete(connection)) return
    connection.socket.destroy()
    if (connection.isRunning) {
      connection.isRunning = false
      this.runningCount--
      this.counts.failed++
      this.failure ??= reason.slice(0, 500)
      this.#onFree()
      return
    }
    const index = this.#idle.indexOf(connection)
    if (index >= 0) this.#idle.splice(index, 1)
  }
}
