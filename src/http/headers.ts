/**
 * Which headers pass the gateway, in both directions: pure functions over flat raw lists as the
 * wire gave them. Lists of what is dropped, not of what is known: an unknown header passes, its name
 * and value untouched. Invariant: no credential, hop-by-hop or address header of one side is ever
 * shown to the other, and what a client nominates in `Connection` cannot change what was judged.
 */
import type { Secret } from '../base/secret.ts'
import { isNamed } from './wire/field-syntax.ts'

/** The header that names the request on every response of the gateway. */
export const exchangeIdHeader = 'x-turnpike-request-id'

export interface RequestForwarding {
  /** The vendor's route prefix; `<prefix>-version` is the specified name of its version header. */
  readonly prefix: string
  readonly credential: { readonly scheme: 'x-api-key' | 'bearer'; readonly secret: Secret }
  /** The vendor's own name of that header, lower-case; undefined where it has none. */
  readonly versionHeader: string | undefined
  readonly defaultVersion: string | undefined
}

/**
 * The headers of the request to a channel, from the client's. The version must have been judged by
 * `findVersionFault` before: here it is only copied, under both names, or the default put in its place.
 */
export function forwardRequestHeaders(
  rawHeaders: readonly string[],
  { prefix, credential, versionHeader, defaultVersion }: RequestForwarding,
): string[] {
  const prefixedName = prefix + '-version'
  const forwarded: string[] = []
  let ownVersion: string | undefined
  let prefixedVersion: string | undefined
  let nominations: string | undefined
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const value = rawHeaders[index + 1] ?? ''
    const treatment = treatRequestHeader(name)
    if (treatment === 'keep') {
      forwarded.push(name, value)
      if (versionHeader === undefined) continue
      if (isNamed(name, versionHeader)) ownVersion = value
      else if (isNamed(name, prefixedName)) prefixedVersion = value
    } else if (treatment === 'nominates' && !isPlainConnection(value)) {
      nominations = nominations === undefined ? value : `${nominations},${value}`
    }
  }
  const kept =
    nominations === undefined
      ? forwarded
      : withoutNominated(forwarded, nominations, ['content-type', prefixedName, versionHeader])
  if (versionHeader !== undefined) {
    const version = ownVersion ?? prefixedVersion
    if (version === undefined) {
      if (defaultVersion !== undefined) kept.push(versionHeader, defaultVersion)
    } else {
      if (ownVersion === undefined) kept.push(versionHeader, version)
      if (prefixedVersion === undefined && prefixedName !== versionHeader)
        kept.push(prefixedName, version)
    }
  }
  kept.push('accept-encoding', 'identity')
  if (credential.scheme === 'bearer')
    kept.push('authorization', `Bearer ${credential.secret.reveal()}`)
  else kept.push('x-api-key', credential.secret.reveal())
  return kept
}

/**
 * What is wrong with the version a client asked for, as a public sentence; undefined when it is one
 * date, however often and under whichever of its names it was sent, or absent.
 */
export function findVersionFault(
  rawHeaders: readonly string[],
  prefix: string,
  versionHeader: string | undefined,
): string | undefined {
  if (versionHeader === undefined) return undefined
  const prefixedName = prefix + '-version'
  let version: string | undefined
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (!isNamed(name, versionHeader) && !isNamed(name, prefixedName)) continue
    const value = rawHeaders[index + 1] ?? ''
    if (!isCalendarDate(value))
      return `The header ${name.toLowerCase()} must be a date of the form YYYY-MM-DD.`
    if (version !== undefined && version !== value)
      return `The headers ${prefixedName} and ${versionHeader} ask for different versions; send one.`
    version = value
  }
  return undefined
}

/**
 * The headers of an answer, from the vendor's. Its framing, `content-length` included, is the
 * writer's business. `date`, `retry-after`, `x-should-retry` and the vendor's request id pass.
 */
export function forwardResponseHeaders(rawHeaders: readonly string[]): string[] {
  const forwarded: string[] = []
  let nominations: string | undefined
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const value = rawHeaders[index + 1] ?? ''
    const treatment = treatResponseHeader(name)
    if (treatment === 'keep') forwarded.push(name, value)
    else if (treatment === 'nominates' && !isPlainConnection(value))
      nominations = nominations === undefined ? value : `${nominations},${value}`
  }
  if (nominations === undefined) return forwarded
  return withoutNominated(forwarded, nominations, ['content-type'])
}

/**
 * How long an answer's `retry-after` makes a client wait, held down to `secondsMax`: clients sleep
 * as long as they are told, and a vendor's rest is over for them as soon as another channel is back.
 */
export function limitRetryAfter(
  headers: readonly string[],
  limits: { readonly secondsMax: number; readonly nowMs: number },
): string[] {
  const { secondsMax, nowMs } = limits
  const limited: string[] = []
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    const value = headers[index + 1] ?? ''
    limited.push(name)
    if (isNamed(name, 'retry-after')) {
      const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - nowMs) / 1_000
      limited.push(seconds <= secondsMax ? value : String(secondsMax))
    } else if (isNamed(name, 'retry-after-ms')) {
      limited.push(Number(value) <= secondsMax * 1_000 ? value : String(secondsMax * 1_000))
    } else limited.push(value)
  }
  return limited
}

