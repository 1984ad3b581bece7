/**
 * What the sandbox reads from a request: the facts its answers and counts are made of. Written
 * apart from the gateway's own reader on purpose, so that the two can contradict each other in a
 * test. Prompt tokens are defined here: a quarter of the prompt's text bytes, rounded up, plus a
 * fixed number for each image or document.
 */
import type { FormatName, OperationName } from '../formats/format.ts'
import type { Directives } from './directives.ts'

export interface OfferedTool {
  readonly name: string
  readonly schema: Readonly<Record<string, unknown>>
  /** A chat tool of type `custom`, whose input is plain text. */
  readonly isCustom: boolean
}

export interface SandboxRequest {
  readonly format: FormatName
  readonly operation: OperationName
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
  /** Text of the last user message, without what is addressed to the sandbox. */
  readonly lastText: string
  readonly promptTokens: number
  readonly tools: readonly OfferedTool[]
  /** The tool to call, where the request forces one or its text asks for one. */
  readonly toolToCall: OfferedTool | undefined
  readonly thinking: 'none' | 'shown' | 'omitted'
  readonly asksOneHourCache: boolean
  readonly asksUsageChunk: boolean
  readonly hasObfuscation: boolean
  readonly asksAudio: boolean
  /** As the answer will name them, unless directives say otherwise. */
  readonly served: ServedTerms
  readonly directives: Directives
}

export interface ServedTerms {
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

/** All text of the last message whose role is `user`. */
export function lastUserText(body: JsonObject): string {
  const messages = asArray(body['messages'])
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = asObject(messages[index])
    if (message?.['role'] === 'user') return contentText(message['content'])
  }
  return ''
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  const texts: string[] = []
  for (const part of asArray(content)) {
    const text = asObject(part)?.['text']
    if (typeof text === 'string') texts.push(text)
  }
  return texts.join('\n')
}

/** The prompt's size by the sandbox's definition. */
export function countPromptTokens(body: JsonObject): number {
  const tools = body['tools']
  let bytes = textBytes(body['system']) + textBytes(body['messages'])
  if (Array.isArray(tools)) bytes += Buffer.byteLength(JSON.stringify(tools))
  return Math.max(1, Math.ceil(bytes / 4))
}

const blobTypes = new Set(['image', 'document', 'image_url', 'input_audio', 'file'])
const textMembers = ['text', 'content', 'thinking', 'arguments', 'input', 'function', 'tool_calls']

function textBytes(value: unknown): number {
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

/** The tools a request offers; server tools of the messages format have no schema and are left out. */
export function readTools(body: JsonObject): readonly OfferedTool[] {
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

/**
 * The tool to call: a forced one, or one the last text asks for in so many words (`use the tool`,
 * `call the NAME tool`). Never after a tool's result, so that agents come to an end.
 */
export function chooseTool(
  body: JsonObject,
  tools: readonly OfferedTool[],
  lastText: string,
): OfferedTool | undefined {
  const first = tools[0]
  if (first === undefined) return undefined
  const choice = body['tool_choice']
  if (choice === 'required') return first
  const chosen = asObject(choice)
  if (chosen?.['type'] === 'any') return first
  const inner = asObject(chosen?.['function']) ?? asObject(chosen?.['custom']) ?? chosen
  const forced = tools.find((tool) => tool.name === inner?.['name'])
  if (forced !== undefined) return forced
  if (choice === 'none' || chosen?.['type'] === 'none' || endsInToolResult(body)) return undefined
  const asked = /\b(?:use|call) (?:the|a) (?:(\S+) )?tool\b/i.exec(lastText)
  if (asked === null) return undefined
  return tools.find((tool) => tool.name === asked[1]) ?? first
}

function endsInToolResult(body: JsonObject): boolean {
  const last = asObject(asArray(body['messages']).at(-1))
  if (last?.['role'] === 'tool') return true
  return asArray(last?.['content']).some((part) => asObject(part)?.['type'] === 'tool_result')
}

export function readThinking(body: JsonObject): SandboxRequest['thinking'] {
  const thinking = asObject(body['thinking'])
  if (thinking === undefined || thinking['type'] === 'disabled') return 'none'
  return thinking['display'] === 'omitted' ? 'omitted' : 'shown'
}

/** What a vendor would serve: the terms asked for, in the words answers use. */
export function readServedTerms(format: FormatName, body: JsonObject): ServedTerms {
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
    // The messages vendor's priority tier exists for old commitments only; nobody is given it.
    tier: format === 'messages' ? 'standard' : (chatTiers[tier ?? ''] ?? 'default'),
    speed: asked('speed') ?? 'standard',
    geo: asked('inference_geo') ?? 'global',
  }
}
