/**
 * What can come of one try on one channel, as the stages behind it need to know it, and what a stream
 * past its commit point offers to whoever delivers it. Types only.
 */
import type { UpstreamHead } from '../channels/upstream.ts'
import type { MeterReading, StreamMeter, UpstreamFault, VendorError } from '../formats/format.ts'

/** What the rest of a committed stream is handed to. */
export interface StreamReceiver {
  /** Bytes the client may have now. Returning false pauses the vendor until `LiveStream.resume`. */
  onPieces(pieces: readonly Buffer[]): boolean
  onEnd(): void
  /** The stream cannot go on: connection lost, bad framing, or beyond what can be metered. */
  onCut(): void
}

/** A stream past its commit point. */
export interface LiveStream {
  readonly meter: StreamMeter
  /** Hands over what has come and all that will come. Call once. */
  take(receiver: StreamReceiver): void
  resume(): void
  /** Ends the upstream request; the receiver hears nothing more. */
  abort(): void
}

/** The whole of it: as it came, and as it can be read where it came compressed. */
export interface ErrorBody {
  readonly bytes: Buffer
  readonly readable: Buffer
}

export type AttemptOutcome =
  | {
      readonly kind: 'streaming'
      readonly head: UpstreamHead
      readonly stream: LiveStream
      readonly firstEventMs: number
    }
  | {
      readonly kind: 'whole'
      readonly head: UpstreamHead
      readonly body: Buffer
      readonly reading: MeterReading
      readonly firstEventMs: number
    }
  | {
      /** The vendor said no, with a status or with an error as a stream's first event. */
      readonly kind: 'vendor_error'
      readonly head: UpstreamHead
      readonly status: number
      /** Of an event its envelope. Undefined where there is nothing that could be shown. */
      readonly body: ErrorBody | undefined
      readonly error: VendorError
      readonly fault: UpstreamFault
    }
  | {
      readonly kind: 'broken'
      readonly cause: BrokenCause
      /** No byte of the request had left: sending it again cannot double anything. */
      readonly isUnsent: boolean
      /** A kept-alive connection died under the request before a byte of an answer. */
      readonly isStale: boolean
    }
  | { readonly kind: 'client_left' }

/** `timeout` is a limit of the channel's own; `deadline` and `shutdown` are the gateway's doing. */
export type BrokenCause =
  'connect' | 'tls' | 'reset' | 'protocol' | 'timeout' | 'not_the_format' | 'deadline' | 'shutdown'
