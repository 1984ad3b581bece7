/** Sends the answers to account holders: small ones at once, large ones at the pace of their clients. */
import type { Clock } from '../../base/clock.ts'
import type { Refusal } from '../../base/errors.ts'
import type { IncomingRequest } from '../../http/server/request.ts'
import { sendReply } from '../../http/server/reply.ts'
import type { ResponseWriter } from '../../http/server/response-writer.ts'
import type { HolderReading, ReadPiece } from '../../operations/holder/reader.ts'
import { namedReply } from '../refusal-reply.ts'
import { PacedAnswer } from './paced-answer.ts'
import type { ReadPlace } from './reads-under-way.ts'

/** Where an answer goes. */
export interface Exchange {
  readonly request: IncomingRequest
  readonly response: ResponseWriter
  readonly clock: Clock
  readonly contentType: string
  /** Left when the answer has been sent. */
  readonly place: ReadPlace
}

const vary = ['vary', 'authorization, x-api-key, api-key']
/** A connection keeps as much of any answer. */
export const smallBytesMax = 65_536
/** The most that an answer in pieces keeps in memory: one page of the store and some pieces. */
const streamBytes = 1_048_576

/**
 * Resolves when the client has been sent all of it, or has gone. Returns a refusal where nothing was written.
 */
export async function sendPieces(
  reading: HolderReading,
  exchange: Exchange,
): Promise<Refusal | undefined> {
  const { request, response, place } = exchange
  if (response.isGone) return undefined
  const first = await reading.next()
  if (first.kind === 'refusal') return first
  const { bytes, isLast } = first
  if (isLast && (bytes.length <= smallBytesMax || request.method === 'HEAD')) {
    sendReply(request, response, { status: 200, headers: headersOf(exchange), body: bytes })
    return undefined
  }
  const full = place.keep(Math.max(bytes.length, streamBytes))
  if (full === undefined)
    return paced(exchange, headersOf(exchange), (answer) => sendAll(answer, first, reading))
  if (!isLast) reading.stop()
  return full
}

function headersOf({ clock, contentType }: Exchange): readonly string[] {
  const { headers } = namedReply({ status: 200, headers: [], body: [] }, clock)
  return ['content-type', contentType, 'cache-control', 'no-store', ...vary, ...headers]
}

async function sendAll(
  answer: PacedAnswer,
  first: ReadPiece,
  reading: HolderReading,
): Promise<void> {
  let piece = first
  try {
    for (;;) {
      await answer.writeBytes(piece.bytes)
      if (piece.isLast) return
      const next = await reading.next()
      if (next.kind === 'refusal') throw new Error(next.message)
      piece = next
    }
  } catch (error) {
    if (!piece.isLast) reading.stop()
    throw error
  }
}

/** Resolves when `work` is done and the client has been sent all of it, or has gone. */
export async function paced(
  { request, response }: Pick<Exchange, 'request' | 'response'>,
  headers: readonly string[],
  work: (answer: PacedAnswer) => Promise<void>,
): Promise<undefined> {
  if (!request.body.isComplete) response.closeAfterwards()
  const isHeadRequest = request.method === 'HEAD'
  const answer = new PacedAnswer({ response, headers, isHeadRequest })
  try {
    await work(answer)
    answer.end()
  } catch (error) {
    if (!answer.fail(error)) throw error
  }
}
