/**
 * Which headers pass the gateway, in both directions: pure functions over flat lists as received. The lists
 * name the dropped ones: an unknown header passes, its name and value unchanged. Invariants: no credential,
 * hop-by-hop or address header of one side reaches the other, however it is spelled; a `Connection` header
 * cannot remove a header whose value the gateway has checked.
 */
import type { Secret } from '../base/secret.ts'
import { isNamed } from '../http/wire/field-syntax.ts'

/** The ways in which vendors take a credential. */
export const credentialForms = ['x-api-key', 'bearer', 'api-key'] as const

type CredentialForm = (typeof credentialForms)[number]

export interface RequestForwarding {
  /** The vendor's route prefix; `<prefix>-version` is the specified name of its version header. */
  readonly prefix: string
  readonly credential: { readonly form: CredentialForm; readonly secret: Secret }
  /** The vendor's own name of that header, lower-case; undefined where it has none. */
  readonly versionHeader: string | undefined
  readonly defaultVersion: string | undefined
}

/**
 * Returns the headers of the request to a channel, from the client's. `findVersionFault` must have accepted
 * the version: here it is only copied under both names, or replaced by the default where it is absent.
 */
export function forwardRequestHeaders(
  rawHeaders: readonly string[],
  { prefix, credential, versionHeader, defaultVersion }: RequestForwarding,
): string[] {
  const prefixedName = prefix + '-version'
  const judged = ['content-type', prefixedName, versionHeader]
  const forwarded: string[] = []
  let ownVersion: string | undefined
  let prefixedVersion: string | undefined
  let nominations: string | undefined
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const value = rawHeaders[index + 1] ?? ''
    const treatment = treatRequestHeader(name)
    if (treatment === 'keep') {
      if (imitates(name, judged)) continue
      forwarded.push(name, value)
      if (versionHeader === undefined) continue
      if (isNamed(name, versionHeader)) ownVersion = value
      else if (isNamed(name, prefixedName)) prefixedVersion = value
    } else if (treatment === 'nominates' && !isPlainConnection(value)) {
      nominations = nominations === undefined ? value : `${nominations},${value}`
    }
  }
  const kept =
    nominations === undefined ? forwarded : withoutNominated(forwarded, nominations, judged)
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
  const secret = credential.secret.reveal()
  if (credential.form === 'bearer') kept.push('authorization', `Bearer ${secret}`)
  else kept.push(credential.form, secret)
  return kept
}

/**
 * Returns the mistake in the version in a client's request, as a public sentence; undefined where it is
 * absent or is one date, under either of its names and any number of times.
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

/** Returns how many bytes the client's own headers take in the request to a vendor. */
export function forwardedHeaderBytes(rawHeaders: readonly string[]): number {
  let bytes = 0
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (treatRequestHeader(name) === 'keep')
      bytes += name.length + (rawHeaders[index + 1] ?? '').length + fieldSeparatorBytes
  }
  return bytes
}

/** Colon, space and line end. */
const fieldSeparatorBytes = 4

/**
 * Returns a vendor's headers without those whose value contains a secret that was sent to it; the same list
 * where there are none.
 */
export function withoutSecrets(
  rawHeaders: readonly string[],
  secrets: readonly Secret[],
): readonly string[] {
  const isShown = (value: string): boolean => showsSecret(value, secrets)
  if (!rawHeaders.some((text, index) => index % 2 === 1 && isShown(text))) return rawHeaders
  const kept: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const value = rawHeaders[index + 1] ?? ''
    if (!isShown(value)) kept.push(rawHeaders[index] ?? '', value)
  }
  return kept
}

const secretLengthMin = 8

/** Returns whether a text contains one of them. One too short to be a secret must be the whole text. */
export function showsSecret(text: string, secrets: readonly Secret[]): boolean {
  return secrets.some((one) => {
    const secret = one.reveal()
    return secret.length < secretLengthMin ? text === secret : text.includes(secret)
  })
}

/**
 * Returns the headers of an answer, from the vendor's. The response writer adds the framing,
 * `content-length` included. `date`, `retry-after`, `x-should-retry` and the vendor's request id pass.
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

/** Returns the headers of an answer whose body is not the vendor's. */
export function withContentType(headers: readonly string[], contentType: string): string[] {
  const changed: string[] = []
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    if (!isNamed(name, 'content-type')) changed.push(name, headers[index + 1] ?? '')
  }
  changed.push('content-type', contentType)
  return changed
}

