/** The state of the list of requests in its address. */
import { compact, textIn } from '../../search.ts'

export interface ListSearch {
  readonly account?: string
  readonly key?: string
  readonly model?: string
  readonly channel?: string
  readonly status?: string
  readonly code?: string
  readonly from?: string
  readonly to?: string
}

export function readListSearch(search: Record<string, unknown>): ListSearch {
  return compact({
    account: textIn(search, 'account'),
    key: textIn(search, 'key'),
    model: textIn(search, 'model'),
    channel: textIn(search, 'channel'),
    status: textIn(search, 'status'),
    code: textIn(search, 'code'),
    from: textIn(search, 'from'),
    to: textIn(search, 'to'),
  })
}
