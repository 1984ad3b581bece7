/**
 * What a request of the chat format asks for: the rules for its fields, its images, files and audio, the
 * features that are billed or that act on the operator's account, and the edits this format makes to a
 * body. Edits replace byte ranges; everything else stays as the client wrote it.
 */
import { invariant } from '../../base/errors.ts'
import {
  asksAggregatorWork,
  findMessagesFault,
  listedModels,
  messageFields,
  requestedService,
  unlimitedTools,
  type RequestRules,
} from '../fields.ts'
import type { OperatorFeature, RequestExtras, RequestFacts, Span } from '../format.ts'
import { asArray, asObject, asText, isAsked, type JsonObject } from '../json.ts'
import { readJson, type Wanted } from '../json-reader.ts'
import { isCompressedAudio, PayloadSum } from '../payloads.ts'
import { splice, type Edit } from '../scan.ts'

export const chatRules: RequestRules = {
  fields: messageFields,
  limitFields: ['max_tokens', 'max_completion_tokens'],
  isNullAbsent: true,
  hasChoices: true,
  hasOutput: true,
  findPromptFault: findMessagesFault,
  estimatePayloads,
  findOperatorFeatures,
  findBillableFeatures,
  // Requests have two names for one tier; answers know only the second.
  findService(body) {
    const tier = body['service_tier']
    return requestedService({ tier: tier === 'fast' ? 'priority' : tier })
  },
}

const audioName: ReadonlySet<string> = new Set(['audio'])

/** Only parts where the vendor looks for a payload count: a long string elsewhere is text. */
function estimatePayloads(body: JsonObject): PayloadSum {
  const sum = new PayloadSum()
  for (const item of asArray(body['messages']) ?? []) {
    const message = asObject(item) ?? {}
    const { content, images, audio } = message
    sum.addText(content)
    for (const list of [content, images]) for (const part of asArray(list) ?? []) sum.addPart(part)
    for (const call of asArray(message['tool_calls']) ?? [])
      sum.addText(asObject(call)?.['function'])
    // An earlier spoken answer: the conversation has the vendor's id and not the audio.
    if (isAsked(audio)) sum.addEarlierAnswer()
    sum.addUnknownIn(message, audioName)
  }
  return sum
}

/** Searches and moderation are billed by the call, which no usage object shows. */
function findOperatorFeatures(body: JsonObject): OperatorFeature[] {
  const features: OperatorFeature[] = []
  if (isAsked(body['store'])) features.push('stored_completions')
  if (isAsked(body['web_search_options'])) features.push('web_search_options')
  if (isAsked(body['moderation'])) features.push('moderation')
  return features
}

const clientTools: ReadonlySet<string> = new Set(['function', 'custom'])

function findBillableFeatures(body: JsonObject): RequestExtras | undefined {
  const asksAudioOutput = asArray(body['modalities'])?.includes('audio') === true
  const hasServerTools =
    isAsked(body['web_search_options']) ||
    asksAggregatorWork(body) ||
    (asArray(body['tools']) ?? []).some(isServerTool)
  const otherModels = listedModels(body)
  if (!asksAudioOutput && !hasServerTools && otherModels.length === 0) return undefined
  return {
    asksAudioOutput,
    isSpeechCompressed: asksAudioOutput && isCompressedAudio(asObject(body['audio'])?.['format']),
    ...(hasServerTools && { serverTools: unlimitedTools }),
    webSearchesMax: 0,
    otherModels,
  }
}

function isServerTool(tool: unknown): boolean {
  const type = asText(asObject(tool)?.['type'])
  return type !== undefined && !clientTools.has(type)
}

const usageField: Wanted = { fields: new Set(['include_usage']) }

/** Requests the usage chunk where a stream would have none, and names the model as the channel knows it. */
export function amendChat(
  body: Buffer,
  facts: RequestFacts,
  upstreamModel: string | undefined,
): Buffer | readonly Buffer[] {
  const isRenamed = upstreamModel !== undefined && upstreamModel !== facts.model
  const lacksUsage = facts.isStream && !facts.asksUsageChunk
  if (!isRenamed && !lacksUsage) return body
  const edits: Edit[] = []
  if (isRenamed) edits.push({ ...facts.spans.model, text: JSON.stringify(upstreamModel) })
  if (lacksUsage) edits.push(usageEdit(body, facts))
  return splice(
    body,
    edits.sort((left, right) => left.start - right.start),
  )
}

function usageEdit(body: Buffer, facts: RequestFacts): Edit {
  const { streamOptions, firstMember } = facts.spans
  if (streamOptions === undefined) {
    const text = '"stream_options":{"include_usage":true},'
    return { start: firstMember, end: firstMember, text }
  }
  if (body[streamOptions.start] !== 0x7b)
    return { ...streamOptions, text: '{"include_usage":true}' }
  return memberEdit(body, streamOptions)
}

/** `stream_options` is an object: its own field is set, the others stay. */
function memberEdit(body: Buffer, streamOptions: Span): Edit {
  const inner = body.subarray(streamOptions.start, streamOptions.end)
  const text = inner.toString('latin1')
  const read = readJson(inner, text, usageField)
  invariant(read.kind === 'value', 'the options were read with the body')
  const { members } = read
  const value = members.spans.get('include_usage')
  const offset = streamOptions.start
  if (value !== undefined) {
    return { start: offset + value.start, end: offset + value.end, text: 'true' }
  }
  const at = offset + members.firstMember
  const isEmpty = text.slice(1, -1).trim() === ''
  return { start: at, end: at, text: `"include_usage":true${isEmpty ? '' : ','}` }
}
