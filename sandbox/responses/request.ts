/**
 * Parses a request for a response: the checks that the vendor makes, and the facts that the answer
 * is made of.
 */
import { hash } from 'node:crypto'
import type { ErrorPreset } from '../error-presets.ts'
import { belowMinimum, codedRefusal, missingField, movedField, plainRefusal } from '../refusals.ts'
import { unknownField, wrongType } from '../refusals.ts'
import { answerSchemaOf, asArray, asObject, chooseCalls, readServedTerms } from '../request.ts'
import { textBytes } from '../request.ts'
import type { FactsOptions, JsonObject, OfferedTool, SandboxRequest } from '../request.ts'
import type { VendorAccount } from './accounts.ts'
import { findPrompt } from './context.ts'
import type { Context } from './context.ts'
import { findTyped } from './typed-calls.ts'
import type { TypedName } from './typed-calls.ts'

interface ResponsesTool extends OfferedTool {
  /** The vendor runs it; its name is its type. */
  readonly isHosted: boolean
  /** The client runs it, and the vendor has defined it; its name is its type. */
  readonly typed: TypedName | undefined
  readonly namespace: string | undefined
}

export interface ResponsesRequest extends SandboxRequest {
  readonly tools: readonly ResponsesTool[]
  readonly toolToCall: ResponsesTool | undefined
  readonly body: JsonObject
  readonly bodyBytes: number
  readonly account: VendorAccount
  readonly context: Context
  readonly stores: boolean
  readonly isBackground: boolean
  readonly reasons: boolean
  readonly showsSummary: boolean
  readonly includes: ReadonlySet<unknown>
  /** Makes the ids of two answers differ, also those of two sandboxes. */
  readonly idStamp: string
}

const movedFields = new Map([
  ['messages', 'input'],
  ['max_tokens', 'max_output_tokens'],
  ['max_completion_tokens', 'max_output_tokens'],
  ['response_format', 'text.format'],
  ['reasoning_effort', 'reasoning.effort'],
])

const outputTokensMin = 16

/** Returns what the vendor calls wrong in the body; undefined where it accepts it. */
export function findResponsesFault(body: JsonObject): ErrorPreset | undefined {
  const { model, max_output_tokens: limit, background, store } = body
  if (model === undefined) return missingField('model')
  if (typeof model !== 'string') return wrongType('model', 'a string', model)
  for (const [name, movedTo] of movedFields)
    if (body[name] !== undefined) return movedField(name, movedTo)
  if (body['n'] !== undefined) return unknownField('n')
  for (const name of ['stream', 'background', 'store'])
    if (!isNullOr('boolean', body[name])) return wrongType(name, 'a boolean', body[name])
  for (const name of ['instructions', 'previous_response_id'])
    if (!isNullOr('string', body[name])) return wrongType(name, 'a string', body[name])
  if (!isNullOr('number', limit)) return wrongType('max_output_tokens', 'an integer', limit)
  if (typeof limit === 'number' && limit < outputTokensMin)
    return belowMinimum('max_output_tokens', outputTokensMin, limit)
  if (background === true && store === false)
    return plainRefusal("Background responses require 'store' to be true.", 'background')
  return findInputFault(body) ?? findStreamOptionsFault(body)
}

function isNullOr(type: string, value: unknown): boolean {
  return value === undefined || value === null || typeof value === type
}

