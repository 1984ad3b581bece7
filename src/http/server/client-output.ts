/**
 * The output to one client, written to the socket at the end of the event loop's turn. Large answers go to
 * the socket in parts: Node does not report how much of one write has been sent, and a client that receives
 * slowly must look different from one that receives nothing. It decides nothing; the connection does.
 */
import type { Socket } from 'node:net'
import { writeAtTurnEnd, type TurnEndWriter } from '../turn-end.ts'

/** What the output needs of its connection. */
export interface OutputOwner extends TurnEndWriter {
  /** More has been written than the socket has room for: it drains later. */
  onBehind(): void
}

/** A larger write is split. Twice the size of one read from a vendor, so that streams are not split. */
const partBytesMax = 131_072

export class ClientOutput {
  readonly #socket: Socket
  readonly #owner: OutputOwner
  /** Not yet given to the socket. */
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #writtenBytes = 0
  #isDue = false
  /** What to do when nothing waits any more. */
  #ending: 'end' | 'close' | undefined
  /** What had left this process at the last check, and since when it has been the same number. */
  #sentSeen = 0
  #progressAtMs = 0

  /** `owner.writeOut` is called at the end of a turn in which something was written, and calls `flush`. */
  constructor(socket: Socket, owner: OutputOwner) {
    this.#socket = socket
    this.#owner = owner
  }

  /** The written bytes go to the socket at the end of this turn. */
  get isDue(): boolean {
    return this.#isDue
  }

  /** Bytes written that have not left this process. */
  get unsentBytes(): number {
    return this.#waitingBytes + this.#socket.writableLength
  }

  /** True where more bytes wait to be sent than the limit allows: the caller adds none. */
  get isBehind(): boolean {
    const socket = this.#socket
    return socket.writableNeedDrain || this.unsentBytes >= socket.writableHighWaterMark
  }

  /** Returns false where the client is behind; the socket's drain event follows. */
  write(pieces: readonly Buffer[]): boolean {
    for (const piece of pieces) this.#keep(piece)
    return this.#writeSoon()
  }

  /** The same for one piece. */
  writeOne(piece: Buffer): boolean {
    this.#keep(piece)
    return this.#writeSoon()
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return
    this.#waiting.push(piece)
    this.#waitingBytes += piece.length
    this.#writtenBytes += piece.length
  }

  #writeSoon(): boolean {
    if (!this.#isDue && this.#waitingBytes > 0) {
      this.#isDue = true
      writeAtTurnEnd(this.#owner)
    }
    if (!this.isBehind) return true
    this.#owner.onBehind()
    return false
  }

  /** Gives the socket as much as it takes. Call it at the end of the turn and when the socket has drained. */
  flush(): void {
    this.#isDue = false
    if (this.#waitingBytes === 0) return
    const socket = this.#socket
    const hasMany = this.#waiting.length > 1 || this.#waitingBytes > partBytesMax
    if (hasMany) socket.cork()
    while (!socket.writableNeedDrain && this.#waitingBytes > 0) socket.write(this.#next())
    if (hasMany) socket.uncork()
    if (this.#waitingBytes === 0) this.#finish()
  }

  /** Closes the gateway's side after all that is written. */
  end(): void {
    this.#ending ??= 'end'
    if (this.#waitingBytes === 0) this.#finish()
  }

  /** Closes both sides after all that is written. */
  close(): void {
    this.#ending = 'close'
    if (this.#waitingBytes === 0) this.#finish()
  }

  /** Drops the waiting bytes. */
  drop(): void {
    this.#waiting = []
    this.#waitingBytes = 0
  }

  /** Starts to measure whether the client receives anything. */
  startWatching(nowMs: number): void {
    this.#sentSeen = this.#sentBytes
    this.#progressAtMs = nowMs
  }

  /**
   * Returns whether nothing has left this process for as long as the limit. The kernel takes more only when
   * a third of its send buffer is free, so a slow client makes progress in steps of up to about 1.4 MB.
   */
  hasStalled(nowMs: number, limitMs: number): boolean {
    if (this.#sentBytes !== this.#sentSeen) this.startWatching(nowMs)
    return nowMs - this.#progressAtMs >= limitMs
  }

  /** A total, which cannot return to an earlier number as the unsent bytes can. */
  get #sentBytes(): number {
    return this.#writtenBytes - this.unsentBytes
  }

  /** The next part of the waiting bytes. */
  #next(): Buffer {
    const first = this.#waiting[0] ?? Buffer.alloc(0)
    const part = first.length > partBytesMax ? first.subarray(0, partBytesMax) : first
    // Of one element, `pop` keeps the memory of the list for the next one.
    if (part !== first) this.#waiting[0] = first.subarray(partBytesMax)
    else if (this.#waiting.length > 1) this.#waiting.shift()
    else this.#waiting.pop()
    this.#waitingBytes -= part.length
    return part
  }

  #finish(): void {
    if (this.#ending === 'end') this.#socket.end()
    else if (this.#ending === 'close') this.#socket.destroySoon()
  }
}
