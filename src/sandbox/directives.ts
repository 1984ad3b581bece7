/**
 * Directives: what a test or a demo tells the sandbox to do with one exchange, as data. Knows their
 * names, types and text form; knows nothing of how they are carried out. A name or value that is
 * not in the table below is a reported problem, never ignored: a misspelt fault must not pass as
 * a healthy answer.
 */

/** Text form: `name=value; name=value`, names in snake_case (`retry_after=2; event_delay_ms=5`). */
export interface Directives {
  // ── instead of an answer
  /** Status of the answer; from 300 on it is an error answer in the format's shape. */
  readonly status?: number
  /** A named row of error-presets.ts: `messages.529`, or `529` for the format that was called. */
  readonly error?: string
  /** Overrides inside an error answer's body. */
  readonly type?: string
  readonly code?: string
  readonly message?: string
  /** Value of the `retry-after` header, on any answer; `none` removes a preset's. */
  readonly retryAfter?: string
  /** Value of the `x-should-retry` header. */
  readonly shouldRetry?: string
  /** A raw body (percent-encoded) in place of the answer. */
  readonly body?: string
  readonly contentType?: string
  /** One more response header, `name:value`. */
  readonly header?: string
  /** A `location` header; the status is 307 unless given. */
  readonly redirect?: string
  /** A 200 whose body is not an answer of the format. */
  readonly notFormat?: 'json' | 'html' | 'garbage' | 'empty' | 'other_format'
  /** A non-stream body that ends in its middle, its length header agreeing. */
  readonly truncatedJson?: boolean
  /** Ends the connection without (the whole of) an answer: `close` politely, `reset` by RST. */
  readonly close?: 'before_head' | 'after_head'
  readonly reset?: 'before_head' | 'after_head'

  // ── time
  readonly delayMs?: number
  readonly firstEventDelayMs?: number
  /** Between events; 0 still makes every event a turn of its own. */
  readonly eventDelayMs?: number
  /** `id@point[,id@point]`: waits there until `faults.release(id)`. */
  readonly hold?: string

  // ── bytes
  /** Breaks off after this many body bytes; negative counts from the end. */
  readonly cut?: number
  /** Breaks off after this many events. */
  readonly cutEvent?: number
  /** How a cut ends: socket destroyed, RST, or a clean end of the HTTP body. */
  readonly cutAs?: 'destroy' | 'reset' | 'end'
  /** Falls silent after this many body bytes or events and waits until the client leaves. */
  readonly stall?: number
  readonly stallEvent?: number
  readonly chunking?: 'event' | 'byte' | 'random' | 'whole'
  readonly seed?: number
  readonly gzip?: boolean
  /** How the body's end is told: `content-length`, chunked, or by closing the connection. */
  readonly framing?: 'length' | 'chunked' | 'close'

  // ── the event stream
  readonly newline?: 'lf' | 'crlf' | 'cr'
  readonly bom?: boolean
  readonly idLines?: boolean
  readonly comments?: boolean
  readonly unknownEvents?: boolean
  /** Pings (messages) or comment lines (chat) before the first event. */
  readonly pings?: number
  /** The first event is this error: a preset's name, or nothing for the format's overload. */
  readonly errorFirst?: string
  /** An error event stands in place of event N (from 0); nothing follows. */
  readonly errorAt?: number
  /** Which preset `error_at` tells. */
  readonly eventError?: string
  /** A chat error event carries an `event: error` line, as some servers send it. */
  readonly namedError?: boolean
  readonly terminal?: 'missing' | 'twice' | 'unfinished'
  /** Bytes behind the terminal event (percent-encoded). */
  readonly afterTerminal?: string

  // ── what the answer says
  /** Number of text pieces; each counts as one output token. */
  readonly output?: number
  readonly piece?: string
  /** Pads every text piece to about this many bytes. */
  readonly frame?: number
  /** Kinds of content in order, comma-separated; see messages-plan.ts and chat-plan.ts. */
  readonly content?: string
  readonly refusal?: 'empty' | 'partial'
  readonly stop?: string
  readonly answerModel?: string
  /** Messages: a `message_delta` with running counts, then more content, then the final one. */
  readonly lateContent?: boolean

  // ── what it used
  readonly input?: number
  /** Reported output tokens, whatever was sent. */
  readonly outputTokens?: number
  readonly cached?: number
  readonly cacheWrite5m?: number
  readonly cacheWrite1h?: number
  /** Cache writes told without their lifetime (messages), or `cache_write_tokens` (chat). */
  readonly cacheWrite?: number
  /** Messages: cache writes that appear only in the final count. */
  readonly cacheWriteLate?: number
  /** Hidden output tokens. */
  readonly reasoning?: number
  readonly audioIn?: number
  readonly audioOut?: number
  readonly tier?: string
  readonly speed?: string
  readonly geo?: string
  readonly webSearch?: number
  readonly iterations?: 'fallback' | 'fallback_partial' | 'compaction' | 'advisor'
  /** The second model that `iterations` names. */
  readonly otherModel?: string
  readonly usage?: UsageDistortion
  /** Chat streams: where the counts stand. */
  readonly usageAt?: 'chunk' | 'finish' | 'every' | 'after_done'
  /** Chat streams: counts come even where nobody asked for them. */
  readonly usageAlways?: boolean
}

