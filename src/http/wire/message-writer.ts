/**
 * Writes the bytes of our own messages: the head of a request to a vendor, the head of an answer to a
 * client, and pieces of a body. Pure. Invariant: no value that is passed in can end a header or the head
 * early.
 */
import { STATUS_CODES } from 'node:http'
import { invariant } from '../../base/errors.ts'
import { answerLines, type HeadLines } from './head-lines.ts'

export interface RequestToWrite {
  readonly method: 'DELETE' | 'GET' | 'POST'
  /** Origin form. */
  readonly target: string
  /** Value of the `Host` header. */
  readonly host: string
  readonly headers: HeadLines
  readonly body: Buffer | readonly Buffer[] | undefined
}

const targetPattern = /^\/[!-~]*$/
const hostPattern = /^[!-~]+$/

/** Returns the head as text, one character per byte; undefined where a part of it cannot be written. */
export function requestHead(request: RequestToWrite): string | undefined {
  const { method, target, host, headers, body } = request
  if (!headers.isValid || !targetPattern.test(target) || !hostPattern.test(host)) return undefined
  const first = `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`
  const hasLength = body !== undefined || method === 'POST'
  const length = hasLength ? `content-length: ${bytesOf(piecesOf(body))}\r\n` : ''
  return `${first}${headers.text}${length}\r\n`
}

/** Vendors send a status that no standard names; n8n shows only the reason phrase of an error. */
const reasons: Readonly<Record<number, string | undefined>> = { ...STATUS_CODES, 529: 'Overloaded' }
const statusLines = new Map<number, string>()

/** Returns the status line with its line end. */
export function statusLine(status: number): string {
  const known = statusLines.get(status)
  if (known !== undefined) return known
  invariant(Number.isInteger(status) && status >= 200 && status <= 599, 'a status is a number')
  const line = `HTTP/1.1 ${status} ${reasons[status] ?? 'Unknown'}\r\n`
  statusLines.set(status, line)
  return line
}

/** Returns a header of an answer with its line end. Throws an InvariantError where it is not valid. */
export function fieldLine(name: string, value: string): string {
  return validText(answerLines([name, value]))
}

/** Returns headers of an answer as text. Throws an InvariantError where one is not valid. */
export function validText({ isValid, text }: HeadLines): string {
  invariant(isValid, 'a header of an answer has other characters, or is about its framing')
  return text
}

const hexDigits = Buffer.from('0123456789abcdef')
const carriageReturn = 0x0d
const lineFeed = 0x0a

/** Returns a chunk of the chunked coding with a copy of this content, which must not be empty. */
export function chunkOf(bytes: Buffer, start: number, end: number): Buffer {
  let digits = 1
  for (let rest = (end - start) >>> 4; rest > 0; rest >>>= 4) digits++
  const size = digits + 2 + end - start
  const chunk = Buffer.allocUnsafe(size + 2)
  for (let at = digits - 1, rest = end - start; at >= 0; at--, rest >>>= 4)
    chunk[at] = hexDigits[rest & 0xf] ?? 0
  chunk[digits] = chunk[size] = carriageReturn
  chunk[digits + 1] = chunk[size + 1] = lineFeed
  bytes.copy(chunk, digits + 2, start, end)
  return chunk
}

/** Below this size, copying costs less than one more piece to write. */
const joinedBytesMax = 16_384

/** Returns the bytes to write, in order, in as few pieces as pays. Text has one character per byte. */
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

export function piecesOf(body: Buffer | readonly Buffer[] | undefined): readonly Buffer[] {
  if (body === undefined) return []
  return Buffer.isBuffer(body) ? [body] : body
}

export function bytesOf(pieces: readonly Buffer[]): number {
  let length = 0
  for (const piece of pieces) length += piece.length
  return length
}
