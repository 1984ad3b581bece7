/**
 * Which headers pass the gateway, in both directions: pure functions over flat lists as received. The lists
 * name the dropped ones: an unknown header passes, its name and value unchanged. Invariants: no credential,
 * hop-by-hop or address header of one side reaches the other, however it is spelled; a `Connection` header
 * cannot remove a header whose value the gateway has checked.
 */
import type { Secret } from '../base/secret.ts'
import { fieldNames, otherName } from '../http/wire/field-names.ts'
import { isNamed, type Fields } from '../http/wire/fields.ts'
import { answerLines, requestLines, type HeadLines } from '../http/wire/head-lines.ts'

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
  fields: Fields,
  { prefix, credential, versionHeader, defaultVersion }: RequestForwarding,
): HeadLines {
  const prefixedName = prefix + '-version'
  const judged = ['content-type', prefixedName, versionHeader]
  const nominated = nominatedBy(fields, judged)
  const lines = requestLines()
  lines.copy(fields, (index) => {
    if (!passesRequest(fields, index)) return false
    if (nominated?.has(fields.name(index).toLowerCase()) === true) return false
    const mayImitate = hasUnderscore[fields.numbers[index] ?? otherName] !== false
    return !mayImitate || !imitates(fields.name(index), judged)
  })
  if (versionHeader !== undefined) {
    const ownVersion = fields.find(versionHeader)
    const prefixedVersion = fields.find(prefixedName)
    const version = ownVersion ?? prefixedVersion
    if (version === undefined) {
      if (defaultVersion !== undefined) lines.add(versionHeader, defaultVersion)
    } else {
      if (ownVersion === undefined) lines.add(versionHeader, version)
      if (prefixedVersion === undefined && prefixedName !== versionHeader)
        lines.add(prefixedName, version)
    }
  }
  lines.add('accept-encoding', 'identity')
  const secret = credential.secret.reveal()
  if (credential.form === 'bearer') lines.add('authorization', `Bearer ${secret}`)
  else lines.add(credential.form, secret)
  return lines
}

/**
 * Returns the mistake in the version in a client's request, as a public sentence; undefined where it is
 * absent or is one date, under either of its names and any number of times.
 */
export function findVersionFault(
  fields: Fields,
  prefix: string,
  versionHeader: string | undefined,
): string | undefined {
  if (versionHeader === undefined) return undefined
  const prefixedName = prefix + '-version'
  let version: string | undefined
  for (let index = 0; index < fields.numbers.length; index++) {
    if (!fields.isNamed(index, versionHeader) && !fields.isNamed(index, prefixedName)) continue
    const value = fields.value(index)
    if (!isCalendarDate(value))
      return `The header ${fields.name(index).toLowerCase()} must be a date of the form YYYY-MM-DD.`
    if (version !== undefined && version !== value)
      return `The headers ${prefixedName} and ${versionHeader} ask for different versions; send one.`
    version = value
  }
  return undefined
}

/** Returns how many bytes the client's own headers take in the request to a vendor. */
export function forwardedHeaderBytes(fields: Fields): number {
  return fields.linesOf((index) => passesRequest(fields, index)).length
}

/**
 * Returns a vendor's headers without those whose value contains a secret that was sent to it; the same ones
 * where there are none.
 */
export function withoutSecrets(fields: Fields, secrets: readonly Secret[]): Fields {
  const isShown = (index: number): boolean => showsSecret(fields.value(index), secrets)
  const isAny = secrets.some((one) => isShort(one) || fields.text.includes(one.reveal()))
  return isAny ? fields.filter((index) => !isShown(index)) : fields
}

const secretLengthMin = 8

function isShort(secret: Secret): boolean {
  return secret.reveal().length < secretLengthMin
}

/** Returns whether a text contains one of them. One too short to be a secret must be the whole text. */
export function showsSecret(text: string, secrets: readonly Secret[]): boolean {
  return secrets.some((one) => (isShort(one) ? text === one.reveal() : text.includes(one.reveal())))
}

/**
 * Returns the headers of an answer, from the vendor's. The response writer adds the framing,
 * `content-length` included. `date`, `retry-after`, `x-should-retry` and the vendor's request id pass.
 */
export function forwardResponseHeaders(fields: Fields): HeadLines {
  const nominated = nominatedBy(fields, ['content-type'])
  const lines = answerLines()
  lines.copy(fields, (index) => {
    if (!passesResponse(fields, index)) return false
    return nominated?.has(fields.name(index).toLowerCase()) !== true
  })
  return lines
}

/** Returns the headers of an answer whose body is not the vendor's. */
export function withContentType(headers: HeadLines, contentType: string): HeadLines {
  const changed = headers.edit((fields, index) =>
    fields.isNamed(index, 'content-type') ? undefined : fields.value(index),
  )
  changed.add('content-type', contentType)
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

/** By the number of a name. Any other name may have one. */
const hasUnderscore = fieldNames.map((name) => name === '' || name.includes('_'))

/** Many servers read `_` as `-`. */
export function hyphenated(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

/** The usual values of `Connection`: they nominate no header. */
function isPlainConnection(value: string): boolean {
  return value === 'keep-alive' || value === 'close'
}

/**
 * Returns the headers that `Connection` nominates, which do not pass, except those whose values the gateway
 * has checked; undefined where there are none.
 */
function nominatedBy(
  fields: Fields,
  judged: readonly (string | undefined)[],
): ReadonlySet<string> | undefined {
  const lists = fields.values('connection').filter((value) => !isPlainConnection(value))
  if (lists.length === 0) return undefined
  const nominated = new Set(
    lists
      .join(',')
      .split(',')
      .map((name) => name.trim().toLowerCase()),
  )
  for (const name of judged) if (name !== undefined) nominated.delete(name)
  return nominated
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
  return mayPassRequest(lowerCase)
}

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
function createTest(list: DenyList): (name: string) => boolean {
  const names = new Set([...list.names, 'connection'])
  const remembered = new Map<string, boolean>()
  return (name) => {
    const known = remembered.get(name)
    if (known !== undefined) return known
    const plain = hyphenated(name)
    const passes = !names.has(plain) && !list.prefixes.some((prefix) => plain.startsWith(prefix))
    if (remembered.size < rememberedNamesMax) remembered.set(name, passes)
    return passes
  }
}

/** Returns the same test of fields: a name with a number needs no text. */
function testOfFields(mayPass: (name: string) => boolean): (fields: Fields, at: number) => boolean {
  const byNumber = fieldNames.map(mayPass)
  return (fields, at) => {
    const number = fields.numbers[at] ?? otherName
    return number === otherName ? mayPass(fields.name(at)) : byNumber[number] === true
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

const mayPassRequest = createTest({
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

const mayPassResponse = createTest({
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

const passesRequest = testOfFields(mayPassRequest)
const passesResponse = testOfFields(mayPassResponse)

/** The headers of answers that clients read. A page in a browser sees only those that an answer names. */
export const headersForPages = [
  'x-turnpike-request-id',
  'x-turnpike-cost-usd',
  'x-turnpike-label-ignored',
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
