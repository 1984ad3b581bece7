/** A store that nobody has made yet, for a look at what would be: it holds nothing and takes nothing. */
import { InvariantError } from '../base/errors.ts'
import type { Database, Queryable } from './database.ts'

const nothing: Queryable = { query: () => Promise.resolve([]) }

export const emptyDatabase: Database = {
  dialect: 'sqlite',
  ...nothing,
  snapshot: (work) => work(nothing),
  transact: () => Promise.reject(new InvariantError('a store that is not there cannot be written')),
  close: () => Promise.resolve(),
}
