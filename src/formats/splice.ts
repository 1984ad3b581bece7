/**
 * Replaces byte ranges of a body and leaves every other byte as it is. It knows nothing of JSON.
 */
import type { Span } from './format.ts'

export interface Edit extends Span {
  readonly text: string
}

/** The body with the edits made; they are given in the order of their places and do not overlap. */
export function splice(body: Buffer, edits: readonly Edit[]): Buffer {
  if (edits.length === 0) return body
  const pieces: Buffer[] = []
  let at = 0
  for (const edit of edits) {
    pieces.push(body.subarray(at, edit.start), Buffer.from(edit.text))
    at = edit.end
  }
  pieces.push(body.subarray(at))
  return Buffer.concat(pieces)
}
