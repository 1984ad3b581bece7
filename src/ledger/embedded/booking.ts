/**
 * Writes a batch of ended exchanges into the store: exchange rows, charges, balances and figures in
 * one transaction. Knows no holds. Invariant: an exchange is booked once, however often it is
 * committed: everything else is written only together with its row.
 */
import { utcDay, utcMonth } from '../../base/clock.ts'
import { addPicos, subtractPicos, zeroPicos, type Picos } from '../../base/money.ts'
import type { SqliteConnection, Statement } from '../../storage/sqlite/connection.ts'
import { addFigures, noFigures, readPicos, totalMonth, type Figures } from '../usage.ts'
import { dayNumber } from './figures.ts'
import { keepAnswerStateSql } from '../answer-state-store.ts'
import { exchangeColumns, indexOf, type EndedExchange } from '../exchange-row.ts'
import { ReportBooking } from './report-booking.ts'

export interface Booked {
  /** The balance of each charged account after this transaction. */
  readonly balances: readonly (readonly [accountId: string, balancePicos: Picos])[]
  /** Accounts of exchanges that were booked before; nothing was written for these exchanges. */
  readonly repeatedAccountIds: readonly string[]
  /** Indexes in the batch of exchanges that the store will never accept, with the reason. */
  readonly refused: readonly (readonly [index: number, error: Error])[]
}

/** Figures of one batch, summed by their row before they are written. */
interface RowFigures extends Figures {
  readonly key: readonly string[]
}

/** The figures of one key and one model on one day. */
interface DayFigures extends RowFigures {
  readonly accountId: string
  readonly model: string
  readonly atMs: number
}

export class Booking {
  readonly #connection: SqliteConnection
  readonly #insertExchange: Statement
  readonly #insertCharges: Statement
  readonly #changeBalance: Statement
  readonly #addToDay: Statement
  readonly #addToMonth: Statement
  readonly #keepState: Statement
  readonly #reports: ReportBooking

  constructor(connection: SqliteConnection) {
    this.#connection = connection
    this.#insertExchange = connection.prepare(insertExchangeSql)
    this.#insertCharges = connection.prepare(insertChargesSql)
    this.#changeBalance = connection.prepare(changeBalanceSql)
    this.#addToDay = connection.prepare(addFiguresSql('usage_day', dayColumns))
    this.#addToMonth = connection.prepare(addFiguresSql('usage_month', monthColumns))
    this.#keepState = connection.prepare(keepAnswerStateSql)
    this.#reports = new ReportBooking(connection)
  }

  /** Durable when it returns, nothing booked when it throws. */
  book(exchanges: readonly EndedExchange[]): Booked {
    return this.#connection.transact(() => this.#write(exchanges))
  }

