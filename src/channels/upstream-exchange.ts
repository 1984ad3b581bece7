/**
 * One exchange as its caller sees it: passes on what the connection reads, keeps it while the caller
 * wants no more, and speaks its last word once. It knows no socket and no bytes of framing.
 */
import type { ResponseHead } from '../http/wire/response-head.ts'
import type { FailureKind } from './upstream-failure.ts'
import { ReceivedHead } from './upstream-head.ts'
import type { UpstreamCall, UpstreamReceiver } from './upstream.ts'

/** The connection an exchange is on, as far as an exchange needs it. */
export interface Carrier {
  readonly isReused: boolean
  readonly isWritten: boolean
  pause(): void
  resume(): void
  /** Ends the connection with the exchange on it, silently. */
  discard(): void
}

/** Read on while the caller is paused: a vendor that breaks off is then noticed at once. */
const heldBytesMax = 32_768

export class Exchange implements UpstreamCall {
  /** Gone as soon as nothing more may be said to it; everything asks it first. */
  #receiver: UpstreamReceiver | undefined
  /** Gone as soon as the exchange has no more to do with it. */
  #carrier: Carrier | undefined
  #hasHead = false
  #isPaused = false
  #held: Buffer[] | undefined
  #heldBytes = 0
  #isEndHeld = false

  constructor(receiver: UpstreamReceiver) {
    this.#receiver = receiver
  }

  get hasHead(): boolean {
    return this.#hasHead
  }

  boardOn(carrier: Carrier): void {
    this.#carrier = carrier
  }

  /** Tells the receiver after `send` has returned, so that the caller holds its call by then. */
  failUnsent(kind: FailureKind): void {
    queueMicrotask(() => {
      this.fail(kind)
    })
  }

  /**
   * Later, because a caller may well stand inside of `onData`, which must not be entered again; a
   * microtask runs when it has returned.
   */
  resume(): void {
    queueMicrotask(() => {
      this.#flush()
    })
  }

  abort(): void {
    if (this.#receiver === undefined) return
    const carrier = this.#leave()
    carrier?.discard()
  }

  onHead(head: ResponseHead): void {
    this.#hasHead = true
    this.#receiver?.onHead(new ReceivedHead(head))
  }

  onContent(content: Buffer): void {
    if (!this.#isPaused) {
      this.#isPaused = this.#receiver?.onData(content) === false
      return
    }
    this.#held ??= []
    this.#held.push(content)
    this.#heldBytes += content.length
    if (this.#heldBytes >= heldBytesMax) this.#carrier?.pause()
  }

  /** The answer is complete and the connection no longer this exchange's. */
  onComplete(): void {
    this.#carrier = undefined
    if (this.#held === undefined) this.#end()
    else this.#isEndHeld = true
  }

  fail(kind: FailureKind): void {
    const receiver = this.#receiver
    if (receiver === undefined) return
    const carrier = this.#leave()
    receiver.onFailure({
      kind,
      isUnsent: carrier?.isWritten !== true,
      isReusedConnection: carrier?.isWritten === true && carrier.isReused,
    })
  }

  #flush(): void {
    if (!this.#isPaused || this.#receiver === undefined) return
    this.#isPaused = false
    const held = this.#held
    this.#held = undefined
    this.#heldBytes = 0
    // What the caller pauses in the middle of goes back to what is held, in its order.
    if (held !== undefined) for (const content of held) this.onContent(content)
    if (this.#isPaused) return
    if (this.#isEndHeld) this.#end()
    else this.#carrier?.resume()
  }

  #end(): void {
    const receiver = this.#receiver
    this.#leave()
    receiver?.onEnd()
  }

  #leave(): Carrier | undefined {
    const carrier = this.#carrier
    this.#receiver = undefined
    this.#carrier = undefined
    this.#held = undefined
    return carrier
  }
}
