/**
 * Columns of tables and lines of facts, read from answers: which fields of an item show, under which
 * heading, in which order.
 */
import { isObject } from '../base/object.ts'
import { formatFields, formatTable, type Cell } from './output.ts'

/** The path of a field in an item: its name, or `limits.rpm`. */
type Path<Item> = {
  [Name in keyof Item & string]:
    Name | (Item[Name] extends Cell ? never : `${Name}.${keyof NonNullable<Item[Name]> & string}`)
}[keyof Item & string]

/** A field under the heading that its name gives, or a heading with a field or a function for the cell. */
export type Column<Item> =
  Path<Item> | readonly [heading: string, of: Path<Item> | ((item: Item) => Cell)]

/** Columns; false stands for one that is left out this time. */
type Columns<Item> = readonly (Column<Item> | false)[]

/** Formats items as a table, or returns `empty` where there are none. */
export function tableOf<Item>(
  items: readonly Item[],
  given: Columns<NoInfer<Item>>,
  empty = '',
): string {
  const columns = given.filter((column) => column !== false)
  const rows = items.map((item) => columns.map((column) => cellOf(item, column)))
  return formatTable(columns.map(headingOf), rows, empty)
}

/** Formats chosen fields of an item, one in a line. */
export function linesOf<Item>(item: Item, given: Columns<NoInfer<Item>>): string {
  const columns = given.filter((column) => column !== false)
  return formatFields(
    Object.fromEntries(columns.map((column) => [headingOf(column), cellOf(item, column)])),
  )
}

/** Formats all fields of an answer, one in a line; those of an object in it by their path. */
export function allLinesOf(answer: object): string {
  return formatFields(Object.fromEntries(leavesOf(answer)))
}

function leavesOf(answer: object): readonly (readonly [string, Cell])[] {
  return Object.entries(answer).flatMap(([name, value]) =>
    isObject(value)
      ? leavesOf(value).map(([inner, cell]) => [`${name}.${inner}`, cell] as const)
      : [[name, toCell(value)] as const],
  )
}

function headingOf<Item>(column: Column<Item>): string {
  if (typeof column !== 'string') return column[0]
  const name = column.slice(column.lastIndexOf('.') + 1)
  return name.replace(/_usd$/, '_USD').replace(/_at$/, '').replaceAll('_', ' ')
}

function cellOf<Item>(item: Item, column: Column<Item>): Cell {
  const of = typeof column === 'string' ? column : column[1]
  if (typeof of === 'function') return of(item)
  let value: unknown = item
  for (const name of of.split('.')) value = isObject(value) ? value[name] : undefined
  return toCell(value)
}

/** A list of values shows with commas, an object as `name value` pairs. */
function toCell(value: unknown): Cell {
  if (Array.isArray(value)) return value.map(String)
  if (isObject(value)) return Object.entries(value).map(([name, one]) => `${name} ${textOf(one)}`)
  return value as Cell
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
