/**
 * Response headers as real vendors send them, those included that speak of the operator's own
 * account: a gateway must strip them, and can only be seen to if they are there.
 */
import type { FormatName } from '../formats/format.ts'

/** Values that belong to the simulated operator and must never reach a gateway's client. */
export const operatorIdentifiers = {
  organization: 'org-sandbox-operator-7f3a',
  organizationId: '5b1d7c52-0f7e-4a55-9a3e-sandboxorg01',
  workspace: 'wrkspc_sandbox_operator_01',
  project: 'proj_sandbox_operator_01',
  cookie: '__cf_bm=sandbox-operator-cookie',
} as const

const edgeHeaders: readonly string[] = [
  'server',
  'cloudflare',
  'cf-ray',
  '8f00ba12ac0ffee0-ZRH',
  'cf-cache-status',
  'DYNAMIC',
  'set-cookie',
  `${operatorIdentifiers.cookie}; path=/; HttpOnly; Secure`,
  'set-cookie',
  '_cfuvid=sandbox-operator-visitor; path=/; HttpOnly; Secure',
  'strict-transport-security',
  'max-age=31536000; includeSubDomains; preload',
  'alt-svc',
  'h3=":443"; ma=86400',
  'via',
  '1.1 sandbox-edge',
  'nel',
  '{"report_to":"cf-nel","max_age":604800}',
  'report-to',
  '{"group":"cf-nel","max_age":604800,"endpoints":[]}',
  'x-content-type-options',
  'nosniff',
]

const messagesHeaders: readonly string[] = [
  'anthropic-organization-id',
  operatorIdentifiers.organizationId,
  'anthropic-workspace-id',
  operatorIdentifiers.workspace,
  'anthropic-ratelimit-requests-limit',
  '4000',
  'anthropic-ratelimit-requests-remaining',
  '3999',
  'anthropic-ratelimit-requests-reset',
  '2026-11-21T00:00:00Z',
  'anthropic-ratelimit-tokens-limit',
  '480000',
  'anthropic-ratelimit-tokens-remaining',
  '479000',
  'anthropic-ratelimit-tokens-reset',
  '2026-11-21T00:00:00Z',
  'anthropic-ratelimit-unified-status',
  'allowed',
  'anthropic-priority-input-tokens-limit',
  '10000',
  'anthropic-fast-input-tokens-limit',
  '10000',
  ...edgeHeaders,
]

const chatHeaders: readonly string[] = [
  'openai-organization',
  operatorIdentifiers.organization,
  'openai-project',
  operatorIdentifiers.project,
  'openai-processing-ms',
  '12',
  'openai-version',
  '2020-10-01',
  'x-ratelimit-limit-requests',
  '10000',
  'x-ratelimit-limit-tokens',
  '2000000',
  'x-ratelimit-remaining-requests',
  '9999',
  'x-ratelimit-remaining-tokens',
  '1999000',
  'x-ratelimit-reset-requests',
  '6ms',
  'x-ratelimit-reset-tokens',
  '0s',
  ...edgeHeaders,
]

interface HeaderSubject {
  readonly format: FormatName
  readonly index: number
}

export function vendorRequestId({ format, index }: HeaderSubject): string {
  const number = String(index).padStart(12, '0')
  return format === 'messages' ? `req_011sandbox${number}` : `req_sandbox${number}`
}

export function vendorHeaders(subject: HeaderSubject, contentType: string): readonly string[] {
  const id = vendorRequestId(subject)
  return subject.format === 'messages'
    ? ['content-type', contentType, 'request-id', id, ...messagesHeaders]
    : ['content-type', contentType, 'x-request-id', id, ...chatHeaders]
}

export function streamHeaders(subject: HeaderSubject): readonly string[] {
  return [
    ...vendorHeaders(subject, 'text/event-stream; charset=utf-8'),
    'cache-control',
    'no-cache',
  ]
}

/** A copy with one header set; an undefined value removes it. */
export function withHeader(
  headers: readonly string[],
  name: string,
  value: string | undefined,
): readonly string[] {
  const result: string[] = []
  for (let index = 0; index < headers.length; index += 2) {
    const present = headers[index] ?? ''
    if (present !== name) result.push(present, headers[index + 1] ?? '')
  }
  if (value !== undefined) result.push(name, value)
  return result
}
