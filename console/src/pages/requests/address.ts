/** The state of the list of requests in its address. */
import { addressOf, oneOf, text, type AddressOf } from '../../search.ts'

/** Periods that end now, and the day before in the reader's zone. */
const lastWords = ['15m', '1h', '24h', 'yesterday', '7d'] as const
export type LastWord = (typeof lastWords)[number]

export const readListSearch = addressOf({
  open: text,
  account: text,
  key: text,
  model: text,
  channel: text,
  /** Such as 402, or 4xx. */
  status: text,
  code: text,
  last: oneOf(lastWords),
  /** Moments, UTC. */
  from: text,
  to: text,
})

export type ListSearch = AddressOf<typeof readListSearch>

/** What chooses the rows. */
export type RequestFilter = Omit<ListSearch, 'open'>

export function filterOf({ open: _open, ...filter }: ListSearch): RequestFilter {
  return filter
}

/** Without a period the list follows the requests as they end. */
export function isLive({ last, from, to }: RequestFilter): boolean {
  return last === undefined && from === undefined && to === undefined
}