export type UsageDistortion =
  | 'none'
  | 'null'
  | 'zero'
  | 'bare'
  | 'negative'
  | 'fractional'
  | 'text'
  | 'huge'
  | 'falling'
  | 'twice'

export interface ParsedDirectives {
  readonly directives: Directives
  readonly problems: readonly string[]
}

type Kind = 'flag' | 'integer' | 'text' | readonly string[]

const kinds: { readonly [Name in keyof Required<Directives>]: Kind } = {
  status: 'integer',
  error: 'text',
  type: 'text',
  code: 'text',
  message: 'text',
  retryAfter: 'text',
  shouldRetry: ['true', 'false'],
  body: 'text',
  contentType: 'text',
  header: 'text',
  redirect: 'text',
  notFormat: ['json', 'html', 'garbage', 'empty', 'other_format'],
  truncatedJson: 'flag',
  close: ['before_head', 'after_head'],
  reset: ['before_head', 'after_head'],
  delayMs: 'integer',
  firstEventDelayMs: 'integer',
  eventDelayMs: 'integer',
  hold: 'text',
  cut: 'integer',
  cutEvent: 'integer',
  cutAs: ['destroy', 'reset', 'end'],
  stall: 'integer',
  stallEvent: 'integer',
  chunking: ['event', 'byte', 'random', 'whole'],
  seed: 'integer',
  gzip: 'flag',
  framing: ['length', 'chunked', 'close'],
  newline: ['lf', 'crlf', 'cr'],
  bom: 'flag',
  idLines: 'flag',
  comments: 'flag',
  unknownEvents: 'flag',
  pings: 'integer',
  errorFirst: 'text',
  errorAt: 'integer',
  eventError: 'text',
  namedError: 'flag',
  terminal: ['missing', 'twice', 'unfinished'],
  afterTerminal: 'text',
  output: 'integer',
  piece: 'text',
  frame: 'integer',
  content: 'text',
  refusal: ['empty', 'partial'],
  stop: 'text',
  answerModel: 'text',
  lateContent: 'flag',
  input: 'integer',
  outputTokens: 'integer',
  cached: 'integer',
  cacheWrite5m: 'integer',
  cacheWrite1h: 'integer',
  cacheWrite: 'integer',
  cacheWriteLate: 'integer',
  reasoning: 'integer',
  audioIn: 'integer',
  audioOut: 'integer',
  tier: 'text',
  speed: 'text',
  geo: 'text',
  webSearch: 'integer',
  iterations: ['fallback', 'fallback_partial', 'compaction', 'advisor'],
  otherModel: 'text',
  usage: [
    'none',
    'null',
    'zero',
    'bare',
    'negative',
    'fractional',
    'text',
    'huge',
    'falling',
    'twice',
  ],
  usageAt: ['chunk', 'finish', 'every', 'after_done'],
  usageAlways: 'flag',
}

const kindByText: ReadonlyMap<string, { readonly name: string; readonly kind: Kind }> = new Map(
  Object.entries(kinds).map(([name, kind]) => [textName(name), { name, kind }]),
)

export const noDirectives: Directives = {}

/** Every directive's text name, for the sandbox's own help. */
export const directiveNames: readonly string[] = [...kindByText.keys()]

/** Parses the text form; parts are separated by `;` (or by `separator`). */
export function parseDirectives(text: string, separator = ';'): ParsedDirectives {
  const directives: Record<string, string | number | boolean> = {}
  const problems: string[] = []
  for (const part of text.split(separator)) {
    const trimmed = part.trim()
    if (trimmed === '') continue
    const equals = trimmed.indexOf('=')
    const key = equals === -1 ? trimmed : trimmed.slice(0, equals).trim()
    const entry = kindByText.get(key)
    const value =
      entry === undefined
        ? undefined
        : readValue(entry.kind, equals === -1 ? '' : trimmed.slice(equals + 1).trim())
    if (entry === undefined) problems.push(`there is no directive "${key}"`)
    else if (value === undefined) problems.push(`directive "${trimmed}" has a wrong value`)
    else directives[entry.name] = value
  }
  return { directives: directives, problems }
}

function readValue(kind: Kind, text: string): string | number | boolean | undefined {
  if (kind === 'integer') return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined
  if (kind === 'text') return decodePercent(text)
  if (kind === 'flag') {
    if (text === '' || text === 'true' || text === '1') return true
    return text === 'false' || text === '0' ? false : undefined
  }
  return kind.includes(text) ? text : undefined
}

function decodePercent(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text // A lone percent sign stands for itself.
  }
}

/** `cacheWrite5m` → `cache_write_5m`. */
function textName(name: string): string {
  return name.replace(/[A-Z]|\d+[a-z]*/g, (match) => `_${match.toLowerCase()}`)
}
