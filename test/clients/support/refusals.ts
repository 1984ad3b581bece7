/**
 * The gateway's own errors as clients meet them: how each comes about, and what each format must
 * say. Knows no client; a client's suite adds the class its SDK makes of the status.
 */
import type { AccountOptions } from '../../support/accounts.ts'
import { post } from '../../support/http-client.ts'
import { bodyBytesMax, type Caller, type ClientRig } from './client-rig.ts'

export interface RefusalCase {
  readonly name: string
  readonly status: 400 | 401 | 402 | 403 | 404 | 413 | 429 | 503
  /** `error.type` of the messages format. */
  readonly messagesType: string
  /** `error.code` of the chat format. */
  readonly chatCode: string | null
  readonly says: RegExp
  readonly wish?: AccountOptions
  readonly isSuspended?: true
  readonly credential?: 'unknown' | 'reader'
  readonly model?: 'unknown' | 'stranded'
  readonly lacksMaxTokens?: true
  readonly isTooLarge?: true
  readonly hasUsedItsMinute?: true
}

export const refusalCases: readonly RefusalCase[] = [
  {
    name: 'a body without max_tokens',
    status: 400,
    messagesType: 'invalid_request_error',
    chatCode: null,
    says: /max_tokens/,
    lacksMaxTokens: true,
  },
  {
    name: 'a key that does not exist',
    status: 401,
    messagesType: 'authentication_error',
    chatCode: 'invalid_api_key',
    says: /key/,
    credential: 'unknown',
  },
  {
    name: 'an exhausted balance',
    status: 402,
    messagesType: 'billing_error',
    chatCode: 'insufficient_quota',
    says: /balance 0\.0001 USD.*\bmax_(output_)?tokens/,
    wish: { balance_usd: '0.0001' },
  },
  {
    name: 'a suspended account',
    status: 403,
    messagesType: 'permission_error',
    chatCode: 'account_deactivated',
    says: /suspended/,
    isSuspended: true,
  },
  {
    name: 'a read-only token on a model route',
    status: 403,
    messagesType: 'permission_error',
    chatCode: null,
    says: /begins with cr_/,
    credential: 'reader',
  },
  {
    name: 'a model that is not in the catalogue',
    status: 404,
    messagesType: 'not_found_error',
    chatCode: 'model_not_found',
    says: /no-such-model/,
    model: 'unknown',
  },
  {
    name: 'a body that is too large',
    status: 413,
    messagesType: 'request_too_large',
    chatCode: 'request_too_large',
    says: /1048576|1 MiB/,
    isTooLarge: true,
  },
  {
    name: 'the daily limit',
    status: 429,
    messagesType: 'rate_limit_error',
    chatCode: 'insufficient_quota',
    says: /daily limit.*exceeded.*quota will reset at 2026-11-22T00:00:00/,
    wish: { daily_usd: '0.0001' },
  },
  {
    name: 'requests per minute',
    status: 429,
    messagesType: 'rate_limit_error',
    chatCode: 'rate_limit_exceeded',
    says: /1 requests? per minute.*Try again in \d+ s/,
    wish: { rpm: 1 },
    hasUsedItsMinute: true,
  },
  {
    name: 'a model without a channel',
    status: 503,
    messagesType: 'overloaded_error',
    chatCode: 'server_is_overloaded',
    says: /No channel serves this model/,
    model: 'stranded',
  },
]

/** The cases that every retry would only repeat: clients must not retry them. */
export const finalRefusals = refusalCases.filter(
  ({ name }) =>
    name === 'a key that does not exist' ||
    name === 'an exhausted balance' ||
    name === 'the daily limit',
)

/** What a client has to send for the case to come about. */
export interface ArrangedRefusal {
  readonly caller: Caller
  readonly secret: string
  readonly model: string
  readonly content: string
  /** Undefined where the case is its absence. */
  readonly maxTokens: number | undefined
}

export async function arrangeRefusal(
  rig: ClientRig,
  refusal: RefusalCase,
  vendor: 'alpha' | 'beta',
): Promise<ArrangedRefusal> {
  const caller = await rig.caller(refusal.wish)
  if (refusal.isSuspended === true) await rig.suspend(caller)
  if (refusal.hasUsedItsMinute === true) await useUpMinute(rig, caller)
  const secrets = { unknown: 'cr_unknown', reader: caller.token, own: caller.key }
  const models = {
    unknown: 'no-such-model',
    stranded: `stranded-${vendor}-1`,
    own: vendor === 'alpha' ? 'large-1' : 'chat-1',
  }
  return {
    caller,
    secret: secrets[refusal.credential ?? 'own'],
    model: models[refusal.model ?? 'own'],
    content: refusal.isTooLarge === true ? 'x'.repeat(bodyBytesMax + 1) : 'x',
    maxTokens: refusal.lacksMaxTokens === true ? undefined : 200,
  }
}

/** A request that is refused for its body costs nothing and counts toward requests per minute. */
async function useUpMinute(rig: ClientRig, caller: Caller): Promise<void> {
  await post(`${rig.messagesUrl}/v1/messages`, caller.key, {})
}
