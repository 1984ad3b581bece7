/** What the page of reports reads. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import { readAll } from '../../api/list.ts'
import {
  daysOf,
  keysOf,
  type ChartFigure,
  type Days,
  type Key,
  type ReportSearch,
} from './address.ts'

/** The largest page of the API. */
const limit = 1_000
/** As many as the API reports on. */
const daysMax = 3_660

/** A report without its keys: which days of which requests. */
export interface Question extends Days {
  readonly account?: string
  readonly key?: string
  readonly model?: string
  readonly channel?: string
}

export function questionOf(search: ReportSearch, nowMs: number): Question {
  const { account, key, model, channel } = search
  return {
    ...daysOf(search, nowMs),
    ...(account !== undefined && { account }),
    ...(key !== undefined && { key }),
    ...(model !== undefined && { model }),
    ...(channel !== undefined && { channel }),
  }
}

export function byOf(search: ReportSearch): string {
  const keys = keysOf(search)
  return keys.length === 0 ? 'total' : keys.join(',')
}

interface PageQuestion extends Question {
  readonly by: string
  readonly limit: number
  readonly cursor?: string
  readonly largest?: number
  readonly largest_by?: 'revenue' | 'requests' | 'tokens'
}

function readPage(query: PageQuestion) {
  return bodyOf(api.GET('/admin/v1/reports', { params: { query } }))
}

export function reportQuery(question: Question, by: string) {
  return infiniteQueryOptions({
    queryKey: ['reports', 'table', by, question],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor }) =>
      readPage({ ...question, by, limit, ...(cursor !== undefined && { cursor }) }),
    getNextPageParam: ({ next_cursor: cursor }) => cursor ?? undefined,
  })
}

export function totalQuery(question: Question) {
  return queryOptions({
    queryKey: ['reports', 'total', question],
    queryFn: async () => (await readPage({ ...question, by: 'total', limit: 1 })).items[0] ?? null,
  })
}

type Page = Awaited<ReturnType<typeof readPage>>
export type ReportRow = Page['items'][number]

export type PartKey = Exclude<Key, 'day'>

/** The value by which the API filters a key. */
export function partOf(row: ReportRow, key: PartKey): string {
  return (
    { account: row.account_id, key: row.key_id, model: row.model, channel: row.channel }[key] ?? ''
  )
}

export function partName(row: ReportRow, key: PartKey): string {
  const name = { account: row.account, key: row.key, model: row.model, channel: row.channel }[key]
  return name ?? (partOf(row, key) || 'None')
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
}

/** More parts than this have no colour of their own. */
const partsMax = 7
/** Rows of the most days that the API reports on. */
const dayPartsMax = daysMax * (partsMax + 1)
const ranks = { spend: 'revenue', requests: 'requests', tokens: 'tokens' } as const

/** The days of a report, and those of its largest parts. */
export function dayPartsQuery(
  question: Question,
  part: PartKey | undefined,
  { figure, valueOf }: { figure: ChartFigure; valueOf: (row: ReportRow) => number },
) {
  const asked =
    part === undefined
      ? { ...question, by: 'day', limit }
      : { ...question, by: `day,${part}`, largest: partsMax, largest_by: ranks[figure], limit }
  return queryOptions({
    queryKey: ['reports', 'days', part ?? '', figure, question],
    async queryFn(): Promise<DayParts> {
      const rows = await readAll((cursor) => readPage({ ...asked, ...cursor }), dayPartsMax)
      if (part === undefined) return { parts: [], others: rows }
      const byPart = new Map<string, ReportRow[]>()
      for (const row of rows) {
        const id = partOf(row, part)
        byPart.set(id, [...(byPart.get(id) ?? []), row])
      }
      const others = byPart.get('') ?? []
      byPart.delete('')
      const sumOf = (each: Part): number => each.rows.reduce((sum, row) => sum + valueOf(row), 0)
      const parts = [...byPart]
        .map(([id, ofPart]) => ({ name: nameAmong(byPart, id, part), rows: ofPart }))
        .filter((each) => sumOf(each) > 0)
        .toSorted((one, other) => sumOf(other) - sumOf(one))
      return { parts, others }
    },
  })
}

/** Keys of two accounts may have one name: the later ones get their id. */
function nameAmong(
  byPart: ReadonlyMap<string, readonly ReportRow[]>,
  id: string,
  part: PartKey,
): string {
  const nameOf = (rows: readonly ReportRow[] = []): string =>
    rows[0] === undefined ? id : partName(rows[0], part)
  const name = nameOf(byPart.get(id))
  const first = [...byPart].find(([, rows]) => nameOf(rows) === name)
  return first?.[0] === id ? name : `${name} (${id})`
}

/** The whole report as the API writes it, byte for byte the output of `turnpike report --csv`. */
export async function readCsv(question: Question, by: string): Promise<string> {
  return bodyOf(
    api.GET('/admin/v1/reports', {
      params: { query: { ...question, by, format: 'csv' } },
      parseAs: 'text',
    }),
  )
}
