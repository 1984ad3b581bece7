/** The state of the list of requests in its address. */
import { addressOf, text } from '../../search.ts'
import { hasRange, readRange } from '../../ui/range.ts'

const readFields = addressOf({
  open: text,
  account: text,
  key: text,
  model: text,
  channel: text,
  /** Such as 402, or 4xx. */
  status: text,
  code: text,
})

export function readListSearch(search: Record<string, unknown>) {
  return { ...readFields(search), ...readRange(search) }
}

export type ListSearch = ReturnType<typeof readListSearch>

/** What chooses the rows. */
export type RequestFilter = Omit<ListSearch, 'open'>

export function filterOf({ open: _open, ...filter }: ListSearch): RequestFilter {
  return filter
}

/** Without a period the list follows the requests as they end. */
export function isLive(filter: RequestFilter): boolean {
  return !hasRange(filter)
}
