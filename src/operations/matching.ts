/** Changes only what is as its caller has read it, decided in the transaction of the change. */
import type { Transaction } from '../storage/database.ts'
import { preconditionFailed, type OperationContext } from './operation.ts'

/** `isAsRead` reads in the transaction; where it is false, nothing changes. */
export function matching(
  context: OperationContext,
  isAsRead: (inside: OperationContext) => Promise<boolean>,
): OperationContext {
  const { database } = context
  return {
    ...context,
    database: {
      dialect: database.dialect,
      query: (sql, parameters) => database.query(sql, parameters),
      snapshot: (work) => database.snapshot(work),
      transact: (work) =>
        database.transact(async (transaction) => {
          if (!(await isAsRead(insideOf(context, transaction)))) throw preconditionFailed()
          return work(transaction)
        }),
      close: () => database.close(),
    },
  }
}

/** The context of reads inside a transaction. */
function insideOf(context: OperationContext, transaction: Transaction): OperationContext {
  const { database } = context
  const query: Transaction['query'] = (sql, parameters) => transaction.query(sql, parameters)
  return {
    ...context,
    database: {
      dialect: database.dialect,
      query,
      snapshot: (work) => work({ query }),
      transact: (work) => work(transaction),
      close: () => database.close(),
    },
  }
}
