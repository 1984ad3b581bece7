/**
 * The catalogue of public error codes, refusals, faults and invariants. Codes are stable (docs/errors.md
 * lists each), and each has one HTTP status. The called format decides how an error looks on the wire.
 */

/** Who must act to solve the error. */
export type ErrorOrigin = 'client' | 'account' | 'gateway' | 'upstream'

interface ErrorFact {
  readonly status: number
  readonly origin: ErrorOrigin
}

export const errorCatalogue = {
  'access.credential_invalid': { status: 401, origin: 'client' },
  'access.credential_wrong_kind': { status: 403, origin: 'client' },
  'access.address_not_allowed': { status: 403, origin: 'client' },
  'access.role_insufficient': { status: 403, origin: 'client' },
  'access.account_suspended': { status: 403, origin: 'account' },
  'access.account_closed': { status: 403, origin: 'account' },
  'access.model_not_allowed': { status: 403, origin: 'client' },
  'access.rate_limited': { status: 429, origin: 'account' },
  'access.tokens_limited': { status: 429, origin: 'account' },
  'access.too_many_running': { status: 429, origin: 'account' },
  'access.too_many_bytes': { status: 429, origin: 'account' },
  'access.too_many_failed_sign_ins': { status: 429, origin: 'client' },
  'http.malformed': { status: 400, origin: 'client' },
  'http.not_found': { status: 404, origin: 'client' },
  'http.method_not_allowed': { status: 405, origin: 'client' },
  'http.body_timeout': { status: 408, origin: 'client' },
  'http.body_too_large': { status: 413, origin: 'client' },
  'http.unsupported_media_type': { status: 415, origin: 'client' },
  'http.websocket_not_served': { status: 426, origin: 'client' },
  'http.head_too_large': { status: 431, origin: 'client' },
  'relay.request_invalid': { status: 400, origin: 'client' },
  'relay.model_unknown': { status: 404, origin: 'client' },
  'relay.not_offered': { status: 404, origin: 'client' },
  'relay.response_unknown': { status: 404, origin: 'client' },
  'relay.previous_response_unknown': { status: 400, origin: 'client' },
  'relay.item_unknown': { status: 404, origin: 'client' },
  'relay.encrypted_content_unreadable': { status: 400, origin: 'client' },
  'relay.state_unavailable': { status: 400, origin: 'client' },
  'relay.no_channel_available': { status: 503, origin: 'gateway' },
  'relay.overloaded': { status: 503, origin: 'gateway' },
  'relay.shutting_down': { status: 503, origin: 'gateway' },
  'relay.upstream_failed': { status: 502, origin: 'upstream' },
  'relay.answer_too_large': { status: 502, origin: 'gateway' },
  'relay.upstream_timeout': { status: 504, origin: 'upstream' },
  'relay.upstream_throttled': { status: 429, origin: 'upstream' },
  'ledger.insufficient_balance': { status: 402, origin: 'account' },
  'ledger.balance_held': { status: 402, origin: 'account' },
  'ledger.daily_limit_reached': { status: 429, origin: 'account' },
  'ledger.monthly_limit_reached': { status: 429, origin: 'account' },
  'ledger.total_limit_reached': { status: 429, origin: 'account' },
  'ledger.unavailable': { status: 503, origin: 'gateway' },
  'api.request_invalid': { status: 400, origin: 'client' },
  'operations.invalid': { status: 400, origin: 'client' },
  'operations.not_found': { status: 404, origin: 'client' },
  'operations.conflict': { status: 409, origin: 'client' },
  'operations.precondition_failed': { status: 412, origin: 'client' },
  'operations.confirmation_required': { status: 409, origin: 'client' },
  'gateway.internal': { status: 500, origin: 'gateway' },
} as const satisfies Record<string, ErrorFact>

export type ErrorCode = keyof typeof errorCatalogue

/**
 * An expected refusal, as a value. `message` is public: it says what is wrong and what to do, and contains
 * no secret, no upstream address and no stack.
 */
export interface Refusal {
  readonly kind: 'refusal'
  readonly code: ErrorCode
  readonly message: string
  /** Response headers of this refusal, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Facts for programs, where the called format has a place for them. */
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

/** A fault. Expected outcomes are values; only faults are thrown. */
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

/** Returns the answer to a request that a fault has ended; the fault itself goes to the operator. */
export function refusalOfFault(fault: unknown): Refusal {
  return fault instanceof GatewayError && fault.code === 'ledger.unavailable'
    ? refuse(fault.code, 'The gateway cannot reach its store right now. Try again shortly.', {
        'retry-after': '5',
      })
    : refuse('gateway.internal', 'The gateway has an internal error and has logged it. Try again.')
}

/** Thrown where an invariant is broken: a bug in this program, never a caller's error. */
export class InvariantError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'InvariantError'
  }
}

/** Asserts an invariant. The message is for developers and contains no client data. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

/** Why a store is unavailable; docs/operating.md explains each reason. */
export type OutageReason =
  | 'disk_full'
  | 'locked' // another process has locked the store
  | 'unreadable' // the file or its disk has failed

/** The cause of a failure by an unavailable store, somewhere among an error's causes. */
export class StoreOutage extends Error {
  readonly reason: OutageReason

  constructor(reason: OutageReason, cause: Error) {
    super(cause.message, { cause })
    this.name = 'StoreOutage'
    this.reason = reason
  }
}

/** Returns the outage reason among an error's causes, if there is one. */
export function outageReasonOf(error: unknown): OutageReason | undefined {
  for (let at = error; at instanceof Error; at = at.cause)
    if (at instanceof StoreOutage) return at.reason
  return undefined
}
