/** Durations as operators write them (`250ms`, `30s`, `10m`, `2h`, `1d`), in milliseconds inside. */

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Milliseconds, or undefined where the text is not a whole number with a unit. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text)
  if (match === null) return undefined
  const factor = unitMs[match[2] ?? '']
  return factor === undefined ? undefined : Number(match[1]) * factor
}

/** The shortest exact way to write a duration: 600000 → `10m`. */
export function formatDuration(durationMs: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const factor = unitMs[unit] ?? 1
    if (durationMs > 0 && durationMs % factor === 0) return `${durationMs / factor}${unit}`
  }
  return `${durationMs}ms`
}
