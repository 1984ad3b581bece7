/**
 * Sends one POST to an address that an operator has given, and reads only the head of the answer.
 * Node's own client does it: the rules below need the moment at which the socket connects, which its
 * `lookup` option is. Invariant: no connection is opened to an address that is not allowed, whatever a name
 * resolves to at that moment; no redirect is followed; no attempt lasts longer than its time limit.
 */
import { request as plainRequest, type IncomingMessage } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { isIP, type BlockList } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { kindOfAddress } from '../../base/address-kind.ts'
import { buildIpRanges, isInRanges, readAddress } from '../../base/ip-address.ts'
import { AddressRefused, checkedLookup, resolveBySystem, type Resolve } from './checked-lookup.ts'

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

export interface OutgoingPostOptions {
  readonly clock: Clock
  readonly timeoutMs: number
  /** Networks that are allowed although they are not public; http:// is allowed there too. */
  readonly allowed: readonly string[] | undefined
  /** Replaces the name look-up in tests. */
  readonly resolve?: Resolve
}

/** The most of an answer's body that is read before the connection closes. */
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
      lookup: checkedLookup(rules.resolve, (address) => addressFault(address, isTls, rules)),
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
  if (isInRanges(allowed, readAddress(address))) return undefined
  if (kindOfAddress(address) !== 'public')
    return 'the address is not public; list its network in alert_networks if it is yours'
  return isTls ? undefined : 'the URL must begin with https://'
}

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
