/**
 * Reads answers that are not streamed, and errors: a small one at once, a large one by its edges or on a
 * thread, so that no answer keeps the event loop, whatever it holds.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { SharedThread } from '../base/shared-thread.ts'
import { startService, type ThreadService } from '../base/thread.ts'
import { edgesOf } from '../formats/answer-edges.ts'
import { bytesOf } from '../http/wire/message-writer.ts'
import type { AnswerFound, AnswerQuestion } from './answer-thread.ts'
import {
  readCollected,
  readCollectedEdges,
  type AnswerContext,
  type CollectedReading,
} from './attempt-outcome.ts'
import { bufferOf } from './body-reader.ts'

/** Read on the event loop up to this size: that takes a few milliseconds, whatever it holds. */
const smallAnswerBytesMax = 131_072

interface UnreadAnswer {
  readonly accountId: string
  /** As they came. */
  readonly pieces: readonly Buffer[]
  readonly context: AnswerContext
}

export interface ReadAnswer {
  readonly body: readonly Buffer[]
  readonly reading: CollectedReading
}

export interface AnswerReader {
  /** Undefined where a large answer cannot be read. The `pieces` must not be used any more. */
  read(answer: UnreadAnswer): ReadAnswer | Promise<ReadAnswer | undefined>
  close(): Promise<void>
}

export interface AnswerReaderOptions {
  readonly clock: Clock
  /** Called once for each thread that died unexpectedly. */
  readonly onThreadLost: (error: unknown) => void
}

/** Enough for an answer of 64 MiB as objects; one of short members can need more, and is not read. */
const threadHeapMb = 1_024

export function createAnswerReader({
  clock,
  onThreadLost: onLost,
}: AnswerReaderOptions): AnswerReader {
  const thread = new SharedThread({ clock, open: openWorker, onLost })

  async function readApart({
    accountId,
    pieces,
    context,
  }: UnreadAnswer): Promise<ReadAnswer | undefined> {
    const found = await thread.ask(accountId, async () => {
      const bytes = await joinInTurns(pieces)
      return { question: { ...questionOf(context), bytes }, moved: [bytes.buffer] }
    })
    return found && { body: [bufferOf(found.bytes)], reading: withBuffers(found.reading) }
  }

  return {
    read(answer) {
      const { pieces, context } = answer
      if (bytesOf(pieces) > smallAnswerBytesMax) {
        const reading = readCollectedEdges(edgesOf(pieces), context)
        return reading === undefined ? readApart(answer) : { body: pieces, reading }
      }
      const body = Buffer.concat(pieces)
      return { body: [body], reading: readCollected(body, context) }
    },
    close: () => thread.close(),
  }
}

function questionOf(context: AnswerContext): Omit<AnswerQuestion, 'bytes'> {
  const { format, operation, head, facts, secrets } = context
  const { status, fields, isEndAnnounced } = head
  return {
    format: format.name,
    operation: operation.name,
    head: { status, fields: fields.flat(), isEndAnnounced },
    facts,
    secrets: secrets.map((one) => one.reveal()),
  }
}

/** Bytes copied in one turn of the event loop. */
const copiedBytesMax = 2 * 1_048_576

async function joinInTurns(pieces: readonly Buffer[]): Promise<Uint8Array<ArrayBuffer>> {
  const joined = new Uint8Array(new ArrayBuffer(bytesOf(pieces)))
  let at = 0
  let copied = 0
  for (const piece of pieces) {
    joined.set(piece, at)
    at += piece.length
    copied += piece.length
    if (copied < copiedBytesMax) continue
    copied = 0
    await nextTurn()
  }
  return joined
}

/** Bytes come from a thread as plain arrays. */
function withBuffers(reading: CollectedReading): CollectedReading {
  if (reading.kind !== 'vendor_error' || reading.body === undefined) return reading
  const { bytes, readable } = reading.body
  return { ...reading, body: { bytes: toBuffer(bytes), readable: toBuffer(readable) } }
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

function openWorker(onLost: (error: unknown) => void): ThreadService<AnswerQuestion, AnswerFound> {
  const url = new URL('./answer-thread.ts', import.meta.url)
  return startService(url, { heapMbMax: threadHeapMb, onLost })
}
