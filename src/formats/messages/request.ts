/**
 * What a request of the messages format asks for: the rules for its fields, its images and documents, and
 * the features that are billed or that act on the operator's account. It reads names and limits only; how
 * much was used is read from the answer.
 */
import {
  asksAggregatorWork,
  findMessagesFault,
  listedModels,
  messageFields,
  requestedService,
  toolUses,
  type RequestRules,
} from '../fields.ts'
import type { OperatorFeature, RequestExtras } from '../format.ts'
import { asArray, asObject, asText, isAsked, ownText, type JsonObject } from '../json.ts'
import { isOnlyText, namesFile, PayloadSum } from '../payloads.ts'

export const messagesRules: RequestRules = {
  fields: messageFields,
  limitFields: ['max_tokens'],
  isNullAbsent: false,
  hasChoices: false,
  hasOutput: true,
  findPromptFault: findMessagesFault,
  estimatePayloads,
  findOperatorFeatures,
  findBillableFeatures,
  findService: (body) =>
    requestedService({
      tier: body['service_tier'],
      speed: body['speed'],
      geo: body['inference_geo'],
    }),
  longLifetime: '1h',
}

/** Only blocks where the vendor looks for a payload count: a long string elsewhere is text. */
function estimatePayloads(body: JsonObject): PayloadSum {
  const sum = new PayloadSum()
  if (isAsked(body['thread']) || isAsked(body['container'])) sum.addEarlierAnswer()
  addContent(sum, body['system'])
  for (const message of asArray(body['messages']) ?? []) {
    addContent(sum, asObject(message)?.['content'])
  }
  return sum
}

/** The text of a block, the thinking of an earlier answer, the input of a tool. */
const textFields = ['text', 'thinking', 'name', 'input']

/** Blocks that are text, and those around a result of a tool. */
const textBlocks =
  /^((redacted_)?thinking|text|compaction|search_result|web_(search|fetch)_result|([a-z]+_)*tool_(use|result)|([a-z]+_)*tool_result_error)$/

/**
 * Tool results and documents contain content of their own, a list or (in the vendor's own tools) a single
 * block; the body's depth is bounded already.
 */
function addContent(sum: PayloadSum, content: unknown): void {
  if (content === undefined) return
  for (const item of asArray(content) ?? [content]) {
    sum.addText(item)
    const block = asObject(item)
    if (block !== undefined) addBlock(sum, block)
  }
}

function addBlock(sum: PayloadSum, block: JsonObject): void {
  const type = asText(block['type']) ?? ''
  if (type === 'text' && isOnlyText(block)) return sum.addText(block['text'])
  const source = asObject(block['source'])
  if (namesFile(block)) sum.isInAccount = true
  if (type === 'image') addImage(sum, source)
  else if (type === 'document') addDocument(sum, source)
  else if (source !== undefined || !textBlocks.test(type)) sum.addUnknown()
  addContent(sum, block['content'])
  for (const name of textFields) sum.addText(block[name])
  // As parts of the other formats have them, which are bounded there.
  if (isAsked(block['image_url']) || isAsked(block['input_audio'])) sum.addUnknown()
  sum.addUnknownIn(block)
}

function addImage(sum: PayloadSum, source: JsonObject | undefined): void {
  const { type, media_type: media, data, url } = source ?? {}
  if (type === 'base64' && typeof data === 'string' && asText(media)?.startsWith('image/') === true)
    sum.addImage(data.length)
  else sum.addImageAt(type === 'url' ? url : undefined)
}

function addDocument(sum: PayloadSum, source: JsonObject | undefined): void {
  if (source?.['type'] === 'text') sum.addText(source['data'])
  else if (source?.['type'] === 'content') addContent(sum, source['content'])
  else sum.addDocument(source?.['type'] === 'base64' ? source['data'] : undefined)
}

/** Code execution is billed by the time its container runs, which no usage object shows. */
function findOperatorFeatures(body: JsonObject): OperatorFeature[] {
  const features: OperatorFeature[] = []
  if (isAsked(body['container'])) features.push('containers')
  if (isAsked(body['thread'])) features.push('threads')
  const runsCode = asArray(body['tools'])?.some(
    (tool) => asText(asObject(tool)?.['type'])?.startsWith('code_execution') === true,
  )
  if (runsCode === true) features.push('code_execution')
  return features
}

/** Tools with a `type` that the client runs all the same; the vendor runs every other type. */
const clientTools = /^(custom$|bash_|computer_|memory_|text_editor_)/

function findBillableFeatures(body: JsonObject): RequestExtras | undefined {
  const tools = asArray(body['tools'])?.map((tool) => asObject(tool) ?? {}) ?? []
  const serverTools = tools.filter(isServerTool)
  const otherModels = [
    ...(asArray(body['fallbacks']) ?? []).map((entry) => asObject(entry)?.['model'] ?? entry),
    ...serverTools.map((tool) => tool['model']),
    ...listedModels(body),
  ]
    .filter((model) => typeof model === 'string')
    .map(ownText)
  const limits = serverTools.map((tool) => tool['max_uses'])
  if ((asArray(body['mcp_servers'])?.length ?? 0) > 0 || asksAggregatorWork(body))
    limits.push(undefined)
  if (limits.length === 0 && otherModels.length === 0) return undefined
  return {
    asksAudioOutput: false,
    isSpeechCompressed: false,
    ...(limits.length > 0 && { serverTools: toolUses(limits) }),
    webSearchesMax: toolUses(serverTools.filter(isSearch).map((tool) => tool['max_uses'])).uses,
    otherModels,
  }
}

function isServerTool(tool: JsonObject): boolean {
  const type = asText(tool['type'])
  return type !== undefined && !clientTools.test(type)
}

function isSearch(tool: JsonObject): boolean {
  return asText(tool['type'])?.startsWith('web_search') === true
}
