/**
 * One exchange as its caller sees it: passes on what the connection reads, keeps it while the caller
 * wants no more, and speaks its last word once. It knows no socket and no bytes of framing.
 */
import type { ResponseHead } from '../http/wire/response-head.ts'
import type { FailureKind } from './upstream-failure.ts'
import { ReceivedHead } from './upstream-head.ts'
import type { UpstreamCall, UpstreamFailure, UpstreamReceiver } from './upstream.ts'

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

type LastWord = 'complete' | UpstreamFailure

export class Exchange implements UpstreamCall {
  /** Gone as soon as nothing more may be said to it; everything asks it first. */
  #receiver: UpstreamReceiver | undefined
  /** Gone as soon as the exchange has no more to do with it. */
  #carrier: Carrier | undefined
  #hasHead = false
  #isPaused = false
  #held: Buffer[] | undefined
  #heldBytes = 0
  /** What is to be said behind what is held; the connection has gone by then. */
  #lastWord: LastWord | undefined

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
    this.#conclude('complete')
  }

  fail(kind: FailureKind): void {
    const isWritten = this.#carrier?.isWritten === true
    const isReusedConnection = isWritten && this.#carrier?.isReused === true
    // Where everything is brought to its end, nobody may come to take what is held.
    if (kind === 'aborted') this.#held = undefined
    this.#conclude({ kind, isUnsent: !isWritten, isReusedConnection })
  }

  /** What the vendor said before it fell silent may be the end of its answer, or why there is none. */
  #conclude(word: LastWord): void {
    this.#carrier = undefined
    if (this.#held === undefined) this.#say(word)
    else this.#lastWord = word
  }

  #flush(): void {
    if (!this.#isPaused || this.#receiver === undefined) return
    this.#isPaused = false
    const held = this.#held
    this.#held = undefined
    this.#heldBytes = 0
    // What the caller pauses in the middle of goes back to what is held, in its order.
    if (held !== undefined) for (const content of held) this.onContent(content)
    if (this.#held !== undefined) return
    if (this.#lastWord !== undefined) this.#say(this.#lastWord)
    else if (!this.#isPaused) this.#carrier?.resume()
  }

  #say(word: LastWord): void {
    const receiver = this.#receiver
    this.#leave()
    if (word === 'complete') receiver?.onEnd()
    else receiver?.onFailure(word)
  }

  #leave(): Carrier | undefined {
    const carrier = this.#carrier
    this.#receiver = undefined
    this.#carrier = undefined
    this.#held = undefined
    return carrier
  }
}
