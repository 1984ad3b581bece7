/**
 * The one error class, the catalogue of public codes, and invariants. A code is stable and is part
 * of the product (docs/errors.md lists each); the HTTP status belongs to the code. How an error
 * looks on the wire is the business of the format that was called, not of this file.
 */

/** Who has to act for the error to go away. */
export type ErrorOrigin = 'client' | 'account' | 'gateway' | 'upstream'

interface ErrorFact {
  readonly status: number
  readonly origin: ErrorOrigin
}

export const errorCatalogue = {
  'access.credential_invalid': { status: 401, origin: 'client' },
  'access.credential_wrong_kind': { status: 403, origin: 'client' },
  'access.address_not_allowed': { status: 403, origin: 'client' },
  'access.account_suspended': { status: 403, origin: 'account' },
  'access.model_not_allowed': { status: 403, origin: 'client' },
  'access.rate_limited': { status: 429, origin: 'account' },
  'access.too_many_running': { status: 429, origin: 'account' },
  'http.malformed': { status: 400, origin: 'client' },
  'http.not_found': { status: 404, origin: 'client' },
  'http.method_not_allowed': { status: 405, origin: 'client' },
  'http.body_timeout': { status: 408, origin: 'client' },
  'http.body_too_large': { status: 413, origin: 'client' },
  'http.unsupported_media_type': { status: 415, origin: 'client' },
  'http.head_too_large': { status: 431, origin: 'client' },
  'relay.request_invalid': { status: 400, origin: 'client' },
  'relay.model_unknown': { status: 404, origin: 'client' },
  'relay.not_offered': { status: 404, origin: 'client' },
  'relay.no_channel_available': { status: 503, origin: 'gateway' },
  'relay.overloaded': { status: 503, origin: 'gateway' },
  'relay.shutting_down': { status: 503, origin: 'gateway' },
  'relay.upstream_failed': { status: 502, origin: 'upstream' },
  'relay.upstream_timeout': { status: 504, origin: 'upstream' },
  'relay.upstream_throttled': { status: 429, origin: 'upstream' },
  'ledger.insufficient_balance': { status: 402, origin: 'account' },
  'ledger.balance_held': { status: 402, origin: 'account' },
  'ledger.daily_limit_reached': { status: 429, origin: 'account' },
  'ledger.unavailable': { status: 503, origin: 'gateway' },
  'api.request_invalid': { status: 400, origin: 'client' },
  'operations.invalid': { status: 400, origin: 'client' },
  'operations.not_found': { status: 404, origin: 'client' },
  'operations.conflict': { status: 409, origin: 'client' },
  'gateway.internal': { status: 500, origin: 'gateway' },
} as const satisfies Record<string, ErrorFact>

export type ErrorCode = keyof typeof errorCatalogue

/**
 * An expected "no" as a value: what to answer and why. `message` is public: it says what is wrong
 * and what to do, and never holds a secret, an upstream address or a stack.
 */
export interface Refusal {
  readonly kind: 'refusal'
  readonly code: ErrorCode
  readonly message: string
  /** Response headers that belong to this answer, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Facts for programs, where the format called has a place for them. */
  readonly details?: Readonly<Record<string, unknown>>
}

export function refuse(
  code: ErrorCode,
  message: string,
  headers?: Readonly<Record<string, string>>,
): Refusal {
  return headers === undefined
    ? { kind: 'refusal', code, message }
    : { kind: 'refusal', code, message, headers }
}

/** A fault, not an outcome. Outcomes are values; only faults are thrown. */
export class GatewayError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly origin: ErrorOrigin

  constructor(code: ErrorCode, publicMessage: string, options?: { cause?: unknown }) {
    super(publicMessage, options)
    this.name = 'GatewayError'
    this.code = code
    this.status = errorCatalogue[code].status
    this.origin = errorCatalogue[code].origin
  }
}

/** What to answer where a fault has ended a request; the fault itself is for the operator. */
export function refusalOfFault(fault: unknown): Refusal {
  return fault instanceof GatewayError && fault.code === 'ledger.unavailable'
    ? refuse(fault.code, 'The gateway cannot reach its store right now. Try again shortly.', {
        'retry-after': '5',
      })
    : refuse('gateway.internal', 'The gateway made a mistake. It has been noted.')
}

/** Thrown where the program contradicts itself: a programmer's error, never a caller's. */
export class InvariantError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'InvariantError'
  }
}

/** Asserts what must always be true. The message is for developers and holds no data of a client. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}
