/** Where the store is, as operators write it: `sqlite:PATH` or `postgres://…`. Opens nothing. */
import { GatewayError } from '../base/errors.ts'

export interface SqliteLocation {
  readonly kind: 'sqlite'
  /** As written: relative paths belong to the working directory. */
  readonly path: string
}

export function parseStoreLocation(text: string): SqliteLocation {
  if (/^postgres(ql)?:\/\//.test(text))
    throw new GatewayError(
      'operations.invalid',
      'A store on PostgreSQL is not built in yet; use sqlite:PATH, for example sqlite:./data/turnpike.db.',
    )
  const match = /^sqlite:(?!\/\/)(.+)$/s.exec(text)
  const path = match?.[1]
  if (path === undefined || path.includes('\0') || path === ':memory:')
    throw new GatewayError(
      'operations.invalid',
      'The store is written as sqlite:PATH, for example sqlite:./data/turnpike.db.',
    )
  return { kind: 'sqlite', path }
}
