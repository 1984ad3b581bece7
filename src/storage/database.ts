/**
 * A database as the stores see it: SQL text with `$1…$n` parameters, rows as plain objects,
 * transactions. Integers come back as bigint on every engine. Dialects differ only inside storage/.
 */

export type SqlValue = string | number | bigint | null | Uint8Array
export type Row = Readonly<Record<string, SqlValue>>

export type Dialect = 'sqlite' | 'postgres'

/** Something statements can be sent to: the database itself, or a transaction on it. */
export interface Queryable {
  /** One statement. Rejects with `ledger.unavailable` where the store does not answer. */
  query(sql: string, parameters?: readonly SqlValue[]): Promise<Row[]>
}

export interface Transaction extends Queryable {
  /** Marks the value as belonging to a transaction, so that writes can demand one. */
  readonly isTransaction: true
  /** Runs several statements without parameters; for migrations. */
  script(sql: string): Promise<void>
}

export interface Database extends Queryable {
  readonly dialect: Dialect
  /**
   * Runs `work` in one write transaction: committed and durable when the promise resolves, rolled
   * back when `work` rejects. Network I/O never happens inside. Transactions of one Database run
   * one after another; statements outside wait for them, so `work` uses only its transaction. It may run
   * again where nothing was committed for certain, so it changes nothing else.
   */
  transact<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>
  /** Runs reads that all see one moment, without keeping writers of other connections waiting. */
  snapshot<Result>(work: (snapshot: Queryable) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/** The parts of the store whose changes a running gateway follows, counted in table `revision`. */
export const revisionAreas = ['access', 'accounts', 'balances', 'catalogue'] as const
export type RevisionArea = (typeof revisionAreas)[number]

/** Reads rows page by page; `readPage` gets the last row of the page before. */
export async function* eachRow(
  pageSize: number,
  readPage: (last: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  let last: Row | undefined
  for (;;) {
    const rows = await readPage(last)
    yield* rows
    last = rows.at(-1)
    if (rows.length < pageSize) return
  }
}

/**
 * Returns the pattern of LIKE for a part of a text in lower case, with `!` as its escape. Both engines lower
 * only A to Z in a column that is compared by its bytes.
 */
export function containsPattern(part: string): string {
  const lowered = part.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  return `%${lowered.replace(/[!%_]/g, '!$&')}%`
}

/** How well a text fits: it is the one that was asked for, begins so, or has it somewhere. */
export const fits = { whole: 0, beginning: 1, part: 2 } as const
export type Fit = (typeof fits)[keyof typeof fits]

/** Returns the SQL of how well a column fits a text that it has in it. `place` adds a parameter. */
export function fitSql(column: string, text: string, place: (value: SqlValue) => string): string {
  const pattern = containsPattern(text)
  const isLike = (like: string): string => `LOWER(${column}) LIKE ${place(like)} ESCAPE '!'`
  return `CASE WHEN ${isLike(pattern.slice(1, -1))} THEN ${fits.whole}
    WHEN ${isLike(pattern.slice(1))} THEN ${fits.beginning} ELSE ${fits.part} END`
}
