/**
 * Whose fault an error of a vendor is, by its status alone. Both formats agree on this much; each
 * one's errors.ts knows its vendor's codes and words, and asks here where they say nothing.
 */
import type { UpstreamAnswerHead, UpstreamFault, VendorError } from './format.ts'
import { hasEnvelope } from './vendor-error.ts'

/** `missing` judges a 404 that came in an envelope: the formats tell a model from a path differently. */
export function faultOfStatus(
  head: UpstreamAnswerHead,
  error: VendorError,
  missing: (error: VendorError) => UpstreamFault,
): UpstreamFault {
  const { status } = head
  switch (status) {
    case 401:
    case 402:
    case 405:
    case 407:
      return 'config'
    case 403:
      // A page instead of an envelope comes from a filter in front of the vendor, not from a key.
      return hasEnvelope(error) ? 'config' : 'hard'
    case 404:
      // Whether the model, the path or the request is meant, only its words could tell.
      if (error.isUnread === true) return 'hard'
      // No envelope: the channel's address leads past the vendor's API.
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
      return head.headers['retry-after'] === undefined ? 'hard' : 'throttle'
    default:
      return status >= 400 && status < 500 ? 'client' : 'hard'
  }
}

/** The same for a request to count tokens, which a vendor need not offer: its address is right then. */
export function faultOfCounting(fault: UpstreamFault, status: number): UpstreamFault {
  const isMissing = status === 405 || status === 501 || (status === 404 && fault === 'config')
  return isMissing ? 'not_offered' : fault
}

/** The fault of an error event: the vendor had taken the request, so it is no 500 to repeat at once. */
export function faultOfEvent(fault: UpstreamFault): UpstreamFault {
  return fault === 'lone_500' ? 'hard' : fault
}

const pathMessage = /^(?:not found\.?$|invalid url|unknown (?:request )?(?:url|path))/i

/** Whether a 404 is about the path: the channel's address is wrong. */
export function isAboutPath(error: VendorError): boolean {
  return pathMessage.test(error.message ?? '')
}

/** An apostrophe within a word opens nothing. */
const quotedText = /`[^`]*`|"[^"]*"|(?<!\w)'[^']*'/g

/** Whether its own words name a model; what it quotes may be anything that the client sent. */
export function isAboutModel(error: VendorError): boolean {
  return /\bmodel\b/i.test((error.message ?? '').replaceAll(quotedText, ''))
}
