/** The state of the overview in its address. */
import { addressOf, oneOf } from '../../search.ts'

export const metricWords = [
  'spend',
  'margin',
  'requests',
  'errors',
  'first-event',
  'tokens',
] as const

/** `metric` is the figure that the chart by hour shows. */
export const readSearch = addressOf({ metric: oneOf(metricWords) })
