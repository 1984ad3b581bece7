/**
 * SQL that writes and removes rows of table free_exchange: exchanges of known callers that nothing is charged
 * for and that so have no row in table exchange. The gateway refused them before it held money, or their
 * operation is free. Rows hold no content.
 */
import type { Database, Queryable, SqlValue } from '../storage/database.ts'
import { column, rowForm, type Read } from '../storage/row-form.ts'
import { firstExchangeIdAt } from './entry-store.ts'
import type { Ending } from '../metering/settlement.ts'
import type { ExchangeRecord } from './ledger.ts'
import { formatAttempts } from './stored-attempts.ts'

/** How it ended; `not_admitted`: the gateway refused it before anything was sent to a vendor. */
export type FreeEnding = Ending | 'not_admitted'

export interface FreeExchange extends Pick<
  ExchangeRecord,
  | 'exchangeId'
  | 'accountId'
  | 'keyId'
  | 'vendor'
  | 'askedModel'
  | 'channel'
  | 'startedAtMs'
  | 'endedAtMs'
  | 'status'
  | 'code'
  | 'vendorRequestId'
  | 'attempts'
  | 'client'
  | 'address'
> {
  /** A model of the catalogue; undefined where the request named none or was not read. */
  readonly model: string | undefined
  /** Undefined where the path is none of an operation. */
  readonly operation: string | undefined
  readonly ending: FreeEnding
}

/** One row for several exchanges of one key that ended in the same way within a minute. */
export interface FreeExchangeRow extends FreeExchange {
  /** How many exchanges it counts; the row shows the first, and `endedAtMs` of the last. */
  readonly standsFor: number
}

/** The columns, and the value of a row for each. */
const fields: Readonly<Record<string, (row: FreeExchangeRow) => SqlValue>> = {
  account_id: (row) => row.accountId,
  exchange_id: (row) => row.exchangeId,
  key_id: (row) => row.keyId,
  vendor: (row) => row.vendor,
  model: (row) => row.model ?? null,
  operation: (row) => row.operation ?? null,
  channel: (row) => row.channel ?? null,
  started_at_ms: (row) => row.startedAtMs,
  ended_at_ms: (row) => row.endedAtMs,
  ending: (row) => row.ending,
  status: (row) => row.status,
  code: (row) => row.code ?? null,
  vendor_request_id: (row) => row.vendorRequestId ?? null,
  attempts: (row) => formatAttempts(row.attempts, row),
  client: (row) => row.client,
  address: (row) => row.address,
  stands_for: (row) => row.standsFor,
  asked_model: (row) => row.askedModel ?? null,
}
const columns = Object.keys(fields)
const readers = Object.values(fields)

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
        await transaction.query(
          sql,
          rows.slice(done, done + length).flatMap((row) => readers.map((read) => read(row))),
        )
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
export type Refused = Read<typeof refusedForm>
const refusedForm = rowForm({ accountId: column.text, keyId: column.text, code: column.text })

/** Read at most this many: a flood has one row for many. */
const refusedMax = 10_000

/** Lists which keys were refused with these codes since a moment, each once. */
export async function listRefused(
  queryable: Queryable,
  { sinceMs, codes }: { readonly sinceMs: number; readonly codes: readonly string[] },
): Promise<readonly Refused[]> {
  const places = codes.map((_, index) => `$${index + 3}`).join(', ')
  const rows = await queryable.query(
    `SELECT DISTINCT ${refusedForm.columns} FROM free_exchange
      WHERE exchange_id >= $1 AND code IN (${places}) LIMIT $2`,
    [firstExchangeIdAt(sinceMs), refusedMax, ...codes],
  )
  return rows.map(refusedForm.read)
}
