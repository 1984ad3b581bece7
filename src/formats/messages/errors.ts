/**
 * Errors of the messages format, both ways: whose fault a vendor's error is, and how an error of
 * ours looks. It decides nothing about what happens next; relay/verdict.ts does.
 *
 * The vendor asks to go by `details.error_code` rather than by wording; wording is matched only for
 * the account's own troubles that come without a code.
 */
import type { ErrorToShow, UpstreamAnswerHead, UpstreamFault, VendorError } from '../format.ts'
import { asObject, parseJson } from '../json.ts'
import { faultOfEvent, faultOfStatus, isAboutModel, isAboutPath } from '../status-fault.ts'

/** The operator's account, money or keys: nothing a client can mend. */
const accountCodes: ReadonlySet<string> = new Set([
  'cmek_key_disabled',
  'cmek_key_network_blocked',
  'claude_code_key_creator_not_member',
  'contract_spend_limit_reached',
  'enforced_spend_limit_reached',
  'organization_on_hold',
])

/**
 * How the vendor's own messages begin. Others quote what the client sent, words of its choice among
 * them: behind words of the vendor's, or as a field's name with a colon behind it. So the beginning
 * counts, and only where no colon sets it apart from what is said about it (a time of day has no space).
 */
const accountMessage =
  /^(?:Your credit balance is too low|You have reached your specified (?:workspace )?API usage limits)\b(?!.*:\s)/is

export function classifyMessages(head: UpstreamAnswerHead, error: VendorError): UpstreamFault {
  const { status } = head
  if (status >= 400 && status < 500 && isAccountTrouble(error)) return 'config'
  if (error.type === 'overloaded_error' && status >= 500) return 'throttle'
  return faultOfStatus(head, error, faultOfMissing)
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
  return { fault: faultOfEvent(classifyMessages({ status, headers: {} }, error)), status }
}

function isAccountTrouble(error: VendorError): boolean {
  if (error.type === 'billing_error') return true
  const code = error.code ?? ''
  if (accountCodes.has(code) || code.startsWith('linked_organization_')) return true
  return accountMessage.test(error.message ?? '')
}

function faultOfMissing(error: VendorError): UpstreamFault {
  const namesModel = error.code === 'model_not_found'
  if (error.code !== undefined && !namesModel) return 'client'
  if (isAboutPath(error)) return 'config'
  return namesModel || isAboutModel(error) ? 'model_missing' : 'client'
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

/** Clients look for the id in the header and in the body, and are to find one. */
export function messagesBodyOfEvent(envelope: Buffer, requestId: string): Buffer {
  const payload = asObject(parseJson(envelope.toString('utf8')))
  if (payload === undefined || payload['request_id'] === requestId) return envelope
  return Buffer.from(JSON.stringify({ ...payload, request_id: requestId }))
}

/** The cut may lie inside a frame, so a blank line closes whatever stands open. */
export function messagesErrorEvent(error: ErrorToShow): Buffer {
  return Buffer.from(`\n\nevent: error\ndata: ${errorJson(error)}\n\n`)
}
