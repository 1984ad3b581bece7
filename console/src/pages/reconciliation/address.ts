/** The state of this page in its address. The files are not in it: they stay in the browser. */
import { compact, textIn } from '../../search.ts'

export interface ReconciliationSearch {
  readonly channel?: string
  /** UTC days, both included. */
  readonly from?: string
  readonly to?: string
}

export function readSearch(search: Record<string, unknown>): ReconciliationSearch {
  return compact({
    channel: textIn(search, 'channel'),
    from: textIn(search, 'from'),
    to: textIn(search, 'to'),
  })
}

const dayMs = 86_400_000

/** The last whole month: vendors bill by the month. */
export function lastMonth(nowMs: number): { readonly from: string; readonly to: string } {
  const monthBegin = `${new Date(nowMs).toISOString().slice(0, 7)}-01`
  const to = new Date(Date.parse(monthBegin) - dayMs).toISOString().slice(0, 10)
  return { from: `${to.slice(0, 7)}-01`, to }
}
