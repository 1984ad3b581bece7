/**
 * Refuses a change of something that has changed since its caller has read it. The transaction of the change
 * decides; for a dry run, the snapshot that it reads.
 */
import { InvariantError } from '../base/errors.ts'
import type { Queryable } from '../storage/database.ts'
import { withDatabase } from './context.ts'
import { preconditionFailed, type OperationContext } from './operation.ts'

/** `isAsRead` reads in the transaction or snapshot; where it is false, nothing changes. */
export function matching(
  context: OperationContext,
  isAsRead: (inside: OperationContext) => Promise<boolean>,
): OperationContext {
  const { database } = context
  const check = async (inside: Queryable): Promise<void> => {
    if (!(await isAsRead(insideOf(context, inside)))) throw preconditionFailed()
  }
  return withDatabase(context, {
    snapshot: (work) =>
      database.snapshot(async (snapshot) => {
        await check(snapshot)
        return work(snapshot)
      }),
    transact: (work) =>
      database.transact(async (transaction) => {
        await check(transaction)
        return work(transaction)
      }),
  })
}

/** The context of reads inside a transaction or a snapshot. */
function insideOf(context: OperationContext, inside: Queryable): OperationContext {
  const query: Queryable['query'] = (sql, parameters) => inside.query(sql, parameters)
  return withDatabase(context, {
    query,
    snapshot: (work) => work({ query }),
    transact: () => Promise.reject(new InvariantError('a read changes nothing')),
  })
}
