/**
 * Explains the kept words of a vendor's error in a plain sentence, and chooses the error that says why a
 * request failed. Pure. The words of both formats stand in one table: servers that imitate a format mix them.
 */
import type { RecordedExchange } from '../../ledger/exchange-store.ts'
import type { VendorReason } from '../../ledger/ledger.ts'

/** Codes first: they say more than types. */
export const vendorErrorMeanings = {
  context_length_exceeded: 'The prompt is longer than the model takes.',
  exceed_context_size_error: 'The prompt is longer than the model takes.',
  string_above_max_length: 'A text in the request is longer than the vendor takes.',
  array_above_max_length: 'A list in the request has more items than the vendor takes.',
  empty_array: 'A list in the request is empty where the vendor wants an item.',
  integer_above_max_value: 'A number in the request is higher than the vendor takes.',
  integer_below_min_value: 'A number in the request is lower than the vendor takes.',
  decimal_above_max_value: 'A number in the request is higher than the vendor takes.',
  decimal_below_min_value: 'A number in the request is lower than the vendor takes.',
  invalid_type: 'A field of the request has the wrong type.',
  invalid_value: 'A field of the request has a value that the vendor does not take.',
  missing_required_parameter: 'The request lacks a field that the vendor needs.',
  unknown_parameter: 'The request has a field that the vendor does not know.',
  unsupported_parameter: 'The request has a field that this model does not take.',
  unsupported_value: 'A field of the request has a value that this model does not take.',
  unsupported_file: 'The vendor does not take a file of this kind.',
  invalid_image: 'The vendor cannot read an image of the request.',
  image_parse_error: 'The vendor cannot read an image of the request.',
  invalid_image_url: 'The vendor cannot load an image that the request names.',
  invalid_json_schema: 'A JSON schema in the request is not one that the vendor takes.',
  invalid_function_parameters: "A tool's parameters are not a schema that the vendor takes.",
  invalid_prompt: "The prompt is against the vendor's rules of use.",
  content_filter: "The vendor's content filter stopped the request.",
  content_policy_violation: "The request is against the vendor's rules for content.",
  data_inspection_failed: "The vendor's content filter stopped the request.",
  DataInspectionFailed: "The vendor's content filter stopped the request.",
  previous_response_not_found:
    'The vendor no longer has the earlier answer that the request names.',
  model_not_found:
    "The vendor does not know the model, or the gateway's account there may not use it.",
  insufficient_quota:
    "The credit or the spend limit of the gateway's account at the vendor is used up.",
  billing_hard_limit_reached: "The spend limit of the gateway's account at the vendor is reached.",
  billing_not_active: "The gateway's account at the vendor has no active billing.",
  account_deactivated: "The vendor has closed the gateway's account there.",
  organization_on_hold: "The vendor has put the gateway's account there on hold.",
  invalid_api_key: "The vendor does not accept the gateway's credential.",
  rate_limit_exceeded:
    'The gateway sent more requests or tokens in a minute than the vendor allows.',
  server_is_overloaded: 'The vendor is overloaded.',
  slow_down: 'The vendor is overloaded.',
  invalid_request_error: 'The vendor found a mistake in the request.',
  authentication_error: "The vendor does not accept the gateway's credential.",
  billing_error: "The gateway's account at the vendor has a problem with credit or billing.",
  permission_error: "The gateway's credential may not do this at the vendor.",
  not_found_error: 'The vendor does not have what the request names, such as a model or a file.',
  conflict_error: 'The request clashed with another one at the vendor.',
  request_too_large: 'The request is larger than the vendor takes.',
  rate_limit_error: 'The gateway sent more requests or tokens in a minute than the vendor allows.',
  api_error: 'The vendor had a fault of its own.',
  server_error: 'The vendor had a fault of its own.',
  overloaded_error: 'The vendor is overloaded.',
  service_unavailable_error: 'The vendor is overloaded or out of service.',
  timeout_error: 'The vendor took too long.',
} as const

const meanings: ReadonlyMap<string, string> = new Map(Object.entries(vendorErrorMeanings))

/** Returns sentences about the vendor's words, with the field of the request that it names. */
export function explainVendorError({ type, code, param }: VendorReason): string {
  const known = meanings.get(code ?? '') ?? meanings.get(type ?? '')
  const meaning = known ?? 'The vendor gave only these words; its documentation explains them.'
  return param === null ? meaning : `${meaning} It names the field \`${param}\`.`
}

/** Returns the error of the answer that the client got, or of the last attempt; none after a success. */
export function reasonOfFailure(exchange: RecordedExchange): VendorReason | undefined {
  const { ending, attempts } = exchange
  if (ending === 'completed' || ending === 'client_left') return undefined
  return shownAttempt(exchange)?.reason ?? attempts.findLast(({ reason }) => reason)?.reason
}

/**
 * Returns the vendor's error that the client itself got. With a code the client got an error of the gateway
 * in its place: the vendor's may be about the operator's account.
 */
export function reasonForClient(exchange: RecordedExchange): VendorReason | undefined {
  const { ending, code } = exchange
  const isVendors = ending === 'refused' || ending === 'failed' || ending === 'upstream_cut'
  return isVendors && code === undefined ? shownAttempt(exchange)?.reason : undefined
}

/** The attempt whose answer the client got. */
function shownAttempt({ attempts, channel, status }: RecordedExchange) {
  return attempts.findLast((attempt) => attempt.channel === channel && attempt.status === status)
}
