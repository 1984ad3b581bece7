/**
 * Errors of the messages format, both ways: whose fault a vendor's error is, and how an error of
 * ours looks. It decides nothing about what happens next; relay/verdict.ts does.
 *
 * The vendor asks to go by `details.error_code` rather than by wording; wording is matched only for
 * the account's own troubles that come without a code.
 */
import type { ErrorToShow, UpstreamAnswerHead, UpstreamFault, VendorError } from '../format.ts'
import { hasEnvelope } from '../vendor-error.ts'

/** The operator's account, money or keys: nothing a client can mend. */
const accountCodes: ReadonlySet<string> = new Set([
  'cmek_key_disabled',
  'cmek_key_network_blocked',
  'claude_code_key_creator_not_member',
  'contract_spend_limit_reached',
  'enforced_spend_limit_reached',
  'organization_on_hold',
])

const accountMessage = /credit balance is too low|specified (?:workspace )?API usage limits/i
const pathMessage = /^(?:not found\.?$|invalid url|unknown (?:request )?(?:url|path))/i

export function classifyMessages(head: UpstreamAnswerHead, error: VendorError): UpstreamFault {
  const { status } = head
  if (status === 401 || status === 402) return 'config'
  if (status >= 400 && status < 500 && isAccountTrouble(error)) return 'config'
  if (error.type === 'overloaded_error' && status >= 500) return 'throttle'
  switch (status) {
    case 403:
      // A page instead of an envelope comes from a filter in front of the vendor, not from a key.
      return hasEnvelope(error) ? 'config' : 'hard'
    case 404:
      return classifyMissing(error)
    case 405:
    case 407:
      return 'config'
    case 408:
    case 409:
      return 'conflict'
    case 429:
    case 529:
      return 'throttle'
    case 500:
      return 'lone_500'
    case 503:
      return head.headers['retry-after'] === undefined ? 'hard' : 'throttle'
    default:
      return status >= 400 && status < 500 ? 'client' : 'hard'
  }
}

/** The status an error event would have had as an answer of its own. */
const statusOfType: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

export function classifyMessagesEvent(error: VendorError): {
  readonly fault: UpstreamFault
  readonly status: number
} {
  const status = statusOfType[error.type ?? ''] ?? 502
  const fault = classifyMessages({ status, headers: {} }, error)
  // The vendor had accepted the request already; that is no 500 to repeat at once.
  return { fault: fault === 'lone_500' ? 'hard' : fault, status }
}

function isAccountTrouble(error: VendorError): boolean {
  if (error.type === 'billing_error') return true
  const code = error.code ?? ''
  if (accountCodes.has(code) || code.startsWith('linked_organization_')) return true
  return accountMessage.test(error.message ?? '')
}

function classifyMissing(error: VendorError): UpstreamFault {
  // No envelope, or a path the server does not have: the channel's address is wrong.
  if (!hasEnvelope(error)) return 'config'
  const message = error.message ?? ''
  if (error.code !== undefined && error.code !== 'model_not_found') return 'client'
  if (pathMessage.test(message)) return 'config'
  return error.code === 'model_not_found' || /\bmodel\b/i.test(message) ? 'model_missing' : 'client'
}

const typeOfStatus: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

function errorJson(error: ErrorToShow): string {
  const fallback = error.status >= 500 ? 'api_error' : 'invalid_request_error'
  return JSON.stringify({
    type: 'error',
    error: {
      type: typeOfStatus[error.status] ?? fallback,
      message: error.message,
      details: error.details,
    },
    request_id: error.requestId,
  })
}

export function messagesErrorBody(error: ErrorToShow): Buffer {
  return Buffer.from(errorJson(error))
}

/** The cut may lie inside a frame, so a blank line closes whatever stands open. */
export function messagesErrorEvent(error: ErrorToShow): Buffer {
  return Buffer.from(`\n\nevent: error\ndata: ${errorJson(error)}\n\n`)
}
