/** Replies of our own endpoints. Their errors are `{"error":{"type","message","request_id"}}`. */
import type { Clock } from '../base/clock.ts'
import { errorCatalogue } from '../base/error-catalogue.ts'
import type { Refusal } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { exchangeIdHeader, jsonReply, type Reply } from '../http/server/reply.ts'

export function refusalReply(refusal: Refusal, clock: Clock): Reply {
  const { status } = errorCatalogue[refusal.code]
  const headers: string[] = []
  if (status === 401) headers.push('www-authenticate', 'Bearer')
  for (const [name, value] of Object.entries(refusal.headers ?? {})) headers.push(name, value)
  const requestId = newId('ex', clock.now())
  headers.push(exchangeIdHeader, requestId)
  const error = { type: refusal.code, message: refusal.message, request_id: requestId }
  return jsonReply(status, { error }, headers)
}

/** Adds a new exchange id, as every response has one. */
export function namedReply(reply: Reply, clock: Clock): Reply {
  return { ...reply, headers: [...reply.headers, exchangeIdHeader, newId('ex', clock.now())] }
}
