/**
 * The store's side of the writer: books batches and answers questions in their order, on the thread
 * that calls it. After a disk fault it books nothing more: only a newly opened store shows what the
 * failed commit left behind.
 */
import { GatewayError } from '../../base/errors.ts'
import type { SqlValue } from '../../storage/database.ts'
import { faultOf, type SqliteConnection } from '../../storage/sqlite/connection.ts'
import { readUsage, type UsageQuestion } from '../usage.ts'
import { Booking, type Booked } from './booking.ts'
import type { EndedExchange } from '../exchange-row.ts'
import type { FromWriter, Question, ToWriter } from './writer.ts'
import { loadAccount, loadFacts } from './account-loader.ts'

export class StoreWriter {
  readonly #connection: SqliteConnection
  readonly #booking: Booking
  #isBroken = false

  constructor(connection: SqliteConnection) {
    this.#connection = connection
    this.#booking = new Booking(connection)
  }

  /** Handles one message and returns the answer; a batch is durable by then, or no part of it is booked. */
  handle(message: ToWriter): FromWriter | Promise<FromWriter> {
    switch (message.kind) {
      case 'settle':
        return this.#settle(message.exchanges)
      case 'ask':
        return message.question.kind === 'usage'
          ? this.#answerUsage(message.id, message.question)
          : this.#answer(message.id, message.question)
      case 'close':
        this.#connection.close()
        return { kind: 'closed' }
    }
  }

  #settle(exchanges: readonly EndedExchange[]): FromWriter {
    if (this.#isBroken) {
      const error = new GatewayError(
        'ledger.unavailable',
        'The store failed and has to be reopened.',
      )
      return { kind: 'not_settled', fault: 'broken', error }
    }
    try {
      return { kind: 'settled', booked: this.#book(exchanges) }
    } catch (thrown) {
      const error = asError(thrown)
      const fault = this.#connection.isInTransaction ? 'broken' : faultOf(error)
      this.#isBroken = fault === 'broken'
      return { kind: 'not_settled', fault, error }
    }
  }

  #book(exchanges: readonly EndedExchange[]): Booked {
    // The store works; it refuses this exchange.
    const isRefusal = (error: Error): boolean =>
      faultOf(error) === 'statement' && !this.#connection.isInTransaction
    try {
      return this.#booking.book(exchanges)
    } catch (error) {
      if (!isRefusal(asError(error))) throw error
      return this.#booking.bookOneByOne(exchanges, isRefusal)
    }
  }

  /** Answers within the message, so that amounts are never older than a commit answered before. */
  #answer(id: number, question: Exclude<Question, { kind: 'usage' }>): FromWriter {
    try {
      const value =
        question.kind === 'load'
          ? loadAccount(this.#connection, question)
          : loadFacts(this.#connection, question.accountIds)
      return { kind: 'answer', id, value }
    } catch (error) {
      return noAnswer(id, error)
    }
  }

  async #answerUsage(id: number, question: UsageQuestion): Promise<FromWriter> {
    try {
      const reader = {
        query: async (sql: string, values?: readonly SqlValue[]) =>
          this.#connection.all(sql, values),
      }
      return { kind: 'answer', id, value: await readUsage(reader, question) }
    } catch (error) {
      return noAnswer(id, error)
    }
  }
}

function noAnswer(id: number, thrown: unknown): FromWriter {
  const error = asError(thrown)
  return { kind: 'no_answer', id, fault: faultOf(error), error }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('the writer thread failed', { cause: thrown })
}