  /** Books each exchange in its own transaction, for a batch in which one is refused. */
  bookOneByOne(exchanges: readonly EndedExchange[], isRefusal: (error: Error) => boolean): Booked {
    const balances = new Map<string, Picos>()
    const repeatedAccountIds: string[] = []
    const refused: [number, Error][] = []
    for (const [index, exchange] of exchanges.entries()) {
      try {
        const booked = this.book([exchange])
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

  #write(exchanges: readonly EndedExchange[]): Booked {
    let firstInserted: bigint | undefined
    const days = new Map<string, DayFigures>()
    const repeatedAccountIds: string[] = []
    this.#reports.begin()
    for (const exchange of exchanges) {
      const { row } = exchange
      const rowId = this.#insertExchange.insert(...row)
      // The exchange has a row already.
      if (rowId === undefined) {
        repeatedAccountIds.push(row[indexOf.accountId])
        continue
      }
      firstInserted ??= rowId
      if (row[indexOf.amountPicos] > 0n) addToDay(days, exchange)
      this.#reports.add(exchange)
      for (const state of exchange.states ?? []) this.#keepState.run(...state)
    }
    if (days.size > 0 && firstInserted !== undefined) this.#insertCharges.run(firstInserted)
    for (const figures of days.values()) writeFigures(this.#addToDay, figures)
    for (const figures of toMonths(days.values()).values()) writeFigures(this.#addToMonth, figures)
    this.#reports.write()
    return { balances: this.#chargeAccounts(days.values()), repeatedAccountIds, refused: [] }
  }

  #chargeAccounts(days: Iterable<DayFigures>): [string, Picos][] {
    const charged = new Map<string, Picos>()
    for (const { accountId, costPicos } of days)
      charged.set(accountId, addPicos(charged.get(accountId) ?? zeroPicos, costPicos))
    const balances: [string, Picos][] = []
    for (const [accountId, amountPicos] of charged) {
      const row = this.#changeBalance.first(accountId, subtractPicos(zeroPicos, amountPicos))
      if (row !== undefined) balances.push([accountId, readPicos(row, 'balance_picos')])
    }
    return balances
  }
}

function addToDay(days: Map<string, DayFigures>, { row, tokens }: EndedExchange): void {
  const accountId = row[indexOf.accountId]
  const keyId = row[indexOf.keyId]
  const model = row[indexOf.model]
  const atMs = row[indexOf.endedAtMs]
  const name = `${accountId}\0${keyId}\0${dayNumber(atMs)}\0${model}`
  let figures = days.get(name)
  if (figures === undefined) {
    const key = [accountId, utcDay(atMs), keyId, model]
    figures = { ...noFigures, key, accountId, model, atMs }
    days.set(name, figures)
  }
  const [inputTokens, outputTokens, cacheTokens] = tokens
  const costPicos = row[indexOf.amountPicos]
  addFigures(figures, { requests: 1, inputTokens, outputTokens, cacheTokens, costPicos })
}

/** Sums the same figures by month and for all time. */
function toMonths(days: Iterable<DayFigures>): Map<string, RowFigures> {
  const months = new Map<string, RowFigures>()
  for (const figures of days) {
    const { accountId, model, atMs } = figures
    for (const month of [utcMonth(atMs), totalMonth]) {
      const key = [accountId, month, model]
      const name = key.join('\0')
      const known = months.get(name)
      if (known === undefined) months.set(name, { ...figures, key })
      else addFigures(known, figures)
    }
  }
  return months
}

function writeFigures(statement: Statement, figures: RowFigures): void {
  statement.run(
    ...figures.key,
    figures.requests,
    figures.inputTokens,
    figures.outputTokens,
    figures.cacheTokens,
    figures.costPicos,
  )
}

const dayColumns = ['account_id', 'day', 'key_id', 'model']
const monthColumns = ['account_id', 'month', 'model']
const figureColumns = ['requests', 'input_tokens', 'output_tokens', 'cache_tokens', 'cost_picos']

const insertExchangeSql = `INSERT INTO exchange (${exchangeColumns.join(', ')})
  VALUES (${numbered(exchangeColumns)})
  ON CONFLICT (account_id, exchange_id) DO NOTHING`

/**
 * Inserts the charges of all exchanges that this transaction has inserted: row ids only grow, and no
 * other connection writes meanwhile. One statement for all: each one reads and writes the sequence.
 */
const insertChargesSql = `INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms)
  SELECT account_id, 'charge', exchange_id, -amount_picos, ended_at_ms FROM exchange
   WHERE rowid >= $1 AND amount_picos > 0 ORDER BY rowid`

const changeBalanceSql = `UPDATE account SET balance_picos = balance_picos + $2
  WHERE id = $1 RETURNING balance_picos`

function addFiguresSql(table: string, keyColumns: readonly string[]): string {
  const columns = [...keyColumns, ...figureColumns]
  const additions = figureColumns.map((column) => `${column} = ${column} + excluded.${column}`)
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${numbered(columns)})
    ON CONFLICT (${keyColumns.join(', ')}) DO UPDATE SET ${additions.join(', ')}`
}

function numbered(columns: readonly string[]): string {
  return columns.map((_, index) => `$${index + 1}`).join(', ')
}
