/**
 * SQL that writes and removes rows of table free_exchange: exchanges of known callers that nothing is charged
 * for and that so have no row in table exchange. The gateway refused them before it held money, or their
 * operation is free. Rows hold no content.
 */
import type { Database, Queryable } from '../storage/database.ts'
import { column, rowForm, type NewRow, type Read } from '../storage/row-form.ts'
import { upsertRows } from '../storage/rows.ts'
import { firstExchangeIdAt } from './entry-store.ts'
import type { Ending } from '../metering/settlement.ts'
import type { ExchangeRecord } from './ledger.ts'
import { formatAttempts } from './stored-attempts.ts'

/** How it ended; `not_admitted`: the gateway refused it before anything was sent to a vendor. */
export type FreeEnding = Ending | 'not_admitted'

/** The columns that it shares with table exchange, but for the attempts. */
export const freeExchangeForm = rowForm({
  exchangeId: column.text,
  accountId: column.text,
  keyId: column.text,
  vendor: column.text,
  /** A model of the catalogue; undefined where the request named none or was not read. */
  model: column.optional(column.text),
  askedModel: column.optional(column.text),
  /** Undefined where the path is none of an operation. */
  operation: column.optional(column.text),
  channel: column.optional(column.text),
  startedAtMs: column.number,
  endedAtMs: column.number,
  ending: column.word<FreeEnding>(),
  status: column.number,
  code: column.optional(column.text),
  vendorRequestId: column.optional(column.text),
  client: column.text,
  address: column.text,
  label: column.text,
})
export type FreeExchange = Read<typeof freeExchangeForm> & Pick<ExchangeRecord, 'attempts'>

/** One row for several exchanges of one key that ended in the same way within a minute. */
export type FreeExchangeRow = FreeExchange & {
  /** How many exchanges it counts; the row shows the first, and `endedAtMs` of the last. */
  readonly standsFor: number
}

const table = { table: 'free_exchange', key: ['account_id', 'exchange_id'] }
/** Rows per statement, largest first: few lengths, so that few statements are compiled. */
const lengths = [64, 8, 1]

/** Writes rows, each once: a row that is there gets the new count. */
export function saveFreeExchanges(
  database: Pick<Database, 'transact'>,
  rows: readonly FreeExchangeRow[],
): Promise<void> {
  return database.transact(async (transaction) => {
    let done = 0
    for (const length of lengths)
      for (; rows.length - done >= length; done += length)
        await upsertRows(transaction, table, rows.slice(done, done + length).map(writeRow))
  })
}

function writeRow(row: FreeExchangeRow): NewRow {
  const attempts = formatAttempts(row.attempts, row)
  return { ...freeExchangeForm.write(row), attempts, stands_for: row.standsFor }
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
