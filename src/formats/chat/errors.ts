/**
 * Errors of the chat format in both directions: classifies a vendor's error, and writes a gateway error. It
 * does not decide what happens next; channels/outcomes.ts does.
 */
import type { ErrorCode } from '../../base/errors.ts'
import type { VendorError } from '../answer.ts'
import type { ErrorToShow, EventFault, UpstreamAnswerHead, UpstreamFault } from '../format.ts'
import { faultOfEvent, faultOfStatus, isAboutModel, isAboutPath } from '../vendor-error.ts'

/** The operator's account or keys. */
const accountCodes: ReadonlySet<string> = new Set(['account_deactivated'])

/** The operator's credit or spend limit is used up: no client can fix it, and waiting does not help. */
const creditCodes: ReadonlySet<string> = new Set([
  'billing_hard_limit_reached',
  'billing_not_active',
  'credit_balance_exhausted',
  'insufficient_quota',
  'organization_spend_limit_exceeded',
  'organization_usage_limit_exceeded',
  'project_spend_limit_exceeded',
])

/** Out of capacity for now, with any status. */
const overloadCodes: ReadonlySet<string> = new Set([
  'overloaded',
  'overloaded_error',
  'server_is_overloaded',
  'slow_down',
])

/** How servers begin that have no code for a prompt beyond the model's context. */
const contextMessage = /^This (?:model|endpoint)'s maximum context length is\b/i

export function classifyChat(head: UpstreamAnswerHead, error: VendorError): UpstreamFault {
  const { status } = head
  if (status === 401) return 'config'
  if (status >= 400 && status < 500 && isOneOf(accountCodes, error)) return 'config'
  if (status >= 400 && status < 500 && isOneOf(creditCodes, error)) return 'no_credit'
  if (status >= 500 && isOneOf(overloadCodes, error)) return 'throttle'
  if (status >= 400 && status < 500 && error.code === 'model_not_found') return 'model_missing'
  if (status === 400 && isContextTooLong(error)) return 'context_too_long'
  return faultOfStatus(head, error, faultOfMissing)
}

/** The status that an error event would have had as an answer; the code is the best source. */
const statusOfCode: Readonly<Record<string, number>> = {
  bio_policy: 400,
  context_length_exceeded: 400,
  image_content_policy_violation: 400,
  invalid_prompt: 400,
  invalid_request_error: 400,
  misalignment_policy_violation: 400,
  previous_response_not_found: 400,
  invalid_api_key: 401,
  ip_not_authorized: 401,
  mismatched_organization: 401,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  request_forbidden: 403,
  unsupported_country_region_territory: 403,
  model_not_found: 404,
  not_found_error: 404,
  insufficient_quota: 429,
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
  server_error: 500,
  service_unavailable_error: 503,
  timeout_error: 504,
  timeout: 504,
}

export function classifyChatEvent(error: VendorError): EventFault {
  const status = statusOfEvent(error)
  return { fault: faultOfEvent(classifyChat({ status }, error)), status }
}

/** The mistakes in an image that the client has sent or named. */
const imageCode =
  /^(?:(?:invalid|empty|unsupported)_(?:\w+_)?image|image_(?:too|parse|file)_|failed_to_download_image)/

function statusOfEvent(error: VendorError): number {
  if (isOneOf(accountCodes, error) || isOneOf(creditCodes, error)) return 429
  if (error.code === 'slow_down') return 429
  if (isOneOf(overloadCodes, error)) return 503
  if (/^[45]\d\d$/.test(error.code ?? '')) return Number(error.code)
  if (imageCode.test(error.code ?? '')) return 400
  return statusOfCode[error.code ?? ''] ?? statusOfCode[error.type ?? ''] ?? 502
}

function isOneOf(words: ReadonlySet<string>, error: VendorError): boolean {
  return words.has(error.code ?? '') || words.has(error.type ?? '')
}

function isContextTooLong({ type, code, message = '' }: VendorError): boolean {
  if (code === 'context_length_exceeded' || type === 'exceed_context_size_error') return true
  return contextMessage.test(message)
}

function faultOfMissing(error: VendorError): UpstreamFault {
  if (isAboutPath(error)) return 'config'
  return isAboutModel(error) ? 'model_missing' : 'model_dependent'
}

const typeOfStatus: Readonly<Record<number, string>> = {
  403: 'permission_error',
  429: 'rate_limit_error',
  503: 'service_unavailable_error',
  504: 'timeout_error',
  529: 'service_unavailable_error',
}

const noMoney = 'insufficient_quota'

/** The codes that this vendor's clients branch on; other errors have a null code. */
const vendorCodes: Readonly<Partial<Record<ErrorCode, string>>> = {
  'access.credential_invalid': 'invalid_api_key',
  'access.account_suspended': 'account_deactivated',
  'access.account_closed': 'account_deactivated',
  'access.model_not_allowed': 'model_not_allowed',
  'access.rate_limited': 'rate_limit_exceeded',
  'access.tokens_limited': 'rate_limit_exceeded',
  'access.too_many_running': 'rate_limit_exceeded',
  'http.not_found': 'unknown_url',
  'http.body_too_large': 'request_too_large',
  'relay.model_unknown': 'model_not_found',
  'relay.previous_response_unknown': 'previous_response_not_found',
  'relay.encrypted_content_unreadable': 'invalid_encrypted_content',
  'relay.state_unavailable': 'state_unavailable',
  'relay.no_channel_available': 'server_is_overloaded',
  'relay.overloaded': 'server_is_overloaded',
  'relay.upstream_throttled': 'rate_limit_exceeded',
  'ledger.insufficient_balance': noMoney,
  'ledger.balance_held': noMoney,
  'ledger.daily_limit_reached': noMoney,
  'ledger.monthly_limit_reached': noMoney,
  'ledger.total_limit_reached': noMoney,
}

/** The field that such an error is about. */
const vendorParams: Readonly<Partial<Record<ErrorCode, string>>> = {
  'relay.model_unknown': 'model',
  'relay.previous_response_unknown': 'previous_response_id',
  'relay.item_unknown': 'input',
}

/** The error in the vendor's own words for its kind. */
export function errorFields(error: ErrorToShow) {
  const fallback = error.status >= 500 ? 'server_error' : 'invalid_request_error'
  const code = vendorCodes[error.code] ?? null
  return {
    message: error.message,
    // This vendor gives an error about money this code as its type, too.
    type: code === noMoney ? code : (typeOfStatus[error.status] ?? fallback),
    param: vendorParams[error.code] ?? null,
    code,
    // The vendor's clients ignore it.
    request_id: error.exchangeId,
  }
}

function errorJson(error: ErrorToShow): string {
  return JSON.stringify({ error: errorFields(error) })
}

export function chatErrorBody(error: ErrorToShow): Buffer {
  return Buffer.from(errorJson(error))
}

/** The stream may have been cut inside a frame: a blank line ends that frame. */
export function chatErrorEvent(error: ErrorToShow): Buffer {
  return Buffer.from(`\n\ndata: ${errorJson(error)}\n\n`)
}
