/** The state of this page in its address. */
import { choiceIn, compact } from '../../search.ts'

export const tabs = ['books', 'actions'] as const
export type Tab = (typeof tabs)[number]

export interface PageSearch {
  readonly tab?: Tab
}

export function readSearch(search: Record<string, unknown>): PageSearch {
  return compact({ tab: choiceIn(search, 'tab', tabs) })
}
