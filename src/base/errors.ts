/**
 * Refusals, faults and invariants. Each public error has a code of the catalogue, and so one HTTP status.
 * The called format decides how an error looks on the wire.
 */
import { errorCatalogue, type ErrorOrigin } from './error-catalogue.ts'

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
    : refuse(
        'gateway.internal',
        'The gateway has an internal error and has logged it. Tell its operator the id of this request.',
      )
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
