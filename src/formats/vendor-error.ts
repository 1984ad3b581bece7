/**
 * Reads what an error says, in whichever of the usual envelopes it comes: both vendors' own, and
 * the looser ones of servers that imitate them. It judges nothing; see each format's errors.ts.
 */
import type { VendorError } from './format.ts'
import { asObject, asText, parseJson, type JsonObject } from './json.ts'

const nothingKnown: VendorError = { type: undefined, code: undefined, message: undefined }

/** An event or body that is no JSON at all tells nothing, and so does one without an envelope. */
export const unreadableError = nothingKnown

/** A body that was too large to be kept, or is in a content coding that cannot be undone here. */
export const unreadError: VendorError = { ...nothingKnown, isUnread: true }

/** Ids of accounts at either vendor, and what they show of a key. */
const accountMark = /\b(?:org|proj)[-_][\w-]{8,}|\bwrkspc_\w{4,}|\bsk-[\w*.-]{4,}/i

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const accountWord = '(?:organi[sz]ation|org|workspace|account|project|team)'
/** What may join the two: small words, and signs that end no part of a text; quotes may be beyond ASCII. */
const joining = '(?:[^a-z0-9,.;!?)}\\]]|s(?![a-z])|id|is|uuid|with|named){1,24}'

/**
 * A UUID names an account only right beside a word for one: `organization (5b1d…)`,
 * `"workspace_id":"5b1d…"`, `projects/5b1d…`. Anything else that vendors number so, requests and tool
 * calls among it, is nobody's secret.
 */
const accountUuid = new RegExp(
  `${accountWord}${joining}${uuid}|${uuid}["'\`)>\\]\\s(]{1,3}${accountWord}`,
  'i',
)

/** Whether an error's text names the operator's account at the vendor, which no client is to read. */
export function namesVendorAccount(text: string): boolean {
  return accountMark.test(text) || accountUuid.test(text)
}

export function readErrorBody(body: Buffer): VendorError {
  return readVendorError(parseJson(body.toString('utf8')))
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
  return {
    type: asText(error['type']),
    code: asText(details?.['error_code']) ?? readCode(error['code']),
    message: asText(error['message']),
  }
}

/** Some servers give the HTTP status as a number in `code`. */
function readCode(code: unknown): string | undefined {
  return typeof code === 'number' ? String(code) : asText(code)
}

/** Whether the answer held an error envelope at all, rather than a proxy's page or nothing. */
export function hasEnvelope(error: VendorError): boolean {
  return error.type !== undefined || error.code !== undefined || error.message !== undefined
}
