/**
 * The form of a table's rows, declared once: a field per column, from which follow the type of the object,
 * how a row is read and how one is written. Field `createdAtMs` is column `created_at_ms`. Knows no table.
 */
import { invariant } from '../base/errors.ts'
import { picos, type Picos } from '../base/money.ts'
import type { Row, SqlValue } from './database.ts'

/** How the values of a column are read and written. */
export interface Column<Value> {
  /** Where it is not the name of the field. */
  readonly name?: string
  /** A value may be undefined. */
  readonly isOptional?: boolean
  read(stored: SqlValue): Value
  write(value: Value): SqlValue
}

/** The kinds of columns. */
export const column = {
  text: kind<string>(String, (value) => value),
  number: kind<number>(Number, (value) => value),
  flag: kind<boolean>(
    (stored) => Number(stored) !== 0,
    (value) => (value ? 1 : 0),
  ),
  amount: kind<Picos>(readAmount, (value) => value),
  /** One of a few words, which the table or its writer checks. */
  word: <Word extends string>() =>
    kind(
      (stored) => String(stored) as Word,
      (value) => value,
    ),
  /** A value of any form as JSON, which only this program writes. */
  json: <Value>() =>
    kind(
      (stored) => JSON.parse(String(stored)) as Value,
      (value) => JSON.stringify(value),
    ),
  /** The empty text is undefined. */
  textOrNone: {
    ...kind<string | undefined>(
      (stored) => (stored === null || stored === '' ? undefined : String(stored)),
      (value) => value ?? '',
    ),
    isOptional: true,
  },
  /** NULL is undefined. */
  optional: <Value>(one: Column<Value>): Column<Value | undefined> => ({
    ...one,
    isOptional: true,
    read: (stored) => (stored === null ? undefined : one.read(stored)),
    write: (value) => (value === undefined ? null : one.write(value)),
  }),
  /** A column whose name does not follow from that of its field. */
  named: <Value>(name: string, one: Column<Value>): Column<Value> => ({ ...one, name }),
}

function kind<Value>(
  read: (stored: SqlValue) => Value,
  write: (value: Value) => SqlValue,
): Column<Value> {
  return { read, write }
}

function readAmount(stored: SqlValue): Picos {
  invariant(typeof stored === 'bigint', 'every engine hands an amount over as bigint')
  return picos(stored)
}

export type NewRow = Readonly<Record<string, SqlValue>>

export interface RowForm<Value> {
  /** The columns, for a SELECT. */
  readonly columns: string
  /** A column that the row does not have counts as NULL. */
  readonly read: (row: Row) => Value
  /** Returns the row of an object; of a part of one, the columns of the fields that it has. */
  readonly write: (value: Partial<Value>) => NewRow
}

type Columns = Readonly<Record<string, Column<unknown>>>
type ValueOf<Of> = Of extends Column<infer Value> ? Value : never
type Values<Of extends Columns> = { readonly [Field in keyof Of]: ValueOf<Of[Field]> }

/** The type of the objects that a form reads. */
export type Read<Form> = Form extends RowForm<infer Value> ? Value : never

export function rowForm<const Of extends Columns>(columns: Of): RowForm<Values<Of>> {
  const fields = Object.entries(columns).map(
    ([field, one]) => [field, one.name ?? columnOf(field), one] as const,
  )
  return {
    columns: fields.map(([, name]) => name).join(', '),
    read: (row) =>
      Object.fromEntries(
        fields.map(([field, name, one]) => [field, one.read(row[name] ?? null)]),
      ) as Values<Of>,
    write: (value) =>
      Object.fromEntries(
        fields
          .filter(([field, , { isOptional }]) =>
            isOptional === true ? field in value : value[field] !== undefined,
          )
          .map(([field, name, one]) => [name, one.write(value[field])]),
      ),
  }
}

function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
