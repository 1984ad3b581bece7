/**
 * Parses request bodies: a small one at once, a large one on a thread, so that no body keeps the event loop.
 * Invariant: of each account at most one large body waits for the thread, so that an account that sends many
 * does not keep the others waiting.
 */
import type { Clock } from '../base/clock.ts'
import { invariant } from '../base/errors.ts'
import { SharedThread } from '../base/shared-thread.ts'
import { startService, type ThreadService } from '../base/thread.ts'
import type {
  FormatName,
  ForwardedOperation,
  ReadRequestOptions,
  RequestFacts,
  RequestFault,
} from '../formats/format.ts'
import { TooManySteps } from '../formats/json-tokens.ts'
import { BodyMemory } from './body-memory.ts'
import type { BodyAnswer, BodyQuestion } from './body-thread.ts'

/** Parsed on the event loop up to this size: that takes less than 5 ms, whatever its shape. */
export const smallBodyBytesMax = 131_072
/** So is one up to this size that takes few steps, as conversations with long texts do. */
export const plainBodyBytesMax = 2_097_152
const plainBodyStepsMax = 120_000

interface UnreadBody {
  readonly accountId: string
  readonly format: FormatName
  readonly operation: ForwardedOperation
  readonly bytes: Buffer
  readonly options: ReadRequestOptions
  /** The client has left, so that no answer is needed. */
  readonly isGone: () => boolean
}

export interface ReadBody {
  readonly bytes: Buffer
  readonly facts: RequestFacts | RequestFault
}

export interface BodyReader {
  /** Of the bodies that it reads. */
  readonly memory: BodyMemory
  /** Undefined where a large body cannot be parsed now. Its `bytes` must not be used any more. */
  read(body: UnreadBody): ReadBody | Promise<ReadBody | undefined>
  close(): Promise<void>
}

export interface BodyReaderOptions {
  readonly clock: Clock
  /** Called once for each thread that died unexpectedly. */
  readonly onThreadLost: (error: unknown) => void
  /** Tests replace it. */
  readonly openThread?: (
    onLost: (error: unknown) => void,
  ) => ThreadService<BodyQuestion, BodyAnswer>
}

/** Enough for the worst body of 32 MiB, which needs a third of it. */
const threadHeapMb = 1_024

export function createBodyReader({
  clock,
  onThreadLost: onLost,
  openThread: open = openWorker,
}: BodyReaderOptions): BodyReader {
  const thread = new SharedThread({ clock, open, onLost })

  async function readApart(body: UnreadBody): Promise<ReadBody | undefined> {
    const { format, operation, bytes, options } = body
    const { buffer, byteOffset, byteLength } = bytes
    invariant(buffer instanceof ArrayBuffer, 'a large body has memory of its own')
    const view = new Uint8Array(buffer, byteOffset, byteLength)
    const question = { format, operation: operation.name, bytes: view, options }
    const asking = { question, moved: [buffer] }
    const answer = await thread.ask(body.accountId, () => (body.isGone() ? undefined : asking))
    return answer && { bytes: bufferOf(answer.bytes), facts: answer.facts }
  }

  return {
    memory: new BodyMemory(clock),
    read(body) {
      const { bytes, operation, options } = body
      if (bytes.length <= smallBodyBytesMax)
        return { bytes, facts: operation.readRequest(bytes, options) }
      return (bytes.length <= plainBodyBytesMax && readPlain(body)) || readApart(body)
    },
    close: () => thread.close(),
  }
}

/** Returns undefined where the body takes too many steps. */
function readPlain({ bytes, operation, options }: UnreadBody): ReadBody | undefined {
  try {
    const facts = operation.readRequest(bytes, { ...options, stepsMax: plainBodyStepsMax })
    return { bytes, facts }
  } catch (error) {
    if (error instanceof TooManySteps) return undefined
    throw error
  }
}

/** Returns the same memory, which has crossed from a thread. */
function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

function openWorker(onLost: (error: unknown) => void): ThreadService<BodyQuestion, BodyAnswer> {
  const url = new URL('./body-thread.ts', import.meta.url)
  return startService(url, { heapMbMax: threadHeapMb, onLost })
}
