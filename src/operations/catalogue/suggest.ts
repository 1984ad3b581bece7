/** The nearest known word to a mistyped one, as the tail of a sentence. Pure text. */

/** ` (did you mean rank?)`, or nothing when no word is near. */
export function suggest(given: string, known: readonly string[]): string {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(given.length / 3)) + 1
  for (const word of known) {
    const distance = editDistance(given, word)
    if (distance < bestDistance) {
      best = word
      bestDistance = distance
    }
  }
  return best === undefined ? '' : ` (did you mean ${best}?)`
}

const comparedLengthMax = 64

/** Insertions, deletions and substitutions between two words; long words count as far apart. */
function editDistance(left: string, right: string): number {
  if (left.length > comparedLengthMax || right.length > comparedLengthMax)
    return Number.POSITIVE_INFINITY
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const substituted =
        (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1)
      const shifted = Math.min(previous[column] ?? 0, current[column - 1] ?? 0) + 1
      current.push(Math.min(substituted, shifted))
    }
    previous = current
  }
  return previous[right.length] ?? 0
}
