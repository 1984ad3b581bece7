/** What an answer tells of the account's own limit of requests: on what was admitted, and on its refusal. */
import { limitHeaders } from '../formats/limit-headers.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Identified } from './stages.ts'

/** Empty for an account without such a limit. */
export function ownLimitHeaders(
  { format, principal }: Pick<Identified, 'format' | 'principal'>,
  ledger: Ledger,
  nowMs: number,
): Readonly<Record<string, string>> {
  const room = ledger.headroom(principal.accountId)
  if (room === undefined || room.rpmLimit === 0) return {}
  const limit = { limit: room.rpmLimit, remaining: room.rpmRemaining, resetMs: room.rpmResetMs }
  return limitHeaders(format.name, limit, nowMs)
}
