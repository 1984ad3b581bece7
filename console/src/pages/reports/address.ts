/** The state of this page in its address. */
import { choiceIn, compact, textIn } from '../../search.ts'

export const keys = ['day', 'account', 'key', 'model', 'channel'] as const
export type Key = (typeof keys)[number]

export const periods = ['today', '7d', '30d', 'this-month', 'last-month', 'custom'] as const
export type Period = (typeof periods)[number]

export const chartFigures = ['spend', 'requests', 'tokens'] as const
export type ChartFigure = (typeof chartFigures)[number]

export interface ReportSearch {
  /** Keys with commas; nothing = by model. */
  readonly by?: string
  readonly period?: Period
  /** UTC days, of a custom period. */
  readonly from?: string
  readonly to?: string
  readonly account?: string
  readonly key?: string
  readonly model?: string
  readonly channel?: string
  /** Words of the columns to show, with commas; nothing = the usual ones. */
  readonly columns?: string
  readonly sort?: string
  readonly order?: 'asc' | 'desc'
  readonly chart?: ChartFigure
}

export function readSearch(search: Record<string, unknown>): ReportSearch {
  return compact({
    by: textIn(search, 'by'),
    period: choiceIn(search, 'period', periods),
    from: textIn(search, 'from'),
    to: textIn(search, 'to'),
    account: textIn(search, 'account'),
    key: textIn(search, 'key'),
    model: textIn(search, 'model'),
    channel: textIn(search, 'channel'),
    columns: textIn(search, 'columns'),
    sort: textIn(search, 'sort'),
    order: choiceIn(search, 'order', ['asc', 'desc'] as const),
    chart: choiceIn(search, 'chart', chartFigures),
  })
}

/** Returns the known keys among the words, in their order. */
export function keysOf({ by = 'model' }: ReportSearch): readonly Key[] {
  const found = by.split(',').flatMap((word) => keys.filter((key) => key === word))
  return [...new Set(found)]
}

const dayMs = 86_400_000

function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

export interface Days {
  readonly from: string
  readonly to: string
}

/** The first and the last day, both included, of UTC. */
export function daysOf({ period = '30d', from, to }: ReportSearch, nowMs: number): Days {
  const today = utcDay(nowMs)
  const monthBegin = `${today.slice(0, 7)}-01`
  switch (period) {
    case 'today':
      return { from: today, to: today }
    case '7d':
      return { from: utcDay(nowMs - 6 * dayMs), to: today }
    case '30d':
      return { from: utcDay(nowMs - 29 * dayMs), to: today }
    case 'this-month':
      return { from: monthBegin, to: today }
    case 'last-month': {
      const lastDay = utcDay(Date.parse(monthBegin) - dayMs)
      return { from: `${lastDay.slice(0, 7)}-01`, to: lastDay }
    }
    case 'custom':
      return { from: from ?? utcDay(nowMs - 29 * dayMs), to: to ?? today }
  }
}

/** Each day from the first to the last. */
export function listDays({ from, to }: Days): readonly string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)]
  const count = Math.max(Math.round((last - first) / dayMs) + 1, 0)
  return Array.from({ length: count }, (_, index) => utcDay(first + index * dayMs))
}
