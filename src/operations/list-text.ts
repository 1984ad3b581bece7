/**
 * A whole list as CSV, written while it is read, page by page. The heads are the names of the fields that the
 * list has in JSON; a field of an object in a row follows the name of the object. No list writes its own CSV.
 */
import { z } from 'zod'
import { csvRow, type CsvCell } from '../base/csv.ts'
import { typeOf } from './field.ts'
import {
  refusalOfInput,
  type AnsweringOperation,
  type Operation,
  type OperationRefusal,
} from './operation.ts'
import type { Page } from './paging.ts'

const format = z
  .enum(['json', 'csv'], 'must be json or csv')
  .default('json')
  .describe('`csv` is all that fits the filter, as a file: it has no pages.')

const noPages = z.never('belongs to JSON: CSV has no pages').optional()

/** Writes a piece of text; resolves when more may follow. */
export type WriteText = (text: string) => Promise<void> | void

type List = AnsweringOperation<Page<object>>

/** Returns the list with a field `format`, for pages of JSON. */
export function withFormat<Value>(list: AnsweringOperation<Value>): AnsweringOperation<Value> {
  const onlyFormat = z.looseObject({ format })
  return Object.assign(
    async (...[context, input]: Parameters<AnsweringOperation<Value>>) =>
      refusalOfInput(onlyFormat, input) ?? list(context, withoutFormat(input)),
    { input: list.input.extend({ format }), answer: list.answer },
  )
}

/** Returns what writes all rows of the list. */
export function printList(list: List): Operation<void, z.ZodObject, [WriteText]> {
  const input = list.input.extend({
    format: z.literal('csv', 'must be csv'),
    cursor: noPages,
    limit: noPages,
  })
  const columns = columnsOf(itemOf(list.answer))
  return Object.assign(
    async (...[context, given, write]: PrintArguments) => {
      const refusal = refusalOfInput(input, given)
      return (
        refusal ??
        printPages((page) => list(context, { ...withoutFormat(given), ...page }), columns, write)
      )
    },
    { input },
  )
}

type PrintArguments = Parameters<Operation<void, z.ZodObject, [WriteText]>>
type ReadPage = (page: { cursor?: string; limit: number }) => ReturnType<List>

const rowsPerPage = 1_000

async function printPages(
  read: ReadPage,
  columns: readonly Column[],
  write: WriteText,
): Promise<{ readonly kind: 'done'; readonly value: undefined } | OperationRefusal> {
  let cursor: string | null | undefined
  while (cursor !== null) {
    const outcome = await read({ limit: rowsPerPage, ...(cursor !== undefined && { cursor }) })
    if (outcome.kind === 'refusal') return outcome
    // Not before the first page is read: until then the list may refuse.
    if (cursor === undefined) await write(csvRow(columns.map(({ name }) => name)))
    for (const item of outcome.value.items)
      await write(csvRow(columns.map(({ path }) => cellOf(valueAt(item, path)))))
    cursor = outcome.value.next_cursor
  }
  return { kind: 'done', value: undefined }
}

function withoutFormat(input: unknown): object {
  const { format: _, ...rest } = { ...(input as { format?: unknown }) }
  return rest
}

interface Column {
  readonly name: string
  readonly path: readonly string[]
}

function itemOf(answer: z.ZodType): z.ZodObject {
  const items: unknown = answer instanceof z.ZodObject ? answer.shape['items'] : undefined
  const item = items instanceof z.ZodArray ? items.element : undefined
  if (item instanceof z.ZodObject) return item
  throw new TypeError('the answer is no page of a list')
}

function columnsOf(form: z.ZodObject, path: readonly string[] = []): readonly Column[] {
  return Object.entries(form.shape).flatMap(([name, field]) => {
    const type = field instanceof z.ZodType ? typeOf(field) : undefined
    const at = [...path, name]
    return type instanceof z.ZodObject ? columnsOf(type, at) : [{ name: at.join('_'), path: at }]
  })
}

function valueAt(item: object, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, name) : null,
    item,
  )
}

function cellOf(value: unknown): CsvCell {
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'string') return value
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(' ')
  return JSON.stringify(value)
}
