/**
 * Directives tell the sandbox what to do with one exchange. One schema defines their names, values,
 * messages and the table in readme.md; nothing here carries them out. A wrong name or value is a
 * reported problem, never ignored: a misspelt fault must not pass as a healthy answer.
 */
import { z } from 'zod'
import { operationGroups } from './endpoints.ts'
import { errorPresets } from './error-presets.ts'
import { isScript } from './script.ts'

/** Points at which a gate can stop an exchange; from `first_event` on they lie between events. */
export const gatePoints = [
  'before_head',
  'after_head',
  'first_event',
  'first_output',
  'mid',
  'before_usage',
  'before_terminal',
] as const

export type GatePoint = (typeof gatePoints)[number]

const contentKinds: readonly string[] = [
  'text',
  'cited',
  'thinking',
  'omitted',
  'redacted',
  'fallback',
  'tool',
  'search',
  'all',
  'refusal',
  'reasoning',
  'audio',
  'file_search',
  'code_interpreter',
  'image_generation',
  'mcp',
]

interface Described {
  /** What the documentation says about the accepted values. */
  readonly values: string
  readonly meaning: string
}

const described = z.registry<Described>()

function integer(meaning: string) {
  const schema = z.int('needs a whole number')
  return schema.register(described, { values: 'whole number', meaning }).exactOptional()
}

function flag(meaning: string) {
  const schema = z.boolean('needs true, false or no value')
  return schema.register(described, { values: 'flag', meaning }).exactOptional()
}

function text(meaning: string) {
  return z.string().register(described, { values: 'text', meaning }).exactOptional()
}

function choice<const Values extends readonly string[]>(values: Values, meaning: string) {
  const names = values.map((value) => `\`${value}\``).join(', ')
  const schema = z.enum(values, `needs one of ${values.join(', ')}`)
  return schema.register(described, { values: names, meaning }).exactOptional()
}

/** A name of error-presets.ts, with or without its format. */
function preset(meaning: string) {
  const schema = z.string().refine(isPresetName, 'names an error that does not exist')
  return schema.register(described, { values: 'name of an error', meaning }).exactOptional()
}

function isPresetName(name: string): boolean {
  return name === '' || ['', 'messages.', 'chat.'].some((format) => errorPresets.has(format + name))
}

function list(known: readonly string[], meaning: string) {
  const schema = z
    .string()
    .refine((value) => value.split(',').every((name) => known.includes(name)), {
      error: `needs a list of ${known.join(', ')}`,
    })
  return schema.register(described, { values: 'list', meaning }).exactOptional()
}

function scriptText(meaning: string) {
  const schema = z.string().refine(isScript, 'needs a list of calls as percent-encoded JSON')
  return schema.register(described, { values: 'percent-encoded JSON', meaning }).exactOptional()
}

function gateList(meaning: string) {
  const points: readonly string[] = gatePoints
  const schema = z
    .string()
    .refine((value) => readGates(value).every(({ point }) => points.includes(point)), {
      error: `needs id@point with one of the points ${points.join(', ')}`,
    })
  return schema.register(described, { values: '`id@point`, list', meaning }).exactOptional()
}

function headerLine(meaning: string) {
  const schema = z.string().regex(/^[\w-]+:/, 'needs name:value')
  return schema.register(described, { values: '`name:value`', meaning }).exactOptional()
}

const insteadOfAnAnswer = {
  status: integer('Status of the answer. From 300 on it is an error in the shape of the format.'),
  error: preset('An error answer: `messages.529`, or `529` for the format of the request.'),
  type: text('Replaces `type` in an error answer.'),
  code: text('Replaces `code` in an error answer.'),
  message: text('Replaces `message` in an error answer.'),
  retryAfter: text('Value of the header `retry-after`. `none` removes it.'),
  shouldRetry: choice(['true', 'false'], 'Value of the header `x-should-retry`.'),
  body: text('This body, percent-encoded, in place of the answer.'),
  contentType: text('Value of the header `content-type`.'),
  header: headerLine('One more response header.'),
  redirect: text('Value of the header `location`. The status is 307 unless `status` sets it.'),
  notFormat: choice(
    ['json', 'html', 'garbage', 'empty', 'other_format'],
    'A 200 whose body is not an answer of the format.',
  ),
  notOffered: list(
    operationGroups,
    `The channel does not offer these: ${operationGroups.join(', ')}. All others work.`,
  ),
  notOfferedAs: preset('How it says so. Without it: 404 in the words of the vendor.'),
  truncatedJson: flag('A whole answer that ends in its middle; `content-length` agrees with it.'),
  close: choice(['before_head', 'after_head'], 'Closes the connection at this point.'),
  reset: choice(['before_head', 'after_head'], 'Resets the connection (RST) at this point.'),
}

