/** The state of the list of accounts and of one account in their addresses. */
import { choiceIn, compact, textIn } from '../../search.ts'

const shownWords = ['active', 'suspended', 'closed', 'low'] as const
export type Shown = (typeof shownWords)[number]
const sortWords = ['name', 'balance', 'spend'] as const
const accountTabs = ['keys', 'requests', 'statement', 'alerts', 'details'] as const
export type AccountTab = (typeof accountTabs)[number]

export interface ListSearch {
  /** A part of the name. */
  readonly q?: string
  /** A status; or `low`, for accounts whose balance needs attention. */
  readonly status?: Shown
  readonly sort?: (typeof sortWords)[number]
  readonly order?: 'asc' | 'desc'
  /** Opens the form of a new account once. */
  readonly new?: true
}

export function readListSearch(search: Record<string, unknown>): ListSearch {
  return compact({
    q: textIn(search, 'q'),
    status: choiceIn(search, 'status', shownWords),
    sort: choiceIn(search, 'sort', sortWords),
    order: choiceIn(search, 'order', ['asc', 'desc']),
    new: search['new'] === true ? true : undefined,
  })
}

export interface AccountSearch {
  readonly tab?: AccountTab
  /** The period of the statement: days (UTC), both included. */
  readonly from?: string
  readonly to?: string
}

export function readAccountSearch(search: Record<string, unknown>): AccountSearch {
  return compact({
    tab: choiceIn(search, 'tab', accountTabs),
    from: dayIn(search, 'from'),
    to: dayIn(search, 'to'),
  })
}

function dayIn(search: Record<string, unknown>, name: string): string | undefined {
  const text = textIn(search, name)
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) ? text : undefined
}
