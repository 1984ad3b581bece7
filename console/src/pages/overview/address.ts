/** The state of the overview in its address. */
import { choiceIn, compact } from '../../search.ts'

export const metrics = ['spend', 'margin', 'requests', 'errors', 'first-event', 'tokens'] as const
export type Metric = (typeof metrics)[number]

export interface OverviewSearch {
  /** The figure that the chart by hour shows. */
  readonly metric?: Metric
}

export function readSearch(search: Record<string, unknown>): OverviewSearch {
  return compact({ metric: choiceIn(search, 'metric', metrics) })
}
