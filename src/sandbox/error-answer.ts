/**
 * Error rows as bytes: an error answer in a format's envelope, or an error event inside a stream.
 * A row of one format may be told in the other's name only by asking for it in full.
 */
import type { FormatName } from '../formats/format.ts'
import type { Directives } from './directives.ts'
import { errorPresets } from './error-presets.ts'
import type { ErrorPreset } from './error-presets.ts'
import type { BodyAnswer, Frame } from './frames.ts'
import { vendorHeaders, vendorRequestId, withHeader } from './vendor-headers.ts'

export interface ErrorSubject {
  readonly format: FormatName
  readonly index: number
}

/** The row of that name, in full or without the format; undefined when there is none. */
export function findPreset(format: FormatName, name: string): ErrorPreset | undefined {
  return errorPresets.get(name) ?? errorPresets.get(`${format}.${name}`)
}

/** Whether some format has a row of that name. */
export function isPresetName(name: string): boolean {
  return (findPreset('messages', name) ?? findPreset('chat', name)) !== undefined
}

/** The error a directive set asks for in place of an answer, if it does. */
export function directedError(format: FormatName, directives: Directives): ErrorPreset | undefined {
  const { status, error, type, code, message } = directives
  if (error === undefined && (status === undefined || status < 300)) return undefined
  const row =
    findPreset(format, error ?? String(status)) ??
    unnamedError(status ?? 500, `Simulated status ${String(status)}.`)
  return {
    ...row,
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { type }),
    ...(code === undefined ? {} : { code }),
    ...(message === undefined ? {} : { message }),
  }
}

function unnamedError(status: number, message: string): ErrorPreset {
  return { status, type: status < 500 ? 'invalid_request_error' : 'api_error', message }
}

/** A refusal of the sandbox's own making, as the vendor would word its status. */
export function plainError(subject: ErrorSubject, status: number, message: string): BodyAnswer {
  const row = findPreset(subject.format, String(status)) ?? unnamedError(status, message)
  return errorAnswer(subject, { ...row, message })
}

export function errorAnswer(subject: ErrorSubject, row: ErrorPreset): BodyAnswer {
  const isPage = row.page !== undefined
  let headers = vendorHeaders(subject, isPage ? 'text/html; charset=UTF-8' : 'application/json')
  if (row.retryAfter !== undefined) headers = withHeader(headers, 'retry-after', row.retryAfter)
  if (row.shouldRetry !== undefined)
    headers = withHeader(headers, 'x-should-retry', row.shouldRetry)
  return {
    kind: 'error',
    status: row.status,
    headers,
    body: row.page ?? JSON.stringify(errorObject(subject, row)),
  }
}

export function errorFrame(subject: ErrorSubject, row: ErrorPreset, isNamed: boolean): Frame {
  const data = `data: ${JSON.stringify(errorObject(subject, row))}\n\n`
  const hasName = subject.format === 'messages' || isNamed
  return { kind: 'error', text: hasName ? `event: error\n${data}` : data }
}

function errorObject(subject: ErrorSubject, row: ErrorPreset): unknown {
  const { type, message, code, param } = row
  if (subject.format === 'chat') {
    return { error: { message, type, param: param ?? null, code: code ?? null } }
  }
  const details = code === undefined || code === null ? {} : { details: { error_code: code } }
  return {
    type: 'error',
    error: { ...details, type, message },
    request_id: vendorRequestId(subject),
  }
}
