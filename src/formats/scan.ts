/**
 * Scans JSON text without building values: finds where a run of plain characters or a whole string ends, and
 * replaces byte ranges. The text is latin1, one character per byte, so offsets are byte offsets. It does not
 * validate: `json-reader.ts` decides, and a scan of text that is not JSON means nothing.
 */
import type { Span } from './format.ts'

export const quote = 0x22
export const backslash = 0x5c
export const comma = 0x2c
export const colon = 0x3a
export const openBrace = 0x7b
export const closeBrace = 0x7d
export const openBracket = 0x5b
export const closeBracket = 0x5d

/** Returns the offset of the closing quote of a string whose content begins at `from`, or -1. */
export function plainStringEnd(text: string, from: number): number {
  let at = text.indexOf('"', from)
  while (at > from && text.charCodeAt(at - 1) === backslash && isEscaped(text, from, at)) {
    at = text.indexOf('"', at + 1)
  }
  return at
}

/** Returns whether an odd number of backslashes precedes. Each run is read once, so the scan is linear. */
function isEscaped(text: string, from: number, at: number): boolean {
  let first = at
  while (first > from && text.charCodeAt(first - 1) === backslash) first--
  return (at - first) % 2 === 1
}

export interface Edit extends Span {
  readonly text: string
}

/** A longer body is not copied. */
const copiedBytesMax = 65_536

/** Returns the body with the edits, which must be in order and must not overlap. All other bytes are kept. */
export function splice(body: Buffer, edits: readonly Edit[]): Buffer | readonly Buffer[] {
  if (edits.length === 0) return body
  const pieces: Buffer[] = []
  let at = 0
  for (const edit of edits) {
    pieces.push(body.subarray(at, edit.start), Buffer.from(edit.text))
    at = edit.end
  }
  pieces.push(body.subarray(at))
  return body.length <= copiedBytesMax ? Buffer.concat(pieces) : pieces
}
