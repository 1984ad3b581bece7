/**
 * Memory of large request bodies that is used again: for the memory of new ones V8 collects garbage again and
 * again. Invariants: no byte of a body is seen in another. A block comes back only when nothing reads it any
 * more, and is overwritten then; one that never comes back is garbage like any other. At rest none is kept.
 */
import type { Clock } from '../base/clock.ts'

/** Smaller bodies are quick to get, and larger ones are rare. */
const leastBytes = 131_072
const mostBytes = 2_097_152
/** Of all blocks that wait for a body. */
const idleBytesMax = 33_554_432
/** How long a block waits. */
const idleMs = 10_000

interface IdleBlock {
  readonly block: ArrayBuffer
  readonly sinceMs: number
}

export class BodyMemory {
  readonly #clock: Clock
  /** The last used last. */
  #idle: IdleBlock[] = []
  readonly #lent = new WeakSet<ArrayBuffer>()
  #isTrimDue = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Of the blocks that wait for a body. */
  get idleBytes(): number {
    return this.#idle.reduce((sum, { block }) => sum + block.byteLength, 0)
  }

  /** Returns memory for a body of this size; what it contains is undefined. */
  take(bytes: number): Buffer {
    if (bytes < leastBytes || bytes > mostBytes) return Buffer.allocUnsafeSlow(bytes)
    const size = 2 ** Math.ceil(Math.log2(bytes))
    const index = this.#idle.findLastIndex(({ block }) => block.byteLength === size)
    const idle = index < 0 ? undefined : this.#idle.splice(index, 1)[0]
    const block = idle?.block ?? new ArrayBuffer(size)
    this.#lent.add(block)
    return Buffer.from(block, 0, bytes)
  }

  hasLent({ buffer }: Buffer): boolean {
    return buffer instanceof ArrayBuffer && this.#lent.has(buffer)
  }

  /** Takes the memory of a body back, which nothing reads any more; all other memory is left alone. */
  giveBack(body: Buffer): void {
    const { buffer: block } = body
    if (!(block instanceof ArrayBuffer) || !this.#lent.delete(block)) return
    if (this.idleBytes + block.byteLength > idleBytesMax) return
    body.fill(0)
    this.#idle.push({ block, sinceMs: this.#clock.monotonic() })
    this.#trimLater()
  }

  #trimLater(): void {
    if (this.#isTrimDue || this.#idle.length === 0) return
    this.#isTrimDue = true
    this.#clock.after(idleMs, () => this.#trim())
  }

  /** Frees the blocks that have waited for long, at once: at rest no garbage is collected. */
  #trim(): void {
    this.#isTrimDue = false
    const untilMs = this.#clock.monotonic() - idleMs
    for (const { block, sinceMs } of this.#idle) if (sinceMs <= untilMs) block.transfer(0)
    this.#idle = this.#idle.filter(({ block }) => block.byteLength > 0)
    this.#trimLater()
  }
}
