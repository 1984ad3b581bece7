/**
 * SQL of the chains: sealed_entry, sealed_head, seal_mark. Invariants: rows are only ever added; the places
 * of an account are 1, 2, … without a gap; an entry has one place at most, whoever seals at the same time.
 */
import { hourMs } from '../../base/clock.ts'
import { picos, zeroPicos, type Picos } from '../../base/money.ts'
import type { Database, Queryable, Row, Transaction } from '../../storage/database.ts'
import { column, rowForm, type NewRow, type Read } from '../../storage/row-form.ts'
import { readEntry, type Entry } from '../entry-store.ts'
import { readSum, sumOf } from '../usage.ts'
import { firstHash } from './canonical.ts'

const sealedForm = rowForm({
  accountId: column.text,
  /** In the chain of its account, from 1. */
  place: column.number,
  sequence: column.number,
  hash: column.text,
  /** Empty for an entry without price lines. */
  billHash: column.text,
})
export type SealedEntry = Read<typeof sealedForm>
export const readSealed = sealedForm.read

const headForm = rowForm({
  accountId: column.text,
  /** Of the last entry that it covers. */
  place: column.number,
  /** The end of the hour. */
  hourMs: column.number,
  hash: column.text,
  sumPicos: column.amount,
  keyId: column.text,
  signature: column.text,
})
export type SealedHead = Read<typeof headForm>

/** Up to where every entry of the store is sealed and its heads are signed. */
export interface SealMark {
  /** The end of the last sealed hour. */
  readonly hourMs: number
  readonly throughSequence: number
}

export async function readSealMark(queryable: Queryable): Promise<SealMark> {
  const [row] = await queryable.query(
    'SELECT hour_ms, through_sequence FROM seal_mark ORDER BY hour_ms DESC LIMIT 1',
  )
  return {
    hourMs: Number(row?.['hour_ms'] ?? 0),
    throughSequence: Number(row?.['through_sequence'] ?? 0),
  }
}

export async function saveSealMark(transaction: Transaction, mark: SealMark): Promise<void> {
  await transaction.query('DELETE FROM seal_mark')
  await transaction.query('INSERT INTO seal_mark (hour_ms, through_sequence) VALUES ($1, $2)', [
    mark.hourMs,
    mark.throughSequence,
  ])
}

/**
 * Finds how far the store is sealed where an hour that ended by then is not, and has entries. After a failure
 * some of them may be in a chain that no head covers yet.
 */
export async function findOverdue(
  queryable: Queryable,
  endedMs: number,
): Promise<SealMark | undefined> {
  const mark = await readSealMark(queryable)
  if (mark.hourMs + hourMs > endedMs) return undefined
  const rows = await queryable.query(
    'SELECT 1 AS found FROM entry WHERE sequence > $1 AND created_at_ms < $2 LIMIT 1',
    [mark.throughSequence, endedMs],
  )
  return rows.length === 0 ? undefined : mark
}

export interface UnsealedEntry extends Entry {
  /** Undefined for an entry that is no charge, and where the exchange is no longer kept. */
  readonly priceLines: string | undefined
}

/** Reads entries that no chain has, in the order of their numbers. */
export async function readUnsealed(
  queryable: Queryable,
  { afterSequence, countMax }: { readonly afterSequence: number; readonly countMax: number },
): Promise<readonly UnsealedEntry[]> {
  const rows = await queryable.query(
    `SELECT e.sequence, e.account_id, e.kind, e.reference, e.amount_picos, e.note, e.created_at_ms,
            x.price_lines
       FROM entry e
       LEFT JOIN exchange x ON x.account_id = e.account_id AND x.exchange_id = e.reference
      WHERE e.sequence > $1
        AND NOT EXISTS (SELECT 1 FROM sealed_entry s WHERE s.sequence = e.sequence)
      ORDER BY e.sequence LIMIT $2`,
    [afterSequence, countMax],
  )
  return rows.map((row) => ({ ...readEntry(row), priceLines: priceLinesOf(row) }))
}

export function priceLinesOf(row: Row): string | undefined {
  const text = row['price_lines']
  return text === null || text === undefined || text === '' ? undefined : String(text)
}

/** The end of a chain. */
export interface ChainEnd {
  readonly place: number
  readonly hash: string
}

export const emptyChain: ChainEnd = { place: 0, hash: firstHash }

export async function readChainEnd(queryable: Queryable, accountId: string): Promise<ChainEnd> {
  const [row] = await queryable.query(
    'SELECT place, hash FROM sealed_entry WHERE account_id = $1 ORDER BY place DESC LIMIT 1',
    [accountId],
  )
  if (row === undefined) return emptyChain
  return { place: Number(row['place']), hash: String(row['hash']) }
}

/** Fails where another node has sealed one of them, or has given its place away. */
export async function insertSealed(
  transaction: Transaction,
  sealed: readonly SealedEntry[],
): Promise<void> {
  await insertRows(transaction, 'sealed_entry', sealed.map(sealedForm.write))
}

export async function insertHeads(
  transaction: Transaction,
  heads: readonly SealedHead[],
): Promise<void> {
  await insertRows(transaction, 'sealed_head', heads.map(headForm.write))
}

