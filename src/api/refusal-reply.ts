/**
 * Replies of our own endpoints. Their errors are `{"error":{"type","message","request_id"}}`, with the
 * `fields` of the input that are wrong.
 */
import type { Clock } from '../base/clock.ts'
import { errorCatalogue } from '../base/error-catalogue.ts'
import type { Refusal } from '../base/errors.ts'
import type { OperationRefusal } from '../operations/operation.ts'
import { newId } from '../base/id.ts'
import { exchangeIdHeader, jsonReply, type Reply } from '../http/server/reply.ts'

export function refusalReply(refusal: Refusal | OperationRefusal, clock: Clock): Reply {
  const { status } = errorCatalogue[refusal.code]
  const headers: string[] = []
  if (status === 401) headers.push('www-authenticate', 'Bearer')
  for (const [name, value] of Object.entries(refusal.headers ?? {})) headers.push(name, value)
  const requestId = newId('ex', clock.now())
  headers.push(exchangeIdHeader, requestId)
  const { code: type, message } = refusal
  const fields = 'fields' in refusal ? { fields: refusal.fields } : {}
  const error = { type, message, request_id: requestId, ...fields }
  return jsonReply(status, { error }, headers)
}

/** Adds a new exchange id, as every response has one. */
export function namedReply(reply: Reply, clock: Clock): Reply {
  return { ...reply, headers: [...reply.headers, exchangeIdHeader, newId('ex', clock.now())] }
}
