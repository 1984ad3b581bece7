/**
 * What a request for a response asks for: the rules for its fields, the items of its input, the tools that
 * the vendor runs itself, and the features that act on the operator's account. state.ts reads what it names
 * of earlier answers.
 */
import {
  asksAggregatorWork,
  fault,
  listedModels,
  requestedService,
  responsesFields,
  toolUses,
  type BodyText,
  type RequestRules,
} from '../fields.ts'
import type { OperatorFeature, RequestExtras, RequestFault } from '../format.ts'
import { asArray, asObject, asText, isAsked, type JsonObject } from '../json.ts'
import { namesFile, PayloadSum } from '../payloads.ts'
import { findResponsesState, isKnownItem } from './state.ts'

export const responsesRules: RequestRules = {
  fields: responsesFields,
  limitFields: ['max_output_tokens'],
  isNullAbsent: true,
  hasChoices: false,
  hasOutput: true,
  findPromptFault,
  findState: findResponsesState,
  estimatePayloads,
  findOperatorFeatures,
  findBillableFeatures,
  findService(body) {
    const tier = body['service_tier']
    return requestedService({ tier: tier === 'fast' ? 'priority' : tier })
  },
  // The price class of the longer lifetime of a cache write.
  longLifetime: '12h',
}

/** Any of these can stand in for `input`. */
const inputSources = ['previous_response_id', 'conversation', 'prompt'] as const

function findPromptFault(body: JsonObject): RequestFault | undefined {
  if (isAsked(body['background']))
    return fault(
      'Responses in the background are not available here; leave `background` out and wait for the answer, or stream it.',
    )
  const previous = body['previous_response_id']
  if (isAsked(previous) && asText(previous) === undefined)
    return fault('`previous_response_id` must be a string.')
  const { input } = body
  const hasOtherInput = inputSources.some((name) => isAsked(body[name]))
  if (input === undefined || input === null) return hasOtherInput ? undefined : missingInput
  if (typeof input === 'string') return undefined
  const items = asArray(input)
  if (items === undefined || (items.length === 0 && !hasOtherInput)) return missingInput
  return items.every((item) => isItem(item))
    ? undefined
    : fault('Each item of `input` must be an object.')
}

const missingInput = fault('`input` is required and must be a string or an array of items.')

/** The reader leaves null where an array had nothing that it keeps. */
function isItem(item: unknown): boolean {
  return item === null || Object.getPrototypeOf(item) === Object.prototype
}

function estimatePayloads(body: JsonObject, source: BodyText): PayloadSum {
  const sum = new PayloadSum()
  if (fillsPromptWithFile(source)) sum.isInAccount = true
  if (isAsked(body['prompt']) || isAsked(body['conversation'])) sum.addEarlierAnswer()
  sum.addText(body['instructions'])
  sum.addText(body['input'])
  for (const item of asArray(body['input']) ?? []) addItem(sum, item)
  for (const tool of toolsOf(body)) {
    const mask = asObject(tool['input_image_mask'])
    if (mask !== undefined) sum.addImageAt(mask['image_url'])
    if (
      namesFile(tool) ||
      hasFiles(asObject(tool['container'])) ||
      hasFiles(asObject(tool['environment']))
    )
      sum.isInAccount = true
  }
  return sum
}

/** The variables of a stored prompt have names of the client's own, so they are not read one by one. */
function fillsPromptWithFile({ text, spans }: BodyText): boolean {
  const span = spans.get('prompt')
  if (span === undefined) return false
  return /"file_id"\s*:\s*"/i.test(withoutEscapes(text.slice(span.start, span.end)))
}

