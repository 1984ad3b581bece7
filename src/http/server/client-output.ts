/**
 * The output to one client, written to the socket at the end of the event loop's turn. Large answers go to
 * the socket in parts: Node does not report how much of one write has been sent, and a client that receives
 * slowly must look different from one that receives nothing. It decides nothing; the connection does.
 */
import type { Socket } from 'node:net'
import { writeAtTurnEnd, type TurnEndWriter } from '../turn-end.ts'
import type { UnacknowledgedBytes } from './unacknowledged-bytes.ts'

/** What the output needs of its connection. */
export interface OutputOwner extends TurnEndWriter {
  /** More has been written than the socket has room for: it drains later. */
  onBehind(): void
}

/** A larger write is split. Twice the size of one read from a vendor, so that streams are not split. */
const partBytesMax = 131_072
/** After this share of the limit the kernel's figure is read for the first time. */
const firstCheckShare = 0.1
/**
 * Added to the limit where the kernel has no figure: in this time a client that receives 16 KB a second
 * frees a third of a send buffer of 4 MB, which Node sees.
 */
const unknownMs = 90_000

export class ClientOutput {
  readonly #socket: Socket
  readonly #owner: OutputOwner
  readonly #unacknowledgedBytes: UnacknowledgedBytes
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
  /** The same of what the kernel has; undefined before the first reading. */
  #unacknowledgedSeen: number | undefined

  /** `owner.writeOut` is called at the end of a turn in which something was written, and calls `flush`. */
  constructor(socket: Socket, owner: OutputOwner, unacknowledgedBytes: UnacknowledgedBytes) {
    this.#socket = socket
    this.#owner = owner
    this.#unacknowledgedBytes = unacknowledgedBytes
  }

  /** What has been written goes to the socket at the end of this turn. */
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
    for (const piece of pieces) {
      if (piece.length === 0) continue
      this.#waiting.push(piece)
      this.#waitingBytes += piece.length
      this.#writtenBytes += piece.length
    }
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

  /** Drops what waits. */
  drop(): void {
    this.#waiting = []
    this.#waitingBytes = 0
  }

  /** Starts to measure whether the client receives anything. */
  startWatching(nowMs: number): void {
    this.#sentSeen = this.#sentBytes
    this.#unacknowledgedSeen = undefined
    this.#progressAtMs = nowMs
  }

  /**
   * Returns whether, for as long as the limit, nothing has left this process and the client has acknowledged
   * nothing of what the kernel has. A client that has acknowledged all of that waits for this process.
   * Before the first reading of the kernel's figure nothing is known of the client: the time runs from there.
   */
  hasStalled(nowMs: number, limitMs: number): boolean {
    if (this.#sentBytes !== this.#sentSeen) this.startWatching(nowMs)
    const idleMs = nowMs - this.#progressAtMs
    const isFirst = this.#unacknowledgedSeen === undefined
    if (idleMs < (isFirst ? limitMs * firstCheckShare : limitMs)) return false
    const unacknowledged = this.#unacknowledgedBytes(this.#socket)
    if (unacknowledged === undefined) return idleMs >= limitMs + unknownMs
    if (unacknowledged > 0 && unacknowledged === this.#unacknowledgedSeen) return true
    this.#unacknowledgedSeen = unacknowledged
    this.#progressAtMs = nowMs
    return false
  }

  /** A total, which cannot return to an earlier number as the unsent bytes can. */
  get #sentBytes(): number {
    return this.#writtenBytes - this.unsentBytes
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
