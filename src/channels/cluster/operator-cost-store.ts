/**
 * SQL of table `operator_cost`: the costs of the gateway's own requests. Append-only; no account
 * pays for them.
 */
import { dayMs, utcDay } from '../../base/clock.ts'
import { picos, type Picos } from '../../base/money.ts'
import type { UsageCounts } from '../../metering/usage.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { column, rowForm, type Read } from '../../storage/row-form.ts'
import { insertRow } from '../../storage/rows.ts'

const costForm = rowForm({
  /** Unique, so that a write repeated after a lost answer adds nothing. */
  id: column.text,
  atMs: column.number,
  /** Undefined: an operator's command, not a gateway. */
  node: column.textOrNone,
  channel: column.text,
  model: column.text,
  kind: column.word<'check'>(),
  /** Counts only: what else a vendor says of its answer stays out. */
  usage: column.json<UsageCounts>(),
  amountPicos: column.amount,
  /** Priced at the channel's cost prices; otherwise at list price, an estimate. */
  isOwnCostKnown: column.flag,
})
export type OperatorCost = Read<typeof costForm>

export async function appendCosts(
  transaction: Transaction,
  costs: readonly OperatorCost[],
): Promise<void> {
  for (const cost of costs)
    await insertRow(
      transaction,
      'operator_cost',
      costForm.write(cost),
      'ON CONFLICT (id) DO NOTHING',
    )
}

export interface CostSum {
  readonly count: number
  readonly amountPicos: Picos
}

/** Sums the costs of a channel's checks; from inclusive, until exclusive. */
export async function sumCosts(
  queryable: Queryable,
  of: { readonly channel: string; readonly fromMs: number; readonly untilMs: number },
): Promise<CostSum> {
  const [row] = await queryable.query(
    `SELECT COUNT(*) AS count, CAST(COALESCE(SUM(amount_picos), 0) AS BIGINT) AS amount_picos
     FROM operator_cost WHERE channel = $1 AND at_ms >= $2 AND at_ms < $3`,
    [of.channel, of.fromMs, of.untilMs],
  )
  return {
    count: Number(row?.['count']),
    amountPicos: picos(BigInt(String(row?.['amount_picos']))),
  }
}

/** Every cost of a period, one by one; from inclusive, until exclusive. */
export async function listCosts(
  queryable: Queryable,
  of: { readonly fromMs: number; readonly untilMs: number },
): Promise<readonly OperatorCost[]> {
  const rows = await queryable.query(
    `SELECT * FROM operator_cost
      WHERE at_ms >= $1 AND at_ms < $2 ORDER BY sequence`,
    [of.fromMs, of.untilMs],
  )
  return rows.map(costForm.read)
}

/** The checks of one model on one channel and UTC day, or a part of the day. */
export interface CheckSum {
  readonly day: string
  readonly fromMs: number
  readonly channel: string
  readonly model: string
  readonly checks: number
  /** At the channel's cost prices. */
  readonly knownPicos: Picos
  /** At list price. */
  readonly estimatedPicos: Picos
}

/**
 * Sums checks by day, channel and model, or by shorter steps; from inclusive, until exclusive. Reads along
 * the index.
 */
export async function sumChecks(
  queryable: Queryable,
  of: { readonly fromMs: number; readonly untilMs: number; readonly stepMs?: number },
): Promise<readonly CheckSum[]> {
  const { stepMs = dayMs } = of
  const sums: CheckSum[] = []
  for (
    let channel = await nextChannel(queryable, '');
    channel !== undefined;
    channel = await nextChannel(queryable, channel)
  ) {
    const rows = await queryable.query(
      `SELECT at_ms / ${stepMs} AS step, model, COUNT(*) AS checks,
              CAST(SUM(amount_picos * is_own_cost_known) AS BIGINT) AS known_picos,
              CAST(SUM(amount_picos * (1 - is_own_cost_known)) AS BIGINT) AS estimated_picos
         FROM operator_cost WHERE channel = $1 AND at_ms >= $2 AND at_ms < $3
        GROUP BY 1, 2 ORDER BY 1, 2`,
      [channel, of.fromMs, of.untilMs],
    )
    for (const row of rows) {
      const fromMs = Number(row['step']) * stepMs
      sums.push({
        day: utcDay(fromMs),
        fromMs,
        channel,
        model: String(row['model']),
        checks: Number(row['checks']),
        knownPicos: picos(BigInt(String(row['known_picos']))),
        estimatedPicos: picos(BigInt(String(row['estimated_picos']))),
      })
    }
  }
  return sums
}

async function nextChannel(queryable: Queryable, after: string): Promise<string | undefined> {
  const [row] = await queryable.query(
    'SELECT MIN(channel) AS channel FROM operator_cost WHERE channel > $1',
    [after],
  )
  return typeof row?.['channel'] === 'string' ? row['channel'] : undefined
}
