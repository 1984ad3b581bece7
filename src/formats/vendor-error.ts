/**
 * Reads a vendor's error from any of the usual envelopes, both vendors' own and the looser ones of servers
 * that imitate them, and classifies it by its status. Both formats agree on this much: errors.ts of each
 * knows its vendor's codes and words, and calls this file where they decide nothing.
 */
import type { VendorError } from './answer.ts'
import type { UpstreamAnswerHead, UpstreamFault } from './format.ts'
import { asObject, asText, type JsonObject, type WantedJson } from './json.ts'
import { beginningOf } from './long-text.ts'

const nothingKnown: VendorError = { type: undefined, code: undefined, message: undefined }

/** An event or body that is not JSON or has no envelope. */
export const unreadableError = nothingKnown

/** A body that was too large to keep, or whose content coding cannot be decoded here. */
export const unreadError: VendorError = { ...nothingKnown, isUnread: true }

/** Account ids of either vendor, and keys as their messages show them. */
const accountMark = /\b(?:org|proj)[-_][\w-]{8,}|\bwrkspc_\w{4,}|\bsk-[\w*.-]{4,}/i

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const accountWord = '(?:organi[sz]ation|org|workspace|account|project|team)'
/** The text that may join the two: small words, and signs that end no clause. Quotes may be beyond ASCII. */
const joining = '(?:[^a-z0-9,.;!?)}\\]]|s(?![a-z])|id|is|uuid|with|named){1,24}'

/**
 * A UUID names an account only right beside a word for one: `organization (5b1d…)`,
 * `"workspace_id":"5b1d…"`, `projects/5b1d…`. Vendors give UUIDs to requests and tool calls too, which are
 * not secret.
 */
const accountUuid = new RegExp(
  `${accountWord}${joining}${uuid}|${uuid}["'\`)>\\]\\s(]{1,3}${accountWord}`,
  'i',
)

/** Returns whether a text names the operator's account at the vendor, which no client may read. */
export function namesVendorAccount(text: string): boolean {
  return accountMark.test(text) || accountUuid.test(text)
}

/** The members that are read of an error. */
export const errorMembers: WantedJson = {
  names: new Set('error type code message param details error_code'.split(' ')),
  textBytesMax: 65_536,
}

export function readVendorError(payload: unknown): VendorError {
  const outer = asObject(Array.isArray(payload) ? payload[0] : payload)
  if (outer === undefined) return nothingKnown
  const inner = asObject(outer['error'])
  if (inner !== undefined) return fromObject(inner)
  const text = asText(outer['error'])
  if (text !== undefined) return { type: undefined, code: undefined, message: text }
  return fromObject(outer)
}

function fromObject(error: JsonObject): VendorError {
  const details = asObject(error['details'])
  const param = asText(error['param'])
  return {
    type: asText(error['type']),
    code: asText(details?.['error_code']) ?? readCode(error['code']),
    message: asText(beginningOf(error['message'])),
    ...(param !== undefined && { param }),
  }
}

/** Some servers put the HTTP status into `code`, as a number. */
function readCode(code: unknown): string | undefined {
  return typeof code === 'number' ? String(code) : asText(code)
}

/** Returns whether the answer had an error envelope, rather than a proxy's page or nothing. */
function hasEnvelope(error: VendorError): boolean {
  return error.type !== undefined || error.code !== undefined || error.message !== undefined
}

/** `missing` classifies a 404 with an envelope: each format tells a model from a path in its own way. */
export function faultOfStatus(
  head: UpstreamAnswerHead,
  error: VendorError,
  missing: (error: VendorError) => UpstreamFault,
): UpstreamFault {
  const { status } = head
  switch (status) {
    case 402:
      return 'no_credit'
    case 401:
    case 405:
    case 407:
      return 'config'
    case 403:
      // Without an envelope it comes from a filter in front of the vendor and says nothing of the key.
      return hasEnvelope(error) ? 'config' : 'hard'
    case 404:
      // Only its text could say whether it means the model, the path or the request.
      if (error.isUnread === true) return 'hard'
      // Without an envelope the channel's address does not lead to the vendor's API.
      return hasEnvelope(error) ? missing(error) : 'config'
    case 408:
    case 409:
      return 'conflict'
    case 429:
    case 529:
      return 'throttle'
    case 500:
      return 'lone_500'
    case 503:
      return head.retryAfter === undefined ? 'hard' : 'throttle'
    default:
      return status >= 400 && status < 500 ? 'client' : 'hard'
  }
}

/** How servers that lack an endpoint begin, beside those that mean the path in any case. */
const endpointMessage =
  /^(?:(?:resource|file|path|page|route|endpoint) not found\.?$|unknown endpoint)/i

/** Adapts the fault for an operation that a vendor need not offer: its absence is no fault of the address. */
export function notOffered(
  fault: UpstreamFault,
  status: number,
  error: VendorError,
): UpstreamFault {
  const isMissing =
    status === 405 ||
    status === 501 ||
    (status === 404 && (fault === 'config' || endpointMessage.test(error.message ?? '')))
  return isMissing ? 'not_offered' : fault
}

/** Adapts the fault for an error event: the vendor had accepted the request, so it is not retried at once. */
export function faultOfEvent(fault: UpstreamFault): UpstreamFault {
  return fault === 'lone_500' ? 'hard' : fault
}

const pathMessage = /^(?:not found\.?$|invalid url|unknown (?:request )?(?:url|path))/i

/** Returns whether a 404 is about the path, that is, the channel's address is wrong. */
export function isAboutPath(error: VendorError): boolean {
  return pathMessage.test(error.message ?? '')
}

/** An apostrophe within a word opens no quotation. */
const quotedText = /`[^`]*`|"[^"]*"|(?<!\w)'[^']*'/g

/** Returns whether the vendor's own words name a model; quoted text may be anything that the client sent. */
export function isAboutModel(error: VendorError): boolean {
  return /\bmodel\b/i.test((error.message ?? '').replaceAll(quotedText, ''))
}
