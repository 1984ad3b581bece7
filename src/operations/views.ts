/** How values look in results, where more than one operation shows them. */

export function timeText(atMs: number): string {
  return new Date(atMs).toISOString()
}

export function timeOrNull(atMs: number | undefined): string | null {
  return atMs === undefined ? null : timeText(atMs)
}
