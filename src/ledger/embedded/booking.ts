/**
 * Writes a batch of ended exchanges into the store: exchange rows, charges, balances and sums in
 * one transaction. Knows no holds. Invariant: an exchange is booked once, however often it is
 * committed: everything else is written only together with its row.
 */
import { subtractPicos, zeroPicos, type Picos } from '../../base/money.ts'
import type { SqliteConnection, Statement } from '../../storage/sqlite/connection.ts'
import { readPicos } from '../usage.ts'
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

export class Booking {
  readonly #connection: SqliteConnection
  readonly #insertExchange: Statement
  readonly #insertCharges: Statement
  readonly #changeBalance: Statement
  readonly #keepState: Statement
  readonly #reports: ReportBooking

  constructor(connection: SqliteConnection) {
    this.#connection = connection
    this.#insertExchange = connection.prepare(insertExchangeSql)
    this.#insertCharges = connection.prepare(insertChargesSql)
    this.#changeBalance = connection.prepare(changeBalanceSql)
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
    const repeatedAccountIds: string[] = []
    const inserted: EndedExchange[] = []
    for (const exchange of exchanges) {
      const { row } = exchange
      const rowId = this.#insertExchange.insert(...row)
      // The exchange has a row already.
      if (rowId === undefined) {
        repeatedAccountIds.push(row[indexOf.accountId])
        continue
      }
      firstInserted ??= rowId
      inserted.push(exchange)
      for (const state of exchange.states ?? []) this.#keepState.run(...state)
    }
    const charged = this.#reports.write(inserted)
    if (charged.size > 0 && firstInserted !== undefined) this.#insertCharges.run(firstInserted)
    return { balances: this.#chargeAccounts(charged), repeatedAccountIds, refused: [] }
  }

  #chargeAccounts(charged: ReadonlyMap<string, Picos>): [string, Picos][] {
    const balances: [string, Picos][] = []
    for (const [accountId, amountPicos] of charged) {
      const row = this.#changeBalance.first(accountId, subtractPicos(zeroPicos, amountPicos))
      if (row !== undefined) balances.push([accountId, readPicos(row, 'balance_picos')])
    }
    return balances
  }
}

const insertExchangeSql = `INSERT INTO exchange (${exchangeColumns.join(', ')})
  VALUES (${exchangeColumns.map((_, index) => `$${index + 1}`).join(', ')})
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
