/**
 * Errors of the admin API: problem details (RFC 9457). `code` is the stable error code, `errors` names the
 * fields that are wrong.
 */
import { STATUS_CODES } from 'node:http'
import { errorCatalogue } from '../../base/error-catalogue.ts'
import type { Refusal } from '../../base/errors.ts'
import { isObject } from '../../base/object.ts'
import type { OperationRefusal } from '../../operations/operation.ts'

export const problemType = 'application/problem+json'

export interface Problem {
  readonly type: 'about:blank'
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly request_id: string
  readonly errors?: readonly { readonly field: string; readonly message: string }[]
  /** Mistakes in a file, with their lines. */
  readonly mistakes?: readonly unknown[]
  /** What others have changed since the revision that a change of the catalogue names. */
  readonly changes?: readonly unknown[]
  /** What came back of the request with a new credential. */
  readonly test?: object
}

export function problemOf(refusal: Refusal | OperationRefusal, requestId: string): Problem {
  const { status } = errorCatalogue[refusal.code]
  const fields = 'fields' in refusal ? refusal.fields : undefined
  const { mistakes, changes, test } = refusal.details ?? {}
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: refusal.message,
    code: refusal.code,
    request_id: requestId,
    ...(fields !== undefined && { errors: fields }),
    ...(Array.isArray(mistakes) && { mistakes }),
    ...(Array.isArray(changes) && { changes }),
    ...(isObject(test) && { test }),
  }
}
