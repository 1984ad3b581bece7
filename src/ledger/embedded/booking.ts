/**
 * Writes a batch of ended exchanges into the store: exchange rows, charges, balances and figures in
 * one transaction. Knows SQL and nothing of holds. Each exchange is booked once, however often it is
 * handed in: its row decides, and everything else happens only together with that row.
 */
import { utcDay, utcMonth } from '../../base/clock.ts'
import { addPicos, subtractPicos, zeroPicos, type Picos } from '../../base/money.ts'
import type { SqliteConnection, Statement } from '../../storage/sqlite-connection.ts'
import type { ExchangeRecord } from '../ledger.ts'
import { readPicos, totalMonth } from '../usage.ts'

export interface Booked {
  /** Of each account that was charged: its balance as this transaction left it. */
  readonly balances: readonly (readonly [accountId: string, balancePicos: Picos])[]
  /** Accounts of exchanges that had been booked before; nothing was done for these exchanges. */
  readonly repeatedAccountIds: readonly string[]
  /** Places, in the batch, of exchanges that the store refused for good, with the reason. */
  readonly refused: readonly (readonly [index: number, error: Error])[]
}

/** Figures of one batch, summed by the key of their row before they are written. */
interface Figures {
  readonly key: readonly string[]
  requests: number
  inputTokens: number
  outputTokens: number
  cacheTokens: number
  costPicos: Picos
}

interface Sums {
  readonly charged: Map<string, Picos>
  readonly days: Map<string, Figures>
  readonly months: Map<string, Figures>
}

export class Booking {
  readonly #connection: SqliteConnection
  readonly #insertExchange: Statement
  readonly #insertCharge: Statement
  readonly #changeBalance: Statement
  readonly #addToDay: Statement
  readonly #addToMonth: Statement

  constructor(connection: SqliteConnection) {
    this.#connection = connection
    this.#insertExchange = connection.prepare(insertExchangeSql)
    this.#insertCharge = connection.prepare(insertChargeSql)
    this.#changeBalance = connection.prepare(changeBalanceSql)
    this.#addToDay = connection.prepare(addFiguresSql('usage_day', dayColumns))
    this.#addToMonth = connection.prepare(addFiguresSql('usage_month', monthColumns))
  }

  /** Durable when it returns, nothing booked when it throws. */
  book(records: readonly ExchangeRecord[]): Booked {
    return this.#connection.transact(() => this.#write(records))
  }

  /** The same, each exchange in a transaction of its own: for a batch in which one is refused. */
  bookOneByOne(records: readonly ExchangeRecord[], isRefusal: (error: Error) => boolean): Booked {
    const balances = new Map<string, Picos>()
    const repeatedAccountIds: string[] = []
    const refused: [number, Error][] = []
    for (const [index, record] of records.entries()) {
      try {
        const booked = this.book([record])
        for (const [accountId, balancePicos] of booked.balances)
          balances.set(accountId, balancePicos)
        repeatedAccountIds.push(...booked.repeatedAccountIds)
      } catch (error) {
        if (!(error instanceof Error) || !isRefusal(error)) throw error
        refused.push([index, error])
      }
    }
    return { balances: [...balances], repeatedAccountIds, refused }
  }

  #write(records: readonly ExchangeRecord[]): Booked {
    const sums: Sums = { charged: new Map(), days: new Map(), months: new Map() }
    const repeatedAccountIds: string[] = []
    for (const record of records) {
      if (!this.#insert(record)) repeatedAccountIds.push(record.accountId)
      else if (record.amountPicos > 0n) {
        this.#charge(record)
        addToSums(sums, record)
      }
    }
    for (const figures of sums.days.values()) writeFigures(this.#addToDay, figures)
    for (const figures of sums.months.values()) writeFigures(this.#addToMonth, figures)
    return { balances: this.#chargeAccounts(sums.charged), repeatedAccountIds, refused: [] }
  }

  /** False where the exchange has a row already. */
  #insert(record: ExchangeRecord): boolean {
    return (
      this.#insertExchange.run(
        record.accountId,
        record.exchangeId,
        record.keyId,
        record.vendor,
        record.model,
        record.operation,
        record.isStream ? 1 : 0,
        record.channel ?? null,
        record.startedAtMs,
        record.endedAtMs,
        record.ending,
        record.status,
        record.attemptCount,
        record.amountPicos,
        record.usage === undefined ? null : JSON.stringify(record.usage),
        record.marks.join(','),
        record.priceLines,
        record.vendorRequestId ?? null,
        record.operatorCostPicos,
      ) === 1
    )
  }

  #charge(record: ExchangeRecord): void {
    const { accountId, exchangeId, amountPicos, endedAtMs } = record
    this.#insertCharge.run(accountId, exchangeId, negated(amountPicos), endedAtMs)
  }