async function insertRows(
  transaction: Transaction,
  table: string,
  rows: readonly NewRow[],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  const places = rows.map(
    (_, row) => `(${columns.map((_, index) => `$${row * columns.length + index + 1}`).join(', ')})`,
  )
  await transaction.query(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${places.join(', ')}`,
    rows.flatMap((row) => columns.map((name) => row[name] ?? null)),
  )
}

/** Lists accounts with sealed entries above a number, in the order of their ids. */
export async function listSealedAccounts(
  queryable: Queryable,
  page: {
    readonly aboveSequence: number
    readonly afterAccountId: string
    readonly countMax: number
  },
): Promise<readonly string[]> {
  const rows = await queryable.query(
    `SELECT DISTINCT account_id FROM sealed_entry WHERE sequence > $1 AND account_id > $2
      ORDER BY account_id LIMIT $3`,
    [page.aboveSequence, page.afterAccountId, page.countMax],
  )
  return rows.map((row) => String(row['account_id']))
}

/** Finds the newest head of an account, or the newest one that covers at most `placeMax` entries. */
export async function findHead(
  queryable: Queryable,
  accountId: string,
  placeMax = Number.MAX_SAFE_INTEGER,
): Promise<SealedHead | undefined> {
  const [row] = await queryable.query(
    `SELECT ${headForm.columns} FROM sealed_head WHERE account_id = $1 AND place <= $2
      ORDER BY place DESC LIMIT 1`,
    [accountId, placeMax],
  )
  return row === undefined ? undefined : headForm.read(row)
}

/** Finds the newest head of an account whose hour ended by then. */
export async function findHeadOfHour(
  queryable: Queryable,
  accountId: string,
  hourMs: number,
): Promise<SealedHead | undefined> {
  const [row] = await queryable.query(
    `SELECT ${headForm.columns} FROM sealed_head WHERE account_id = $1 AND hour_ms <= $2
      ORDER BY place DESC LIMIT 1`,
    [accountId, hourMs],
  )
  return row === undefined ? undefined : headForm.read(row)
}

/** Lists heads of an account, the newest first. */
export async function listHeads(
  queryable: Queryable,
  page: {
    readonly accountId: string
    readonly beforePlace: number
    readonly countMax: number
  },
): Promise<readonly SealedHead[]> {
  const rows = await queryable.query(
    `SELECT ${headForm.columns} FROM sealed_head WHERE account_id = $1 AND place < $2
      ORDER BY place DESC LIMIT $3`,
    [page.accountId, page.beforePlace, page.countMax],
  )
  return rows.map(headForm.read)
}

/** Lists heads of an account that cover more than `afterPlace` entries, the oldest first. */
export async function listHeadsAfter(
  queryable: Queryable,
  page: { readonly accountId: string; readonly afterPlace: number; readonly countMax: number },
): Promise<readonly SealedHead[]> {
  const rows = await queryable.query(
    `SELECT ${headForm.columns} FROM sealed_head WHERE account_id = $1 AND place > $2
      ORDER BY place LIMIT $3`,
    [page.accountId, page.afterPlace, page.countMax],
  )
  return rows.map(headForm.read)
}

/** Reads sealed entries by their places. */
export async function readSealedRange(
  queryable: Queryable,
  range: { readonly accountId: string; readonly from: number; readonly to: number },
): Promise<readonly (Entry & SealedEntry)[]> {
  const rows = await queryable.query(
    `SELECT s.place, s.hash, s.bill_hash, e.sequence, e.account_id, e.kind, e.reference, e.amount_picos,
            e.note, e.created_at_ms
       FROM sealed_entry s JOIN entry e ON e.sequence = s.sequence
      WHERE s.account_id = $1 AND s.place >= $2 AND s.place <= $3 ORDER BY s.place`,
    [range.accountId, range.from, range.to],
  )
  return rows.map((row) => ({ ...readEntry(row), ...readSealed(row) }))
}

/** Sums up the entries behind a place of the chain, up to another one. */
export async function sumSealed(
  queryable: Queryable,
  range: { readonly accountId: string; readonly afterPlace: number; readonly toPlace: number },
): Promise<Picos> {
  const [row] = await queryable.query(
    `SELECT ${sumOf('amount_picos')} FROM sealed_entry s JOIN entry e ON e.sequence = s.sequence
      WHERE s.account_id = $1 AND s.place > $2 AND s.place <= $3`,
    [range.accountId, range.afterPlace, range.toPlace],
  )
  return row === undefined ? zeroPicos : picos(readSum(row))
}

/**
 * Returns the newest number below which no entry can be booked any more once the transactions in `running`
 * have ended. On PostgreSQL an entry gets its number before it can be seen; its transaction has locked the
 * table before that, and keeps the lock until its end.
 */
export async function readSettling(
  database: Database,
): Promise<{ readonly sequence: number; readonly running: readonly string[] }> {
  const [row] = await database.query('SELECT COALESCE(MAX(sequence), 0) AS sequence FROM entry')
  const sequence = Number(row?.['sequence'] ?? 0)
  // After the number: a transaction that ends between the two can be seen afterwards.
  return { sequence, running: await listWriters(database) }
}

export async function listWriters(database: Database): Promise<readonly string[]> {
  if (database.dialect === 'sqlite') return []
  const rows = await database.query(
    `SELECT DISTINCT virtualtransaction AS id FROM pg_locks
      WHERE locktype = 'relation' AND relation = 'entry'::regclass AND mode = 'RowExclusiveLock'
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  )
  return rows.map((row) => String(row['id']))
}
