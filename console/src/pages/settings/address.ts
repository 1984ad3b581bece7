/** The state of this page in its address. */
import { choiceIn, compact, textIn } from '../../search.ts'

const tabs = ['in-force', 'gateways', 'backups', 'access', 'doctor'] as const

export interface PageSearch {
  readonly tab?: (typeof tabs)[number]
  /** Words to find a setting by. */
  readonly q?: string
}

export function readSearch(search: Record<string, unknown>): PageSearch {
  return compact({ tab: choiceIn(search, 'tab', tabs), q: textIn(search, 'q') })
}
