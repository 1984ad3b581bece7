/** The state of the list of accounts and of one account in their addresses. */
import { choiceIn, compact, textIn } from '../../search.ts'

export const statuses = ['active', 'suspended', 'closed'] as const
export const sortWords = ['name', 'balance', 'spend'] as const
export const accountTabs = ['keys', 'requests', 'statement', 'alerts'] as const

export interface ListSearch {
  readonly q?: string
  readonly status?: (typeof statuses)[number]
  readonly sort?: (typeof sortWords)[number]
  readonly order?: 'asc' | 'desc'
}

export function readListSearch(search: Record<string, unknown>): ListSearch {
  return compact({
    q: textIn(search, 'q'),
    status: choiceIn(search, 'status', statuses),
    sort: choiceIn(search, 'sort', sortWords),
    order: choiceIn(search, 'order', ['asc', 'desc']),
  })
}

export interface AccountSearch {
  readonly tab?: (typeof accountTabs)[number]
}

export function readAccountSearch(search: Record<string, unknown>): AccountSearch {
  return compact({ tab: choiceIn(search, 'tab', accountTabs) })
}
