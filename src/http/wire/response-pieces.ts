/**
 * Writes the bytes of an answer of ours: the head's text, and pieces of a body in one Buffer. Pure.
 * Invariant: nothing handed in can end a header or the head early.
 */
import { STATUS_CODES } from 'node:http'
import { invariant } from '../../base/errors.ts'
import { isFieldValue, isToken } from './field-syntax.ts'

/** These are the business of whoever knows the connection. */
const ownNames = new Set([
  'content-length',
  'keep-alive',
  'transfer-encoding',
  'trailer',
  'upgrade',
])
const ownNameLengths = new Set([...ownNames].map((name) => name.length))

const firstLines = new Map<number, string>()

/** The status line, with its line end. */
export function statusLine(status: number): string {
  const known = firstLines.get(status)
  if (known !== undefined) return known
  invariant(Number.isInteger(status) && status >= 200 && status <= 599, 'a status is a number')
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n`
  firstLines.set(status, line)
  return line
}

/** A header with its line end. Throws an InvariantError where it could not be read as it is meant. */
export function fieldLine(name: string, value: string): string {
  invariant(isToken(name) && isFieldValue(value), 'a header of an answer cannot be written')
  invariant(!isOwn(name), 'a header of an answer is about its framing')
  return `${name}: ${value}\r\n`
}

function isOwn(name: string): boolean {
  return ownNameLengths.has(name.length) && ownNames.has(name.toLowerCase())
}

/** Below this, copying is cheaper than another piece to write. */
const joinedBytesMax = 16_384

/** What is to be written, in order, in as few pieces as is worth while. Text has a character per byte. */
export function joinPieces(before: string, pieces: readonly Buffer[], after: string): Buffer[] {
  const length = before.length + bytesOf(pieces) + after.length
  if (length > joinedBytesMax)
    return [Buffer.from(before, 'latin1'), ...pieces, Buffer.from(after, 'latin1')]
  const joined = Buffer.allocUnsafe(length)
  let at = joined.write(before, 'latin1')
  for (const piece of pieces) at += piece.copy(joined, at)
  joined.write(after, at, 'latin1')
  return [joined]
}

export function bytesOf(pieces: readonly Buffer[]): number {
  let length = 0
  for (const piece of pieces) length += piece.length
  return length
}
