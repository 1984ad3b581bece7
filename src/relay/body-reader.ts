/**
 * Parses request bodies: a small one at once, a large one on a thread, so that no body keeps the event loop.
 * Invariant: of each account at most one large body is with the thread, so that an account that sends many
 * does not keep the others waiting.
 */
import type { Clock, Timer } from '../base/clock.ts'
import { invariant } from '../base/errors.ts'
import { startService, type ThreadService } from '../base/thread.ts'
import type {
  FormatName,
  ForwardedOperation,
  ReadRequestOptions,
  RequestFacts,
  RequestFault,
} from '../formats/format.ts'
import type { BodyAnswer, BodyQuestion } from './body-thread.ts'

/** Parsed on the event loop up to this size: that takes less than 5 ms, whatever its shape. */
export const smallBodyBytesMax = 131_072

interface UnreadBody {
  readonly accountId: string
  readonly format: FormatName
  readonly operation: ForwardedOperation
  readonly bytes: Buffer
  readonly options: ReadRequestOptions
  /** The client has left, so that no answer is needed. */
  readonly isGone: () => boolean
}

interface ReadBody {
  readonly bytes: Buffer
  readonly facts: RequestFacts | RequestFault
}

export interface BodyReader {
  /** Undefined where a large body cannot be parsed now. Its `bytes` must not be used any more. */
  read(body: UnreadBody): ReadBody | Promise<ReadBody | undefined>
  close(): Promise<void>
}

type BodyThread = ThreadService<BodyQuestion, BodyAnswer>

export interface BodyReaderOptions {
  readonly clock: Clock
  /** Called once for each thread that died unexpectedly. */
  readonly onThreadLost: (error: unknown) => void
  /** Tests replace it. */
  readonly openThread?: (onLost: (error: unknown) => void) => BodyThread
}

/** Enough for the worst body of 32 MiB, which needs a third of it. */
const threadHeapMb = 1_024
/** A thread without work gives its memory back after this time. */
const idleMs = 30_000

export function createBodyReader(options: BodyReaderOptions): BodyReader {
  return new ThreadedReader(options)
}

class ThreadedReader implements BodyReader {
  readonly #options: BodyReaderOptions
  /** By account: resolves when its last large body has been read. */
  readonly #turns = new Map<string, Promise<unknown>>()
  #thread: BodyThread | undefined
  #idle: Timer | undefined
  #askedCount = 0
  #isClosed = false

  constructor(options: BodyReaderOptions) {
    this.#options = options
  }

  read(body: UnreadBody): ReadBody | Promise<ReadBody | undefined> {
    const { accountId, bytes, operation, options } = body
    if (bytes.length <= smallBodyBytesMax)
      return { bytes, facts: operation.readRequest(bytes, options) }
    const ask = (): Promise<ReadBody | undefined> => this.#ask(body)
    const turn = this.#turns.get(accountId) ?? Promise.resolve()
    const reading = turn.then(ask, ask)
    this.#turns.set(accountId, reading)
    return reading.finally(() => {
      if (this.#turns.get(accountId) === reading) this.#turns.delete(accountId)
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#idle?.cancel()
    const thread = this.#thread
    this.#thread = undefined
    await thread?.end()
  }

  async #ask({
    format,
    operation,
    bytes,
    options,
    isGone,
  }: UnreadBody): Promise<ReadBody | undefined> {
    if (this.#isClosed || isGone()) return undefined
    const { buffer } = bytes
    invariant(buffer instanceof ArrayBuffer, 'a large body has memory of its own')
    const view = new Uint8Array(buffer, bytes.byteOffset, bytes.byteLength)
    const question = { format, operation: operation.name, bytes: view, options }
    const answer = await this.#askThread(question)
    if (answer === undefined) return undefined
    const { byteOffset, byteLength } = answer.bytes
    return { bytes: Buffer.from(answer.bytes.buffer, byteOffset, byteLength), facts: answer.facts }
  }

  /** Undefined where the thread is lost, which is reported, or ended. */
  async #askThread(question: BodyQuestion): Promise<BodyAnswer | undefined> {
    this.#idle?.cancel()
    const thread = (this.#thread ??= this.#open())
    this.#askedCount++
    try {
      return await thread.ask(question, [question.bytes.buffer])
    } catch (error) {
      if (this.#thread === thread) throw error
      return undefined
    } finally {
      this.#askedCount--
      if (this.#askedCount === 0) this.#endWhenIdle()
    }
  }

  #open(): BodyThread {
    const { openThread = openWorker, onThreadLost } = this.#options
    return openThread((error) => {
      this.#thread = undefined
      onThreadLost(error)
    })
  }

  #endWhenIdle(): void {
    if (this.#thread === undefined) return
    this.#idle = this.#options.clock.after(idleMs, () => {
      const thread = this.#thread
      this.#thread = undefined
      void thread?.end()
    })
  }
}

function openWorker(onLost: (error: unknown) => void): BodyThread {
  const url = new URL('./body-thread.ts', import.meta.url)
  return startService(url, { heapMbMax: threadHeapMb, onLost })
}
