/**
 * Refunds: money given back for one charge. Invariants: a charge is refunded at most once, and never by
 * more than it is; the entry, the balance, and the sums of the day and month in which the charge was
 * booked change together or not at all. Requests and tokens of the sums stay.
 *
 *     entry refund:<exchange id> ──▶ balance + amount
 *                                ──▶ usage_month, usage_key_month − amount              (cost)
 *                                ──▶ report_day + amount                                (refunded)
 *                                ──▶ report_day − amount    (revenue without a known own cost)
 */
import { utcDay, utcMonth } from '../base/clock.ts'
import { invariant } from '../base/errors.ts'
import { zeroPicos, type Picos } from '../base/money.ts'
import type { Queryable, SqlValue, Transaction } from '../storage/database.ts'
import { column, rowForm, type Read } from '../storage/row-form.ts'
import { credit, refundPrefix, type CreditResult } from './entry-store.ts'
import { readExchangeCut } from './exchange-retention.ts'
import { findCountedLabel } from './label-day.ts'
import { dayCost, readPicos, totalMonth } from './usage.ts'

const billedForm = rowForm({
  accountId: column.text,
  exchangeId: column.text,
  keyId: column.text,
  model: column.text,
  /** Empty where no channel's answer was delivered. */
  channel: column.text,
  /** As the request gave it; empty = none. */
  label: column.text,
  endedAtMs: column.number,
  /** Zero = not charged. */
  chargePicos: column.amount,
  isOwnCostKnown: column.flag,
})
/** A recorded exchange, as a refund needs it. */
export type BilledExchange = Read<typeof billedForm>

/** More exchanges with one vendor's id are not told apart. */
const foundMax = 10

/**
 * Finds exchanges by the gateway's id or the vendor's. Only those whose details are all kept: sums
 * cannot be lowered without the key, the model and the channel of the charge.
 */
export async function findBilledExchanges(
  database: Queryable,
  id: string,
): Promise<readonly BilledExchange[]> {
  const own = await findBy(database, 'exchange_id', id)
  return own.length > 0 ? own : findBy(database, 'vendor_request_id', id)
}

async function findBy(
  database: Queryable,
  column: 'exchange_id' | 'vendor_request_id',
  id: string,
): Promise<readonly BilledExchange[]> {
  const rows = await database.query(
    `SELECT x.account_id, x.exchange_id, x.key_id, x.model, COALESCE(x.channel, '') AS channel,
            x.label, x.ended_at_ms, x.is_own_cost_known, -COALESCE(e.amount_picos, 0) AS charge_picos
       FROM exchange x
       LEFT JOIN entry e ON e.account_id = x.account_id AND e.reference = x.exchange_id
        AND e.kind = 'charge'
      WHERE x.${column} = $1 AND x.ended_at_ms >= $2
      ORDER BY x.exchange_id LIMIT ${foundMax}`,
    [id, await readExchangeCut(database)],
  )
  return rows.map(billedForm.read)
}

export interface RefundRequest {
  readonly exchange: BilledExchange
  /** Above zero, at most the charge. */
  readonly amountPicos: Picos
  readonly reason?: string | undefined
  readonly atMs: number
}

/** Books a refund, once for each exchange. */
export async function refund(
  transaction: Transaction,
  { exchange, amountPicos, reason, atMs }: RefundRequest,
): Promise<CreditResult> {
  const { accountId, exchangeId, chargePicos } = exchange
  invariant(amountPicos > 0n && amountPicos <= chargePicos, 'a refund is at most its charge')
  // First: it locks the account's row on PostgreSQL, as every booking of a charge does.
  const result = await credit(transaction, {
    accountId,
    kind: 'refund',
    reference: refundPrefix + exchangeId,
    amountPicos,
    atMs,
    ...(reason !== undefined && { note: reason }),
  })
  if (result.kind === 'booked') await lowerSums(transaction, exchange, amountPicos)
  return result
}

async function lowerSums(
  transaction: Transaction,
  { accountId, keyId, model, channel, label, endedAtMs, isOwnCostKnown }: BilledExchange,
  amountPicos: Picos,
): Promise<void> {
  const day = utcDay(endedAtMs)
  const month = utcMonth(endedAtMs)
  const change = async (
    sql: string,
    expectedRows: number,
    ...key: readonly SqlValue[]
  ): Promise<void> => {
    const rows = await transaction.query(sql, [amountPicos, ...key])
    const isRight = rows.every((row) => readPicos(row, 'left_picos') >= 0n)
    invariant(rows.length === expectedRows && isRight, 'the sums show the charge that is refunded')
  }
  await change(lowerMonthSql, 2, accountId, month, totalMonth, model)
  await change(lowerKeyMonthSql, 2, accountId, keyId, month, totalMonth)
  const unknownPicos = isOwnCostKnown ? zeroPicos : amountPicos
  const counted = await findCountedLabel(transaction, { accountId, day, label })
  await change(changeReportSql, 1, day, accountId, keyId, model, channel, unknownPicos, counted)
}

const lowerMonthSql = `UPDATE usage_month SET cost_picos = cost_picos - $1
  WHERE account_id = $2 AND month IN ($3, $4) AND model = $5
  RETURNING cost_picos AS left_picos`

const lowerKeyMonthSql = `UPDATE usage_key_month SET cost_picos = cost_picos - $1
  WHERE account_id = $2 AND key_id = $3 AND month IN ($4, $5)
  RETURNING cost_picos AS left_picos`

const changeReportSql = `UPDATE report_day SET refunded_picos = refunded_picos + $1,
    unknown_cost_revenue_picos = unknown_cost_revenue_picos - $7
  WHERE day = $2 AND account_id = $3 AND key_id = $4 AND model = $5 AND channel = $6
    AND label = $8
  RETURNING ${dayCost} AS left_picos`
