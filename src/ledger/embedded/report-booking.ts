/**
 * Writes the figures beside usage_day that a batch of ended exchanges adds to: reports by day, what each
 * key has used, and the tokens of the last minute. Works inside the batch's transaction; knows no charge.
 * Invariant: one statement for each row of a table and batch, however many exchanges add to it.
 */
import { utcDay, utcMonth } from '../../base/clock.ts'
import { addPicos, type Picos } from '../../base/money.ts'
import type { SqliteConnection, Statement } from '../../storage/sqlite/connection.ts'
import { indexOf, type EndedExchange } from '../exchange-row.ts'
import {
  addExchange,
  noReport,
  reportAmountColumns,
  reportCountColumns,
  reportKeyColumns,
  reportValues,
  type ReportFigures,
} from '../report-day.ts'
import { totalMonth } from '../usage.ts'
import { dayNumber } from './figures.ts'

interface ReportRow {
  readonly key: readonly string[]
  readonly figures: ReportFigures
}

interface KeyRow {
  readonly key: readonly [accountId: string, keyId: string, month: string]
  costPicos: Picos
}

interface SecondRow {
  readonly accountId: string
  readonly keyId: string
  readonly second: number
  tokens: number
}

/** Older rows count toward no limit of tokens per minute. */
const keptSeconds = 120

export class ReportBooking {
  readonly #addToReport: Statement
  readonly #addToKey: Statement
  readonly #addToSecond: Statement
  readonly #pruneSeconds: Statement
  readonly #reports = new Map<string, ReportRow>()
  readonly #keys = new Map<string, KeyRow>()
  readonly #seconds = new Map<string, SecondRow>()

  constructor(connection: SqliteConnection) {
    this.#addToReport = connection.prepare(addToReportSql)
    this.#addToKey = connection.prepare(addToKeySql)
    this.#addToSecond = connection.prepare(addToSecondSql)
    this.#pruneSeconds = connection.prepare(pruneSecondsSql)
  }

  /** Forgets what a batch that was rolled back has added. */
  begin(): void {
    this.#reports.clear()
    this.#keys.clear()
    this.#seconds.clear()
  }

  add(exchange: EndedExchange): void {
    const { row, tokens } = exchange
    const accountId = row[indexOf.accountId]
    const keyId = row[indexOf.keyId]
    const endedAtMs = row[indexOf.endedAtMs]
    const amountPicos = row[indexOf.amountPicos]
    const [input, output, cache, cacheWrite] = tokens
    addExchange(this.#reportOf(exchange).figures, {
      ending: row[indexOf.ending],
      attemptCount: row[indexOf.attemptCount],
      amountPicos,
      operatorCostPicos: row[indexOf.operatorCostPicos],
      ownCostPicos: row[indexOf.ownCostPicos],
      isOwnCostKnown: row[indexOf.isOwnCostKnown] === 1,
      firstEventMs: row[indexOf.firstEventMs],
      tokens: { input, output, cache, cacheWrite },
    })
    if (amountPicos > 0n)
      for (const month of [utcMonth(endedAtMs), totalMonth])
        this.#addToKeyMonth([accountId, keyId, month], amountPicos)
    if (input + output > 0) {
      const second = Math.floor(endedAtMs / 1_000)
      this.#addTokens({ accountId, keyId, second, tokens: input + output })
    }
  }

  /** Adds everything to the tables. */
  write(): void {
    for (const { key, figures } of this.#reports.values())
      this.#addToReport.run(...key, ...reportValues(figures))
    for (const { key, costPicos } of this.#keys.values()) this.#addToKey.run(...key, costPicos)
    for (const { accountId, keyId, second, tokens } of this.#seconds.values())
      if (this.#addToSecond.run(accountId, second, keyId, tokens) > 0)
        this.#pruneSeconds.run(accountId, second - keptSeconds)
  }

  #reportOf({ row }: EndedExchange): ReportRow {
    const accountId = row[indexOf.accountId]
    const keyId = row[indexOf.keyId]
    const model = row[indexOf.model]
    const channel = row[indexOf.channel] ?? ''
    const endedAtMs = row[indexOf.endedAtMs]
    const name = `${dayNumber(endedAtMs)}\0${accountId}\0${keyId}\0${model}\0${channel}`
    let report = this.#reports.get(name)
    if (report === undefined) {
      const key = [utcDay(endedAtMs), accountId, keyId, model, channel]
      report = { key, figures: noReport() }
      this.#reports.set(name, report)
    }
    return report
  }

  #addToKeyMonth(key: KeyRow['key'], amountPicos: Picos): void {
    const name = key.join('\0')
    const known = this.#keys.get(name)
    if (known === undefined) this.#keys.set(name, { key, costPicos: amountPicos })
    else known.costPicos = addPicos(known.costPicos, amountPicos)
  }

  #addTokens(added: SecondRow): void {
    const name = `${added.accountId}\0${added.keyId}\0${added.second}`
    const known = this.#seconds.get(name)
    if (known === undefined) this.#seconds.set(name, added)
    else known.tokens += added.tokens
  }
}

const reportFigureColumns = [...reportCountColumns, ...reportAmountColumns]
const reportColumns = [...reportKeyColumns, ...reportFigureColumns]

const addToReportSql = `INSERT INTO report_day (${reportColumns.join(', ')})
  VALUES (${reportColumns.map((_, index) => `$${index + 1}`).join(', ')})
  ON CONFLICT (${reportKeyColumns.join(', ')}) DO UPDATE SET
    ${reportFigureColumns.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`

const addToKeySql = `INSERT INTO usage_key_month (account_id, key_id, month, cost_picos)
  VALUES ($1, $2, $3, $4)
  ON CONFLICT (account_id, key_id, month) DO UPDATE SET cost_picos = cost_picos + excluded.cost_picos`

/** Changes nothing where neither the account nor the key has a limit. */
const addToSecondSql = `INSERT INTO token_minute (account_id, second, key_id, tokens)
  SELECT $1, $2, $3, $4
   WHERE EXISTS (SELECT 1 FROM account WHERE id = $1 AND tokens_per_minute > 0)
      OR EXISTS (SELECT 1 FROM key WHERE id = $3 AND tokens_per_minute > 0)
  ON CONFLICT (account_id, second, key_id) DO UPDATE SET tokens = tokens + excluded.tokens`

const pruneSecondsSql = 'DELETE FROM token_minute WHERE account_id = $1 AND second < $2'
