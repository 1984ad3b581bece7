/**
 * Opens the record of an exchange from what came in. Credentials are cut to a recognisable head
 * here, before anything is kept.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FormatName } from '../formats/format.ts'
import type { OpenRecord } from './served-record.ts'
import type { SandboxRoute } from './routes.ts'

export interface PresentedCredential {
  readonly header: string
  readonly value: string
}

/** The credential as the vendor of that format looks for it. */
export function readCredential(
  format: FormatName,
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
