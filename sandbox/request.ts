/**
 * Parses a request: the checks that a vendor makes, and the facts that answers and counts are made
 * of. Written apart from the gateway's own parser, so that a test can find the two in disagreement.
 * Prompt tokens are defined here: a quarter of the prompt's text bytes, rounded up, plus a fixed
 * number for each image or document.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Directives } from './directives.ts'
import { nextCalls } from './script.ts'
import type { ScriptedCall } from './script.ts'
import type { Format, Operation, SandboxRoute } from './endpoints.ts'

export interface OfferedTool {
  readonly name: string
  readonly schema: Readonly<Record<string, unknown>>
  /** A tool of type `custom`, whose input is plain text. */
  readonly isCustom: boolean
}

export interface SandboxRequest {
  readonly format: Format
  readonly operation: Operation
  readonly channel: string
  /** Number of this exchange since the sandbox started; makes ids unique. */
  readonly index: number
  readonly digest: string
  readonly atMs: number
  readonly model: string
  readonly isStream: boolean
  readonly maxOutputTokens: number | undefined
  readonly choiceCount: number
  readonly messageCount: number
  /** Text of the last user message, without directives and marker. */
  readonly lastText: string
  readonly promptTokens: number
  readonly tools: readonly OfferedTool[]
  /** The tool to call, if the request forces one or its text asks for one. */
  readonly toolToCall: OfferedTool | undefined
  /** The calls to make now, where a script says them. */
  readonly scriptedCalls: readonly ScriptedCall[]
  /** The JSON schema that the answer's text must fit, if the request asks for one. */
  readonly answerSchema: unknown
  readonly thinking: 'none' | 'shown' | 'omitted'
  readonly asksOneHourCache: boolean
  readonly asksUsageChunk: boolean
  readonly hasObfuscation: boolean
  readonly asksAudio: boolean
  /** What the answer names, unless directives change it. */
  readonly served: ServedTerms
  readonly directives: Directives
}

interface ServedTerms {
  readonly tier: string
  readonly speed: string
  readonly geo: string
}

export type JsonObject = Readonly<Record<string, unknown>>

const blobTokens = 1_000

export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns all text of the last message whose role is `user`. */
export function lastUserText(body: JsonObject): string {
  const messages = asArray(body['messages'])
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = asObject(messages[index])
    if (message?.['role'] === 'user') return contentText(message['content'])
  }
  return ''
}

export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  const texts: string[] = []
  for (const part of asArray(content)) {
    const text = asObject(part)?.['text']
    if (typeof text === 'string') texts.push(text)
  }
  return texts.join('\n')
}

/** Counts the prompt's tokens by the sandbox's definition. */
export function countPromptTokens(body: JsonObject): number {
  const tools = body['tools']
  let bytes = textBytes(body['system']) + textBytes(body['messages'])
  if (Array.isArray(tools)) bytes += Buffer.byteLength(JSON.stringify(tools))
  return Math.max(1, Math.ceil(bytes / 4))
}

const blobTypes = new Set([
  'image',
  'document',
  'image_url',
  'input_audio',
  'file',
  'input_image',
  'input_file',
])
const textMembers = [
  'text',
  'content',
  'thinking',
  'arguments',
  'input',
  'output',
  'summary',
  'function',
  'tool_calls',
]

export function textBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (Array.isArray(value)) {
    let bytes = 0
    for (const item of value) bytes += textBytes(item)
    return bytes
  }
  const object = asObject(value)
  if (object === undefined) return 0
  if (typeof object['type'] === 'string' && blobTypes.has(object['type'])) return blobTokens * 4
  let bytes = 0
  for (const member of textMembers) {
    if (object[member] !== undefined) bytes += textBytes(object[member])
  }
  return bytes
}

/** Returns the tools that a request offers, without server tools, which have no schema. */
function readTools(body: JsonObject): readonly OfferedTool[] {
  const tools = body['tools']
  if (!Array.isArray(tools)) return []
  const offered: OfferedTool[] = []
  for (const item of tools) {
    const tool = asObject(item)
    const inner = asObject(tool?.['function']) ?? asObject(tool?.['custom']) ?? tool
    const name = inner?.['name']
    const schema = asObject(inner?.['input_schema']) ?? asObject(inner?.['parameters'])
    const isCustom = tool?.['custom'] !== undefined
    if (typeof name !== 'string' || (schema === undefined && !isCustom)) continue
    offered.push({ name, schema: schema ?? {}, isCustom })
  }
  return offered
}

