/**
 * Writes the sums that a batch of ended exchanges adds to: reports by day, from their sums the usage of
 * each month, model and key, and the tokens of the last minute. Works inside the batch's transaction.
 * Invariant: one statement for each row of a table and batch, however many exchanges add to it.
 */
import { utcDay } from '../../base/clock.ts'
import { addPicos, zeroPicos, type Picos } from '../../base/money.ts'
import type { SqliteConnection, Statement } from '../../storage/sqlite/connection.ts'
import { indexOf, type EndedExchange } from '../exchange-row.ts'
import {
  addExchange,
  noReport,
  reportAmountColumns,
  reportCountColumns,
  reportKeyColumns,
  reportValues,
  usageOf,
  type ReportSums,
} from '../report-day.ts'
import { addUsage, isUsed, totalMonth, type UsageSums } from '../usage.ts'
import { dayNumber } from './account-state.ts'

interface ReportRow {
  readonly day: string
  readonly accountId: string
  readonly keyId: string
  readonly model: string
  readonly channel: string
  readonly sums: ReportSums
}

/** What a model or a key has used in a month, and so since ever. */
interface MonthRow {
  /** The account, the month, and the model or the key. */
  readonly key: readonly [accountId: string, month: string, of: string]
  readonly usage: UsageSums
}

interface SecondRow {
  readonly accountId: string
  readonly keyId: string
  readonly second: number
  tokens: number
}

/** Of a day's text: its month. */
const monthLength = 'YYYY-MM'.length
/** Older rows count toward no limit of tokens per minute. */
const keptSeconds = 120

export class ReportBooking {
  readonly #addToReport: Statement
  readonly #addToMonth: Statement
  readonly #addToKey: Statement
  readonly #addToSecond: Statement
  readonly #pruneSeconds: Statement
  readonly #reports = new Map<string, ReportRow>()
  readonly #seconds = new Map<string, SecondRow>()
  /** Most exchanges end on the day of the one before. */
  #lastDay = { number: Number.NaN, text: '' }

  constructor(connection: SqliteConnection) {
    this.#addToReport = connection.prepare(
      addSql('report_day', reportKeyColumns, [...reportCountColumns, ...reportAmountColumns]),
    )
    this.#addToMonth = connection.prepare(
      addSql('usage_month', ['account_id', 'month', 'model'], usageColumns, totalMonthAt),
    )
    this.#addToKey = connection.prepare(
      addSql('usage_key_month', ['account_id', 'month', 'key_id'], ['cost_picos'], totalMonthAt),
    )
    this.#addToSecond = connection.prepare(addToSecondSql)
    this.#pruneSeconds = connection.prepare(pruneSecondsSql)
  }

  /** Forgets what a batch that was rolled back has added. */
  begin(): void {
    this.#reports.clear()
    this.#seconds.clear()
  }

  add(exchange: EndedExchange): void {
    const { row, tokens } = exchange
    const [input, output, cache, cacheWrite, prompt] = tokens
    const { sums, accountId, keyId } = this.#reportOf(exchange)
    addExchange(sums, {
      ending: row[indexOf.ending],
      attemptCount: row[indexOf.attemptCount],
      amountPicos: row[indexOf.amountPicos],
      operatorCostPicos: row[indexOf.operatorCostPicos],
      ownCostPicos: row[indexOf.ownCostPicos],
      isOwnCostKnown: row[indexOf.isOwnCostKnown] === 1,
      firstEventMs: row[indexOf.firstEventMs],
      tokens: { input, output, cache, cacheWrite, prompt },
    })
    if (input + output > 0) {
      const second = Math.floor(row[indexOf.endedAtMs] / 1_000)
      this.#addTokens({ accountId, keyId, second, tokens: input + output })
    }
  }

  /** Adds everything to the tables. Returns the sum of the charges of each charged account. */
  write(): ReadonlyMap<string, Picos> {
    const months = new Map<string, MonthRow>()
    const keys = new Map<string, MonthRow>()
    const charged = new Map<string, Picos>()
    for (const { day, accountId, keyId, model, channel, sums } of this.#reports.values()) {
      this.#addToReport.run(day, accountId, keyId, model, channel, ...reportValues(sums))
      const usage = usageOf(sums)
      const { costPicos } = usage
      const month = day.slice(0, monthLength)
      if (isUsed(usage)) addToMonth(months, [accountId, month, model], usage)
      if (costPicos === 0n) continue
      addToMonth(keys, [accountId, month, keyId], usage)
      charged.set(accountId, addPicos(charged.get(accountId) ?? zeroPicos, costPicos))
    }
    for (const { key, usage } of months.values())
      this.#addToMonth.run(...key, ...usageValues(usage))
    for (const { key, usage } of keys.values()) this.#addToKey.run(...key, usage.costPicos)
    for (const { accountId, keyId, second, tokens } of this.#seconds.values())
      if (this.#addToSecond.run(accountId, second, keyId, tokens) > 0)
        this.#pruneSeconds.run(accountId, second - keptSeconds)
    return charged
  }

  #reportOf({ row }: EndedExchange): ReportRow {
    const accountId = row[indexOf.accountId]
    const keyId = row[indexOf.keyId]
    const model = row[indexOf.model]
    const channel = row[indexOf.channel] ?? ''
    const atMs = row[indexOf.endedAtMs]
    const day = this.#dayOf(atMs)
    const name = `${day}\0${accountId}\0${keyId}\0${model}\0${channel}`
    let report = this.#reports.get(name)
    if (report === undefined) {
      report = { day, accountId, keyId, model, channel, sums: noReport() }
      this.#reports.set(name, report)
    }
    return report
  }

  #dayOf(atMs: number): string {
    const number = dayNumber(atMs)
    if (number !== this.#lastDay.number) this.#lastDay = { number, text: utcDay(atMs) }
    return this.#lastDay.text
  }

  #addTokens(added: SecondRow): void {
    const name = `${added.accountId}\0${added.keyId}\0${added.second}`
    const known = this.#seconds.get(name)
    if (known === undefined) this.#seconds.set(name, added)
    else known.tokens += added.tokens
  }
}

function addToMonth(months: Map<string, MonthRow>, key: MonthRow['key'], added: UsageSums): void {
  const name = `${key[0]}\0${key[1]}\0${key[2]}`
  const known = months.get(name)
  if (known === undefined) months.set(name, { key, usage: { ...added } })
  else addUsage(known.usage, added)
}

const usageColumns = ['requests', 'input_tokens', 'output_tokens', 'cache_tokens', 'cost_picos']

function usageValues(usage: UsageSums): (number | Picos)[] {
  const { requests, inputTokens, outputTokens, cacheTokens, costPicos } = usage
  return [requests, inputTokens, outputTokens, cacheTokens, costPicos]
}

/** The place of the month in a key: a second row has `total` there, and the same sums are added to it. */
const totalMonthAt = 1

function addSql(
  table: string,
  keys: readonly string[],
  sums: readonly string[],
  totalAt?: number,
): string {
  const columns = [...keys, ...sums]
  const additions = sums.map((column) => `${column} = ${column} + excluded.${column}`)
  const places = columns.map((_, index) => `$${index + 1}`)
  const rows = [places]
  if (totalAt !== undefined) rows.push(places.with(totalAt, `'${totalMonth}'`))
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
