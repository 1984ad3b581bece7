/** The state of this page in its address. */
import { choiceIn, compact, textIn } from '../../search.ts'

const tabs = ['firing', 'targets', 'deliveries'] as const
export const deliveryStates = ['waiting', 'delivered', 'failed', 'dropped'] as const

export interface PageSearch {
  readonly tab?: (typeof tabs)[number]
  /** The target whose deliveries are shown. */
  readonly target?: string
  /** Only deliveries in this state. */
  readonly state?: (typeof deliveryStates)[number]
}

export function readSearch(search: Record<string, unknown>): PageSearch {
  return compact({
    tab: choiceIn(search, 'tab', tabs),
    target: textIn(search, 'target'),
    state: choiceIn(search, 'state', deliveryStates),
  })
}
