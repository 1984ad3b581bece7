/**
 * A field of a catalogue entry, and all that follows from a table of them: reading and printing an entry of
 * the file, the columns of its row, the differences between two rows, how lists show it. The tables are
 * `vendor-fields.ts`, `model-fields.ts` and `channel-fields.ts`. A table decides; nothing here names a field.
 */
import { z } from 'zod'
import type { Row, SqlValue } from '../../storage/database.ts'

/** By what a form lets an operator give the value of a field. */
export const controls = [
  'text',
  'secret',
  'number',
  'duration',
  'flag',
  'choice',
  'choices',
  'list',
  'mapping',
  'vendor',
  'models',
  'baselines',
  'cost',
  'prices',
] as const

type Control = (typeof controls)[number]

/** How the values of a field are written in the file. Only `schema` knows those that are undefined. */
interface Written<Value> {
  /** Reads the value of the file. */
  readonly schema: z.ZodType<Value>
  /** Returns the value of the file. */
  print(value: Value): unknown
  readonly control: Control
  /** The value of the file that an absent one means, where there is one. */
  readonly usual?: unknown
  /** Set where an export leaves some values out: the entry means the same without them. */
  isLeftOut?(value: Value): boolean
  /** The default in words, as Markdown. */
  readonly fallback: string
  /** Set where an entry without the field keeps the stored value; null removes it. */
  readonly isKept?: boolean
}

/** How the values of a field are written, stored and shown. `kinds.ts` makes the usual ones. */
export interface Kind<Value, Shown extends z.ZodType = z.ZodType> extends Written<Value> {
  store(value: Value): SqlValue
  /** Inverse of `store`. */
  read(stored: SqlValue): Value
  /** Set where the printed value as text would not do in a list of differences. */
  describe?(value: Value): string | undefined
  /** The value in the lists of the admin API. */
  readonly shown: Shown
  /** Set where they do not show the value of the file. */
  show?(value: Value): unknown
}

/** A field of the file. Only a `Field` is stored in one column. */
export interface WrittenField<Value = unknown> extends Written<Value> {
  readonly key: string
  /** Its meaning to an operator, as Markdown. */
  readonly meaning: string
}

/** A field that is stored in one column. */
export interface Field<
  Key extends string = string,
  Value = unknown,
  Shown extends z.ZodType = z.ZodType,
>
  extends Kind<Value, Shown>, WrittenField<Value> {
  readonly key: Key
  readonly column: string
}

/** By the name of the value in code, in the order of pages, exports and lists. */
export type WrittenFields = Readonly<Record<string, WrittenField>>
export type Fields = Readonly<Record<string, Field>>

type ValueOf<One extends WrittenField> = z.output<One['schema']>

type OptionalName<Table extends WrittenFields> = {
  [Name in keyof Table]: undefined extends ValueOf<Table[Name]> ? Name : never
}[keyof Table]

/** The values of an entry. One that may be undefined may be absent. */
export type Values<Table extends WrittenFields> = {
  readonly [Name in keyof Table as Exclude<Name, OptionalName<Table>>]: ValueOf<Table[Name]>
} & {
  readonly [Name in keyof Table as Extract<Name, OptionalName<Table>>]?: ValueOf<Table[Name]>
}

/** What lists show of an entry, by key. */
type ShownShape<Table extends Fields> = {
  [
    Name in keyof Table as z.ZodNever extends Table[Name]['shown'] ? never : Table[Name]['key']
  ]: Table[Name]['shown']
}

export type ShownEntry<Table extends Fields> = z.output<z.ZodObject<ShownShape<Table>>>

/** Declares a field. Its column has the name of the key unless `facts` name another. */
export function field<const Key extends string, Value, Shown extends z.ZodType>(
  key: Key,
  kind: Kind<Value, Shown>,
  meaning: string,
  facts: { readonly column?: string; readonly fallback?: string } = {},
): Field<Key, Value, Shown> {
  return { ...kind, column: key, ...facts, key, meaning }
}

export function keysOf(table: WrittenFields): readonly string[] {
  return Object.values(table).map(({ key }) => key)
}

/** Returns the schema of an entry of the file. */
export function entrySchema<Table extends WrittenFields>(table: Table): z.ZodType<Values<Table>> {
  const shape = Object.fromEntries(Object.values(table).map(({ key, schema }) => [key, schema]))
  return z
    .strictObject(shape)
    .transform((form) => mapValues(table, ({ key }) => form[key]) as Values<Table>)
}

