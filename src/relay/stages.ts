/**
 * The values the stages of one exchange hand on. Each contains its predecessor, so that a function
 * that needs a hold asks for `Admitted` and cannot be called too early.
 */
import type { Picos } from '../base/money.ts'
import type { Principal } from '../access/principal.ts'
import type { Model, Snapshot, Vendor } from '../channels/channel.ts'
import type { Format, OperationName, RequestFacts } from '../formats/format.ts'
import type { IncomingRequest } from '../http/incoming-request.ts'
import type { ResponseWriter } from '../http/response-writer.ts'
import type { Hold } from '../ledger/ledger.ts'
import type { Prices } from '../metering/price-book.ts'
import type { RequestBody } from './request-body.ts'

/** A request on a vendor's prefix, as accepted from the listener. */
export interface Incoming {
  readonly exchangeId: string
  readonly request: IncomingRequest
  readonly response: ResponseWriter
  readonly snapshot: Snapshot
  readonly vendor: Vendor
  readonly format: Format
  /** Path behind the vendor's prefix, such as `/v1/messages`. */
  readonly path: string
  /** The raw query with its question mark, or empty. */
  readonly query: string
  /** Wall time for records, monotonic time for durations. */
  readonly startedAtMs: number
  readonly startedMonotonicMs: number
}

/** The caller is known. */
export interface Identified extends Incoming {
  readonly kind: 'identified'
  readonly principal: Principal
}

/** The endpoint is known, the body has been read and understood, the model exists and is allowed. */
export interface Prepared extends Identified {
  readonly operation: ForwardedOperation
  readonly model: Model
  readonly prices: Prices
  /** Of other models that the request names to answer or advise. */
  readonly otherPrices: readonly Prices[]
  readonly body: RequestBody
  readonly facts: RequestFacts
}

export type ForwardedOperation = Extract<
  OperationName,
  'messages.create' | 'chat.completions.create' | 'messages.count_tokens'
>

/** Money is set aside (nothing, for a free operation); from here on a settlement is owed. */
export interface Admitted extends Prepared {
  readonly hold: Hold
}

/** What the attempts of an exchange came to and may have cost, told as they happen. */
export interface AttemptNotes {
  count: number
  /** By the exchange's own prices; charged to nobody. */
  operatorCostPicos: Picos
}
