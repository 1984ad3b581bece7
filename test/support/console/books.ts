/**
 * Writes exchanges that have ended into a store in bulk, as the ledger would have one by one: exchanges,
 * charges, balances, and all figures. The audit of the books finds nothing, on SQLite and on PostgreSQL.
 */
import { utcDay } from '../../../src/base/clock.ts'
import { addPicos, subtractPicos, zeroPicos, type Picos } from '../../../src/base/money.ts'
import { exchangeColumns, toEndedExchange } from '../../../src/ledger/exchange-row.ts'
import type { ExchangeRecord } from '../../../src/ledger/ledger.ts'
import {
  addExchange,
  cacheWriteTokens,
  noReport,
  promptTokens,
  reportAmountColumns,
  reportCountColumns,
  reportKeyColumns,
  reportValues,
  usageOf,
  type ReportSums,
} from '../../../src/ledger/report-day.ts'
import { addUsage, isUsed, noUsage, totalMonth, type UsageSums } from '../../../src/ledger/usage.ts'
import type { Database, SqlValue, Transaction } from '../../../src/storage/database.ts'

/** PostgreSQL takes at most 65,535 parameters in a statement, SQLite 32,766. */
const parametersMax = 32_000

/** Books the exchanges in one transaction, in this order. Their accounts and keys must exist. */
export async function bookExchanges(
  database: Database,
  records: readonly ExchangeRecord[],
): Promise<void> {
  const [first, last] = [records[0], records.at(-1)]
  if (first === undefined || last === undefined) return
  const sums = sumUp(records)
  await database.transact(async (transaction) => {
    // The gateway makes the tables of coming months; these are of past ones.
    if (database.dialect === 'postgres')
      await transaction.query('SELECT ensure_exchange_partitions($1, $2)', [
        first.startedAtMs,
        last.startedAtMs,
      ])
    await insertRows(transaction, {
      into: 'exchange',
      keys: exchangeColumns,
      rows: records.map((record) => toEndedExchange(record).row),
    })
    await insertRows(transaction, {
      into: 'entry',
      keys: ['account_id', 'kind', 'reference', 'amount_picos', 'created_at_ms'],
      rows: records.filter(isCharged).map(chargeRow),
    })
    await writeSums(transaction, sums)
  })
}

function isCharged({ amountPicos }: ExchangeRecord): boolean {
  return amountPicos > 0n
}

function chargeRow(record: ExchangeRecord): SqlValue[] {
  const { accountId, exchangeId, amountPicos, endedAtMs } = record
  return [accountId, 'charge', exchangeId, subtractPicos(zeroPicos, amountPicos), endedAtMs]
}

/** Each by its key columns, separated by a zero character. */
interface Sums {
  readonly months: Map<string, UsageSums>
  readonly keyMonths: Map<string, Picos>
  readonly reports: Map<string, ReportSums>
  readonly accounts: Map<string, Picos>
}

function sumUp(records: readonly ExchangeRecord[]): Sums {
  const sums: Sums = {
    months: new Map(),
    keyMonths: new Map(),
    reports: new Map(),
    accounts: new Map(),
  }
  for (const record of records) addToReport(sums, record)
  for (const [name, report] of sums.reports) addToUsage(sums, name, usageOf(report))
  return sums
}

function nameOf(...key: readonly string[]): string {
  return key.join('\0')
}

function entryOf<Value>(map: Map<string, Value>, name: string, make: () => Value): Value {
  let value = map.get(name)
  if (value === undefined) map.set(name, (value = make()))
  return value
}

function addToUsage({ months, keyMonths, accounts }: Sums, name: string, usage: UsageSums): void {
  const [day = '', accountId = '', keyId = '', model = ''] = name.split('\0')
  if (!isUsed(usage)) return
  for (const month of [day.slice(0, 7), totalMonth]) {
    addUsage(
      entryOf(months, nameOf(accountId, month, model), () => ({ ...noUsage })),
      usage,
    )
    addTo(keyMonths, nameOf(accountId, keyId, month), usage.costPicos)
  }
  addTo(accounts, accountId, usage.costPicos)
}

