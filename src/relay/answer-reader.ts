/**
 * Reads answers that are not streamed, and errors, where they lie: a small one at once, a large one part by
 * part. Invariant: of all large ones together one part is read in a turn of the event loop, so that none
 * keeps it, whatever it holds.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { edgesOf } from '../formats/answer-edges.ts'
import { JsonExtract } from '../formats/json-extract.ts'
import { parseBody, type WantedJson } from '../formats/json.ts'
import { errorMembers, readVendorError } from '../formats/vendor-error.ts'
import { bytesOf } from '../http/wire/message-writer.ts'
import {
  isGood,
  judgeAnswer,
  judgeError,
  readErrorAnswer,
  readErrorBody,
  shownIn,
  type AnswerContext,
  type CollectedReading,
} from './attempt-outcome.ts'

/** Parsed at once up to this size: that takes a few milliseconds, whatever it holds. */
const smallAnswerBytesMax = 131_072
/** So much is read in one turn. */
const partBytesMax = 65_536

export interface ReadAnswer {
  readonly body: readonly Buffer[]
  readonly reading: CollectedReading
}

export function readAnswer(
  pieces: readonly Buffer[],
  context: AnswerContext,
): ReadAnswer | Promise<ReadAnswer> {
  const isSmall = bytesOf(pieces) <= smallAnswerBytesMax
  if (!isGood(context.head)) {
    if (!isSmall) return readLargeError(pieces, context)
    const bytes = joined(pieces)
    return { body: [bytes], reading: readErrorAnswer(bytes, context) }
  }
  const { operation, facts } = context
  const read = (value: unknown): CollectedReading =>
    judgeAnswer(operation.readAnswer(value, facts), context)
  if (isSmall) {
    const bytes = joined(pieces)
    return { body: [bytes], reading: read(parseBody(bytes)) }
  }
  const known = operation.readEdges?.(edgesOf(pieces))
  if (known !== undefined) return { body: pieces, reading: judgeAnswer(known, context) }
  return extract(pieces, operation.answerMembers).then((value) => ({
    body: pieces,
    reading: read(value),
  }))
}

function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces)
}

async function readLargeError(
  pieces: readonly Buffer[],
  context: AnswerContext,
): Promise<ReadAnswer> {
  const bytes = Buffer.allocUnsafeSlow(bytesOf(pieces))
  let at = 0
  await inParts(pieces, (piece, start, end) => {
    at += piece.copy(bytes, at, start, end)
  })
  const body = readErrorBody(context.head, bytes)
  if (body === undefined) return { body: [bytes], reading: readErrorAnswer(undefined, context) }
  const error = readVendorError(await extract([body.readable], errorMembers))
  const shown = shownIn([error.message ?? ''], context)
  await inParts([body.readable], ({ length }, start, end) => {
    const to = Math.min(length, end + shownBytesMax)
    const found = shownIn([body.readable.toString('latin1', start, to)], context)
    shown.namesAccount ||= found.namesAccount
    shown.showsSecret ||= found.showsSecret
  })
  return { body: [bytes], reading: judgeError({ body, error, ...shown }, context) }
}

/** No name of an account and no secret is longer: none is missed where one part ends. */
const shownBytesMax = 8_192

async function extract(pieces: readonly Buffer[], wanted: WantedJson): Promise<unknown> {
  const extracted = new JsonExtract(wanted)
  await inParts(pieces, (piece, start, end) => extracted.push(piece, start, end))
  return extracted.end()
}

/** The last turn that a large answer waits for. */
let lastTurn: Promise<void> = Promise.resolve()

/** Does the work for each part of the pieces, one in a turn. */
async function inParts(
  pieces: readonly Buffer[],
  work: (piece: Buffer, start: number, end: number) => void,
): Promise<void> {
  let bytes = 0
  for (const piece of pieces)
    for (let start = 0; start < piece.length; start += partBytesMax) {
      const end = Math.min(start + partBytesMax, piece.length)
      bytes += end - start
      if (bytes > partBytesMax) {
        bytes = end - start
        lastTurn = lastTurn.then(() => nextTurn())
        await lastTurn
      }
      work(piece, start, end)
    }
}
