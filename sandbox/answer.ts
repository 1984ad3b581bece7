/**
 * An answer before it is sent: a status, headers, and a body that is either one text or a sequence
 * of frames. The headers are those of real vendors, including those that name the operator's own
 * account: a gateway must strip them, and a test can only see that if they are there.
 */
import type { Directives } from './directives.ts'
import { operatorIdentifiers } from './error-presets.ts'
import type { ErrorPreset } from './error-presets.ts'
import type { Format } from './endpoints.ts'
import type { SandboxUsage } from './usage.ts'

type FrameKind =
  | 'start' // the first event of an answer that is neither ping nor error
  | 'content'
  | 'usage' // carries the final counts
  | 'terminal' // ends the answer
  | 'filler' // pings, comments, unknown events
  | 'error'

export interface Frame {
  readonly kind: FrameKind
  readonly text: string
  /** The counts that this frame sends, in wire form. */
  readonly usage?: unknown
}

export type AnswerKind = 'answer' | 'empty_refusal' | 'error' | 'free'

interface AnswerBase {
  readonly kind: AnswerKind
  readonly status: number
  /** Alternating names and values, as `writeHead` expects them, without length and date. */
  readonly headers: readonly string[]
  /** The sandbox's own count of what the answer used; absent where it used nothing. */
  readonly usage?: SandboxUsage
}

export interface BodyAnswer extends AnswerBase {
  readonly body: string
  /** The counts in the body, in wire form. */
  readonly wireUsage?: unknown
}

/** What an error in the middle of a stream of typed events is. */
export type ErrorForm = NonNullable<Directives['errorAs']>

export interface StreamAnswer extends AnswerBase {
  /** Returns the same frames at each call. */
  readonly frames: () => Iterable<Frame>
  /**
   * Where each event has a type and a number: the events that report an error. The numbers are
   * still to be set.
   */
  readonly errorFrames?: (row: ErrorPreset, form: ErrorForm) => readonly Frame[]
}

export type Answer = BodyAnswer | StreamAnswer

export function isStreamAnswer(answer: Answer): answer is StreamAnswer {
  return 'frames' in answer
}

const edgeHeaders: readonly string[] = [
  'server',
  'cloudflare',
  'cf-ray',
  '8f00ba12ac0ffee0-ZRH',
  'cf-cache-status',
  'DYNAMIC',
  'set-cookie',
  `${operatorIdentifiers.cookie}; path=/; HttpOnly; Secure`,
  'set-cookie',
  '_cfuvid=sandbox-operator-visitor; path=/; HttpOnly; Secure',
  'strict-transport-security',
  'max-age=31536000; includeSubDomains; preload',
  'alt-svc',
  'h3=":443"; ma=86400',
  'via',
  '1.1 sandbox-edge',
  'nel',
  '{"report_to":"cf-nel","max_age":604800}',
  'report-to',
  '{"group":"cf-nel","max_age":604800,"endpoints":[]}',
  'x-content-type-options',
  'nosniff',
]

const messagesHeaders: readonly string[] = [
  'anthropic-organization-id',
  operatorIdentifiers.organizationId,
  'anthropic-workspace-id',
  operatorIdentifiers.workspace,
  'anthropic-ratelimit-requests-limit',
  '4000',
  'anthropic-ratelimit-requests-remaining',
  '3999',
  'anthropic-ratelimit-requests-reset',
  '2026-11-21T00:00:00Z',
  'anthropic-ratelimit-tokens-limit',
  '480000',
  'anthropic-ratelimit-tokens-remaining',
  '479000',
  'anthropic-ratelimit-tokens-reset',
  '2026-11-21T00:00:00Z',
  'anthropic-ratelimit-unified-status',
  'allowed',
  'anthropic-priority-input-tokens-limit',
  '10000',
  'anthropic-fast-input-tokens-limit',
  '10000',
  ...edgeHeaders,
]

const chatHeaders: readonly string[] = [
  'openai-organization',
  operatorIdentifiers.organization,
  'openai-project',
  operatorIdentifiers.project,
  'openai-processing-ms',
  '12',
  'openai-version',
  '2020-10-01',
  'x-ratelimit-limit-requests',
  '10000',
  'x-ratelimit-limit-tokens',
  '2000000',
  'x-ratelimit-remaining-requests',
  '9999',
  'x-ratelimit-remaining-tokens',
  '1999000',
  'x-ratelimit-reset-requests',
  '6ms',
  'x-ratelimit-reset-tokens',
  '0s',
  ...edgeHeaders,
]

interface HeaderSubject {
  readonly format: Format
  readonly index: number
}

export function vendorRequestId({ format, index }: HeaderSubject): string {
  const number = String(index).padStart(12, '0')
  return format === 'messages' ? `req_011sandbox${number}` : `req_sandbox${number}`
}

export function vendorHeaders(subject: HeaderSubject, contentType: string): readonly string[] {
  const id = vendorRequestId(subject)
  return subject.format === 'messages'
    ? ['content-type', contentType, 'request-id', id, ...messagesHeaders]
    : ['content-type', contentType, 'x-request-id', id, ...chatHeaders]
}

export function streamHeaders(subject: HeaderSubject): readonly string[] {
  return [
    ...vendorHeaders(subject, 'text/event-stream; charset=utf-8'),
    'cache-control',
    'no-cache',
  ]
}

/** Returns a copy with one header set; an undefined value removes it. */
export function withHeader(
  headers: readonly string[],
  name: string,
  value: string | undefined,
): readonly string[] {
  const result: string[] = []
  for (let index = 0; index < headers.length; index += 2) {
    const present = headers[index] ?? ''
    if (present !== name) result.push(present, headers[index + 1] ?? '')
  }
  if (value !== undefined) result.push(name, value)
  return result
}
