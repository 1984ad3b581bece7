/**
 * Pages of a list: how a caller asks for one, and how an operation answers. A cursor is opaque to
 * callers; it is the sort key of the last item, so items that are added meanwhile are neither skipped
 * nor repeated.
 */
import { z } from 'zod'
import type { SqlValue } from '../storage/database.ts'
import { pageLimit } from './input.ts'
import { invalidField } from './operation.ts'

export const pageFields = {
  cursor: z
    .string('must be the next_cursor of a page')
    .regex(/^[A-Za-z0-9_-]{1,512}$/, 'must be the next_cursor of a page')
    .transform((text) => Buffer.from(text, 'base64url').toString('utf8'))
    // PostgreSQL holds no such text, and no key has one.
    .refine((text) => !text.includes('\0'), 'must be the next_cursor of a page')
    .optional()
    .describe('`next_cursor` of the page before; absent = the first page.'),
  limit: pageLimit.default(100).describe('At most this many, up to 1000.'),
}

/** Reads a cursor of several words, written as a JSON list; undefined where it is none. */
export function readCursorWords(cursor: string): readonly string[] | undefined {
  return cursorWords.safeParse(cursor).data
}

const cursorWords = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text) as unknown
    } catch {
      // Made up by its sender.
      context.addIssue('invalid')
      return z.NEVER
    }
  })
  .pipe(z.array(z.string().refine((text) => !text.includes('\0'))))

/** The order of a list, and how many words its sort keys have: amounts or times, then one text. */
interface ListOrder {
  readonly sort: string
  readonly order: 'asc' | 'desc'
  readonly keyLength: number
}

/** Makes the sort key of a row in a list that has several orders. */
export function orderedKey({ sort, order }: ListOrder, key: readonly SqlValue[]): string {
  return JSON.stringify([sort, order, ...key.map(String)])
}

/** Reads such a key, which must be of the same order. */
export function readOrderedKey(
  cursor: string | undefined,
  { sort, order, keyLength }: ListOrder,
): readonly SqlValue[] | undefined {
  if (cursor === undefined) return undefined
  const [ofSort, ofOrder, ...key] = readCursorWords(cursor) ?? []
  const [last, ...amounts] = key.toReversed()
  const isOf = ofSort === sort && ofOrder === order && key.length === keyLength
  const numbers = amounts.filter((word) => amountWord.test(word)).map(BigInt)
  const fits = numbers.every((number) => BigInt.asIntN(64, number) === number)
  if (isOf && last !== undefined && fits && numbers.length === amounts.length)
    return [...numbers.toReversed(), last]
  throw invalidField('cursor', 'must be the next_cursor of a page in the same order')
}

const amountWord = /^-?\d{1,19}$/

/** Reads a cursor that is the number of a row; the page has the rows before it. */
export function readSequence(cursor: string | undefined): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor)
  throw invalidField('cursor', 'must be the next_cursor of a page')
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Null on the last page. */
  readonly next_cursor: string | null
}

/**
 * Makes a page from rows of which one more than `limit` was read where there are more. `cursorOf`
 * returns the sort key of a row.
 */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  {
    limit,
    cursorOf,
    view,
  }: {
    readonly limit: number
    readonly cursorOf: (row: Row) => string
    readonly view: (row: Row) => Item
  },
): Page<Item> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = rows.length > limit && last !== undefined
  return {
    items: shown.map(view),
    next_cursor: hasMore ? cursorText(cursorOf(last)) : null,
  }
}

/** Encodes a sort key as a cursor. */
export function cursorText(sortKey: string): string {
  return Buffer.from(sortKey).toString('base64url')
}

/** Makes a page of a short list that is in memory, in the order of its sort keys, which are unique. */
export function pageOfList<Row, Item>(
  rows: readonly Row[],
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
  {
    cursorOf,
    view,
  }: { readonly cursorOf: (row: Row) => string; readonly view: (row: Row) => Item },
): Page<Item> {
  const rest = cursor === undefined ? rows : rows.filter((row) => cursorOf(row) > cursor)
  const sorted = rest.toSorted((left, right) => (cursorOf(left) < cursorOf(right) ? -1 : 1))
  return pageOf(sorted.slice(0, limit + 1), { limit, cursorOf, view })
}
