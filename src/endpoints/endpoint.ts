/**
 * An endpoint of the admin API as data: method, path, role, operation, and the shape of its answer. The
 * API, its OpenAPI document, the command line with `--server` and the tests of every endpoint are made
 * from these rows. A row decides nothing: what an endpoint means is its operation.
 */
import type { z } from 'zod'
import type { Operation } from '../operations/operation.ts'

/** What an admin token may do, each including the one before; docs/admin-api.md has the table. */
type Role = 'viewer' | 'operator' | 'owner'

export interface Endpoint<Value = unknown> {
  /** `area.verb`, unique: the name in the OpenAPI document. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /**
   * Below `/admin/v1`. A name in braces is a field of the operation's input. The other fields are in the
   * query of a GET or DELETE, in the JSON body of any other method.
   */
  readonly path: string
  /** One line, for the document. */
  readonly summary: string
  /** The least role that may call it. */
  readonly role: Role
  readonly operation: Operation<Value>
  /** Fields of the operation's input that this endpoint sets itself. */
  readonly fixed?: Readonly<Record<string, unknown>>
  readonly answer: z.ZodType<Value>
  /** Set where the endpoint takes an `Idempotency-Key`: it moves money or makes a secret. */
  readonly repeats?: 'money' | 'secret'
  /** The answer's status; 200 by default. */
  readonly status?: 201
}

/** Checks that the answer's shape fits the operation. */
export function endpoint<Value>(row: Endpoint<Value>): Endpoint<Value> {
  return row
}
