/**
 * Renders our own errors in the called format's shape, with the ids every answer carries. A client's
 * official SDK must be able to read them as it reads the vendor's.
 */
import { errorCatalogue, type Refusal } from '../base/errors.ts'
import type { ErrorToShow, Format } from '../formats/format.ts'
import { exchangeIdHeader } from '../http/headers.ts'
import type { Reply } from '../http/reply.ts'

export function errorToShow(refusal: Refusal, requestId: string): ErrorToShow {
  return {
    code: refusal.code,
    status: errorCatalogue[refusal.code].status,
    message: refusal.message,
    requestId,
    ...(refusal.details === undefined ? {} : { details: refusal.details }),
  }
}

export function errorReply(format: Format, refusal: Refusal, exchangeId: string): Reply {
  const error = errorToShow(refusal, exchangeId)
  const headers = [
    'content-type',
    'application/json',
    'cache-control',
    'no-store',
    exchangeIdHeader,
    exchangeId,
    format.requestIdHeader,
    exchangeId,
  ]
  if (error.status === 401) headers.push('www-authenticate', 'Bearer')
  for (const [name, value] of Object.entries(refusal.headers ?? {})) headers.push(name, value)
  return { status: error.status, headers, body: format.errorBody(error) }
}
