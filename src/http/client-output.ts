/**
 * What goes out to one client. Large answers are given to the socket in parts: Node does not tell how
 * much of one write has been taken, and a client that takes little at a time must look different from
 * one that takes nothing. It decides nothing; the connection does.
 */
import type { Socket } from 'node:net'
import { bytesOf } from './wire/response-pieces.ts'

/** A write above this is split. Twice what one read from a vendor brings: what streams is not. */
const partBytesMax = 131_072

export class ClientOutput {
  readonly #socket: Socket
  /** Behind what the socket has been given. */
  #waiting: Buffer[] = []
  #waitingBytes = 0
  /** What is still to be done once nothing waits. */
  #ending: 'end' | 'close' | undefined
  /** What was not taken at the last look, and since when it has been as much. */
  #untakenSeen = 0
  #takenAtMs = 0

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Bytes written that the client's side has not made room for yet. */
  get untakenBytes(): number {
    return this.#waitingBytes + this.#socket.writableLength
  }

  /** So much is written and not taken that nothing should be added. */
  get isBehind(): boolean {
    return this.#waitingBytes > 0 || this.#socket.writableNeedDrain
  }

  /** False where the client is behind now. */
  write(pieces: readonly Buffer[]): boolean {
    const length = bytesOf(pieces)
    if (this.#waitingBytes === 0 && length <= partBytesMax) {
      this.#put(pieces)
    } else {
      for (const piece of pieces) if (piece.length > 0) this.#waiting.push(piece)
      this.#waitingBytes += length
      this.goOn()
    }
    return !this.isBehind
  }

  /** To be called when the socket has drained. */
  goOn(): void {
    if (this.#waitingBytes === 0) return
    this.#socket.cork()
    while (!this.#socket.writableNeedDrain && this.#waitingBytes > 0)
      this.#socket.write(this.#next())
    this.#socket.uncork()
    if (this.#waitingBytes === 0) this.#finish()
  }

  /** Closes our side behind all that is written. */
  end(): void {
    this.#ending ??= 'end'
    if (this.#waitingBytes === 0) this.#finish()
  }

  /** Closes both sides behind it. */
  close(): void {
    this.#ending = 'close'
    if (this.#waitingBytes === 0) this.#finish()
  }

  /** Nothing more will go out. */
  drop(): void {
    this.#waiting = []
    this.#waitingBytes = 0
  }

  /** From now on it counts whether the client takes anything. */
  startWatching(nowMs: number): void {
    this.#untakenSeen = this.untakenBytes
    this.#takenAtMs = nowMs
  }

  /** For how long the client has taken nothing, to within the time between two looks. */
  stalledMs(nowMs: number): number {
    if (this.untakenBytes !== this.#untakenSeen) this.startWatching(nowMs)
    return nowMs - this.#takenAtMs
  }

  #put(pieces: readonly Buffer[]): void {
    const [only] = pieces
    if (pieces.length === 1 && only !== undefined) {
      this.#socket.write(only)
      return
    }
    this.#socket.cork()
    for (const piece of pieces) this.#socket.write(piece)
    this.#socket.uncork()
  }

  /** The next part of what waits. */
  #next(): Buffer {
    const first = this.#waiting[0] ?? Buffer.alloc(0)
    const part = first.length > partBytesMax ? first.subarray(0, partBytesMax) : first
    if (part === first) this.#waiting.shift()
    else this.#waiting[0] = first.subarray(partBytesMax)
    this.#waitingBytes -= part.length
    return part
  }

  #finish(): void {
    if (this.#ending === 'end') this.#socket.end()
    else if (this.#ending === 'close') this.#socket.destroySoon()
  }
}
