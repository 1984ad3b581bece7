/** Finds the known word nearest to a mistyped one, for messages with a suggestion. Pure. */

const comparedLengthMax = 64

/** Returns the nearest of `known` within `editsMax` single-character edits; undefined if there is none. */
export function nearestWord(
  given: string,
  known: readonly string[],
  editsMax: number,
): string | undefined {
  let best: string | undefined
  let bestDistance = editsMax + 1
  for (const word of known) {
    const distance = editDistance(given, word)
    if (distance < bestDistance) {
      best = word
      bestDistance = distance
    }
  }
  return best
}

/** Counts insertions, deletions and substitutions between two words; long words are not compared. */
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
