/** The state of this page in its address. */
import { choiceIn, compact, textIn } from '../../search.ts'

const tabs = ['books', 'actions'] as const

export interface PageSearch {
  readonly tab?: (typeof tabs)[number]
  /** The audit whose differences are shown. */
  readonly audit?: string
  readonly action?: string
  readonly actor?: string
  readonly subject?: string
  /** Days, UTC. */
  readonly from?: string
  readonly to?: string
}

export function readSearch(search: Record<string, unknown>): PageSearch {
  return compact({
    tab: choiceIn(search, 'tab', tabs),
    audit: textIn(search, 'audit'),
    action: textIn(search, 'action'),
    actor: textIn(search, 'actor'),
    subject: textIn(search, 'subject'),
    from: textIn(search, 'from'),
    to: textIn(search, 'to'),
  })
}
