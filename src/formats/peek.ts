/**
 * Parses a request body: reads the facts that the gateway needs, and refuses a body that gateway and vendor
 * could read in two ways. Bytes in, facts out; it never changes the body. fields.ts and the formats define
 * the fields; this file is the same for all.
 *
 * One pass: `json-reader.ts` checks the JSON, finds positions, duplicates and depth, and builds the values
 * that the rules read.
 */
import { isUtf8 } from 'node:buffer'
import {
  aggregatorFields,
  asksCompaction,
  fault,
  findFeatureFault,
  findToolsFault,
  isFault,
  noExtras,
  readLimits,
  readAnswerForm,
  readStreamOptions,
  type RequestRules,
} from './fields.ts'
import type {
  PromptTokens,
  ReadRequestOptions,
  RequestFacts,
  RequestFault,
  Span,
} from './format.ts'
import { asArray, asObject, asText, isAsked, ownText, type JsonObject } from './json.ts'
import { elementsMax, nestingDepthMax, readJson, type Members, type Wanted } from './json-reader.ts'
import type { PayloadSum } from './payloads.ts'
import { asksReasoning } from './reasoning.ts'
import { usualBytesPerToken } from '../metering/token-estimate.ts'

const streamOptionFields: Wanted = { fields: new Set(['include_usage']) }

export function peek(
  body: Buffer,
  rules: RequestRules,
  options: ReadRequestOptions,
): RequestFacts | RequestFault {
  const opened = open(body, rules, options.stepsMax)
  if (isFault(opened)) return opened
  const { fields, text, members } = opened
  const model = readModel(body, fields, members)
  if (isFault(model)) return model
  const outputLimits = readLimits(fields, rules, options)
  if (isFault(outputLimits)) return outputLimits
  const form = readAnswerForm(fields, rules)
  if (isFault(form)) return form
  const asksUsageChunk = readStreamOptions(fields, rules)
  if (isFault(asksUsageChunk)) return asksUsageChunk
  const source = { text, spans: members.spans }
  const payloads = rules.estimatePayloads(fields, source)
  const features = rules.findOperatorFeatures(fields)
  for (const name of aggregatorFields) if (isAsked(fields[name])) features.push(name)
  if (payloads.isInAccount) features.push('account_files')
  const streamOptions = members.spans.get('stream_options')
  const extras = rules.findBillableFeatures(fields) ?? noExtras
  const rest =
    rules.findPromptFault(fields, source) ??
    findInnerFault(body, fields, streamOptions) ??
    findFeatureFault(features, options) ??
    findToolsFault(extras, options) ??
    findModelsFault(extras.otherModels)
  if (rest !== undefined) return rest
  const cacheKey = asText(fields['prompt_cache_key'])
  const state = rules.findState?.(fields)
  if (
    extras.serverTools !== undefined ||
    asksCompaction(fields) ||
    state?.references?.some(({ isNeeded }) => isNeeded) === true
  )
    payloads.isUnbounded = true
  return {
    model: model.name,
    outputLimits,
    isStream: form.isStream && rules.hasOutput,
    choiceCount: form.choiceCount * (rules.countPrompts?.(source) ?? 1),
    prompt: promptTokens(payloads, body.length, opened),
    isPlainText:
      extras === noExtras &&
      isAllText(payloads) &&
      !members.spans.has('tools') &&
      (state?.references ?? []).length === 0,
    cacheWrite: members.cacheWrite,
    asksUsageChunk,
    asksReasoning: asksReasoning(fields),
    cacheKey: cacheKey === undefined ? undefined : ownText(cacheKey),
    service: rules.findService(fields),
    extras,
    references: state?.references,
    storesAnswer: state?.storesAnswer,
    asksStorage: state?.asksStorage,
    spans: { model: model.span, streamOptions, firstMember: members.firstMember },
  }
}

/** Tokens that vendors add for templates and hidden prompts, and for their own tools that the client runs. */
const hiddenTokensMax = 2_000
const hiddenToolTokensMax = 5_000
const plainTools: ReadonlySet<unknown> = new Set([undefined, 'function', 'custom'])

function promptTokens(
  sum: PayloadSum,
  bodyBytes: number,
  { fields, members }: Opened,
): PromptTokens {
  const tools = asArray(fields['tools']) ?? []
  const span = members.spans.get('tools')
  const hasVendorTools = tools.some((tool) => !plainTools.has(asObject(tool)?.['type']))
  const hidden = hasVendorTools ? hiddenToolTokensMax : hiddenTokensMax
  const text = sum.textBytes + (span === undefined ? 0 : span.end - span.start)
  return {
    likely: Math.ceil(text / usualBytesPerToken) + sum.tokens,
    audioLikely: sum.audioTokens,
    most: sum.isUnbounded ? Infinity : bodyBytes - sum.base64Bytes + hidden,
    images: sum.images,
    audioMost: sum.audioTokensMax,
  }
}

