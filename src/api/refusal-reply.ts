/**
 * What our own endpoints answer with, outside any vendor's format;
 * their errors are `{"error":{"type","message"}}`.
 */
import type { Clock } from '../base/clock.ts'
import { errorCatalogue, type Refusal } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { exchangeIdHeader } from '../http/headers.ts'
import { jsonReply, type Reply } from '../http/reply.ts'

export function refusalReply(refusal: Refusal, clock: Clock): Reply {
  const { status } = errorCatalogue[refusal.code]
  const headers: string[] = []
  if (status === 401) headers.push('www-authenticate', 'Bearer')
  for (const [name, value] of Object.entries(refusal.headers ?? {})) headers.push(name, value)
  return namedReply(
    jsonReply(status, { error: { type: refusal.code, message: refusal.message } }, headers),
    clock,
  )
}

/** The same reply with an id of its own, as every response carries one. */
export function namedReply(reply: Reply, clock: Clock): Reply {
  return { ...reply, headers: [...reply.headers, exchangeIdHeader, newId('ex', clock.now())] }
}
