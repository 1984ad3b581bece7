/** The state of the list of requests in its address. */
import { addressOf, text, type AddressOf } from '../../search.ts'
import { hasRange, rangeFields } from '../../ui/range.ts'

export const readListSearch = addressOf({
  ...rangeFields,
  open: text,
  account: text,
  key: text,
  model: text,
  channel: text,
  /** Such as 402, or 4xx. */
  status: text,
  code: text,
  label: text,
})

export type ListSearch = AddressOf<typeof readListSearch>

/** What chooses the rows. */
export type RequestFilter = Omit<ListSearch, 'open'>

export function filterOf({ open: _open, ...filter }: ListSearch): RequestFilter {
  return filter
}

/** Without a period the list follows the requests as they end. */
export function isLive(filter: RequestFilter): boolean {
  return !hasRange(filter)
}
