/**
 * `GET /v1/usage`: balance, limits and usage of an account, for its read-only token. The specification
 * fixes the fields; all are always present. They are the ledger's at this moment.
 */
import { presentedSecret, type Authenticate } from '../access/authenticate.ts'
import type { Clock } from '../base/clock.ts'
import { refuse, type Refusal } from '../base/errors.ts'
import type { IncomingRequest } from '../http/server/request.ts'
import { jsonReply, sendReply } from '../http/server/reply.ts'
import type { ResponseWriter } from '../http/server/response-writer.ts'
import type { Ledger, UsagePeriod } from '../ledger/ledger.ts'
import { usageAnswer, type UsageAnswer } from '../operations/reports/usage.ts'
import { namedReply, refusalReply } from './refusal-reply.ts'
import { misplacedParameter } from './usage/parameters.ts'

export interface UsageApiParts {
  readonly clock: Clock
  readonly authenticate: Authenticate
  readonly ledger: Ledger
}

export async function serveUsage(
  request: IncomingRequest,
  response: ResponseWriter,
  query: string,
  parts: UsageApiParts,
): Promise<void> {
  const answer = await readUsage(request, query, parts)
  if ('code' in answer) return sendReply(request, response, refusalReply(answer, parts.clock))
  const vary = ['vary', 'authorization, x-api-key, api-key']
  sendReply(request, response, namedReply(jsonReply(200, answer, vary), parts.clock))
}

async function readUsage(
  request: IncomingRequest,
  query: string,
  parts: UsageApiParts,
): Promise<UsageAnswer | Refusal> {
  const nowMs = parts.clock.now()
  const caller = { address: request.clientAddress, nowMs }
  const principal = await parts.authenticate(presentedSecret(request.fields), 'reader', caller)
  if (principal.kind === 'refusal') return principal
  request.place.showKey()
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refuse('http.method_not_allowed', 'Use GET here.', { allow: 'GET, HEAD' })
  const misplaced = misplacedParameter(query, '/v1/usage', ['period'])
  if (misplaced !== undefined) return misplaced
  const period = readPeriod(query)
  if (period === undefined)
    return refuse(
      'api.request_invalid',
      'period must be day, month or total, and may be given once.',
    )
  if (!parts.ledger.isAvailable())
    return refuse('ledger.unavailable', 'The ledger is unavailable. Try again shortly.')
  const usage = await parts.ledger.usage(principal.accountId, period, nowMs)
  if (usage === undefined)
    return refuse('access.account_suspended', 'This account no longer exists.')
  return usageAnswer(usage, period)
}

/** Reads the period; the current day by default. Undefined for other words, or for two values. */
function readPeriod(query: string): UsagePeriod | undefined {
  const given = new URLSearchParams(query).getAll('period')
  if (given.length === 0) return 'day'
  const [period] = given
  if (given.length > 1) return undefined
  return period === 'day' || period === 'month' || period === 'total' ? period : undefined
}