function isAllText({ tokens, audioTokens, isUnbounded }: PayloadSum): boolean {
  return tokens === 0 && audioTokens === 0 && !isUnbounded
}

interface Opened {
  readonly kind: 'opened'
  readonly text: string
  readonly fields: JsonObject
  readonly members: Members
}

/** Checks the body as a whole, before its fields. */
function open(body: Buffer, wanted: Wanted, stepsMax: number | undefined): Opened | RequestFault {
  if (body.length === 0) return fault('The request body is empty; it must be a JSON object.')
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) {
    return fault('The request body must not begin with a byte order mark.')
  }
  if (!isUtf8(body)) return fault('The request body is not valid UTF-8.')
  const text = body.toString('latin1')
  const read = readJson(body, text, wanted, stepsMax)
  if (read.kind === 'too_deep')
    return fault(`The request body is nested deeper than ${nestingDepthMax} levels.`)
  if (read.kind === 'too_many_elements')
    return fault(
      `The request body has more than ${elementsMax} messages, content blocks and tools.`,
    )
  if (read.kind === 'invalid')
    return fault(`The request body is not valid JSON (at byte ${read.at}).`)
  const fields = asObject(read.value)
  const { members } = read
  if (fields === undefined) return fault('The request body must be a JSON object.')
  const memberFault = findMemberFault(members, 'the request body')
  if (memberFault !== undefined) return memberFault
  if (read.hasHugeNumber) return fault('The request body contains a number that is out of range.')
  return { kind: 'opened', text, fields, members }
}

interface NamedModel {
  readonly kind: 'model'
  readonly name: string
  readonly span: Span
}

function readModel(body: Buffer, fields: JsonObject, members: Members): NamedModel | RequestFault {
  const span = members.spans.get('model')
  const name = fields['model']
  if (typeof name !== 'string' || span === undefined) {
    return fault('`model` is required and must be a string that names a model.')
  }
  if (name === '') return fault('`model` must not be empty.')
  if (isAscii(name)) return { kind: 'model', name: ownText(name), span }
  // The body was parsed as latin1, which is correct for positions and wrong for this name.
  const decoded = JSON.parse(body.toString('utf8', span.start, span.end)) as string
  return { kind: 'model', name: decoded, span }
}

/** Far more than any vendor tries; each of them is part of the hold. */
const otherModelsMax = 100

function findModelsFault(otherModels: readonly string[]): RequestFault | undefined {
  if (otherModels.length <= otherModelsMax) return undefined
  return fault(`The request names more than ${otherModelsMax} other models.`)
}

/** No vendor has more than a few flags there, and it is read again for each attempt. */
const streamOptionsBytesMax = 4_096

function findInnerFault(
  body: Buffer,
  fields: JsonObject,
  streamOptions: Span | undefined,
): RequestFault | undefined {
  if (streamOptions === undefined || asObject(fields['stream_options']) === undefined) {
    return undefined
  }
  const { start, end } = streamOptions
  if (end - start > streamOptionsBytesMax)
    return fault(`\`stream_options\` must not be longer than ${streamOptionsBytesMax} bytes.`)
  const inner = body.subarray(start, end)
  const read = readJson(inner, inner.toString('latin1'), streamOptionFields)
  return read.kind === 'value' ? findMemberFault(read.members, '`stream_options`') : undefined
}

function findMemberFault(
  { duplicate, otherCase, doubtful, hasNulName }: Members,
  where: string,
): RequestFault | undefined {
  if (duplicate !== undefined)
    return fault(`\`${duplicate}\` occurs twice in ${where}. Give it once.`)
  if (otherCase !== undefined) return letterCaseFault(otherCase, where)
  if (doubtful !== undefined)
    return fault(`An item of \`input\` has \`${doubtful}\` twice, or in another letter case.`)
  return hasNulName ? nulFault(where) : undefined
}

/** A vendor that ends a name at U+0000 would use a field that the gateway does not see. */
function nulFault(where: string): RequestFault {
  return fault(`A name in ${where} contains the character U+0000. Leave it out.`)
}

/** A vendor that ignores letter case would use a field that the gateway does not see. */
function letterCaseFault(name: string, where: string): RequestFault {
  return fault(`\`${name}\` occurs in ${where} in another letter case. Write it exactly so.`)
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 0x7f) return false
  }
  return true
}
