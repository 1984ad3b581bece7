/** What a client may see of an answer: whole, broken off with an error event, or a gateway error. */
import assert from 'node:assert/strict'
import type { ServedRecord } from '../../sandbox/served-record.ts'
import { operatorIdentifiers } from '../../sandbox/error-presets.ts'
import type { WireAnswer } from './http-client.ts'
import type { BodyFormat, StreamedFormat } from './requests.ts'

/** The client has the whole answer: complete by its framing, and for a stream by its last event. */
export function hasEnd(
  answer: Pick<WireAnswer, 'status' | 'isComplete' | 'text'>,
  ask: { readonly format: BodyFormat; readonly isStream: boolean },
): boolean {
  if (answer.status !== 200 || !answer.isComplete) return false
  return !ask.isStream || hasTerminalEvent(answer.text, ask.format)
}

export function isErrorEvent(text: string, format: BodyFormat): boolean {
  return format === 'messages' || format === 'responses'
    ? /^event: error$/m.test(text)
    : /^data: ?\{"error":/m.test(text)
}

/** The whole answer of one exchange with one channel, to the byte. */
export function assertWhole(answer: WireAnswer, record: ServedRecord, what: string): void {
  assert.equal(answer.status, 200, `${what}: ${answer.text}`)
  assert.ok(answer.isComplete, what)
  assert.ok(record.responseBody !== undefined, what)
  assert.equal(answer.text, record.responseBody.toString(), what)
  assert.ok(record.isTerminalSent, what)
  assert.equal(vendorIdOf(answer), vendorIdOfRecord(record), what)
}

/**
 * A beginning of that one channel's bytes, then one error event of the format, then an end that no
 * client can take for a whole answer.
 */
export function assertBrokenOff(
  answer: WireAnswer,
  record: ServedRecord,
  format: BodyFormat,
  what: string,
): void {
  assert.equal(answer.status, 200, what)
  assert.equal(answer.isComplete, false, `${what}: the stream ended cleanly`)
  const text = answer.text
  assert.ok(!hasTerminalEvent(text, format), `${what}: ${text}`)
  const error = findErrorEvent(text, format)
  assert.ok(error !== undefined, `${what}: no error event in ${JSON.stringify(text)}`)
  assert.ok(record.responseBody !== undefined, what)
  const before = text.slice(0, error.index).replace(/\n\n$/, '')
  assert.ok(before.length > 0, `${what}: nothing before the error`)
  assert.ok(
    record.responseBody.toString().startsWith(before),
    `${what}: not the vendor's bytes: ${before}`,
  )
  assert.equal(text.slice(error.index + error[0].length), '', what)
  assert.ok(!namesOperator(text), `${what}: ${text}`)
}

/** The beginning of a stream's last event, for streams that are not kept whole. */
export const lastEvents: Readonly<Record<StreamedFormat, string>> = {
  messages: 'event: message_stop',
  chat: 'data: [DONE]',
  responses: 'event: response.completed',
  completions: 'data: [DONE]',
}

export function hasTerminalEvent(text: string, format: BodyFormat): boolean {
  switch (format) {
    case 'messages':
      return /"type": ?"message_stop"/.test(text)
    case 'responses':
      return /^event: response\.(?:completed|incomplete)\ndata: .*\}$/m.test(text)
    default:
      return /^data: ?\[DONE\]$/m.test(text)
  }
}

function findErrorEvent(text: string, format: BodyFormat): RegExpExecArray | undefined {
  const pattern =
    format === 'messages' || format === 'responses'
      ? /event: error\ndata: \{"type":"error".*\}\n\n/
      : /(?:event: error\n)?data: \{"error":.*\}\n\n/
  return pattern.exec(text) ?? undefined
}

export interface OwnError {
  readonly type: string
  readonly code: string | null | undefined
  readonly message: string
  /** In the chat format. */
  readonly request_id?: string
}

/** An error of the gateway's own in the format's shape, without a word about the operator's account. */
export function assertOwnError(
  answer: WireAnswer,
  format: BodyFormat,
  status: number,
  what: string,
): OwnError {
  const text = answer.text
  assert.equal(answer.status, status, `${what}: ${text}`)
  assert.ok(answer.isComplete, what)
  const body = JSON.parse(text) as { readonly error: OwnError; readonly request_id?: string }
  const id = answer.headers['x-turnpike-request-id']
  assert.equal(format === 'messages' ? body.request_id : body.error.request_id, id, what)
  assert.equal(vendorIdOf(answer), id, what)
  assert.ok(!namesOperator(text + answer.rawHeaders.join('\n')), `${what}: ${text}`)
  assert.doesNotMatch(text, /simulated|sandbox|127\.0\.0\.1/i, what)
  return body.error
}

/** What the vendor's texts and headers say about the operator's account there. */
export function namesOperator(text: string): boolean {
  return Object.values(operatorIdentifiers).some((identifier) => text.includes(identifier))
}

function vendorIdOf(answer: WireAnswer): string | undefined {
  const id = answer.headers['request-id'] ?? answer.headers['x-request-id']
  return typeof id === 'string' ? id : undefined
}

function vendorIdOfRecord(record: ServedRecord): string {
  const number = String(record.index).padStart(12, '0')
  return record.format === 'messages' ? `req_011sandbox${number}` : `req_sandbox${number}`
}