function addTo(map: Map<string, Picos>, name: string, amount: Picos): void {
  map.set(name, addPicos(map.get(name) ?? zeroPicos, amount))
}

const noLabel = ''

function addToReport({ reports }: Sums, record: ExchangeRecord): void {
  const { accountId, keyId, model, channel = '', endedAtMs, usage } = record
  const name = nameOf(utcDay(endedAtMs), accountId, keyId, model, channel, noLabel)
  addExchange(entryOf(reports, name, noReport), {
    ...record,
    firstEventMs: record.firstEventMs ?? null,
    tokens: {
      input: usage?.reported.inputTokens ?? 0,
      output: usage?.reported.outputTokens ?? 0,
      cache: usage?.reported.cacheTokens ?? 0,
      cacheWrite: usage === undefined ? 0 : cacheWriteTokens(usage),
      prompt: usage === undefined ? 0 : promptTokens(usage),
    },
  })
}

const figureColumns = ['requests', 'input_tokens', 'output_tokens', 'cache_tokens', 'cost_picos']

function figureValues(figures: UsageSums): SqlValue[] {
  const { requests, inputTokens, outputTokens, cacheTokens, costPicos } = figures
  return [requests, inputTokens, outputTokens, cacheTokens, costPicos]
}

async function writeSums(transaction: Transaction, sums: Sums): Promise<void> {
  await insertRows(transaction, {
    into: 'usage_month',
    keys: ['account_id', 'month', 'model'],
    sums: figureColumns,
    rows: rowsOf(sums.months, figureValues),
  })
  await insertRows(transaction, {
    into: 'usage_key_month',
    keys: ['account_id', 'key_id', 'month'],
    sums: ['cost_picos'],
    rows: rowsOf(sums.keyMonths, (cost) => [cost]),
  })
  await insertRows(transaction, {
    into: 'report_day',
    keys: reportKeyColumns,
    sums: [...reportCountColumns, ...reportAmountColumns],
    rows: rowsOf(sums.reports, reportValues),
  })
  for (const [accountId, amount] of sums.accounts)
    await transaction.query('UPDATE account SET balance_picos = balance_picos - $2 WHERE id = $1', [
      accountId,
      amount,
    ])
}

function rowsOf<Value>(
  map: ReadonlyMap<string, Value>,
  valuesOf: (value: Value) => readonly SqlValue[],
): SqlValue[][] {
  return [...map].map(([name, value]) => [...name.split('\0'), ...valuesOf(value)])
}

interface Insertion {
  readonly into: string
  readonly keys: readonly string[]
  /** Columns that are added to those of a row with the same keys. */
  readonly sums?: readonly string[]
  /** Values in the order of `keys` and `sums`. */
  readonly rows: readonly (readonly SqlValue[])[]
}

/** Inserts rows with as few statements as their number of parameters allows. */
async function insertRows(transaction: Transaction, insertion: Insertion): Promise<void> {
  const { into, keys, sums = [], rows } = insertion
  const columns = [...keys, ...sums]
  const additions = sums.map((column) => `${column} = ${into}.${column} + excluded.${column}`)
  const whereTaken =
    sums.length === 0
      ? ''
      : `ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${additions.join(', ')}`
  const rowsMax = Math.floor(parametersMax / columns.length)
  for (let from = 0; from < rows.length; from += rowsMax) {
    const chunk = rows.slice(from, from + rowsMax)
    const places = chunk.map((_, row) => {
      const numbers = columns.map((_, column) => `$${row * columns.length + column + 1}`)
      return `(${numbers.join(', ')})`
    })
    await transaction.query(
      `INSERT INTO ${into} (${columns.join(', ')}) VALUES ${places.join(', ')} ${whereTaken}`,
      chunk.flat(),
    )
  }
}
