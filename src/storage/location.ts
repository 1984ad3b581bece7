/** Where the store is, as operators write it: `sqlite:PATH` or `postgres://…`. Opens nothing. */
import { GatewayError } from '../base/errors.ts'
import { parsePostgresUrl, type PostgresLocation } from './postgres-location.ts'

export interface SqliteLocation {
  readonly kind: 'sqlite'
  /** As written: relative paths belong to the working directory. */
  readonly path: string
}

export type StoreLocation = SqliteLocation | PostgresLocation

export function parseStoreLocation(text: string): StoreLocation {
  if (/^postgres(ql)?:\/\//.test(text)) return parsePostgresUrl(text)
  const match = /^sqlite:(?!\/\/)(.+)$/s.exec(text)
  const path = match?.[1]
  if (path === undefined || path.includes('\0') || path === ':memory:')
    throw new GatewayError(
      'operations.invalid',
      'The store is written as sqlite:PATH, for example sqlite:./data/turnpike.db, ' +
        'or as postgres://USER:PASSWORD@HOST/DATABASE.',
    )
  return { kind: 'sqlite', path }
}