interface ToolQuestion<Tool> {
  /** `tool_choice` of the request. */
  readonly choice: unknown
  readonly tools: readonly Tool[]
  readonly lastText: string
  readonly endsInToolResult: boolean
}

/**
 * Chooses the tool to call: a forced one, or one that the last text asks for (`use the tool`,
 * `call the NAME tool`). Never after a tool's result, so that agents finish.
 */
function chooseTool<Tool extends { readonly name: string }>(
  question: ToolQuestion<Tool>,
): Tool | undefined {
  const { choice, tools, lastText, endsInToolResult } = question
  const first = tools[0]
  if (first === undefined) return undefined
  if (choice === 'required') return first
  const chosen = asObject(choice)
  if (chosen?.['type'] === 'any') return first
  const inner = asObject(chosen?.['function']) ?? asObject(chosen?.['custom']) ?? chosen
  const forced = tools.find((tool) => tool.name === inner?.['name'])
  if (forced !== undefined) return forced
  if (choice === 'none' || chosen?.['type'] === 'none' || endsInToolResult) return undefined
  const asked = /\b(?:use|call) (?:the|a) (?:(\S+) )?tool\b/i.exec(lastText)
  if (asked === null) return undefined
  return tools.find((tool) => tool.name === asked[1]) ?? first
}

/** With a script, no other tool is called. */
export function chooseCalls<Tool extends { readonly name: string }>(
  script: string | undefined,
  resultCount: number,
  question: ToolQuestion<Tool>,
): { readonly toolToCall: Tool | undefined; readonly scriptedCalls: readonly ScriptedCall[] } {
  return script === undefined
    ? { toolToCall: chooseTool(question), scriptedCalls: [] }
    : { toolToCall: undefined, scriptedCalls: nextCalls(script, resultCount) }
}

/** Counts the results of tools in a message. */
function countResults(message: unknown): number {
  const { role, content } = asObject(message) ?? {}
  if (role === 'tool') return 1
  return asArray(content).filter((part) => asObject(part)?.['type'] === 'tool_result').length
}

/** Counts the results that the last messages bring: those after the user's last words. */
function countLastResults(messages: readonly unknown[]): number {
  let count = 0
  for (const message of messages.toReversed()) {
    const results = countResults(message)
    if (results === 0 && asObject(message)?.['role'] === 'user') break
    count += results
  }
  return count
}

/** A request for any JSON object. */
const plainObject = {
  type: 'object',
  properties: { simulated: { const: true }, reply: { type: 'string' } },
}

function readAnswerForm(format: Format, body: JsonObject): JsonObject | undefined {
  if (format === 'chat') return asObject(body['response_format'])
  return asObject(asObject(body['output_config'])?.['format']) ?? asObject(body['output_format'])
}

/** Returns the schema that the text of an answer in this form must fit. */
export function answerSchemaOf(wanted: JsonObject | undefined): unknown {
  if (wanted?.['type'] === 'json_object') return plainObject
  if (wanted?.['type'] !== 'json_schema') return undefined
  return wanted['schema'] ?? asObject(wanted['json_schema'])?.['schema'] ?? plainObject
}

function readThinking(body: JsonObject): SandboxRequest['thinking'] {
  const thinking = asObject(body['thinking'])
  if (thinking === undefined || thinking['type'] === 'disabled') return 'none'
  return thinking['display'] === 'omitted' ? 'omitted' : 'shown'
}

/** Returns what a vendor would serve for the requested terms, in the words of its answers. */
export function readServedTerms(format: Format, body: JsonObject): ServedTerms {
  const asked = (name: string): string | undefined => {
    const value = body[name]
    return typeof value === 'string' ? value : undefined
  }
  const tier = asked('service_tier')
  const chatTiers: Readonly<Record<string, string>> = {
    flex: 'flex',
    fast: 'priority',
    priority: 'priority',
  }
  return {
    // The messages vendor serves its priority tier only to customers with an old commitment.
    tier: format === 'messages' ? 'standard' : (chatTiers[tier ?? ''] ?? 'default'),
    speed: asked('speed') ?? 'standard',
    geo: asked('inference_geo') ?? 'global',
  }
}

