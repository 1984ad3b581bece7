/**
 * Calls with large files: a thread reads the body and does all of the work, on a connection to the store for
 * itself. It ends with its client, and after a while in any case.
 */
import type { ServerResponse } from 'node:http'
import { refuse, type Refusal } from '../../base/errors.ts'
import { runInThread, ThreadMemoryError, ThreadTimeError } from '../../base/thread.ts'
import type { ThreadContext } from '../../operations/thread-context.ts'
import type { CallAnswer, CallHeaders } from './call.ts'

/** What the thread gets. */
export interface LargeCallOrder {
  readonly rowId: string
  readonly bytes: Uint8Array
  /** The request's target, for its query. */
  readonly target: string
  readonly path: Readonly<Record<string, string>>
  readonly headers: CallHeaders
  readonly context: ThreadContext
}

const heapMbMax = 1_024
const limitMs = 120_000

const tooLong = refuse(
  'operations.invalid',
  `Reading this file takes more than ${limitMs / 1_000} s. Split it.`,
)
const tooMuch = refuse(
  'operations.invalid',
  `Reading this file takes more than ${heapMbMax} MB of memory. Split it.`,
)
const left = refuse('relay.shutting_down', 'The connection closed before the file was read.')

/** Resolves with the answer, or with the error; nothing is stored then. */
export async function callLarge(
  order: Omit<LargeCallOrder, 'bytes'>,
  bytes: Buffer<ArrayBuffer>,
  outgoing: ServerResponse,
): Promise<CallAnswer> {
  const leaving = new AbortController()
  const leave = (): void => leaving.abort()
  outgoing.once('close', leave)
  try {
    if (outgoing.closed) return left
    return await runInThread<CallAnswer>(new URL('./large-call-thread.ts', import.meta.url), {
      order: { ...order, bytes },
      moved: [bytes.buffer],
      heapMbMax,
      limitMs,
      signal: leaving.signal,
    })
  } catch (error) {
    return refusalOf(error, leaving.signal)
  } finally {
    outgoing.off('close', leave)
  }
}

function refusalOf(error: unknown, { aborted }: AbortSignal): Refusal {
  if (error instanceof ThreadMemoryError) return tooMuch
  if (error instanceof ThreadTimeError) return tooLong
  if (aborted) return left
  throw error
}
