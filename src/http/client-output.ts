/**
 * What goes out to one client, at the end of the turn in which it was written. Large answers are given
 * to the socket in parts: Node does not tell how much of one write has been taken, and a client that
 * takes little at a time must look different from one that takes nothing. It decides nothing; the
 * connection does.
 */
import type { Socket } from 'node:net'
import { writeAtTurnEnd, type TurnEndWriter } from './turn-end.ts'
import type { UnacknowledgedBytes } from './unacknowledged-bytes.ts'

/** The connection, as far as what goes out on it needs it. */
export interface OutputSite extends TurnEndWriter {
  /** More has been written than there is room for: the socket drains once there is. */
  onBehind(): void
}

/** A write above this is split. Twice what one read from a vendor brings: what streams is not. */
const partBytesMax = 131_072
/** After this part of the limit the kernel is asked for the first time: nobody is suspected before. */
const firstAskShare = 0.1
/**
 * How much longer a client is waited for where the kernel does not tell what it has taken: in this time
 * one that takes 16 KB a second frees a third of a send buffer of 4 MB, and that shows.
 */
const unseenMs = 90_000

export class ClientOutput {
  readonly #socket: Socket
  readonly #site: OutputSite
  readonly #unacknowledgedBytes: UnacknowledgedBytes
  /** Behind what the socket has been given. */
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #isDue = false
  /** What is still to be done once nothing waits. */
  #ending: 'end' | 'close' | undefined
  /** What was not taken at the last look, and since when it has been as much. */
  #untakenSeen = 0
  #takenAtMs = 0
  /** The same of what the kernel has; undefined until it has been asked. */
  #unacknowledgedSeen: number | undefined

  /** `site.writeOut` is called once a turn in which something was written has ended, and calls `goOn`. */
  constructor(socket: Socket, site: OutputSite, unacknowledgedBytes: UnacknowledgedBytes) {
    this.#socket = socket
    this.#site = site
    this.#unacknowledgedBytes = unacknowledgedBytes
  }

  /** What has been written will be given to the socket at the end of this turn. */
  get isDue(): boolean {
    return this.#isDue
  }

  /** Bytes written that the client's side has not made room for yet. */
  get untakenBytes(): number {
    return this.#waitingBytes + this.#socket.writableLength
  }

  /** So much is written and not taken that nothing should be added. */
  get isBehind(): boolean {
    const socket = this.#socket
    return socket.writableNeedDrain || this.untakenBytes >= socket.writableHighWaterMark
  }

  /** False where the client is behind now; the socket drains once it is no more. */
  write(pieces: readonly Buffer[]): boolean {
    for (const piece of pieces) {
      if (piece.length === 0) continue
      this.#waiting.push(piece)
      this.#waitingBytes += piece.length
    }
    if (!this.#isDue && this.#waitingBytes > 0) {
      this.#isDue = true
      writeAtTurnEnd(this.#site)
    }
    if (!this.isBehind) return true
    this.#site.onBehind()
    return false
  }

  /** Gives the socket as much as it takes. To be called at the end of the turn and when it has drained. */
  goOn(): void {
    this.#isDue = false
    if (this.#waitingBytes === 0) return
    const socket = this.#socket
    const hasMany = this.#waiting.length > 1 || this.#waitingBytes > partBytesMax
    if (hasMany) socket.cork()
    while (!socket.writableNeedDrain && this.#waitingBytes > 0) socket.write(this.#next())
    if (hasMany) socket.uncork()
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
    this.#unacknowledgedSeen = undefined
    this.#takenAtMs = nowMs
  }

  /**
   * For as long as the limit nothing has left this process, nor has the client acknowledged anything of
   * what the kernel has. What it did before the kernel was asked is not known: the time runs from there.
   */
  hasStalled(nowMs: number, limitMs: number): boolean {
    if (this.untakenBytes !== this.#untakenSeen) this.startWatching(nowMs)
    const quietMs = nowMs - this.#takenAtMs
    const isFirst = this.#unacknowledgedSeen === undefined
    if (quietMs < (isFirst ? limitMs * firstAskShare : limitMs)) return false
    const unacknowledged = this.#unacknowledgedBytes(this.#socket)
    if (unacknowledged === undefined) return quietMs >= limitMs + unseenMs
    if (unacknowledged === this.#unacknowledgedSeen) return true
    this.#unacknowledgedSeen = unacknowledged
    this.#takenAtMs = nowMs
    return false
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
