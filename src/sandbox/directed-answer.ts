/**
 * Answers that directives put in place of the simulated one, and what they change about any
 * answer's status and headers.
 */
import type { FormatName } from '../formats/format.ts'
import type { Directives } from './directives.ts'
import { directedError, errorAnswer } from './error-answer.ts'
import type { Answer, BodyAnswer } from './frames.ts'
import { vendorHeaders, withHeader } from './vendor-headers.ts'

export interface DirectedSubject {
  readonly format: FormatName
  readonly index: number
  readonly isStream: boolean
}

/** The answer a directive set asks for instead of a real one; undefined when it asks for none. */
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
  const text = body ?? (notFormat === undefined ? undefined : strangeBody(subject, notFormat))
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

function strangeBody(
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

/** Status and headers as the directives change them. */
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