const time = {
  delayMs: integer('Waits before the response head.'),
  firstEventDelayMs: integer('Waits before the first event.'),
  firstOutputDelayMs: integer(
    'Responses: waits after the events that only say that the vendor has begun.',
  ),
  eventDelayMs: integer('Waits before each event. 0 is one turn of the event loop.'),
  hold: gateList('Stops at a gate until it is released. Without a point: `before_head`.'),
}

const bytes = {
  cut: integer('Breaks off after this many body bytes. A negative number counts from the end.'),
  cutEvent: integer('Breaks off after this many events.'),
  cutAs: choice(
    ['destroy', 'reset', 'end'],
    'How a cut ends: the socket is destroyed, the connection is reset, or the body ends cleanly.',
  ),
  stall: integer('Sends nothing more after this many body bytes, until the client leaves.'),
  stallEvent: integer('Sends nothing more after this many events, until the client leaves.'),
  chunking: choice(['event', 'byte', 'random', 'whole'], 'What one write to the socket contains.'),
  seed: integer('Seed for `chunking=random`.'),
  gzip: flag('Compresses the body.'),
  framing: choice(
    ['length', 'chunked', 'close'],
    'How the end of the body is marked: by its length, by chunks, or by the end of the connection.',
  ),
}

const events = {
  newline: choice(['lf', 'crlf', 'cr'], 'Line ends of the stream.'),
  bom: flag('The stream begins with a byte order mark.'),
  idLines: flag('Each event has `id` and `retry` lines.'),
  comments: flag('Adds comment lines.'),
  unknownEvents: flag('Adds events of an unknown type.'),
  pings: integer(
    'Before the first event: pings (messages) or comments. Responses: `keepalive` events before the first output.',
  ),
  errorFirst: preset('The first event is this error. Without a name: an overload error.'),
  errorAt: integer('An error takes the place of event N, counted from 0. Nothing follows.'),
  eventError: preset('The error that `error_at` sends.'),
  errorAs: choice(
    ['event', 'flat', 'failed', 'both'],
    'Responses: the error is an event `error`, the same without an inner object, `response.failed`, or first the one and then the other.',
  ),
  namedError: flag('A chat error event has an `event: error` line, as some servers send it.'),
  terminal: choice(['missing', 'twice', 'unfinished'], 'What happens to the terminal event.'),
  afterTerminal: text('Bytes after the terminal event, percent-encoded.'),
}

const content = {
  output: integer('Number of text pieces. Each piece is one output token.'),
  ignoreLimits: flag('The output limits of the request cut nothing off.'),
  piece: text('The pieces: `ascii`, `cjk`, `emoji`, `escapes`, or any text.'),
  frame: integer('Pads each piece to about this many bytes.'),
  content: list(contentKinds, `Kinds of content in order: ${contentKinds.join(', ')}.`),
  refusal: choice(['empty', 'partial'], 'A refusal before any output, or in the middle.'),
  stop: text('The stop reason. Responses: the reason of an incomplete one, or `failed`.'),
  answerModel: text('The model that the answer names.'),
  script: scriptText(
    'Tool calls to make one after the other, then the text: `[{"name":"shell","arguments":{}},{"name":"apply_patch","input":""}]`.',
  ),
  lateContent: flag('Messages: a running count, then more content, then the final count.'),
}