function findInputFault(body: JsonObject): ErrorPreset | undefined {
  const { input, previous_response_id: previous, conversation, prompt } = body
  if (isGiven(previous) && isGiven(conversation)) {
    return codedRefusal(
      "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Provide only one of them.",
      'mutually_exclusive_parameters',
    )
  }
  if (!isGiven(input)) {
    if (isGiven(previous) || isGiven(conversation) || isGiven(prompt)) return undefined
    return missingField('input')
  }
  if (typeof input === 'string' || Array.isArray(input)) return undefined
  return wrongType('input', 'one of an array of objects or string', input)
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function findStreamOptionsFault({ stream, stream_options: options }: JsonObject) {
  if (!isGiven(options)) return undefined
  const given = asObject(options)
  if (given === undefined) return wrongType('stream_options', 'an object', options)
  const unknown = Object.keys(given).find((name) => name !== 'include_obfuscation')
  if (unknown !== undefined) return unknownField(`stream_options.${unknown}`)
  return stream === true
    ? undefined
    : plainRefusal(
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        'stream_options',
      )
}

export interface ResponsesOptions extends FactsOptions {
  readonly account: VendorAccount
  readonly context: Context
}

export function readResponsesFacts(options: ResponsesOptions): ResponsesRequest {
  const { route, body, context, directives, lastText } = options
  const items = [...context.earlier, ...context.own]
  const tools = readTools(offeredTools(body, items))
  const { resultCount } = findPrompt(items)
  const limit = body['max_output_tokens']
  const ignoresLimits = directives.ignoreLimits === true
  const reasoning = asObject(body['reasoning'])
  const effort = reasoning?.['effort']
  const includes = new Set(asArray(body['include']))
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
    choiceCount: 1,
    messageCount: items.filter(({ type }) => type === 'message').length,
    lastText,
    promptTokens: countTokens(body, items),
    tools,
    ...chooseCalls(directives.script, resultCount, {
      choice: readChoice(body['tool_choice']),
      tools,
      lastText,
      endsInToolResult: resultCount > 0,
    }),
    answerSchema: answerSchemaOf(asObject(asObject(body['text'])?.['format'])),
    thinking: 'none',
    asksOneHourCache: false,
    asksUsageChunk: false,
    hasObfuscation: asObject(body['stream_options'])?.['include_obfuscation'] !== false,
    asksAudio: false,
    served: readServedTerms(route.format, body),
    directives,
    body,
    bodyBytes: options.bytes.length,
    account: options.account,
    context,
    stores: body['store'] !== false,
    isBackground: body['background'] === true,
    reasons:
      reasoning !== undefined && effort !== 'none' && isGiven(effort ?? reasoning['summary']),
    showsSummary: isGiven(reasoning?.['summary']),
    includes,
    idStamp: hash('sha256', `${options.atMs} ${options.index} ${options.digest}`).slice(0, 24),
  }
}

function countTokens(body: JsonObject, items: readonly JsonObject[]): number {
  const tools = offeredTools(body, items)
  const toolBytes = tools.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(tools))
  const bytes = textBytes(body['instructions']) + textBytes(items) + toolBytes
  return Math.max(1, Math.ceil(bytes / 4))
}

/** Items of type `additional_tools` bring tools along. */
function offeredTools(body: JsonObject, items: readonly JsonObject[]): readonly unknown[] {
  return [body, ...items].flatMap((holder) => asArray(holder['tools']))
}

/** Reads the tools of a request; those of a namespace too. */
function readTools(given: readonly unknown[], namespace?: string): readonly ResponsesTool[] {
  return given.flatMap((entry) => {
    const tool = asObject(entry)
    const type = tool?.['type']
    if (tool === undefined || typeof type !== 'string') return []
    const name = tool['name']
    if (type === 'namespace') return readTools(asArray(tool['tools']), String(name))
    const isNamed = type === 'function' || type === 'custom'
    if (isNamed && typeof name !== 'string') return []
    const typed = isNamed ? undefined : findTyped(type)
    return [
      {
        name: isNamed ? String(name) : type,
        schema: asObject(tool['parameters']) ?? {},
        isCustom: type === 'custom',
        isHosted: !isNamed && typed === undefined,
        typed,
        namespace,
      },
    ]
  })
}

/** Names the tool in a choice in the same place, whatever the form of the choice. */
function readChoice(choice: unknown): unknown {
  const chosen = asObject(choice)
  if (chosen === undefined) return choice
  if (chosen['type'] !== 'allowed_tools') return { name: chosen['name'] ?? chosen['type'] }
  if (chosen['mode'] !== 'required') return 'auto'
  const first = asObject(asArray(chosen['tools'])[0])
  return { name: first?.['name'] ?? first?.['type'] }
}
