/** The edges of a body that has come in pieces. They are copied; the body is not. */
import type { AnswerEdges } from './answer.ts'

/** The text before and behind a long list has a few hundred bytes. */
const edgeBytesMax = 16 * 1024

export function edgesOf(pieces: readonly Buffer[]): AnswerEdges {
  const first: Buffer[] = []
  const last: Buffer[] = []
  let bytes = 0
  for (let at = 0; at < pieces.length && bytes < edgeBytesMax; at++) {
    const piece = pieces[at]?.subarray(0, edgeBytesMax - bytes) ?? noBytes
    first.push(piece)
    bytes += piece.length
  }
  bytes = 0
  for (let at = pieces.length - 1; at >= 0 && bytes < edgeBytesMax; at--) {
    const piece = pieces[at] ?? noBytes
    const part = piece.subarray(Math.max(0, piece.length - (edgeBytesMax - bytes)))
    last.unshift(part)
    bytes += part.length
  }
  return { beginning: Buffer.concat(first), end: Buffer.concat(last) }
}

const noBytes = Buffer.alloc(0)
