/**
 * The thread that owns the ledger's connection: books batches and answers questions in the order
 * they come. After a fault of the disk it books nothing any more: what a failed commit left behind
 * is known only after the store has been opened anew.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { GatewayError, invariant } from '../../base/errors.ts'
import { faultOf, openConnection } from '../../storage/sqlite-connection.ts'
import type { ExchangeRecord } from '../ledger.ts'
import type { SqlValue } from '../../storage/database.ts'
import { readUsage, type UsageQuestion } from '../usage.ts'
import { loadAccount, loadFacts } from './account-loading.ts'
import { Booking, type Booked } from './booking.ts'
import type { FromWriter, Question, ToWriter, WriterThreadData } from './messages.ts'

invariant(parentPort !== null, 'this file is started as a thread')
const port = parentPort
const { path, pagesMax } = workerData as WriterThreadData
const connection = openConnection(path, pagesMax === undefined ? {} : { pagesMax })
const booking = new Booking(connection)
let isBroken = false

port.on('message', (message: ToWriter) => {
  switch (message.kind) {
    case 'settle':
      send(settle(message.records))
      break
    case 'ask':
      if (message.question.kind === 'usage')
        void answerUsage(message.id, message.question).then(send)
      else send(answer(message.id, message.question))
      break
    case 'close':
      connection.close()
      send({ kind: 'closed' })
      port.close()
      break
  }
})
send({ kind: 'ready' })

function settle(records: readonly ExchangeRecord[]): FromWriter {
  if (isBroken) {
    const error = new GatewayError('ledger.unavailable', 'The store failed and has to be reopened.')
    return { kind: 'not_settled', fault: 'broken', error }
  }
  try {
    return { kind: 'settled', booked: book(records) }
  } catch (thrown) {
    const error = asError(thrown)
    const fault = connection.isInTransaction ? 'broken' : faultOf(error)
    isBroken = fault === 'broken'
    return { kind: 'not_settled', fault, error }
  }
}

function book(records: readonly ExchangeRecord[]): Booked {
  try {
    return booking.book(records)
  } catch (error) {
    if (!isRefusal(asError(error))) throw error
    return booking.bookOneByOne(records, isRefusal)
  }
}

/** The store has nothing against working, only against this record. */
function isRefusal(error: Error): boolean {
  return faultOf(error) === 'statement' && !connection.isInTransaction
}

/** Answered within the message, so that figures are never older than a commit answered before. */
function answer(id: number, question: Exclude<Question, { kind: 'usage' }>): FromWriter {
  try {
    const value =
      question.kind === 'load'
        ? loadAccount(connection, question.accountId, question.atMs)
        : loadFacts(connection, question.accountIds)
    return { kind: 'answer', id, value }
  } catch (error) {
    return noAnswer(id, error)
  }
}

async function answerUsage(id: number, question: UsageQuestion): Promise<FromWriter> {
  try {
    const reader = {
      query: async (sql: string, values?: readonly SqlValue[]) => connection.all(sql, values),
    }
    return { kind: 'answer', id, value: await readUsage(reader, question) }
  } catch (error) {
    return noAnswer(id, error)
  }
}

function noAnswer(id: number, thrown: unknown): FromWriter {
  const error = asError(thrown)
  return { kind: 'no_answer', id, fault: faultOf(error), error }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('the writer thread failed', { cause: thrown })
}

function send(message: FromWriter): void {
  port.postMessage(message)
}
