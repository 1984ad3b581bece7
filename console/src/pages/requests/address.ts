/** The state of the list of requests in its address. */
import { choiceIn, compact, textIn } from '../../search.ts'

/** Periods that end now, and the day before in the reader's zone. */
const lastWords = ['15m', '1h', '24h', 'yesterday', '7d'] as const
export type LastWord = (typeof lastWords)[number]

export interface ListSearch {
  readonly account?: string
  readonly key?: string
  readonly model?: string
  readonly channel?: string
  /** Such as 402, or 4xx. */
  readonly status?: string
  readonly code?: string
  readonly last?: LastWord
  /** Moments, UTC. */
  readonly from?: string
  readonly to?: string
}

export function readListSearch(search: Record<string, unknown>): ListSearch {
  const last = choiceIn(search, 'last', lastWords)
  return compact({
    account: textIn(search, 'account'),
    key: textIn(search, 'key'),
    model: textIn(search, 'model'),
    channel: textIn(search, 'channel'),
    status: textIn(search, 'status'),
    code: textIn(search, 'code'),
    last,
    from: last === undefined ? textIn(search, 'from') : undefined,
    to: last === undefined ? textIn(search, 'to') : undefined,
  })
}

/** Undefined takes a filter away. */
export type SearchChanges = { readonly [Name in keyof ListSearch]?: ListSearch[Name] | undefined }

/** Without a period the list follows the requests as they end. */
export function isLive({ last, from, to }: ListSearch): boolean {
  return last === undefined && from === undefined && to === undefined
}
