/**
 * The answers that the gateway writes itself, in the shape of the format that was called: its errors,
 * the model lists from its catalogue, the warm-up call, and the headers with the account's own limits.
 * The official SDKs of a vendor can read all of them. Pure.
 */
import { errorCatalogue } from '../base/error-catalogue.ts'
import { refuse, type ErrorCode, type Refusal } from '../base/errors.ts'
import { findNamedModel } from '../channels/model-names.ts'
import type {
  ErrorToShow,
  Format,
  ForwardedOperation,
  ListedModel,
  Operation,
  StoredOperation,
} from '../formats/format.ts'
import { limitHeaders } from '../formats/rate-headers.ts'
import { exchangeIdHeader, type Reply } from '../http/server/reply.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Identified, Incoming } from './stages.ts'
import { isServed, unlistedModel } from './served-models.ts'

/** The facts that decide how an error looks. */
interface ErrorContext extends Shape {
  /** The answer's request id header, where the vendor has given it. */
  readonly vendorRequestId?: string | undefined
}

export function errorToShow(
  refusal: Refusal,
  { format, exchangeId, vendorRequestId }: ErrorContext,
): ErrorToShow {
  return {
    code: refusal.code,
    status: statusOf(refusal.code, format),
    message: refusal.message,
    exchangeId,
    requestId: vendorRequestId ?? exchangeId,
    ...(refusal.details === undefined ? {} : { details: refusal.details }),
  }
}

/** Returns the status by which clients of a format know an error. */
export function statusOf(code: ErrorCode, format: Format): number {
  return format.statuses[code] ?? errorCatalogue[code].status
}

/** The facts that decide the shape of an answer. */
type Shape = Pick<Incoming, 'format' | 'exchangeId'>

export function errorReply(incoming: Shape, refusal: Refusal): Reply {
  const { format } = incoming
  const error = errorToShow(refusal, incoming)
  const headers = jsonHeaders(incoming)
  if (error.status === 401) headers.push('www-authenticate', 'Bearer')
  for (const [name, value] of Object.entries(refusal.headers ?? {})) headers.push(name, value)
  return { status: error.status, headers, body: format.errorBody(error) }
}

function jsonHeaders({ format, exchangeId }: Shape): string[] {
  const headers = ['content-type', 'application/json', 'cache-control', 'no-store']
  headers.push(exchangeIdHeader, exchangeId, format.requestIdHeader, exchangeId)
  return headers
}

/** A call without a credential, answered without a body. */
export function warmUpReply({ exchangeId }: Incoming): Reply {
  const headers = [exchangeIdHeader, exchangeId, 'cache-control', 'no-store']
  return { status: 200, headers, body: Buffer.alloc(0) }
}

/** `modelId` is the rest of the path as sent: ids contain slashes, and some clients escape them. */
export function ownReply(
  identified: Identified,
  operation: Exclude<Operation, ForwardedOperation | StoredOperation>,
  modelId: string | undefined,
): Reply | Refusal {
  if (operation.kind === 'warm_up') return warmUpReply(identified)
  const asked = modelId === undefined ? undefined : decode(modelId.replace(/\/$/, ''))
  const named = findNamedModel(identified.snapshot, asked ?? '')?.id
  const { query } = identified
  const body = operation.answer(servedModels(identified), { id: named ?? asked, query })
  if (body === undefined) return unlistedModel(identified, asked ?? '')
  if ('kind' in body) return refuse('relay.request_invalid', body.message)
  return { status: 200, headers: jsonHeaders(identified), body }
}

function servedModels(identified: Identified): ListedModel[] {
  const { snapshot, vendor } = identified
  return [...snapshot.models.values()]
    .filter((model) => model.vendor === vendor.name && isServed(identified, model))
    .map(({ id, createdAtMs, maxOutputTokens, maxInputTokens }) => {
      return { id, createdAtMs, maxOutputTokens, maxInputTokens, vendor: vendor.name }
    })
}

function decode(sent: string): string | undefined {
  try {
    return decodeURIComponent(sent)
  } catch {
    // Not a well-formed escape, so it names no model.
    return undefined
  }
}

/**
 * The requests per minute of the account or of the key, whichever has fewer left, as headers, on an answer
 * and on a refusal; empty without a limit.
 */
export function accountLimitHeaders(
  { format, principal }: Identified,
  ledger: Ledger,
  nowMs: number,
): Readonly<Record<string, string>> {
  const room = ledger.headroom(principal)
  if (room === undefined || room.rpmLimit === 0) return {}
  const limit = { limit: room.rpmLimit, remaining: room.rpmRemaining, resetMs: room.rpmResetMs }
  return limitHeaders(format.name, limit, nowMs)
}
