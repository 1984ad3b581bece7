/**
 * What the sandbox knows about one exchange: what came in, what went out, what it used, how it
 * ended. Credentials are cut to a recognisable head before anything is kept.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { AnswerKind } from './answer.ts'
import type { Format, Operation, SandboxRoute } from './endpoints.ts'
import type { SandboxUsage, SandboxUsagePart } from './usage.ts'

type ServedPhase = 'received' | 'terminal' | 'closed'

/** Which side ended the exchange. `sandbox` without a terminal event is a fault on request. */
type ClosedBy = 'sandbox' | 'client'

export interface ServedRecord {
  /** Number of the exchange in this sandbox, from 0; also part of the vendor's request id. */
  readonly index: number
  /** From `[[marker: …]]` in the last user message, or the header `x-sandbox-marker`. */
  readonly marker: string | undefined
  readonly channel: string
  readonly format: Format
  readonly operation: Operation
  readonly atMs: number
  readonly method: string
  /** Path and query as received, with the channel's prefix. */
  readonly target: string
  readonly model: string
  readonly isStream: boolean
  /** The header of the credential and its first characters. */
  readonly credential: { readonly header: string; readonly head: string } | undefined
  /** Alternating names and values as received; credentials are cut to their heads. */
  readonly rawHeaders: readonly string[]
  readonly requestBytes: number
  readonly requestDigest: string
  /** Only where the sandbox keeps bodies. */
  readonly requestBody: Buffer | undefined
  /** Wrong directives. The answer is then a 400 that names them. */
  readonly problems: readonly string[]

  readonly phase: ServedPhase
  readonly kind: AnswerKind | undefined
  readonly status: number | undefined
  /** The sandbox's own count of what the answer used, also if it was never sent. */
  readonly usage: SandboxUsage | undefined
  /** The last counts that were sent, in wire form. */
  readonly wireUsage: unknown
  /** The final counts were handed to the socket. */
  readonly isUsageSent: boolean
  /** Events handed to the socket, fillers included. A non-stream body counts as one. */
  readonly eventCount: number
  /** The terminal event, or a whole non-stream body, was handed to the socket. */
  readonly isTerminalSent: boolean
  /** The operating system has accepted it. */
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
 * Returns what the vendor would put on its invoice for a complete exchange: nothing for errors, free
 * endpoints and refusals before any output.
 */
export function billedParts(record: ServedRecord): readonly SandboxUsagePart[] {
  if (record.kind !== 'answer') return []
  return (record.usage?.parts ?? []).filter((part) => part.isBilled)
}

export interface PresentedCredential {
  readonly header: string
  readonly value: string
}

/** Reads the credential where the vendor of that format expects it. */
export function readCredential(
  format: Format,
  headers: IncomingHttpHeaders,
): PresentedCredential | undefined {
  const own = headers['x-api-key']
  if (format === 'messages' && typeof own === 'string' && own !== '') {
    return { header: 'x-api-key', value: own }
  }
  const match = /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '')
  const value = match?.[1]
  return value === undefined ? undefined : { header: 'authorization', value }
}

export interface RecordStart {
  readonly index: number
  readonly atMs: number
  readonly route: SandboxRoute
  readonly request: IncomingMessage
  readonly marker: string | undefined
  readonly model: string
  readonly isStream: boolean
  readonly requestBytes: number
  readonly requestDigest: string
  readonly requestBody: Buffer | undefined
  readonly problems: readonly string[]
}

export function openRecord(start: RecordStart): OpenRecord {
  const { route, request, ...facts } = start
  const credential = readCredential(route.format, request.headers)
  return {
    ...facts,
    channel: route.channel,
    format: route.format,
    operation: route.operation,
    method: request.method ?? '',
    target: request.url ?? '',
    credential:
      credential === undefined
        ? undefined
        : { header: credential.header, head: headOf(credential.value) },
    rawHeaders: hideCredentials(request.rawHeaders),
    phase: 'received',
    kind: undefined,
    status: undefined,
    usage: undefined,
    wireUsage: undefined,
    isUsageSent: false,
    eventCount: 0,
    isTerminalSent: false,
    isTerminalFlushed: false,
    responseBytes: 0,
    responseDigest: undefined,
    responseBody: undefined,
    closedBy: undefined,
  }
}

function headOf(value: string): string {
  return `${value.slice(0, 7)}…`
}

function hideCredentials(rawHeaders: readonly string[]): readonly string[] {
  return rawHeaders.map((value, index) => {
    if (index % 2 === 0) return value
    const name = (rawHeaders[index - 1] ?? '').toLowerCase()
    if (name === 'x-api-key') return headOf(value)
    return name === 'authorization' ? value.replace(/\S+$/, headOf) : value
  })
}
