/**
 * The vendor of slow answers, cheap enough to share a core with the client: all answers of a run have one
 * period, so that a queue in the order of their times is enough, without a timer for each.
 */
import { createServer, type Server, type Socket } from 'node:net'
import type { StreamFormatName } from '../exchanges.ts'
import { monotonicUs } from '../measure/statistics.ts'
import { findFormat, jsonAnswerTo, streamBytes } from './answers.ts'

/** How it answers: JSON after one period if there are no events, else an event each period. */
export interface Behaviour {
  readonly events: number
  readonly periodMs: number
}

/** An answer that runs. */
interface Answer {
  readonly format: StreamFormatName
  readonly path: string
  /** Undefined once the proxy has closed the connection. */
  socket: Socket | undefined
  dueUs: number
  sentEvents: number
}

export interface VendorCounts {
  /** Complete answers. */
  answered: number
  events: number
  outputTokens: number
  /** Answers whose connection the proxy closed before their end. */
  cut: number
  /** Writes that were late. */
  slips: number
}

export const noCounts: VendorCounts = { answered: 0, events: 0, outputTokens: 0, cut: 0, slips: 0 }

const latenessMaxUs = 50_000
/** Larger heads are not expected; a body is counted, not kept. */
const headBytesMax = 65_536

export class Vendor {
  readonly server: Server
  behaviour: Behaviour = { events: 0, periodMs: 1 }
  counts: VendorCounts = { ...noCounts }
  readonly #onWork: () => void
  readonly #sockets = new Set<Socket>()
  /** In the order of their times; those before `#first` are done. */
  #queue: Answer[] = []
  #first = 0

  /** Calls `onWork` when there is an answer to give. */
  constructor(onWork: () => void) {
    this.#onWork = onWork
    this.server = createServer((socket) => this.#accept(socket))
  }

  /** The time of the next write; infinite if no answer runs. */
  get nextUs(): number {
    return this.#queue[this.#first]?.dueUs ?? Infinity
  }

  get runningCount(): number {
    return this.#queue.length - this.#first
  }

  /** Writes all that is due. */
  writeDue(nowUs: number): void {
    for (;;) {
      const answer = this.#queue[this.#first]
      if (answer === undefined || answer.dueUs > nowUs) return
      this.#first++
      if (nowUs - answer.dueUs > latenessMaxUs) this.counts.slips++
      this.#writeNext(answer)
      if (this.#first > 4_096 && this.#first * 2 > this.#queue.length) {
        this.#queue = this.#queue.slice(this.#first)
        this.#first = 0
      }
    }
  }

  /**
   * Ends all streams now, and then all connections: thousands that a proxy keeps would leave too few open
   * files for the next proxy.
   */
  finish(): void {
    const running = this.#queue.slice(this.#first)
    this.#queue = []
    this.#first = 0
    for (const answer of running) this.#close(answer)
    for (const socket of this.#sockets) socket.end()
  }

  #writeNext(answer: Answer): void {
    const { socket, format, path } = answer
    const { events, periodMs } = this.behaviour
    if (socket === undefined) return
    if (events === 0) {
      socket.write(jsonAnswerTo(path), 'latin1')
      this.counts.answered++
      answer.socket = undefined
      return
    }
    answer.sentEvents++
    this.counts.events++
    if (answer.sentEvents < events) {
      socket.write(streamBytes[format].event, 'latin1')
      answer.dueUs += periodMs * 1_000
      this.#queue.push(answer)
      return
    }
    socket.write(streamBytes[format].event, 'latin1')
    this.#close(answer)
  }

  #close(answer: Answer): void {
    const { socket, format, sentEvents } = answer
    if (socket === undefined) return
    const tokens = Math.max(1, sentEvents)
    socket.write(streamBytes[format].closing(tokens), 'latin1')
    this.counts.answered++
    this.counts.outputTokens += tokens
    answer.socket = undefined
  }

  #accept(socket: Socket): void {
    let head = ''
    let bodyLeft = 0
    let path = ''
    let answer: Answer | undefined
    socket.setNoDelay(true)
    this.#sockets.add(socket)
    socket.on('data', (bytes: Buffer) => {
      if (bodyLeft > 0) {
        bodyLeft -= bytes.length
      } else {
        head += bytes.toString('latin1')
        const headEnd = head.indexOf('\r\n\r\n')
        if (headEnd < 0) {
          if (head.length > headBytesMax) socket.destroy()
          return
        }
        path = /^POST (\S+) /.exec(head)?.[1] ?? ''
        // The proxies under test know the length of a body.
        const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? '0')
        bodyLeft = length - (head.length - headEnd - 4)
        head = ''
      }
      if (bodyLeft <= 0) answer = this.#begin(socket, path)
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.#sockets.delete(socket)
      if (answer?.socket === undefined) return
      answer.socket = undefined
      this.counts.cut++
    })
  }

  #begin(socket: Socket, path: string): Answer {
    const format = findFormat(path)
    const { events, periodMs } = this.behaviour
    if (events > 0) socket.write(streamBytes[format].opening, 'latin1')
    const dueUs = monotonicUs() + periodMs * 1_000
    const answer: Answer = { format, path, socket, dueUs, sentEvents: 0 }
    this.#queue.push(answer)
    this.#onWork()
    return answer
  }
}
