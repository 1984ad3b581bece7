/**
 * One exchange with a vendor as its caller sees it: passes on the bytes of the connection, keeps them while
 * the caller pauses, and ends in exactly one callback. It knows no socket and no framing.
 */
import type { Fields } from '../wire/fields.ts'
import { copyOf } from '../wire/framing.ts'
import type { ResponseHead } from '../wire/response-reader.ts'
import type {
  FailureKind,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHead,
  UpstreamReceiver,
} from './upstream.ts'

/** What a round trip needs of its connection. */
export interface RoundTripConnection {
  readonly isReused: boolean
  readonly isWritten: boolean
  pause(): void
  resume(): void
  /** Closes the connection; the round trip gets no further call. */
  discard(): void
}

/** Kept while the caller is paused: reading on shows at once that a vendor breaks off. */
const heldBytesMax = 32_768

type End = 'complete' | UpstreamFailure

export class RoundTrip implements UpstreamCall {
  /** Undefined as soon as the receiver may get no further call. */
  #receiver: UpstreamReceiver | undefined
  /** Undefined before the request is sent and after the end. */
  #connection: RoundTripConnection | undefined
  #hasHead = false
  #isPaused = false
  #kept: Buffer[] | undefined
  #keptBytes = 0
  /** The end that follows the kept bytes; the connection is released already. */
  #end: End | undefined

  constructor(receiver: UpstreamReceiver) {
    this.#receiver = receiver
  }

  get hasHead(): boolean {
    return this.#hasHead
  }

  attach(connection: RoundTripConnection): void {
    this.#connection = connection
  }

  /** Fails after `send` has returned, so that the caller has its call by then. */
  failUnsent(kind: FailureKind): void {
    queueMicrotask(() => {
      this.fail(kind)
    })
  }

  /**
   * Resumes in a microtask: the caller may be inside `onBytes`, which must not be entered again before it
   * has returned.
   */
  resume(): void {
    queueMicrotask(() => {
      this.#flush()
    })
  }

  abort(): void {
    if (this.#receiver === undefined) return
    const connection = this.#detach()
    connection?.discard()
  }

  onHead(head: ResponseHead): void {
    this.#hasHead = true
    const { status, fields, framing } = head
    const isEndAnnounced = framing.kind !== 'close'
    this.#receiver?.onHead(new ReceivedHead({ status, fields, isEndAnnounced }))
  }

  /** The memory of the bytes is used again afterwards. */
  onContent(bytes: Buffer, start: number, end: number): void {
    if (!this.#isPaused) {
      this.#isPaused = this.#receiver?.onBytes(bytes, start, end) === false
      return
    }
    this.#kept ??= []
    this.#kept.push(copyOf(bytes, start, end))
    this.#keptBytes += end - start
    if (this.#keptBytes >= heldBytesMax) this.#connection?.pause()
  }

  /** The answer is complete; the connection has been released or closed. */
  onComplete(): void {
    this.#conclude('complete')
  }

  fail(kind: FailureKind): void {
    const isWritten = this.#connection?.isWritten === true
    const isReusedConnection = isWritten && this.#connection?.isReused === true
    // While the gateway closes, no caller may come to take the kept bytes.
    if (kind === 'aborted') this.#kept = undefined
    this.#conclude({ kind, isUnsent: !isWritten, isReusedConnection })
  }

  /** Kept bytes come first: they may be the end of the answer, or the reason why there is none. */
  #conclude(end: End): void {
    this.#connection = undefined
    if (this.#kept === undefined) this.#report(end)
    else this.#end = end
  }

  #flush(): void {
    if (!this.#isPaused || this.#receiver === undefined) return
    this.#isPaused = false
    const kept = this.#kept
    this.#kept = undefined
    this.#keptBytes = 0
    // If the caller pauses again, `onContent` keeps the rest in its order.
    if (kept !== undefined) for (const content of kept) this.onContent(content, 0, content.length)
    if (this.#kept !== undefined) return
    if (this.#end !== undefined) this.#report(this.#end)
    else if (!this.#isPaused) this.#connection?.resume()
  }

  #report(end: End): void {
    const receiver = this.#receiver
    this.#detach()
    if (end === 'complete') receiver?.onEnd()
    else receiver?.onFailure(end)
  }

  #detach(): RoundTripConnection | undefined {
    const connection = this.#connection
    this.#receiver = undefined
    this.#connection = undefined
    this.#kept = undefined
    return connection
  }
}

/** The head of an answer. */
export class ReceivedHead implements UpstreamHead {
  readonly status: number
  readonly fields: Fields
  readonly isEndAnnounced: boolean

  constructor(head: Omit<UpstreamHead, 'header'>) {
    this.status = head.status
    this.fields = head.fields
    this.isEndAnnounced = head.isEndAnnounced
  }

  header(name: string): string | undefined {
    return this.fields.find(name)
  }
}