/** The headers of an answer whose body is another than the vendor's. */
export function withContentType(headers: readonly string[], contentType: string): string[] {
  const changed: string[] = []
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    if (!isNamed(name, 'content-type')) changed.push(name, headers[index + 1] ?? '')
  }
  changed.push('content-type', contentType)
  return changed
}

/** Nearly every `Connection` header there is; it nominates nothing. */
function isPlainConnection(value: string): boolean {
  return value === 'keep-alive' || value === 'close'
}

/** Drops what `Connection` nominates, but for names whose values the gateway has acted upon. */
function withoutNominated(
  headers: readonly string[],
  nominations: string,
  judged: readonly (string | undefined)[],
): string[] {
  const nominated = new Set(nominations.split(',').map((name) => name.trim().toLowerCase()))
  for (const name of judged) if (name !== undefined) nominated.delete(name)
  const kept: string[] = []
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    if (!nominated.has(name.toLowerCase())) kept.push(name, headers[index + 1] ?? '')
  }
  return kept
}

const monthDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const year = Number(text.slice(0, 4))
  const month = Number(text.slice(5, 7))
  const day = Number(text.slice(8))
  if (day < 1 || day > (monthDays[month - 1] ?? 0)) return false
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return isLeapYear || month !== 2 || day < 29
}

/** Whether a client's header of this name reaches the vendor; others are dropped, or the gateway's own. */
export function isForwarded(name: string): boolean {
  return treatRequestHeader(name) === 'keep'
}

type Treatment = 'keep' | 'drop' | 'nominates'

interface DenyList {
  readonly names: readonly string[]
  readonly prefixes: readonly string[]
}

/** Names a peer could think up are remembered only up to here; more are looked at each time. */
const rememberedNamesMax = 1_024

/**
 * Answers by the name as it was sent, from memory where it can: clients send the same few spellings
 * over and over, and a look-up costs less than lower-casing.
 */
function createTreatment(list: DenyList): (name: string) => Treatment {
  const names = new Set(list.names)
  const remembered = new Map<string, Treatment>()
  return (name) => {
    const known = remembered.get(name)
    if (known !== undefined) return known
    const lowerCase = name.toLowerCase()
    let treatment: Treatment = 'keep'
    if (lowerCase === 'connection') treatment = 'nominates'
    else if (names.has(lowerCase)) treatment = 'drop'
    else if (list.prefixes.some((prefix) => lowerCase.startsWith(prefix))) treatment = 'drop'
    if (remembered.size < rememberedNamesMax) remembered.set(name, treatment)
    return treatment
  }
}

const hopByHop = [
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'content-length',
]

const treatRequestHeader = createTreatment({
  names: [
    ...hopByHop,
    'host',
    'expect',
    'accept-encoding',
    // Credentials, ours and those of other services a client may send along.
    'authorization',
    'x-api-key',
    'api-key',
    'x-goog-api-key',
    'x-auth-token',
    'cookie',
    'cookie2',
    // Where the client and the gateway stand. A vendor's network edge refuses some of another's.
    'forwarded',
    'via',
    'x-real-ip',
    'x-client-ip',
    'x-cluster-client-ip',
    'true-client-ip',
    'x-original-forwarded-for',
    'x-original-host',
    'x-envoy-external-address',
    'cdn-loop',
    // A browser's marks: an `Origin` makes vendors apply their cross-origin rules.
    'origin',
    'referer',
    // These would act on the operator's own account at the vendor.
    'openai-organization',
    'openai-project',
    'anthropic-organization-id',
    'anthropic-workspace-id',
    'anthropic-user-profile-id',
    // These could make the vendor see another method or path than the one that was priced.
    'x-http-method',
    'x-http-method-override',
    'x-method-override',
    'x-original-url',
    'x-rewrite-url',
  ],
  prefixes: ['proxy-', 'x-forwarded-', 'sec-fetch-', 'cf-', 'x-turnpike-'],
})

const treatResponseHeader = createTreatment({
  names: [
    ...hopByHop,
    // About the vendor's own origin, which the client does not talk to.
    'set-cookie',
    'set-cookie2',
    'alt-svc',
    'strict-transport-security',
    'public-key-pins',
    'expect-ct',
    'clear-site-data',
    'server',
    'via',
    'nel',
    'report-to',
    'reporting-endpoints',
    // About the operator's account at the vendor.
    'anthropic-organization-id',
    'anthropic-workspace-id',
    'openai-organization',
    'openai-project',
    'ratelimit',
  ],
  prefixes: [
    'proxy-',
    'cf-',
    'x-turnpike-',
    'anthropic-ratelimit-',
    'anthropic-priority-',
    'anthropic-fast-',
    'x-ratelimit-',
    'ratelimit-',
  ],
})
