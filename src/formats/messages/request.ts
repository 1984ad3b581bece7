/**
 * What a request of the messages format asks for: the rules for its fields, its images and documents, and
 * the features that are billed or that act on the operator's account. It reads names and limits only; how
 * much was used is read from the answer.
 */
import {
  asksAggregatorWork,
  findMessagesFault,
  isAsked,
  listedModels,
  messageFields,
  requestedService,
  type BillableFeatures,
  type PayloadEstimate,
  type RequestRules,
} from '../fields.ts'
import type { OperatorFeature } from '../format.ts'
import { asArray, asObject, asText, type JsonObject } from '../json.ts'
import { PayloadSum } from '../payloads.ts'

export const messagesRules: RequestRules = {
  fields: messageFields,
  limitFields: ['max_tokens'],
  isNullAbsent: false,
  hasChoices: false,
  hasOutput: true,
  toolPromptTokens: 800,
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
  asksOneHourCache: (text) =>
    (text.includes('1h"') && /"ttl"\s*:\s*"1h"/.test(text)) ||
    (text.includes('\\u00') && escapedOneHour.test(text)),
}

/** The same in any spelling that JSON allows for its letters. */
const escapedOneHour = /"(?:t|\\u0074){2}(?:l|\\u006[cC])"\s*:\s*"(?:1|\\u0031)(?:h|\\u0068)"/

/** The most tokens that any current model of this format makes of one image. */
const imageTokens = 4784

/** Only blocks where the vendor looks for a payload count: a long string elsewhere is text. */
function estimatePayloads(body: JsonObject): PayloadEstimate {
  const sum = new PayloadSum()
  addContent(sum, body['system'])
  for (const message of asArray(body['messages']) ?? []) {
    addContent(sum, asObject(message)?.['content'])
  }
  return sum
}

/** The text of a block, the thinking of an earlier answer, the input of a tool. */
const textFields = ['text', 'thinking', 'name', 'input']

/**
 * Tool results and documents contain content of their own, a list or (in the vendor's own tools) a single
 * block; the body's depth is bounded already.
 */
function addContent(sum: PayloadSum, content: unknown): void {
  for (const item of asArray(content) ?? [content]) {
    sum.addText(item)
    const block = asObject(item)
    if (block === undefined) continue
    const source = asObject(block['source'])
    if (typeof (source ?? block)['file_id'] === 'string') sum.isInAccount = true
    if (block['type'] === 'image') sum.addImage(base64Length(source), imageTokens)
    else if (block['type'] === 'document') addDocument(sum, source)
    else if (block['content'] !== undefined) addContent(sum, block['content'])
    else for (const name of textFields) sum.addText(block[name])
  }
}

function addDocument(sum: PayloadSum, source: JsonObject | undefined): void {
  if (source?.['type'] === 'text') sum.addText(source['data'])
  else if (source?.['type'] === 'content') addContent(sum, source['content'])
  else sum.addDocument(base64Length(source))
}

function base64Length(source: JsonObject | undefined): number {
  const data = source?.['type'] === 'base64' ? source['data'] : undefined
  return typeof data === 'string' ? data.length : 0
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
/** For a search tool without a limit of its own. */
const usualSearchesMax = 10
/** The gateway believes no answer that reports more; a larger limit holds no more money. */
const searchesMax = 200

function findBillableFeatures(body: JsonObject): BillableFeatures | undefined {
  const tools = asArray(body['tools'])?.map((tool) => asObject(tool) ?? {}) ?? []
  const serverTools = tools.filter(isServerTool)
  const otherModels = [
    ...(asArray(body['fallbacks']) ?? []).map((entry) => asObject(entry)?.['model'] ?? entry),
    ...serverTools.map((tool) => tool['model']),
    ...listedModels(body),
  ].filter((model) => typeof model === 'string')
  const hasServerTools =
    serverTools.length > 0 ||
    (asArray(body['mcp_servers'])?.length ?? 0) > 0 ||
    asksAggregatorWork(body)
  const hasStoredPrompt = isAsked(body['thread']) || isAsked(body['container'])
  if (!hasServerTools && !hasStoredPrompt && otherModels.length === 0) return undefined
  return {
    asksAudioOutput: false,
    isSpeechCompressed: false,
    hasServerTools,
    hasStoredPrompt,
    webSearchesMax: serverTools.reduce((sum, tool) => sum + searchesOf(tool), 0),
    otherModels,
  }
}

function isServerTool(tool: JsonObject): boolean {
  const type = asText(tool['type'])
  return type !== undefined && !clientTools.test(type)
}

function searchesOf(tool: JsonObject): number {
  if (asText(tool['type'])?.startsWith('web_search') !== true) return 0
  const given = tool['max_uses']
  const limit = typeof given === 'number' && given >= 0 ? Math.ceil(given) : usualSearchesMax
  return Math.min(limit, searchesMax)
}
