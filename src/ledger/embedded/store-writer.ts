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
import type { AccountFacts, LoadedAccount } from './account-state.ts'
import type { WriterAnswer, WriterQuestion } from './writer.ts'
import { loadAccount, loadFacts } from './account-loader.ts'

export class StoreWriter {
  readonly #connection: SqliteConnection
  readonly #booking: Booking
  #isBroken = false

  constructor(connection: SqliteConnection) {
    this.#connection = connection
    this.#booking = new Booking(connection)
  }

  /** Answers one question; a batch is durable by then, or no part of it is booked. */
  handle(question: WriterQuestion): WriterAnswer | Promise<WriterAnswer> {
    switch (question.kind) {
      case 'open':
        return done(undefined)
      case 'settle':
        return this.#settle(question.exchanges)
      // Answered at once, so that amounts are never older than a commit answered before.
      case 'load':
        return answerOf(() => loadAccount(this.#connection, question))
      case 'refresh':
        return answerOf(() => loadFacts(this.#connection, question.accountIds))
      case 'usage':
        return this.#answerUsage(question)
      case 'close':
        this.#connection.close()
        return done(undefined)
    }
  }

  #settle(exchanges: readonly EndedExchange[]): WriterAnswer {
    if (this.#isBroken) {
      const error = new GatewayError(
        'ledger.unavailable',
        'The store failed and has to be reopened.',
      )
      return { kind: 'failed', fault: 'broken', error }
    }
    try {
      return done(this.#book(exchanges))
    } catch (thrown) {
      const error = asError(thrown)
      const fault = this.#connection.isInTransaction ? 'broken' : faultOf(error)
      this.#isBroken = fault === 'broken'
      return { kind: 'failed', fault, error }
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

  async #answerUsage(question: UsageQuestion): Promise<WriterAnswer> {
    try {
      const reader = {
        query: async (sql: string, values?: readonly SqlValue[]) =>
          this.#connection.all(sql, values),
      }
      return done(await readUsage(reader, question))
    } catch (error) {
      return failed(error)
    }
  }
}

function answerOf(read: () => LoadedAccount | readonly AccountFacts[] | undefined): WriterAnswer {
  try {
    return done(read())
  } catch (error) {
    return failed(error)
  }
}

function done(value: Extract<WriterAnswer, { kind: 'done' }>['value']): WriterAnswer {
  return { kind: 'done', value }
}

function failed(thrown: unknown): WriterAnswer {
  const error = asError(thrown)
  return { kind: 'failed', fault: faultOf(error), error }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('the writer thread failed', { cause: thrown })
}
