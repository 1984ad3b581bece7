/** The state of the overview in its address. */
import { addressOf, oneOf } from '../../search.ts'

export const metrics = ['spend', 'margin', 'requests', 'errors', 'first-event', 'tokens'] as const
export type Metric = (typeof metrics)[number]

/** `metric` is the figure that the chart by hour shows. */
export const readSearch = addressOf({ metric: oneOf(metrics) })
