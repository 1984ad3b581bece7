/**
 * Reads from a request body what the gateway must know, and refuses what gateway and vendor could
 * read in two ways. Bytes in, facts out; the body itself is never changed here. What the fields
 * mean is said in fields.ts and by the formats; how a body is looked into is the same for all.
 *
 * Two passes: a scan that leaps over strings finds positions, duplicates and depth, then JSON.parse
 * decides what is JSON.
 */
import { isUtf8 } from 'node:buffer'
import {
  fault,
  findFeatureFault,
  findMessagesFault,
  isFault,
  joinExtras,
  readLimit,
  readManner,
  readStreamOptions,
  type RequestRules,
} from './fields.ts'
import type { ReadRequestOptions, RequestFacts, RequestFault, Span } from './format.ts'
import { asArray, asObject, type JsonObject } from './json.ts'
import { nestingDepthMax, scanMembers, type MemberScan } from './scan.ts'

/** Fields that the gateway checks or goes by; none may stand there twice, or in other letters. */
const readFields: ReadonlySet<string> = new Set([
  'model',
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stream_options',
  'n',
  'messages',
  'system',
  'tools',
  'service_tier',
  'temperature',
  'speed',
  'inference_geo',
  'store',
  'container',
  'thread',
  'moderation',
  'web_search_options',
  'modalities',
  'fallbacks',
  'mcp_servers',
])

const streamOptionFields: ReadonlySet<string> = new Set(['include_usage'])

/** An upper guess for text: few languages and no prose have more tokens than this. */
const textBytesPerToken = 3

export function peek(
  body: Buffer,
  rules: RequestRules,
  options: ReadRequestOptions,
): RequestFacts | RequestFault {
  const opened = open(body)
  if (isFault(opened)) return opened
  const { fields, text, scan } = opened
  const model = readModel(body, fields, scan)
  if (isFault(model)) return model
  const limit = readLimit(fields, rules, options)
  if (isFault(limit)) return limit
  const manner = readManner(fields, rules)
  if (isFault(manner)) return manner
  const asksUsageChunk = readStreamOptions(fields, rules)
  if (isFault(asksUsageChunk)) return asksUsageChunk
  const blobs = rules.estimateBlobs(fields)
  const features = rules.findFeatures(fields)
  const streamOptions = scan.spans.get('stream_options')
  const rest =
    findMessagesFault(fields) ??
    findInnerFault(text, fields, streamOptions) ??
    findFeatureFault(blobs.isInAccount ? [...features, 'account_files'] : features, options)
  if (rest !== undefined) return rest
  const hasTools = (asArray(fields['tools'])?.length ?? 0) > 0
  const textTokens = Math.ceil(Math.max(0, body.length - blobs.bytes) / textBytesPerToken)
  const asked = rules.findAsked(fields)
  return {
    model: model.name,
    maxOutputTokens: limit,
    isStream: manner.isStream && options.operation !== rules.countingOperation,
    choiceCount: manner.choiceCount,
    inputTokensEstimate: textTokens + blobs.tokens + (hasTools ? rules.toolPromptTokens : 0),
    asksOneHourCache: rules.asksOneHourCache(text),
    asksUsageChunk,
    ...(asked !== undefined && { asked }),
    extras: joinExtras(blobs, rules.findWork(fields)),
    spans: {
      model: model.span,
      ...(streamOptions !== undefined && { streamOptions }),
      firstMember: scan.firstMember,
    },
  }
}

interface Opened {
  readonly kind: 'opened'
  readonly text: string
  readonly fields: JsonObject
  readonly scan: MemberScan
}

/** Everything that is decided about a body before its fields are looked at. */
function open(body: Buffer): Opened | RequestFault {
  if (body.length === 0) return fault('The request body is empty; it must be a JSON object.')
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) {
    return fault('The request body must not begin with a byte order mark.')
  }
  if (!isUtf8(body)) return fault('The request body is not valid UTF-8.')
  const text = body.toString('latin1')
  const scan = scanMembers(text, 0, readFields)
  if (scan.isTooDeep) {
    return fault(`The request body is nested deeper than ${nestingDepthMax} levels.`)
  }
  const parsed = parse(text)
  if (isFault(parsed)) return parsed
  const fields = asObject(parsed.value)
  if (fields === undefined) return fault('The request body must be a JSON object.')
  if (scan.duplicate !== undefined) {
    return fault(`\`${scan.duplicate}\` stands in the request body twice; give it once.`)
  }
  if (scan.respelled !== undefined) return respelledFault(scan.respelled, 'the request body')
  if (scan.hasHugeNumber) return fault('The request body holds a number that is out of range.')
  return { kind: 'opened', text, fields, scan }
}

function parse(text: string): { readonly kind: 'parsed'; readonly value: unknown } | RequestFault {
  try {
    return { kind: 'parsed', value: JSON.parse(text) }
  } catch (error) {
    // The parser's own message quotes the body, which no error may do; the position is harmless.
    const position = error instanceof Error ? / position (\d+)/.exec(error.message)?.[1] : undefined
    const where = position === undefined ? '' : ` (at byte ${position})`
    return fault(`The request body is not valid JSON${where}.`)
  }
}

interface NamedModel {
  readonly kind: 'model'
  readonly name: string
  readonly span: Span
}

function readModel(body: Buffer, fields: JsonObject, scan: MemberScan): NamedModel | RequestFault {
  const span = scan.spans.get('model')
  const name = fields['model']
  if (typeof name !== 'string' || span === undefined) {
    return fault('`model` is required and must be a string that names a model.')
  }
  if (name === '') return fault('`model` must not be empty.')
  if (isAscii(name)) return { kind: 'model', name, span }
  // The body was parsed as latin1, which is right for positions and wrong for this name.
  const decoded = JSON.parse(body.toString('utf8', span.start, span.end)) as string
  return { kind: 'model', name: decoded, span }
}

function findInnerFault(
  text: string,
  fields: JsonObject,
  streamOptions: Span | undefined,
): RequestFault | undefined {
  if (streamOptions === undefined || asObject(fields['stream_options']) === undefined) {
    return undefined
  }
  const scan = scanMembers(text, streamOptions.start, streamOptionFields)
  if (scan.duplicate !== undefined)
    return fault(`\`${scan.duplicate}\` stands in \`stream_options\` twice; give it once.`)
  if (scan.respelled === undefined) return undefined
  return respelledFault(scan.respelled, '`stream_options`')
}

/** The gateway would not see what a vendor that does not mind the case of letters would go by. */
function respelledFault(name: string, where: string): RequestFault {
  return fault(`\`${name}\` stands in ${where} in other letters; spell it in exactly these.`)
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 0x7f) return false
  }
  return true
}
