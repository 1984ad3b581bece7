/**
 * Answers as text for people: lines of facts, and tables. All fields of an answer show under their names;
 * columns choose some of them, with a heading and an order.
 */
import { isObject } from '../base/object.ts'
import { formatFields, formatTable, type Cell } from './output.ts'

/** The path of a field in an item: its name, or `limits.rpm`. */
type Path<Item> = {
  [Name in keyof Item & string]:
    | Name
    | (Item[Name] extends Cell ? never : `${Name}.${keyof NonNullable<Item[Name]> & string}`)
}[keyof Item & string]

/** A field under the heading that its name gives, or a heading with a field or a function for the cell. */
export type Column<Item> =
  | Path<Item>
  | readonly [heading: string, of: Path<Item> | ((item: Item) => Cell)]

/** Formats items as a table, or returns `empty` where there are none. */
export function tableOf<Item>(
  items: readonly Item[],
  columns: readonly Column<NoInfer<Item>>[],
  empty = '',
): string {
  const rows = items.map((item) => columns.map((column) => cellOf(item, column)))
  return formatTable(columns.map(headingOf), rows, empty)
}

/**
 * Formats all fields of an answer, one in a line; those of an object in it by their path. Each list of
 * objects follows as a table.
 */
export function textOf(answer: object): string {
  const fields = fieldsOf(answer)
  const lines = fields.flatMap(([name, value]) => (isTable(value) ? [] : [[name, toCell(value)]]))
  const tables = fields.flatMap(([name, value]) =>
    isTable(value) ? [`${name}\n${tableOf(value, allColumnsOf(value))}`] : [],
  )
  return [formatFields(Object.fromEntries(lines) as Record<string, Cell>), ...tables].join('\n\n')
}

/** All fields of these items as columns, without those that no item has a value for. */
export function allColumnsOf<Item extends object>(items: readonly Item[]): readonly Column<Item>[] {
  const names = new Set(
    items.flatMap((item) =>
      Object.entries(item).flatMap(([name, value]) => (value === null ? [] : [name])),
    ),
  )
  return [...names].map((name) => [name, (item) => toCell(Reflect.get(item, name))])
}

function fieldsOf(answer: object): readonly (readonly [string, unknown])[] {
  return Object.entries(answer).flatMap(([name, value]: [string, unknown]) =>
    isObject(value)
      ? fieldsOf(value).map(([inner, field]) => [`${name}.${inner}`, field] as const)
      : [[name, value] as const],
  )
}

function isTable(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.length > 0 && value.every(isObject)
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

/** A list shows with commas, an object as `name value` pairs, an object in a list by its values. */
function toCell(value: unknown): Cell {
  if (Array.isArray(value))
    return value.map((one) =>
      isObject(one) ? Object.values(one).map(wordOf).join(' ') : wordOf(one),
    )
  if (isObject(value))
    return Object.entries(value).flatMap(([name, one]) =>
      one === null ? [] : [`${name} ${wordOf(one)}`],
    )
  return value as Cell
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
