/** What the page of reports reads. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, csvAddressOf } from '../../api/client.ts'
import { readAll } from '../../api/list.ts'
import type { paths } from '../../api/schema.ts'
import { t } from '../../messages/t.ts'
import { compact } from '../../search.ts'
import type { Sort } from '../../ui/list/define.ts'
import { periodBefore, periodOf, type Period } from '../../ui/range.ts'
import { keysOf, type ChartFigure, type Key, type ReportSearch } from './address.ts'

type Query = NonNullable<paths['/admin/v1/reports']['get']['parameters']['query']>

/** The largest page of the API. */
const limit = 1_000
const rowsPerPage = 100
/** As many as the API reports on. */
const daysMax = 3_660

/** A report without its keys: which days of which requests. */
export interface Question extends Period {
  readonly account?: string
  readonly key?: string
  readonly model?: string
  readonly channel?: string
  readonly label?: string
}

export function questionOf(search: ReportSearch, nowMs: number): Question {
  const { account, key, model, channel, label } = search
  return {
    ...periodOf(search, { unit: 'day', nowMs, usual: '30d' }),
    ...compact({ account, key, model, channel, label }),
  }
}

export function byOf(search: ReportSearch): string {
  const keys = keysOf(search)
  return keys.length === 0 ? 'total' : keys.join(',')
}

/** The order of the rows: as chosen, or the days as they follow, or the largest spend first. */
export function sortOf({ sort, order, ...search }: ReportSearch): Sort {
  if (sort !== undefined) return { by: sort, order: order ?? 'desc' }
  return keysOf(search)[0] === 'day'
    ? { by: 'day', order: 'asc' }
    : { by: 'revenue_usd', order: 'desc' }
}

function readPage(query: Query) {
  return bodyOf(api.GET('/admin/v1/reports', { params: { query } }))
}

type Page = Awaited<ReturnType<typeof readPage>>
export type ReportRow = Page['items'][number]

interface Asked {
  readonly question: Question
  readonly by: string
  readonly sort: Sort
  readonly compare: 'before' | undefined
}

export function reportQuery({ question, by, sort, compare }: Asked) {
  const asked = { ...question, by, ...compact({ compare }), limit: rowsPerPage }
  // The API refuses a word that it does not know.
  const order = { sort: sort.by as NonNullable<Query['sort']>, order: sort.order }
  const rows = JSON.stringify(asked)
  return infiniteQueryOptions({
    queryKey: ['reports', 'table', rows, order],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor }) =>
      readPage({ ...asked, ...order, ...(cursor !== undefined && { cursor }) }),
    getNextPageParam: ({ next_cursor: cursor }) => cursor ?? undefined,
    // Until they are here in another order, the same rows stay.
    placeholderData: (known, query) => (query?.queryKey[2] === rows ? known : undefined),
  })
}

export function totalQuery(question: Question, compare: 'before' | undefined) {
  const asked = { ...question, by: 'total', limit: 1, ...compact({ compare }) }
  return queryOptions({
    queryKey: ['reports', 'total', asked],
    queryFn: async () => (await readPage(asked)).items[0] ?? null,
  })
}

export type PartKey = Exclude<Key, 'day'>

/** The value by which the API filters a key. */
export function partOf(row: ReportRow, key: PartKey): string {
  const { account_id: account, key_id: id, model, channel, label } = row
  return { account, key: id, model, channel, label }[key] ?? ''
}

export function partName(row: ReportRow, key: PartKey): string {
  return row[key] ?? (partOf(row, key) || t('reports.none'))
}

interface Part {
  readonly name: string
  readonly rows: readonly ReportRow[]
}

export interface DayParts {
  /** The largest first. */
  readonly parts: readonly Part[]
  /** All others as one, by day; everything where the report has no parts. */
  readonly others: readonly ReportRow[]
  /** Each day of the period before; undefined where nothing is compared. */
  readonly before: readonly ReportRow[] | undefined
}

/** More parts than this have no colour of their own. */
const partsMax = 7
/** Rows of the most days that the API reports on. */
const dayPartsMax = daysMax * (partsMax + 1)
const ranks = {
  spend: 'revenue',
  margin: 'revenue',
  requests: 'requests',
  tokens: 'tokens',
} as const

interface Charted {
  readonly question: Question
  readonly part: PartKey | undefined
  readonly figure: ChartFigure
  readonly compare: 'before' | undefined
}

/** The days of a report, and those of its largest parts. */
export function dayPartsQuery({ question, part, figure, compare }: Charted) {
  const readDays = (asked: Query) =>
    readAll((cursor) => readPage({ ...asked, limit, ...cursor }), dayPartsMax)
  return queryOptions({
    queryKey: ['reports', 'days', part ?? '', figure, compare ?? '', question],
    async queryFn(): Promise<DayParts> {
      const before =
        compare && (await readDays({ ...question, ...periodBefore(question), by: 'day' }))
      if (part === undefined)
        return { parts: [], others: await readDays({ ...question, by: 'day' }), before }
      const rows = await readDays({
        ...question,
        by: `day,${part}`,
        largest: partsMax,
        largest_by: ranks[figure],
      })
      const byPart = Map.groupBy(rows, (row) => partOf(row, part))
      const others = byPart.get('') ?? []
      byPart.delete('')
      return { parts: namedParts(byPart, part), others, before }
    },
  })
}

/** Keys of two accounts may have one name: the later ones get their id. */
function namedParts(
  byPart: ReadonlyMap<string, readonly ReportRow[]>,
  part: PartKey,
): readonly Part[] {
  const taken = new Set<string>()
  return [...byPart].flatMap(([id, rows]): Part[] => {
    const [first] = rows
    if (first === undefined) return []
    const name = partName(first, part)
    const shown = taken.has(name) ? `${name} (${id})` : name
    taken.add(name)
    return [{ name: shown, rows }]
  })
}

/** The whole report as a file, byte for byte the output of `turnpike report --csv`. */
export function csvAddress(question: Question, by: string): string {
  return csvAddressOf('/admin/v1/reports', { ...question, by })
}
