/**
 * Writes the sums that a batch of ended exchanges adds to: reports by day, the usage of each month, model and
 * key, and the tokens of the last minute. Works inside the batch's transaction.
 */
import type { Picos } from '../../base/money.ts'
import type { SqliteConnection, Statement } from '../../storage/sqlite/connection.ts'
import { sumBatch } from '../batch-sums.ts'
import type { EndedExchange } from '../exchange-row.ts'
import { LabelPlaces } from '../label-day.ts'
import { reportAmountColumns, reportCountColumns, reportKeyColumns } from '../report-day.ts'
import { totalMonth } from '../usage.ts'

/** Older rows count toward no limit of tokens per minute. */
const keptSeconds = 120

export class ReportBooking {
  readonly #addToReport: Statement
  readonly #addToMonth: Statement
  readonly #addToKey: Statement
  readonly #addToSecond: Statement
  readonly #pruneSeconds: Statement
  readonly #labels: LabelPlaces

  constructor(connection: SqliteConnection) {
    this.#addToReport = connection.prepare(
      addSql('report_day', reportKeyColumns, [...reportCountColumns, ...reportAmountColumns]),
    )
    this.#addToMonth = connection.prepare(
      addSql('usage_month', ['account_id', 'month', 'model'], usageColumns),
    )
    this.#addToKey = connection.prepare(
      addSql('usage_key_month', ['account_id', 'key_id', 'month'], ['cost_picos']),
    )
    this.#addToSecond = connection.prepare(addToSecondSql)
    this.#pruneSeconds = connection.prepare(pruneSecondsSql)
    this.#labels = new LabelPlaces(connection)
  }

  /** Returns the sum of the charges of each charged account. */
  write(exchanges: readonly EndedExchange[]): ReadonlyMap<string, Picos> {
    const sums = sumBatch(exchanges, { countedLabel: (place) => this.#labels.counted(place) })
    for (const row of sums.reportDay) this.#addToReport.run(...row)
    for (const row of sums.usageMonth) this.#addToMonth.run(...row)
    for (const row of sums.usageKeyMonth) this.#addToKey.run(...row)
    for (const [accountId, second, keyId, tokens] of sums.tokenMinute)
      if (this.#addToSecond.run(accountId, second, keyId, tokens) > 0)
        this.#pruneSeconds.run(accountId, second - keptSeconds)
    return sums.chargedPicos
  }
}

const usageColumns = ['requests', 'input_tokens', 'output_tokens', 'cache_tokens', 'cost_picos']

/** A row with a month adds the same sums to a second row, whose month is `total`. */
function addSql(table: string, keys: readonly string[], sums: readonly string[]): string {
  const columns = [...keys, ...sums]
  const additions = sums.map((column) => `${column} = ${column} + excluded.${column}`)
  const places = columns.map((_, index) => `$${index + 1}`)
  const monthAt = keys.indexOf('month')
  const rows = monthAt === -1 ? [places] : [places, places.with(monthAt, `'${totalMonth}'`)]
  return `INSERT INTO ${table} (${columns.join(', ')})
    VALUES ${rows.map((row) => `(${row.join(', ')})`).join(', ')}
    ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${additions.join(', ')}`
}

/** Changes nothing where neither the account nor the key has a limit. */
const addToSecondSql = `INSERT INTO token_minute (account_id, second, key_id, tokens)
  SELECT $1, $2, $3, $4
   WHERE EXISTS (SELECT 1 FROM account WHERE id = $1 AND tokens_per_minute > 0)
      OR EXISTS (SELECT 1 FROM key WHERE id = $3 AND tokens_per_minute > 0)
  ON CONFLICT (account_id, second, key_id) DO UPDATE SET tokens = tokens + excluded.tokens`

const pruneSecondsSql = 'DELETE FROM token_minute WHERE account_id = $1 AND second < $2'
