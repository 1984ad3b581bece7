/**
 * Sends one POST to an address that an operator has given, and reads nothing of the answer but its head.
 * Node's own client does it: the rules below need the moment at which the socket connects, which its
 * `lookup` option is. Invariant: no connection is opened to an address that is not allowed, whatever a name
 * resolves to at that moment; no redirect is followed; no attempt lasts longer than its time limit.
 */
import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import { request as plainRequest, type IncomingMessage } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { isIP, type BlockList } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { buildIpRanges, isInRanges, readAddress } from '../../base/ip-address.ts'

interface OutgoingPost {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

type PostResult =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly retryAfterMs: number | undefined
    }
  /** `reason` is for an operator; it names no path of the URL. */
  | { readonly kind: 'failed'; readonly reason: string }

export type SendPost = (post: OutgoingPost) => Promise<PostResult>

type Resolve = (
  host: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void

export interface OutgoingPostOptions {
  readonly clock: Clock
  readonly timeoutMs: number
  /** Networks that are allowed although they are not public; http:// is allowed there too. */
  readonly allowed: readonly string[] | undefined
  /** Replaces the name look-up in tests. */
  readonly resolve?: Resolve
}

/**
 * IPv4 networks that are not public: the special-purpose registry of IANA (read 2026-11-23), multicast
 * and reserved networks.
 */
const notPublicIpv4 = buildIpRanges([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
])

/**
 * Public IPv6 addresses are in here. Outside of it are loopback, link-local, unique local and multicast
 * addresses, networks that translate to IPv4 (64:ff9b::/96, ::ffff:0:0:0/96), and unassigned ones.
 */
const publicIpv6 = buildIpRanges(['2000::/3'])

/** … but for these: protocol assignments with Teredo, documentation, and 6to4. */
const notPublicIpv6 = buildIpRanges(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

/** What is read of an answer's body before the connection is closed. */
const answerBytesMax = 16_384
const retryAfterMaxSeconds = 3_600

export function createOutgoingPost(options: OutgoingPostOptions): SendPost {
  const rules: AddressRules = {
    allowed: buildIpRanges(options.allowed ?? []),
    resolve: options.resolve ?? resolveBySystem,
  }
  return (post) => sendPost(post, rules, options)
}

interface AddressRules {
  readonly allowed: BlockList
  readonly resolve: Resolve
}

function resolveBySystem(host: string, done: Parameters<Resolve>[1]): void {
  systemLookup(host, { all: true }, done)
}

function sendPost(
  { url: text, headers, body }: OutgoingPost,
  rules: AddressRules,
  { clock, timeoutMs }: OutgoingPostOptions,
): Promise<PostResult> {
  const url = new URL(text)
  const isTls = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const fault = isIP(host) === 0 ? undefined : addressFault(host, isTls, rules)
  if (fault !== undefined) return Promise.resolve({ kind: 'failed', reason: fault })
  return new Promise((resolve) => {
    const finish = (result: PostResult): void => {
      timer.cancel()
      resolve(result)
    }
    const request = (isTls ? tlsRequest : plainRequest)(url, {
      method: 'POST',
      agent: false,
      headers: {
        ...headers,
        'content-length': String(Buffer.byteLength(body)),
        connection: 'close',
      },
      lookup: (name, { all }, done) =>
        rules.resolve(name, (error, addresses) => {
          // With an error there are no addresses.
          if (error !== null) {
            done(error, '')
            return
          }
          const [first] = addresses
          const reason = addresses.map(({ address }) => addressFault(address, isTls, rules))
          const refusal = reason.find((one) => one !== undefined)
          if (first === undefined) done(new Error('the name has no address'), '')
          else if (refusal !== undefined) done(new AddressRefused(refusal), '')
          else if (all === true) done(null, [...addresses])
          else done(null, first.address, first.family)
        }),
    })
    const timer = clock.after(timeoutMs, () => {
      finish({ kind: 'failed', reason: `no answer within ${timeoutMs / 1_000} s` })
      request.destroy()
    })
    request.on('error', (error) => finish({ kind: 'failed', reason: reasonOf(error) }))
    request.on('response', (response) => {
      finish(readHead(response))
      discard(response, clock, timeoutMs)
    })
    request.end(body)
  })
}

/** Returns why the address must not be connected to; undefined where it may be. */
function addressFault(
  address: string,
  isTls: boolean,
  { allowed }: AddressRules,
): string | undefined {
  const plain = readAddress(address)
  if (isInRanges(allowed, plain)) return undefined
  if (plain === undefined || !isPublic(plain))
    return 'the address is not public; list its network in alert_networks if it is yours'
  return isTls ? undefined : 'the URL must begin with https://'
}

/** Takes an address as `readAddress` spells it: one that maps IPv4 into IPv6 counts as IPv4. */
function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !isInRanges(notPublicIpv4, address)
  return isInRanges(publicIpv6, address) && !isInRanges(notPublicIpv6, address)
}

class AddressRefused extends Error {}

function reasonOf(error: Error): string {
  if (error instanceof AddressRefused) return error.message
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return `the connection failed (${code ?? error.name})`
}

function readHead({ statusCode = 0, headers }: IncomingMessage): PostResult {
  const seconds = Number(headers['retry-after'])
  const isWait = Number.isFinite(seconds) && seconds > 0
  return {
    kind: 'answered',
    status: statusCode,
    retryAfterMs: isWait ? Math.min(seconds, retryAfterMaxSeconds) * 1_000 : undefined,
  }
}

/** Reads a little of the body, so that the receiver can end in order, then closes the connection. */
function discard(response: IncomingMessage, clock: Clock, timeoutMs: number): void {
  let bytes = 0
  const timer = clock.after(timeoutMs, () => response.destroy())
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > answerBytesMax) response.destroy()
  })
  response.on('close', () => timer.cancel())
  response.on('error', () => response.destroy())
}
