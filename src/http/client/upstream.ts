/**
 * The interface of a round trip to a vendor: a request out; a head, chunks and one end back. Invariant of
 * every implementation: each call ends in exactly one `onEnd` or `onFailure`, or in silence after `abort`,
 * and no byte of one exchange reaches another.
 */
import type { Secret } from '../../base/secret.ts'
import type { Fields } from '../wire/fields.ts'
import type { HeadLines } from '../wire/head-lines.ts'

export interface Upstream {
  /** Never calls the receiver before it has returned. */
  send(target: UpstreamTarget, request: UpstreamRequest, receiver: UpstreamReceiver): UpstreamCall
}

/** A channel's address. */
export interface UpstreamTarget {
  readonly url: string
  readonly name: string
  /** Its name may lead to an address that is not public. */
  readonly allowPrivate?: boolean
  /** The address of an HTTP proxy on the way, which may hold a password; then the URL begins with https:// */
  readonly proxy?: Secret
}

export interface UpstreamRequest {
  readonly method: 'DELETE' | 'GET' | 'POST'
  /** Path and query behind the channel's base URL, e.g. `/v1/messages?beta=true`. */
  readonly path: string
  /** Complete, with credential and content headers, without host and content-length. */
  readonly headers: HeadLines
  /** Pieces are sent one behind the other. */
  readonly body: Buffer | readonly Buffer[] | undefined
  /** Called once, however the exchange ends, when nothing here reads the body's memory any more. */
  readonly onBodyUnused?: (() => void) | undefined
}

export interface UpstreamCall {
  resume(): void
  /** Drops the exchange and its connection; the receiver gets no further call. */
  abort(): void
}

/** Its functions are called while bytes are being read and must not throw. */
export interface UpstreamReceiver {
  /** The final head; 1xx heads are skipped. */
  onHead(head: UpstreamHead): void
  /**
   * Returning false pauses reading until `call.resume()`. The memory of the bytes is used again afterwards:
   * the receiver copies what it keeps. If the vendor closes or breaks off while paused, the bytes that were
   * read still come after `resume`, then the end or the failure; where none are left, it comes at once.
   */
  onBytes(bytes: Buffer, start: number, end: number): boolean
  /** The message is complete by its own framing: length, last chunk, or the connection's end. */
  onEnd(): void
  onFailure(failure: UpstreamFailure): void
}

export interface UpstreamHead {
  readonly status: number
  readonly fields: Fields
  /** The body ends with its length or its last chunk; otherwise it ends with the connection. */
  readonly isEndAnnounced: boolean
  /** Returns the first value of a lower-case name. */
  header(name: string): string | undefined
}

/**
 * `lookup` means that the name has no address now; `shortage`, that the gateway had no file, port or memory
 * left for a connection; `address`, that the name leads where it must not; `tls`, that the certificate is not
 * to be trusted for another reason than its age; `aborted`, that the gateway closed its connections under a
 * running exchange.
 */
export type FailureKind =
  | 'connect'
  | 'lookup'
  | 'shortage'
  | 'address'
  | 'certificate_expired'
  | 'tls'
  | 'reset'
  | 'protocol'
  | 'aborted'

export interface UpstreamFailure {
  readonly kind: FailureKind
  /** No byte of the request was written: it is safe to send it again. */
  readonly isUnsent: boolean
  /** The connection had served an exchange before, so it may have been stale. */
  readonly isReusedConnection: boolean
}

/** Longer than a close needs that crosses a request, shorter than any work on an answer. */
const crossingMs = 1_000

/**
 * Returns whether a kept-alive connection died at once, before a byte of an answer. Most likely the vendor
 * closed it while the request was on its way, which says nothing about the vendor. Later it had the request
 * and may have worked on it.
 */
export function isStaleConnection(
  failure: { readonly kind: FailureKind; readonly isReusedConnection: boolean },
  { hasHead, waitedMs }: { readonly hasHead: boolean; readonly waitedMs: number },
): boolean {
  const isAtOnce = !hasHead && waitedMs < crossingMs
  return failure.kind === 'reset' && failure.isReusedConnection && isAtOnce
}
