/** The state of the list of keys in its address. No secret is in it: a head is seven characters at most. */
import { choiceIn, compact, textIn } from '../../search.ts'

const kindWords = ['client', 'reader', 'admin'] as const
const stateWords = ['active', 'expired', 'revoked'] as const
const sortWords = ['created', 'last_used', 'spend'] as const

export interface ListSearch {
  /** How a secret begins; else a part of a name. */
  readonly q?: string
  /** Id of one key, which is shown alone. */
  readonly key?: string
  /** Name or id. */
  readonly account?: string
  readonly kind?: (typeof kindWords)[number]
  readonly state?: (typeof stateWords)[number]
  readonly sort?: (typeof sortWords)[number]
  readonly order?: 'asc' | 'desc'
}

export function readSearch(search: Record<string, unknown>): ListSearch {
  return compact({
    q: textIn(search, 'q'),
    key: textIn(search, 'key'),
    account: textIn(search, 'account'),
    kind: choiceIn(search, 'kind', kindWords),
    state: choiceIn(search, 'state', stateWords),
    sort: choiceIn(search, 'sort', sortWords),
    order: choiceIn(search, 'order', ['asc', 'desc']),
  })
}

export type SearchChanges = { readonly [Name in keyof ListSearch]?: string | undefined }
