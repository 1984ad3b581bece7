/**
 * What the sandbox knows of one exchange it served, as a plain value: what came in, what went out,
 * what it used, how it ended. The log keeps these; nothing here does anything.
 */
import type { FormatName, OperationName } from '../formats/format.ts'
import type { AnswerKind } from './frames.ts'
import type { SandboxUsage, SandboxUsagePart } from './sandbox-usage.ts'

export type ServedPhase = 'received' | 'terminal' | 'closed'

/** Which side ended the exchange. `sandbox` without a terminal event is a fault on request. */
export type ClosedBy = 'sandbox' | 'client'

export interface ServedRecord {
  /** Counts all exchanges of this sandbox from 0; also part of the vendor's request id. */
  readonly index: number
  /** From `[[marker: …]]` in the last user message, or the header `x-sandbox-marker`. */
  readonly marker: string | undefined
  readonly channel: string
  readonly format: FormatName
  readonly operation: OperationName
  readonly atMs: number
  readonly method: string
  /** Path and query as they came, the channel's prefix included. */
  readonly target: string
  readonly model: string
  readonly isStream: boolean
  /** Where the credential stood and how it begins. */
  readonly credential: { readonly header: string; readonly head: string } | undefined
  /** Names and values in turn as they came; credentials are cut to their heads. */
  readonly rawHeaders: readonly string[]
  readonly requestBytes: number
  readonly requestDigest: string
  /** Only where the sandbox keeps bodies. */
  readonly requestBody: Buffer | undefined
  /** Wrong directives; such an exchange is answered with a 400 that names them. */
  readonly problems: readonly string[]

  readonly phase: ServedPhase
  readonly kind: AnswerKind | undefined
  readonly status: number | undefined
  /** What the answer used by the sandbox's own count, whether or not it came to be told. */
  readonly usage: SandboxUsage | undefined
  /** The last counts that went on the wire, as they stood there. */
  readonly wireUsage: unknown
  /** The final counts were handed to the socket. */
  readonly isUsageSent: boolean
  /** Events handed to the socket, fillers included; a non-stream body is one. */
  readonly eventCount: number
  /** The terminal event, or a whole non-stream body, was handed to the socket. */
  readonly isTerminalSent: boolean
  /** The operating system took it. */
  readonly isTerminalFlushed: boolean
  readonly responseBytes: number
  /** SHA-256 of the body bytes written; set when the exchange is closed. */
  readonly responseDigest: string | undefined
  readonly responseBody: Buffer | undefined
  readonly closedBy: ClosedBy | undefined
}

/** The same record while the exchange runs; only the sandbox itself changes it. */
export type OpenRecord = { -readonly [Member in keyof ServedRecord]: ServedRecord[Member] }

/**
 * What the vendor would put on its invoice for an exchange that was served to its end: nothing for
 * errors, free endpoints and refusals before any output.
 */
export function billedParts(record: ServedRecord): readonly SandboxUsagePart[] {
  if (record.kind !== 'answer') return []
  return (record.usage?.parts ?? []).filter((part) => part.isBilled)
}