/** Replaces escapes of ASCII characters, so that a name is found however it is spelled. */
function withoutEscapes(text: string): string {
  return text.replace(/\\u00([3-7][\da-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
}

/** The text of an item, also of those that earlier answers had. */
const textFields = [
  'name',
  'arguments',
  'input',
  'code',
  'action',
  'operation',
  'encrypted_content',
]

function addItem(sum: PayloadSum, given: unknown): void {
  sum.addText(given)
  const item = asObject(given)
  if (item === undefined) return
  if (namesFile(item)) sum.isInAccount = true
  for (const name of textFields) sum.addText(item[name])
  // Text, a list of parts, or the one part of a screenshot.
  for (const name of ['content', 'summary', 'output'])
    for (const part of [item[name]].flat()) sum.addPart(part)
  const { type, result } = item
  if (type !== 'image_generation_call') sum.addText(result)
  else if (typeof result === 'string') sum.addImage(result.length)
  if (!isKnownItem(type)) sum.addUnknown()
  sum.addUnknownIn(item)
}

function hasFiles(container: JsonObject | undefined): boolean {
  return (asArray(container?.['file_ids'])?.length ?? 0) > 0
}

/** All tools, also those that items bring along and those within a namespace. */
function toolsOf(body: JsonObject): readonly JsonObject[] {
  const lists = [body['tools'], ...objectsIn(body['input']).map((item) => item['tools'])]
  const tools = lists.flatMap(objectsIn)
  // The loop reaches its own additions: a namespace can have another one.
  for (const tool of tools) for (const inner of objectsIn(tool['tools'])) tools.push(inner)
  return tools
}

function objectsIn(list: unknown): readonly JsonObject[] {
  return (asArray(list) ?? []).map((element) => asObject(element) ?? {})
}

/** Tools that the client runs, and those that only order other tools. `shell` depends on its environment. */
const clientTools: ReadonlySet<string> = new Set([
  'apply_patch',
  'computer',
  'computer_use_preview',
  'custom',
  'function',
  'local_shell',
  'namespace',
  'tool_search',
])

/** Tools of the vendor that may run where the model has a price for them. */
const pricedTools = ['web_search', 'code_interpreter', 'image_generation'] as const

/** Tools that use the operator's account, or that have no price. */
const allowedTools = ['file_search', 'mcp'] as const satisfies readonly OperatorFeature[]

/** By the beginning of their type: some have a date behind it. */
const vendorRunTools = [...pricedTools, ...allowedTools] as const

type PricedTool = (typeof pricedTools)[number]
type VendorRunTool = (typeof vendorRunTools)[number] | 'containers' | 'other_tools'

function isPriced(tool: VendorRunTool): tool is PricedTool {
  return pricedTools.some((name) => name === tool)
}

/** Undefined for a tool that the client runs. */
function vendorRunTool(tool: JsonObject): VendorRunTool | undefined {
  const type = asText(tool['type'])
  if (type === undefined || clientTools.has(type)) return undefined
  if (type === 'shell') {
    const environment = asObject(tool['environment'])
    return environment === undefined || environment['type'] === 'local' ? undefined : 'containers'
  }
  return (
    vendorRunTools.find((name) => type === name || type.startsWith(`${name}_`)) ?? 'other_tools'
  )
}

const singleImages: ReadonlySet<unknown> = new Set(['png', 'webp', 'jpeg', undefined, null])

/** One use of it costs more than the price of a use, or it uses the operator's account. */
function hasDearOption(tool: JsonObject): boolean {
  const memory = asObject(tool['container'])?.['memory_limit'] ?? '1g'
  return (
    memory !== '1g' ||
    !singleImages.has(tool['output_format']) ||
    ['frame_count', 'svg', 'tunnel_id'].some((name) => isAsked(tool[name]))
  )
}

function findOperatorFeatures(body: JsonObject): OperatorFeature[] {
  const features: OperatorFeature[] = []
  if (isAsked(body['conversation'])) features.push('conversations')
  if (isAsked(body['prompt'])) features.push('stored_prompts')
  if (isAsked(body['moderation'])) features.push('moderation')
  for (const tool of toolsOf(body)) {
    const feature = vendorRunTool(tool)
    if (feature !== undefined && !isPriced(feature)) features.push(feature)
    if (feature !== undefined && hasDearOption(tool)) features.push('other_tools')
    // A container by its id, where others could have left their data.
    if (typeof tool['container'] === 'string') features.push('containers')
  }
  return features
}

/** The vendor reads the prompt and keeps it for later requests. */
function asksPreparation(body: JsonObject): boolean {
  const generate = body['generate'] ?? true
  return generate !== true || isAsked(asObject(body['prompt_cache_options'])?.['prewarm'])
}

function findBillableFeatures(body: JsonObject): RequestExtras | undefined {
  const asksAudioOutput = asArray(body['modalities'])?.includes('audio') === true
  const run = new Set(
    toolsOf(body)
      .map(vendorRunTool)
      .filter((tool) => tool !== undefined),
  )
  const hasServerTools = run.size > 0 || asksAggregatorWork(body)
  const otherModels = listedModels(body)
  const asksNoOutput = asksPreparation(body)
  const isPlain = !asksAudioOutput && !asksNoOutput && !hasServerTools
  if (isPlain && otherModels.length === 0) return undefined
  const serverTools = toolUses([body['max_tool_calls']])
  const others = ['file_search', 'code_interpreter', 'image_generation'] as const
  const billed = others
    .filter((tool) => run.has(tool))
    .map((tool) => [tool, serverTools.uses] as const)
  return {
    asksAudioOutput,
    ...(asksNoOutput && { asksNoOutput }),
    isSpeechCompressed: false,
    ...(hasServerTools && { serverTools }),
    webSearchesMax: run.has('web_search') ? serverTools.uses : 0,
    ...(billed.length > 0 && { vendorTools: Object.fromEntries(billed) }),
    otherModels,
  }
}
