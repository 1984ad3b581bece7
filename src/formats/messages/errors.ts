/**
 * Errors of the messages format in both directions: classifies a vendor's error, and writes a gateway
 * error. It does not decide what happens next; channels/outcomes.ts does.
 *
 * The vendor recommends `details.error_code` instead of the text; the text is matched only for problems
 * of the operator's account that have no code.
 */
import type { VendorError } from '../answer.ts'
import type { ErrorToShow, EventFault, UpstreamAnswerHead, UpstreamFault } from '../format.ts'
import { asObject, parseJson } from '../json.ts'
import { faultOfEvent, faultOfStatus, isAboutModel, isAboutPath } from '../vendor-error.ts'

/** The operator's account or keys: no client can fix it. */
const accountCodes: ReadonlySet<string> = new Set([
  'cmek_key_disabled',
  'cmek_key_network_blocked',
  'claude_code_key_creator_not_member',
  'organization_on_hold',
])

/** The operator's credit or spend limit is used up. */
const creditCodes: ReadonlySet<string> = new Set([
  'contract_spend_limit_reached',
  'enforced_spend_limit_reached',
  'linked_organization_payment_required',
])

/**
 * The beginning of the vendor's own messages. Other messages quote the client's text, behind words of the
 * vendor or as a field's name with a colon and a space. So only the beginning counts, and only without such a
 * colon (a time of day has no space behind it).
 */
const creditMessage =
  /^(?:Your credit balance is too low|You have reached your specified (?:workspace )?API usage limits)\b(?!.*:\s)/is

/** The beginning of the vendor's messages about a prompt beyond the model's context. */
const contextMessage =
  /^(?:prompt is too long|input length and `max_tokens` exceed context limit)\b/i

export function classifyMessages(head: UpstreamAnswerHead, error: VendorError): UpstreamFault {
  const { status } = head
  if (status >= 400 && status < 500 && lacksCredit(error)) return 'no_credit'
  if (status >= 400 && status < 500 && isAccountProblem(error)) return 'config'
  if (error.type === 'overloaded_error' && status >= 500) return 'throttle'
  if (status === 400 && contextMessage.test(error.message ?? '')) return 'context_too_long'
  return faultOfStatus(head, error, faultOfMissing)
}

/** The status that an error event would have had as an answer. */
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

export function classifyMessagesEvent(error: VendorError): EventFault {
  const status = statusOfType[error.type ?? ''] ?? 502
  return { fault: faultOfEvent(classifyMessages({ status }, error)), status }
}

function lacksCredit({ type, code = '', message = '' }: VendorError): boolean {
  return type === 'billing_error' || creditCodes.has(code) || creditMessage.test(message)
}

function isAccountProblem({ code = '' }: VendorError): boolean {
  return accountCodes.has(code) || code.startsWith('linked_organization_')
}

function faultOfMissing(error: VendorError): UpstreamFault {
  const namesModel = error.code === 'model_not_found'
  if (error.code !== undefined && !namesModel) return 'model_dependent'
  if (isAboutPath(error)) return 'config'
  return namesModel || isAboutModel(error) ? 'model_missing' : 'model_dependent'
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
    // A stream has the vendor's id in its head, and so in `request_id`.
    ...(error.exchangeId !== error.requestId && { turnpike_request_id: error.exchangeId }),
  })
}

export function messagesErrorBody(error: ErrorToShow): Buffer {
  return Buffer.from(errorJson(error))
}

/** Clients read the id from the header or from the body: both must be the same. */
export function messagesBodyOfEvent(envelope: Buffer, requestId: string): Buffer {
  const payload = asObject(parseJson(envelope.toString('utf8')))
  if (payload === undefined || payload['request_id'] === requestId) return envelope
  return Buffer.from(JSON.stringify({ ...payload, request_id: requestId }))
}

/** The stream may have been cut inside a frame: a blank line ends that frame. */
export function messagesErrorEvent(error: ErrorToShow): Buffer {
  return Buffer.from(`\n\nevent: error\ndata: ${errorJson(error)}\n\n`)
}
