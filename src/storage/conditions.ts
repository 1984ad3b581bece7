/** The conditions of a statement, collected together with the values in it. Knows no table. */
import type { SqlValue } from './database.ts'

export class Conditions {
  readonly values: SqlValue[]
  readonly #texts: string[] = []

  /** Places follow those of the values that the statement has already. */
  constructor(before: readonly SqlValue[] = []) {
    this.values = [...before]
  }

  /** Adds a value, and returns its place in the statement. */
  place(value: SqlValue): string {
    return `$${this.values.push(value)}`
  }

  /** The places of several values, with commas between. */
  placesOf(values: readonly SqlValue[]): string {
    return values.map((value) => this.place(value)).join(', ')
  }

  add(condition: string): void {
    this.#texts.push(condition)
  }

  /** Adds `account_id = $1` for `account_id =`; nothing where the value is undefined. */
  compare(left: string, value: SqlValue | undefined): void {
    if (value !== undefined) this.add(`${left} ${this.place(value)}`)
  }

  /** Only rows behind the one with these values in the columns, in this order; all where there is none. */
  follow(
    columns: readonly string[],
    values: readonly SqlValue[] | undefined,
    order: 'asc' | 'desc' = 'asc',
  ): void {
    const sign = order === 'asc' ? '>' : '<'
    if (values !== undefined) this.add(`(${columns.join(', ')}) ${sign} (${this.placesOf(values)})`)
  }

  /** All conditions; true without any. */
  get text(): string {
    return this.#texts.length === 0 ? '1 = 1' : this.#texts.join(' AND ')
  }
}