const usage = {
  input: integer('Input tokens.'),
  outputTokens: integer('Reported output tokens, independent of what is sent.'),
  cached: integer('Tokens read from the cache.'),
  cacheWrite5m: integer('Tokens written to the cache for 5 minutes.'),
  cacheWrite1h: integer('Tokens written to the cache for 1 hour.'),
  cacheWrite: integer('Cache writes without their lifetime (messages), or `cache_write_tokens`.'),
  cacheWriteLate: integer('Messages: cache writes that appear only in the final count.'),
  reasoning: integer('Hidden output tokens.'),
  audioIn: integer('Audio input tokens.'),
  audioOut: integer('Audio output tokens.'),
  tier: text('The service tier that the answer names.'),
  speed: text('The speed that the answer names.'),
  geo: text('The region that the answer names.'),
  webSearch: integer('Number of web searches.'),
  iterations: choice(
    ['fallback', 'fallback_partial', 'compaction', 'advisor'],
    'Messages: a second part in `iterations`.',
  ),
  otherModel: text('The model of that second part.'),
  usage: choice(
    ['none', 'null', 'zero', 'bare', 'negative', 'fractional', 'text', 'huge', 'falling', 'twice'],
    'Reports wrong counts.',
  ),
  usageAt: choice(
    ['chunk', 'finish', 'every', 'after_done'],
    'Chat streams: where the counts are.',
  ),
  usageAlways: flag('Chat streams: sends counts although the request did not ask for them.'),
}

const shape = { ...insteadOfAnAnswer, ...time, ...bytes, ...events, ...content, ...usage }

const schema = z.strictObject(shape)

/** Text form: `name=value; name=value`, names in snake_case (`retry_after=2; event_delay_ms=5`). */
export type Directives = Readonly<z.infer<typeof schema>>

/** Directives about what an answer contains. All others change how it is sent. */
export const contentDirectives: ReadonlySet<string> = new Set([
  ...Object.keys(content),
  ...Object.keys(usage),
])

export interface ParsedDirectives {
  readonly directives: Directives
  readonly problems: readonly string[]
}

export const noDirectives: Directives = {}

const namesByText: ReadonlyMap<string, keyof typeof shape> = new Map(
  Object.keys(shape).map((name) => [textName(name), name as keyof typeof shape]),
)

/** Every directive's name in the text form. */
export const directiveNames: readonly string[] = [...namesByText.keys()]

/** Parses the text form; parts are separated by `;` (or by `separator`). */
export function parseDirectives(text: string, separator = ';'): ParsedDirectives {
  const values: Record<string, string | number | boolean> = {}
  for (const part of text.split(separator)) {
    const trimmed = part.trim()
    if (trimmed === '') continue
    const equals = trimmed.indexOf('=')
    const key = equals === -1 ? trimmed : trimmed.slice(0, equals).trim()
    const value = equals === -1 ? '' : trimmed.slice(equals + 1).trim()
    const name = namesByText.get(key)
    if (name === undefined) values[key] = value
    else values[name] = decodeValue(name, value)
  }
  return checkDirectives(values)
}

/** Checks directives that were given as an object. With a problem, none is returned. */
export function checkDirectives(values: object): ParsedDirectives {
  const checked = schema.safeParse(values)
  if (checked.success) return { directives: checked.data, problems: [] }
  return { directives: noDirectives, problems: checked.error.issues.flatMap(problemsOf) }
}

function problemsOf(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `there is no directive "${key}"`)
  }
  return [`directive "${textName(String(issue.path[0]))}" ${issue.message}`]
}

/** Text that does not fit the directive's type stays text, so that the schema reports it. */
function decodeValue(name: keyof typeof shape, text: string): string | number | boolean {
  const type = shape[name].unwrap()
  if (type instanceof z.ZodNumber) return /^-?\d{1,15}$/.test(text) ? Number(text) : text
  if (type instanceof z.ZodBoolean) {
    if (text === '' || text === 'true' || text === '1') return true
    return text === 'false' || text === '0' ? false : text
  }
  return decodePercent(text)
}

function decodePercent(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text // A lone percent sign means itself.
  }
}

/** `cacheWrite5m` → `cache_write_5m`. */
function textName(name: string): string {
  return name.replace(/[A-Z]|\d+[a-z]*/g, (match) => `_${match.toLowerCase()}`)
}

/** Parses `id@point[,id@point]`. Without a point, the gate is before the head. */
export function readGates(hold: string) {
  return hold.split(',').flatMap((gate) => {
    const [id = '', point = 'before_head'] = gate.trim().split('@')
    return id === '' ? [] : [{ id, point }]
  })
}

/** The table of all directives in readme.md. */
export function directivesTable(): string {
  const rows = [...namesByText].map(([name, member]) => {
    const { values = '', meaning = '' } = described.get(shape[member].unwrap()) ?? {}
    return `| \`${name}\` | ${values} | ${meaning} |`
  })
  return ['| directive | values | meaning |', '| --- | --- | --- |', ...rows].join('\n')
}
