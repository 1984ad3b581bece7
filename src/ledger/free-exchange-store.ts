/**
 * SQL that writes and removes rows of table free_exchange: exchanges of known callers that nothing is charged
 * for and that so have no row in table exchange. The gateway refused them before it held money, or what they
 * asked for is free. Rows hold no content.
 */
import type { Database, Queryable, SqlValue } from '../storage/database.ts'
import { firstExchangeIdAt } from './entry-store.ts'
import type { Ending } from '../metering/settlement.ts'
import type { AttemptRecord } from './ledger.ts'
import { formatAttempts } from './stored-attempts.ts'

/** How it ended; `not_admitted`: the gateway refused it before anything was sent to a vendor. */
export type FreeEnding = Ending | 'not_admitted'

export interface FreeExchange {
  readonly exchangeId: string
  readonly accountId: string
  readonly keyId: string
  readonly vendor: string
  /** A model of the catalogue; undefined where the request named none or was not read. */
  readonly model: string | undefined
  /** The name by which the client asked, where that is not the model's id. */
  readonly askedModel?: string | undefined
  /** Undefined where the path is none of an operation. */
  readonly operation: string | undefined
  /** The channel whose answer was delivered, if any. */
  readonly channel: string | undefined
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly ending: FreeEnding
  /** HTTP status shown to the client; 499 where it had left. */
  readonly status: number
  /** The error's code where the answer was an error of the gateway. */
  readonly code: string | undefined
  readonly vendorRequestId: string | undefined
  readonly attempts: readonly AttemptRecord[]
  /** The family of the client's user agent; empty = unknown. */
  readonly client: string
  /** As much of the client's address as the setting `record_addresses` allows. */
  readonly address: string
}

/** One row for several exchanges of one key that ended in the same way within a minute. */
export interface FreeExchangeRow extends FreeExchange {
  /** How many exchanges it counts; the row shows the first, and `endedAtMs` of the last. */
  readonly standsFor: number
}

const columns = [
  'account_id',
  'exchange_id',
  'key_id',
  'vendor',
  'model',
  'operation',
  'channel',
  'started_at_ms',
  'ended_at_ms',
  'ending',
  'status',
  'code',
  'vendor_request_id',
  'attempts',
  'client',
  'address',
  'stands_for',
  'asked_model',
] as const

function valuesOf(row: FreeExchangeRow): readonly SqlValue[] {
  return [
    row.accountId,
    row.exchangeId,
    row.keyId,
    row.vendor,
    row.model ?? null,
    row.operation ?? null,
    row.channel ?? null,
    row.startedAtMs,
    row.endedAtMs,
    row.ending,
    row.status,
    row.code ?? null,
    row.vendorRequestId ?? null,
    formatAttempts(row.attempts, row),
    row.client,
    row.address,
    row.standsFor,
    row.askedModel ?? null,
  ]
}

/** Rows per statement, largest first: few lengths, so that few statements are compiled. */
const lengths = [64, 8, 1] as const
const statements = new Map(lengths.map((length) => [length, insertSql(length)] as const))

function insertSql(rowCount: number): string {
  const rows = Array.from({ length: rowCount }, (_, row) => {
    const places = columns.map((_, column) => `$${row * columns.length + column + 1}`)
    return `(${places.join(', ')})`
  })
  return `INSERT INTO free_exchange (${columns.join(', ')}) VALUES ${rows.join(', ')}
    ON CONFLICT (account_id, exchange_id) DO UPDATE SET
      ended_at_ms = excluded.ended_at_ms, stands_for = excluded.stands_for`
}

/** Writes rows, each once: a row that is there gets the new count. */
export function saveFreeExchanges(
  database: Pick<Database, 'transact'>,
  rows: readonly FreeExchangeRow[],
): Promise<void> {
  return database.transact(async (transaction) => {
    let done = 0
    for (const [length, sql] of statements)
      for (; rows.length - done >= length; done += length)
        await transaction.query(sql, rows.slice(done, done + length).flatMap(valuesOf))
  })
}

const rowsPerTransaction = 200

/** Deletes rows with smaller ids, in small transactions; returns how many. */
export async function removeFreeExchanges(
  database: Queryable,
  { firstId, pause }: { readonly firstId: string; readonly pause: () => Promise<void> },
): Promise<number> {
  let removed = 0
  for (;;) {
    const rows = await database.query(
      `DELETE FROM free_exchange WHERE exchange_id IN (
         SELECT exchange_id FROM free_exchange WHERE exchange_id < $1
          ORDER BY exchange_id LIMIT ${rowsPerTransaction})
       RETURNING exchange_id`,
      [firstId],
    )
    removed += rows.length
    if (rows.length < rowsPerTransaction) return removed
    await pause()
  }
}

/** A key whose requests the gateway has refused with this code. */
export interface Refused {
  readonly accountId: string
  readonly keyId: string
  readonly code: string
}

/** Read at most this many: a flood has one row for many. */
const refusedMax = 10_000

/** Lists which keys were refused with these codes since a moment, each once. */
export async function listRefused(
  queryable: Queryable,
  { sinceMs, codes }: { readonly sinceMs: number; readonly codes: readonly string[] },
): Promise<readonly Refused[]> {
  const places = codes.map((_, index) => `$${index + 3}`).join(', ')
  const rows = await queryable.query(
    `SELECT DISTINCT account_id, key_id, code FROM free_exchange
      WHERE exchange_id >= $1 AND code IN (${places}) LIMIT $2`,
    [firstExchangeIdAt(sinceMs), refusedMax, ...codes],
  )
  return rows.map((row) => ({
    accountId: String(row['account_id']),
    keyId: String(row['key_id']),
    code: String(row['code']),
  }))
}