/**
 * Returns whether a server that reads `_` as `-`, as CGI does, takes this header for one whose value the
 * gateway has checked.
 */
function imitates(name: string, judged: readonly (string | undefined)[]): boolean {
  if (!name.includes('_')) return false
  return judged.some((one) => one !== undefined && !isNamed(name, one) && hyphenated(name) === one)
}

/** Many servers read `_` as `-`. */
export function hyphenated(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

/** The usual values of `Connection`: they nominate no header. */
function isPlainConnection(value: string): boolean {
  return value === 'keep-alive' || value === 'close'
}

/** Drops the headers that `Connection` nominates, except those whose values the gateway has checked. */
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

const ownRequestNames: ReadonlySet<string> = new Set(['accept', 'date', 'user-agent'])
const ownRequestPrefixes = ['content-', 'accept-', 'if-']

/**
 * Returns whether a header of this name may carry the version of a vendor's API. The gateway writes that
 * header into every request to the vendor. Under the name of a header that a request has anyway, or that
 * never reaches a vendor, every request would fail or would have it twice.
 */
export function mayCarryVersion(name: string): boolean {
  const lowerCase = name.toLowerCase()
  if (ownRequestNames.has(lowerCase)) return false
  if (ownRequestPrefixes.some((prefix) => lowerCase.startsWith(prefix))) return false
  return treatRequestHeader(lowerCase) === 'keep'
}

type Treatment = 'keep' | 'drop' | 'nominates'

interface DenyList {
  readonly names: readonly string[]
  readonly prefixes: readonly string[]
}

/** A peer can invent names: beyond this number each one is checked anew. */
const rememberedNamesMax = 1_024

/**
 * Returns a test of names as they were sent, with a cache: clients send the same few spellings again and
 * again, and a look-up costs less than lower-casing. `_` counts as `-`: many servers read them alike.
 */
function createTreatment(list: DenyList): (name: string) => Treatment {
  const names = new Set(list.names)
  const remembered = new Map<string, Treatment>()
  return (name) => {
    const known = remembered.get(name)
    if (known !== undefined) return known
    const plain = hyphenated(name)
    let treatment: Treatment = 'keep'
    if (plain === 'connection') treatment = 'nominates'
    else if (names.has(plain)) treatment = 'drop'
    else if (list.prefixes.some((prefix) => plain.startsWith(prefix))) treatment = 'drop'
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

/** Headers with credentials of the gateway and of other services. */
const credentials = [
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-auth-token',
  'cookie',
  'cookie2',
]

/** Bodies are forwarded decoded, and answers are asked for so. */
const codings = ['accept-encoding', 'content-encoding']

/** Headers that the gateway itself writes, and those of one connection only. */
const ownedByHttp = [...hopByHop, 'host', 'expect', ...codings, ...credentials]

/** Takes a lower-case name. */
export function isOwnedByHttp(name: string): boolean {
  return name === 'connection' || ownedByHttp.includes(name)
}

const treatRequestHeader = createTreatment({
  names: [
    ...ownedByHttp,
    // Addresses of the client and the gateway. A vendor's network edge refuses some of these.
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
    // Set by browsers: an `Origin` makes vendors apply their cross-origin rules.
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
    // A vendor may send its request back.
    ...credentials,
    // About the vendor's own origin: the client has no connection to it.
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
    // The gateway itself decides which pages may read an answer.
    'access-control-',
    'anthropic-ratelimit-',
    'anthropic-priority-',
    'anthropic-fast-',
    'x-ratelimit-',
    'ratelimit-',
  ],
})

/** The headers of answers that clients read. A page in a browser sees only those that an answer names. */
export const headersForPages = [
  'x-turnpike-request-id',
  'x-turnpike-cost-usd',
  'request-id',
  'x-request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'anthropic-ratelimit-requests-limit',
  'anthropic-ratelimit-requests-remaining',
  'anthropic-ratelimit-requests-reset',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'anthropic-version',
  'openai-processing-ms',
  'openai-version',
  'openai-model',
  'allow',
  'date',
  'www-authenticate',
].join(', ')
