/**
 * The names of header fields that the gateway knows, each with a number. A head is read with numbers from its
 * parser on: comparing two numbers costs a fraction of comparing names. Any other name has the number 0 and
 * stays what it is, a text. Pure.
 */

/** The number of each name that is not in the table. */
export const otherName = 0

/** The first ones say where a message ends and how long its connection lasts. */
const table = `
  host expect connection keep-alive content-type content-length transfer-encoding
  accept accept-encoding accept-language alpha-version allow alt-svc anthropic-beta
  anthropic-dangerous-direct-browser-access anthropic-fast-input-tokens-limit
  anthropic-organization-id anthropic-priority-input-tokens-limit anthropic-ratelimit-requests-limit
  anthropic-ratelimit-requests-remaining anthropic-ratelimit-requests-reset
  anthropic-ratelimit-tokens-limit anthropic-ratelimit-tokens-remaining
  anthropic-ratelimit-tokens-reset anthropic-user-profile-id anthropic-version
  anthropic-workspace-id api-key authorization baggage cache-control cdn-loop cf-cache-status
  cf-connecting-ip cf-ray content-encoding cookie date etag forwarded http2-settings
  idempotency-key if-none-match nel openai-beta openai-model openai-organization
  openai-processing-ms openai-project openai-version origin pragma proxy-authorization
  proxy-connection priority ratelimit referer report-to request-id retry-after retry-after-ms
  sec-fetch-dest sec-fetch-mode sec-fetch-site server server-timing session-id session_id
  set-cookie strict-transport-security te traceparent tracestate trailer upgrade user-agent vary
  via x-accel-buffering x-api-key x-app x-claude-code-session-id x-client-request-id
  x-content-type-options x-envoy-upstream-service-time x-forwarded-for x-forwarded-host
  x-forwarded-proto x-ratelimit-limit-requests x-ratelimit-limit-tokens
  x-ratelimit-remaining-requests x-ratelimit-remaining-tokens x-ratelimit-reset-requests
  x-ratelimit-reset-tokens x-real-ip x-request-id x-robots-tag x-session-affinity x-should-retry
  x-stainless-arch x-stainless-async x-stainless-helper-method x-stainless-lang x-stainless-os
  x-stainless-package-version x-stainless-raw-response x-stainless-retry-count
  x-stainless-runtime x-stainless-runtime-version x-stainless-timeout x-turnpike-label
`

/** By number, in lower case. */
export const fieldNames: readonly string[] = ['', ...table.trim().split(/\s+/)]

const numbers: ReadonlyMap<string, number> = new Map(
  fieldNames.map((name, number) => [name, number]),
)

/** Takes a name in lower case. */
export function numberOf(name: string): number {
  return numbers.get(name) ?? otherName
}

const keptLengthMax = 64
const spellingsPerLengthMax = 16

/** Spellings of one length with the numbers of their names: `User-Agent`. */
interface SameLength {
  readonly spellings: string[]
  readonly numbers: number[]
  /** Where the next one goes: a peer that invents names replaces the oldest. */
  next: number
}

const known: readonly SameLength[] = Array.from({ length: keptLengthMax + 1 }, () => ({
  spellings: [],
  numbers: [],
  next: 0,
}))

const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Returns true for a field name or a method. */
export function isToken(text: string): boolean {
  return tokenPattern.test(text)
}

/**
 * Returns the number of the name in `text` from `from` up to `to`; -1 where it is no name. Finding a known
 * spelling where it stands costs less than slicing it out. A copy is kept: a slice would keep the
 * whole head in memory, credentials included.
 */
export function numberAt(text: string, from: number, to: number): number {
  const sameLength = known[to - from]
  if (sameLength !== undefined) {
    const { spellings, numbers: numbersOf } = sameLength
    for (let index = 0; index < spellings.length; index++)
      if (text.startsWith(spellings[index] ?? '', from)) return numbersOf[index] ?? otherName
  }
  const name = text.slice(from, to)
  if (!isToken(name)) return -1
  const number = numberOf(name.toLowerCase())
  if (sameLength === undefined) return number
  const { next } = sameLength
  sameLength.spellings[next] = Buffer.from(name, 'latin1').toString('latin1')
  sameLength.numbers[next] = number
  sameLength.next = (next + 1) % spellingsPerLengthMax
  return number
}
