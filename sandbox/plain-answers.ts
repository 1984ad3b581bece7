/**
 * Answers without a model's output: errors and error events in the shape of a format, redirects,
 * bodies that are not an answer, and the free endpoints (model lists, token counts). Also what
 * directives change about the status and headers of any answer.
 */
import type { BodyAnswer, Answer, Frame } from './answer.ts'
import { vendorHeaders, vendorRequestId, withHeader } from './answer.ts'
import type { Directives } from './directives.ts'
import { groupOf } from './endpoints.ts'
import type { Format, SandboxRoute } from './endpoints.ts'
import { errorPresets } from './error-presets.ts'
import type { ErrorPreset } from './error-presets.ts'
import { countPromptTokens } from './request.ts'
import type { JsonObject } from './request.ts'

export interface ErrorSubject {
  readonly format: Format
  readonly index: number
}

/** Finds an error by its name, with or without the format. */
export function findPreset(format: Format, name: string): ErrorPreset | undefined {
  return errorPresets.get(name) ?? errorPresets.get(`${format}.${name}`)
}

/** Returns the error that directives ask for in place of an answer, if any. */
function directedError(format: Format, directives: Directives): ErrorPreset | undefined {
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

/** Builds a refusal of the sandbox's own, with the vendor's type for that status. */
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

/** Writes an error event of chat or messages. */
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

/** Returns the answer to an operation that the channel does not offer. */
export function refuseOperation(
  subject: ErrorSubject & { readonly method: string },
  route: SandboxRoute,
  { notOffered, notOfferedAs }: Directives,
): BodyAnswer | undefined {
  if (notOffered?.split(',').includes(groupOf(route.operation)) !== true) return undefined
  const row = findPreset(subject.format, notOfferedAs ?? '')
  if (row !== undefined) return errorAnswer(subject, row)
  const message = `Invalid URL (${subject.method} ${route.path})`
  return errorAnswer(subject, { status: 404, type: 'invalid_request_error', message })
}

export interface DirectedSubject {
  readonly format: Format
  readonly index: number
  readonly isStream: boolean
}

/** Returns the answer that directives ask for in place of a simulated one, if any. */
export function directedAnswer(
  subject: DirectedSubject,
  directives: Directives,
): BodyAnswer | undefined {
  const { redirect, body, notFormat } = directives
  const row = directedError(subject.format, directives)
  if (redirect !== undefined) return redirectAnswer(subject, redirect, row?.status ?? 307)
  if (row !== undefined) {
    const answer = errorAnswer(subject, row)
    return body === undefined ? answer : { ...answer, body }
  }
  const text = body ?? (notFormat === undefined ? undefined : wrongBody(subject, notFormat))
  if (text === undefined) return undefined
  const isEvents = subject.isStream && notFormat === 'garbage'
  const type = notFormat === 'html' ? 'text/html' : 'application/json'
  return {
    kind: 'error',
    status: directives.status ?? 200,
    headers: vendorHeaders(subject, isEvents ? 'text/event-stream; charset=utf-8' : type),
    body: text,
  }
}

function redirectAnswer(subject: DirectedSubject, location: string, status: number): BodyAnswer {
  const headers = vendorHeaders(subject, 'text/plain')
  return { kind: 'error', status, headers: [...headers, 'location', location], body: '' }
}

function wrongBody(
  { format, isStream }: DirectedSubject,
  kind: NonNullable<Directives['notFormat']>,
): string {
  switch (kind) {
    case 'json':
      return '{"hello":"this is JSON, and no answer"}'
    case 'html':
      return '<html><body>Welcome to the captive portal.</body></html>'
    case 'garbage':
      return isStream ? 'data: {"id": \u0001 not json\n\n' : '{"id": \u0001 not json'
    case 'empty':
      return ''
    case 'other_format':
      return format === 'messages'
        ? '{"id":"chatcmpl-x","object":"chat.completion","choices":[],"usage":null}'
        : '{"id":"msg_x","type":"message","content":[],"usage":null}'
  }
}

/** Applies the directives about status and headers. */
export function adjustAnswer(answer: Answer, directives: Directives): Answer {
  const { status, contentType, retryAfter, shouldRetry, header, gzip } = directives
  let { headers } = answer
  if (contentType !== undefined) headers = withHeader(headers, 'content-type', contentType)
  if (retryAfter !== undefined) {
    headers = withHeader(headers, 'retry-after', retryAfter === 'none' ? undefined : retryAfter)
  }
  if (shouldRetry !== undefined) headers = withHeader(headers, 'x-should-retry', shouldRetry)
  if (gzip === true) headers = withHeader(headers, 'content-encoding', 'gzip')
  if (header !== undefined) {
    const colon = header.indexOf(':')
    headers = [...headers, header.slice(0, colon), header.slice(colon + 1).trim()]
  }
  return { ...answer, headers, status: status ?? answer.status }
}

/** The models that the sandbox lists. It answers for any name. */
const listedModels: Readonly<Record<SandboxRoute['format'], readonly string[]>> = {
  messages: ['large-1', 'small-1'],
  chat: ['chat-1', 'chat-mini-1', 'embed-1'],
}

const createdAt = '2026-10-21T00:00:00Z'
const createdSeconds = 1_792_540_800

interface FreeSubject {
  readonly route: SandboxRoute
  readonly index: number
}

export function answerModels({ route, index }: FreeSubject): BodyAnswer {
  const { format, id: modelId } = route
  const ids = listedModels[format]
  if (modelId !== undefined) {
    return ids.includes(modelId)
      ? free({ route, index }, item(format, modelId))
      : plainError({ format, index }, 404, `model: ${modelId}`)
  }
  const data = ids.map((id) => item(format, id))
  const list =
    format === 'messages'
      ? { data, has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null }
      : { object: 'list', data }
  return free({ route, index }, list)
}

function item(format: SandboxRoute['format'], id: string): unknown {
  return format === 'messages'
    ? {
        type: 'model',
        id,
        display_name: `Sandbox ${id}`,
        created_at: createdAt,
        lifecycle: 'active',
        max_input_tokens: 200_000,
        max_tokens: 8_192,
      }
    : { id, object: 'model', created: createdSeconds, owned_by: 'sandbox' }
}

export function answerTokenCount(subject: FreeSubject, body: JsonObject): BodyAnswer {
  return free(subject, { input_tokens: countPromptTokens(body) })
}

function free({ route, index }: FreeSubject, content: unknown): BodyAnswer {
  return {
    kind: 'free',
    status: 200,
    headers: vendorHeaders({ format: route.format, index }, 'application/json'),
    body: JSON.stringify(content),
  }
}
