/**
 * Makes the context that operations run in, and contexts that differ from another one in their database. What
 * a program does not give, it does not have: an operation that needs it fails instead of guessing.
 */
import { systemClock } from '../base/clock.ts'
import { InvariantError } from '../base/errors.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { noCheck } from './channels/run-check.ts'
import type { OperationContext } from './operation.ts'

/** By default nothing opens credentials or sends checks, and there are no variables. */
export function contextOn(
  database: Database,
  given: Pick<OperationContext, 'actor'> & Partial<OperationContext>,
): OperationContext {
  return {
    database,
    clock: systemClock,
    masterKey() {
      throw new InvariantError('no credential is sealed or opened here')
    },
    environment: () => undefined,
    runCheck: noCheck,
    ...given,
  }
}

/** Returns the context with other methods of its database; those that are not given stay. */
export function withDatabase(
  context: OperationContext,
  changed: Partial<Database>,
): OperationContext {
  const { database } = context
  return {
    ...context,
    database: {
      dialect: database.dialect,
      query: (sql, parameters) => database.query(sql, parameters),
      snapshot: (work) => database.snapshot(work),
      transact: (work) => database.transact(work),
      close: () => database.close(),
      ...changed,
    },
  }
}

/** Returns the context of operations that are parts of this transaction: all of them happen, or none. */
export function insideTransaction(
  context: OperationContext,
  transaction: Transaction,
): OperationContext {
  return withDatabase(context, {
    query: (sql, parameters) => transaction.query(sql, parameters),
    snapshot: (work) => work(transaction),
    transact: (work) => work(transaction),
  })
}