export interface PromptText {
  /** Without directives and marker. */
  readonly text: string
  readonly directives: string
  readonly marker: string | undefined
}

/** Separates `[[sandbox: …]]` and `[[marker: …]]` from a prompt. */
export function readPrompt(whole: string): PromptText {
  if (!whole.includes('[[')) return { text: whole, directives: '', marker: undefined }
  let directives = ''
  let marker: string | undefined
  const text = whole.replaceAll(
    /\[\[(sandbox|marker):([^\]]*)\]\]\s?/g,
    (_match, kind: string, content: string) => {
      if (kind === 'marker') marker = content.trim()
      else directives += `;${content}`
      return ''
    },
  )
  return { text, directives, marker }
}

export function parseBody(bytes: Buffer): JsonObject | undefined {
  try {
    return asObject(JSON.parse(bytes.toString('utf8')))
  } catch {
    return undefined // The caller answers with a 400, as the vendor does.
  }
}

/** Returns what a vendor would call wrong in the body; undefined when it would accept it. */
export function findBodyFault(
  route: SandboxRoute,
  body: JsonObject,
  headers: IncomingHttpHeaders,
): string | undefined {
  const { model, messages, max_tokens: maxTokens, stream } = body
  if (typeof model !== 'string' || model === '') return 'model: Field required'
  if (!Array.isArray(messages) || messages.length === 0) return 'messages: Field required'
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean') {
    return 'stream: Input should be a valid boolean'
  }
  if (route.format === 'chat') {
    return stream !== true && asObject(body['stream_options']) !== undefined
      ? "The 'stream_options' parameter is only allowed when 'stream' is enabled."
      : undefined
  }
  if (route.operation === 'messages.create' && !Number.isInteger(maxTokens)) {
    return 'max_tokens: Field required'
  }
  if (headers['anthropic-version'] !== '2026-10-21') return undefined
  const sampling = ['temperature', 'top_p', 'top_k'].find((name) => body[name] !== undefined)
  return sampling === undefined ? undefined : `${sampling}: Extra inputs are not permitted`
}

export interface FactsOptions {
  readonly route: SandboxRoute
  readonly body: JsonObject
  readonly bytes: Buffer
  readonly lastText: string
  readonly directives: Directives
  readonly index: number
  readonly digest: string
  readonly atMs: number
}

export function readFacts(options: FactsOptions): SandboxRequest {
  const { route, body, bytes, lastText } = options
  const tools = readTools(body)
  const streamOptions = asObject(body['stream_options'])
  const limit = body['max_completion_tokens'] ?? body['max_tokens']
  const choices = body['n']
  const messages = asArray(body['messages'])
  const { script, ignoreLimits: ignoresLimits = false } = options.directives
  return {
    format: route.format,
    operation: route.operation,
    channel: route.channel,
    index: options.index,
    digest: options.digest,
    atMs: options.atMs,
    model: String(body['model']),
    isStream: body['stream'] === true,
    maxOutputTokens: typeof limit === 'number' && !ignoresLimits ? limit : undefined,
    choiceCount: route.format === 'chat' && typeof choices === 'number' ? choices : 1,
    messageCount: messages.length,
    lastText,
    promptTokens: countPromptTokens(body),
    tools,
    ...chooseCalls(script, countLastResults(messages), {
      choice: body['tool_choice'],
      tools,
      lastText,
      endsInToolResult: countResults(messages.at(-1)) > 0,
    }),
    answerSchema: answerSchemaOf(readAnswerForm(route.format, body)),
    thinking: readThinking(body),
    asksOneHourCache: bytes.includes('"1h"'),
    asksUsageChunk: streamOptions?.['include_usage'] === true,
    hasObfuscation: streamOptions?.['include_obfuscation'] !== false,
    asksAudio: asArray(body['modalities']).includes('audio'),
    served: readServedTerms(route.format, body),
    directives: options.directives,
  }
}
