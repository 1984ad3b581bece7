/**
 * What a round trip to a vendor is, for those who make one: head and body out, head, chunks and an
 * honest end back. Invariant of whoever implements it: each call ends in exactly one `onEnd` or
 * `onFailure`, or in silence after `abort`, and no byte of one exchange ever reaches another.
 */
import type { FailureKind } from './upstream-failure.ts'

export interface UpstreamRequest {
  readonly method: 'POST' | 'GET'
  /** Path and query behind the channel's base URL, e.g. `/v1/messages?beta=true`. */
  readonly path: string
  /**
   * Flat name, value, name, value … list, final: credential and content headers included; no
   * host, no content-length.
   */
  readonly headers: string[]
  readonly body: Buffer | undefined
}

export interface UpstreamHead {
  readonly status: number
  /** Flat list as received, names as received. */
  readonly rawHeaders: readonly string[]
  /** First value by lower-case name. */
  header(name: string): string | undefined
}

export interface UpstreamFailure {
  readonly kind: FailureKind
  /** No byte of the request had been written: it is safe to send it again. */
  readonly isUnsent: boolean
  /** The connection had served an exchange before (a stale keep-alive is likely). */
  readonly isReusedConnection: boolean
}

/** Its functions are called while bytes are being read and must not throw. */
export interface UpstreamReceiver {
  /** The final head; 1xx heads are not shown. */
  onHead(head: UpstreamHead): void
  /**
   * Returning false pauses reading until `call.resume()`. The Buffer may be kept (it is not reused).
   * Should the vendor close or break off while paused, what had already been read still comes once
   * resumed, then the end or the failure; with nothing left to come it is told at once.
   */
  onData(chunk: Buffer): boolean
  /** The message is complete by its own framing (length or last chunk). */
  onEnd(): void
  onFailure(failure: UpstreamFailure): void
}

export interface UpstreamCall {
  resume(): void
  /** Drops the exchange and its connection without a further word to the receiver. */
  abort(): void
}

export interface UpstreamTarget {
  readonly url: string
  readonly name: string
}

export interface UpstreamStats {
  /** Connections open or being opened. */
  readonly connectionCount: number
  readonly exchangeCount: number
}

export interface Upstream {
  /** Never calls the receiver before it has returned. */
  send(target: UpstreamTarget, request: UpstreamRequest, receiver: UpstreamReceiver): UpstreamCall
  /** Connections open and exchanges running, by channel name. */
  stats(): ReadonlyMap<string, UpstreamStats>
  /** Closes pools whose channel is gone once idle. */
  retain(names: ReadonlySet<string>): void
  /** Fails what still runs as `aborted` and closes every connection. */
  close(): Promise<void>
}
