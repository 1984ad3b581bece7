/**
 * What every operation is given: the store, the time, who acts, and the few outside facts some of
 * them need. Operations know no HTTP and no command line; each validates its input itself, so that
 * command line, admin API and console can pass on what they were given.
 */
import type { Clock } from '../base/clock.ts'
import { GatewayError } from '../base/errors.ts'
import type { Secret } from '../base/secret.ts'
import type { Database } from '../storage/database.ts'
import type { z } from 'zod'

export interface OperationContext {
  readonly database: Database
  readonly clock: Clock
  /** Who acts, for the operator's log: `cli:<login>` or the id of an admin token. */
  readonly actor: string
  /** The key that seals vendor credentials; asked for only when one is sealed or opened. */
  readonly masterKey: () => Secret
  /** Variables of the process, for credentials written as `env:NAME`. */
  readonly environment: (name: string) => string | undefined
}

/**
 * Reads an operation's input by its schema. All mistakes are reported in one error, each with the
 * name of the field it belongs to.
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  const mistakes = parsed.error.issues.map((issue) => {
    const field = issue.path.join('.')
    return field === '' ? issue.message : `${field}: ${issue.message}`
  })
  throw new GatewayError('operations.invalid', mistakes.join('; '))
}

export function invalid(message: string): GatewayError {
  return new GatewayError('operations.invalid', message)
}

export function notFound(message: string): GatewayError {
  return new GatewayError('operations.not_found', message)
}

export function conflict(message: string): GatewayError {
  return new GatewayError('operations.conflict', message)
}