export function isKept(field: Pick<WrittenField, 'isKept'>): boolean {
  return field.isKept === true
}

/** Returns an entry of the file with the values that it keeps of the stored one, less those it removes. */
export function withKept<Table extends Fields>(
  table: Table,
  entry: Values<Table>,
  {
    stored,
    cleared,
  }: { readonly stored: Values<Table> | undefined; readonly cleared: readonly string[] },
): Values<Table> {
  const given: Readonly<Record<string, unknown>> = entry
  const kept: Readonly<Record<string, unknown>> = stored ?? {}
  const isMissing = ([name, one]: readonly [string, Field]): boolean =>
    isKept(one) && given[name] === undefined && !cleared.includes(one.key)
  const missing = Object.entries(table).filter(isMissing)
  return { ...entry, ...Object.fromEntries(missing.map(([name]) => [name, kept[name]])) }
}

/** Reads the values of a stored row. */
export function readColumns<Table extends Fields>(table: Table, row: Row): Values<Table> {
  return mapValues(table, (one) => {
    const stored = row[one.column] ?? null
    return stored === null ? undefined : one.read(stored)
  }) as Values<Table>
}

/** Returns the columns of a row. */
export function columnsOf<Table extends Fields>(
  table: Table,
  values: NoInfer<Values<Table>>,
): Readonly<Record<string, SqlValue>> {
  return Object.fromEntries(
    each(table, values).map(([one, value]) => [
      one.column,
      value === undefined ? null : one.store(value),
    ]),
  )
}

/** Returns an entry as the file has it, without what it can leave out. */
export function printEntry<Table extends WrittenFields>(
  table: Table,
  values: NoInfer<Values<Table>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    each(table, values)
      .filter(([one, value]) => value !== undefined && one.isLeftOut?.(value) !== true)
      .map(([one, value]) => [one.key, one.print(value)]),
  )
}

/** Returns `field → text` of an entry, to compare and to show. */
export function describeEntry<Table extends Fields>(
  table: Table,
  values: NoInfer<Values<Table>>,
): ReadonlyMap<string, string> {
  const described = new Map<string, string>()
  for (const [one, value] of each(table, values)) {
    if (value === undefined) continue
    const text = one.describe === undefined ? one.print(value) : one.describe(value)
    if (text !== undefined) describeForm(one.key, text, described)
  }
  return described
}

/** Adds a form of the file to `described` as `path → text`. A list of plain values is one text. */
export function describeForm(path: string, form: unknown, described: Map<string, string>): void {
  if (typeof form !== 'object' || form === null) described.set(path, String(form))
  else if (Array.isArray(form) && form.every((item) => typeof item !== 'object'))
    described.set(path, form.join(', '))
  else
    for (const [key, inner] of Object.entries(form))
      describeForm(`${path}.${key}`, inner, described)
}

/** Returns the shape of an entry in a list. */
export function shownShape<Table extends Fields>(table: Table): ShownShape<Table> {
  return Object.fromEntries(
    shownFields(table).map(([, { key, shown }]) => [key, shown]),
  ) as ShownShape<Table>
}

/** Returns an entry as lists show it; null = not set. */
export function showEntry<Table extends Fields>(
  table: Table,
  values: NoInfer<Values<Table>>,
): ShownEntry<Table> {
  const given: Readonly<Record<string, unknown>> = values
  return Object.fromEntries(
    shownFields(table).map(([name, one]) => {
      const value = given[name]
      if (value === undefined) return [one.key, null]
      return [one.key, one.show === undefined ? one.print(value) : one.show(value)]
    }),
  ) as ShownEntry<Table>
}

/** Returns the fields that lists show, each with its name in code. */
function shownFields(table: Fields): readonly (readonly [string, Field])[] {
  return Object.entries(table).filter(([, { shown }]) => !(shown instanceof z.ZodNever))
}

function mapValues<One extends WrittenField>(
  table: Readonly<Record<string, One>>,
  valueOf: (one: One) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(table).map(([name, one]) => [name, valueOf(one)]))
}

/** Pairs each field with its value. */
function each<One extends WrittenField>(
  table: Readonly<Record<string, One>>,
  values: Readonly<Record<string, unknown>>,
): readonly (readonly [One, unknown])[] {
  return Object.entries(table).map(([name, one]) => [one, values[name]])
}
