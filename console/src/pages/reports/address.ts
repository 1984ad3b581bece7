/** The state of this page in its address. */
import { addressOf, oneOf, text, type AddressOf } from '../../search.ts'
import { rangeFields } from '../../ui/range.ts'

export const keys = ['day', 'account', 'key', 'model', 'channel', 'label'] as const
export type Key = (typeof keys)[number]

export const chartFigures = ['spend', 'margin', 'requests', 'tokens'] as const
export type ChartFigure = (typeof chartFigures)[number]

export const readSearch = addressOf({
  ...rangeFields,
  /** Keys with commas; nothing = by model. */
  by: text,
  account: text,
  key: text,
  model: text,
  channel: text,
  label: text,
  /** Words of the columns to show, with commas; nothing = the usual ones. */
  columns: text,
  sort: text,
  order: oneOf(['asc', 'desc']),
  chart: oneOf(chartFigures),
  compare: oneOf(['before']),
})

export type ReportSearch = AddressOf<typeof readSearch>

/** Undefined takes a field away. */
export type SearchChanges = {
  readonly [Name in keyof ReportSearch]?: ReportSearch[Name] | undefined
}

/** Returns the known keys among the words, in their order. */
export function keysOf({ by = 'model' }: ReportSearch): readonly Key[] {
  const found = by.split(',').flatMap((word) => keys.filter((key) => key === word))
  return [...new Set(found)]
}