  #chargeAccounts(charged: ReadonlyMap<string, Picos>): [string, Picos][] {
    const balances: [string, Picos][] = []
    for (const [accountId, amountPicos] of charged) {
      const row = this.#changeBalance.first(accountId, negated(amountPicos))
      if (row !== undefined) balances.push([accountId, readPicos(row, 'balance_picos')])
    }
    return balances
  }
}

function addToSums(sums: Sums, record: ExchangeRecord): void {
  const { accountId, keyId, model, endedAtMs } = record
  const before = sums.charged.get(accountId) ?? zeroPicos
  sums.charged.set(accountId, addPicos(before, record.amountPicos))
  addToFigures(sums.days, [accountId, utcDay(endedAtMs), keyId, model], record)
  addToFigures(sums.months, [accountId, utcMonth(endedAtMs), model], record)
  addToFigures(sums.months, [accountId, totalMonth, model], record)
}

function addToFigures(
  sums: Map<string, Figures>,
  key: readonly string[],
  record: ExchangeRecord,
): void {
  const name = key.join('\0')
  let figures = sums.get(name)
  if (figures === undefined) {
    figures = {
      key,
      requests: 0,
      inputTokens: 0,
      outputTokens: 0,
      cacheTokens: 0,
      costPicos: zeroPicos,
    }
    sums.set(name, figures)
  }
  figures.requests++
  figures.inputTokens += record.usage?.reported.inputTokens ?? 0
  figures.outputTokens += record.usage?.reported.outputTokens ?? 0
  figures.cacheTokens += record.usage?.reported.cacheTokens ?? 0
  figures.costPicos = addPicos(figures.costPicos, record.amountPicos)
}

function writeFigures(statement: Statement, figures: Figures): void {
  statement.run(
    ...figures.key,
    figures.requests,
    figures.inputTokens,
    figures.outputTokens,
    figures.cacheTokens,
    figures.costPicos,
  )
}

const exchangeColumns = [
  'account_id',
  'exchange_id',
  'key_id',
  'vendor',
  'model',
  'operation',
  'is_stream',
  'channel',
  'started_at_ms',
  'ended_at_ms',
  'ending',
  'status',
  'attempt_count',
  'amount_picos',
  'usage',
  'marks',
  'price_lines',
  'vendor_request_id',
  'operator_cost_picos',
]
const dayColumns = ['account_id', 'day', 'key_id', 'model']
const monthColumns = ['account_id', 'month', 'model']
const figureColumns = ['requests', 'input_tokens', 'output_tokens', 'cache_tokens', 'cost_picos']

const insertExchangeSql = `INSERT INTO exchange (${exchangeColumns.join(', ')})
  VALUES (${numbered(exchangeColumns)})
  ON CONFLICT (account_id, exchange_id) DO NOTHING`

const insertChargeSql = `INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms)
  VALUES ($1, 'charge', $2, $3, $4)`

const changeBalanceSql = `UPDATE account SET balance_picos = balance_picos + $2
  WHERE id = $1 RETURNING balance_picos`

function addFiguresSql(table: string, keyColumns: readonly string[]): string {
  const columns = [...keyColumns, ...figureColumns]
  const additions = figureColumns.map((column) => `${column} = ${column} + excluded.${column}`)
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${numbered(columns)})
    ON CONFLICT (${keyColumns.join(', ')}) DO UPDATE SET ${additions.join(', ')}`
}

function negated(amountPicos: Picos): Picos {
  return subtractPicos(zeroPicos, amountPicos)
}

function numbered(columns: readonly string[]): string {
  return columns.map((_, index) => `$${index + 1}`).join(', ')
}
