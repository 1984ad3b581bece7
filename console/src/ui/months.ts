/** Calendar months of UTC as periods of days. */

/** The first day of a month and its last, or today; `offset` counts from the current month. */
export function monthOf(offset: number): { readonly from: string; readonly to: string } {
  const now = new Date()
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth() + offset]
  const last = Math.min(Date.UTC(year, month + 1, 0), now.getTime())
  return { from: dayText(Date.UTC(year, month, 1)), to: dayText(last) }
}

function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
