/** The nearest known word to a mistyped one, as the tail of a sentence. Pure text. */
import { nearestWord } from '../../base/nearest.ts'

/** ` (did you mean rank?)`, or nothing when no word is near. */
export function suggest(given: string, known: readonly string[]): string {
  const word = nearestWord(given, known, Math.max(2, Math.floor(given.length / 3)))
  return word === undefined ? '' : ` (did you mean ${word}?)`
}
