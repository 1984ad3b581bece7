/** The state of this page in its address. */
import { choiceIn, compact, textIn } from '../../search.ts'
import { readRange, type Range } from '../../ui/range.ts'

export const keys = ['day', 'account', 'key', 'model', 'channel'] as const
export type Key = (typeof keys)[number]

export const chartFigures = ['spend', 'margin', 'requests', 'tokens'] as const
export type ChartFigure = (typeof chartFigures)[number]

export interface ReportSearch extends Range {
  /** Keys with commas; nothing = by model. */
  readonly by?: string
  readonly account?: string
  readonly key?: string
  readonly model?: string
  readonly channel?: string
  /** Words of the columns to show, with commas; nothing = the usual ones. */
  readonly columns?: string
  readonly sort?: string
  readonly order?: 'asc' | 'desc'
  readonly chart?: ChartFigure
  readonly compare?: 'before'
}

export function readSearch(search: Record<string, unknown>): ReportSearch {
  return compact({
    ...readRange(search),
    by: textIn(search, 'by'),
    account: textIn(search, 'account'),
    key: textIn(search, 'key'),
    model: textIn(search, 'model'),
    channel: textIn(search, 'channel'),
    columns: textIn(search, 'columns'),
    sort: textIn(search, 'sort'),
    order: choiceIn(search, 'order', ['asc', 'desc'] as const),
    chart: choiceIn(search, 'chart', chartFigures),
    compare: choiceIn(search, 'compare', ['before'] as const),
  })
}

/** Returns the known keys among the words, in their order. */
export function keysOf({ by = 'model' }: ReportSearch): readonly Key[] {
  const found = by.split(',').flatMap((word) => keys.filter((key) => key === word))
  return [...new Set(found)]
}
