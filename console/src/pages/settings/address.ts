/** The state of this page in its address. */
import { choiceIn, compact } from '../../search.ts'

export const tabs = ['in-force', 'gateways', 'backups', 'access', 'doctor'] as const

export interface PageSearch {
  readonly tab?: (typeof tabs)[number]
}

export function readSearch(search: Record<string, unknown>): PageSearch {
  return compact({ tab: choiceIn(search, 'tab', tabs) })
}
