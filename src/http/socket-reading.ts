/**
 * Reading from one socket. Its owner stops it while it cannot take more. Where more has arrived than one read
 * takes, the socket also waits for a later turn of the event loop: the system would otherwise hand over up to
 * 2 MB of each such socket in one turn, whatever reading them costs, and all others would wait.
 */
import type { Socket } from 'node:net'

/** Node reads so much at once: after a full read there is more. */
const fullReadBytes = 65_536
/** Of those that wait, so many go on in one turn. */
const socketsPerTurn = 4

const waiting: SocketReading[] = []

function beginTurn(): void {
  for (const reading of waiting.splice(0, socketsPerTurn)) reading.takeTurn()
  if (waiting.length > 0) setImmediate(beginTurn)
}

export class SocketReading {
  readonly #socket: Socket
  #isStopped = false
  #isWaiting = false

  constructor(socket: Socket) {
    this.#socket = socket
  }

  stop(): void {
    this.#isStopped = true
    this.#socket.pause()
  }

  goOn(): void {
    this.#isStopped = false
    this.#resume()
  }

  /** Called with each read, before or after it is processed. */
  afterRead(bytes: number): void {
    if (bytes < fullReadBytes || this.#isWaiting) return
    this.#isWaiting = true
    this.#socket.pause()
    if (waiting.push(this) === 1) setImmediate(beginTurn)
  }

  takeTurn(): void {
    this.#isWaiting = false
    this.#resume()
  }

  #resume(): void {
    if (!this.#isStopped && !this.#isWaiting && this.#socket.isPaused()) this.#socket.resume()
  }
}
