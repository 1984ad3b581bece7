/** What the page of reports reads. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import { readAll } from '../../api/list.ts'
import { daysOf, keysOf, type Days, type Key, type ReportSearch } from './address.ts'

/** The largest page of the API. */
const limit = 1_000
/** As many as the API reports on. */
const daysMax = 3_660
/** Parts among which the largest are looked for. */
const partsReadMax = 20_000

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

function readPage(query: Question & { by: string; limit: number; cursor?: string }) {
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

export interface DayParts {
  /** All requests, by day. */
  readonly all: readonly ReportRow[]
  readonly parts: readonly { readonly name: string; readonly rows: readonly ReportRow[] }[]
}

/** More parts than this have no colour of their own. */
const partsMax = 7

/**
 * The days of a report, and those of its largest parts. Each part is asked for by itself, because
 * days × parts can be many thousands of rows.
 */
export function dayPartsQuery(
  question: Question,
  part: PartKey | undefined,
  valueOf: (row: ReportRow) => number,
  figure: string,
) {
  return queryOptions({
    queryKey: ['reports', 'days', part ?? '', figure, question],
    async queryFn(): Promise<DayParts> {
      const days = (more: Partial<Question>): Promise<readonly ReportRow[]> =>
        readAll(
          (cursor) => readPage({ ...question, ...more, by: 'day', limit, ...cursor }),
          daysMax,
        )
      if (part === undefined) return { all: await days({}), parts: [] }
      const [all, rows] = await Promise.all([
        days({}),
        readAll((cursor) => readPage({ ...question, by: part, limit, ...cursor }), partsReadMax),
      ])
      // Requests of the gateway itself belong to no account and no key; the API has no filter for them.
      const largest = rows
        .filter((row) => partOf(row, part) !== '' && valueOf(row) > 0)
        .toSorted((one, other) => valueOf(other) - valueOf(one))
        .slice(0, partsMax)
      const names = largest.map((row) => partName(row, part))
      const parts = await Promise.all(
        largest.map(async (row, index) => ({
          // Keys of two accounts may have one name.
          name:
            names.indexOf(names[index] ?? '') === index
              ? (names[index] ?? '')
              : `${names[index]} (${partOf(row, part)})`,
          rows: await days({ [part]: partOf(row, part) }),
        })),
      )
      return { all, parts }
    },
  })
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
