/** How long ago, for people: one unit, rounded down, as exact as anybody cares for. */

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

export function formatAge(ageMs: number): string {
  for (const [unit, unitMs] of units) {
    // Two of the larger unit, so that little is lost by rounding.
    const atLeast = unit === 's' ? unitMs : 2 * unitMs
    if (ageMs >= atLeast) return `${Math.floor(ageMs / unitMs)} ${unit}`
  }
  return '0 s'
}
