/**
 * From a request's bytes and headers to what the sandbox answers from: the checks a vendor makes,
 * the facts, the directives from wherever they stand. Later places win: the channel's setting, the
 * model's name (`large-1+status=429`), the last user message, the header `x-sandbox`.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Directives } from './directives.ts'
import { noDirectives, parseDirectives } from './directives.ts'
import type { Faults } from './faults.ts'
import type { SandboxRoute } from './routes.ts'
import {
  asArray,
  asObject,
  chooseTool,
  countPromptTokens,
  lastUserText,
  readServedTerms,
  readThinking,
  readTools,
} from './sandbox-request.ts'
import type { JsonObject, SandboxRequest } from './sandbox-request.ts'

const bodyBytesMax = 64 * 1024 * 1024

/** The whole body; undefined when the client left before its end or it is too large. */
export function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > bodyBytesMax) request.destroy()
      else chunks.push(chunk)
    })
    request.on('end', () => {
      const first = chunks[0]
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size))
    })
    request.on('close', () => resolve(undefined))
  })
}

export interface PromptText {
  /** Without what is addressed to the sandbox. */
  readonly text: string
  readonly directives: string
  readonly marker: string | undefined
}

/** Takes `[[sandbox: …]]` and `[[marker: …]]` out of the last user message. */
export function readPrompt(body: JsonObject): PromptText {
  const whole = lastUserText(body)
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

export interface GatherOptions {
  readonly route: SandboxRoute
  readonly headers: IncomingHttpHeaders
  readonly model: string
  readonly isStream: boolean
  readonly promptDirectives: string
  readonly faults: Faults
}

export interface Gathered {
  readonly directives: Directives
  readonly problems: readonly string[]
}

const nothingGathered: Gathered = { directives: noDirectives, problems: [] }

export function gatherDirectives(options: GatherOptions): Gathered {
  const { route, headers, model, isStream, promptDirectives, faults } = options
  const { format, operation, channel } = route
  const set = faults.take(channel, { format, operation, model, isStream })
  const header = headers['x-sandbox']
  const plus = model.indexOf('+')
  if (set === undefined && header === undefined && plus === -1 && promptDirectives === '') {
    return nothingGathered
  }
  const suffix = parseDirectives(plus === -1 ? '' : model.slice(plus + 1), '+')
  const prompt = parseDirectives(promptDirectives)
  const head = parseDirectives(typeof header === 'string' ? header : '')
  return {
    directives: { ...set, ...suffix.directives, ...prompt.directives, ...head.directives },
    problems: [...suffix.problems, ...prompt.problems, ...head.problems],
  }
}

export function parseBody(bytes: Buffer): JsonObject | undefined {
  try {
    return asObject(JSON.parse(bytes.toString('utf8')))
  } catch {
    return undefined // The vendor's answer to bad JSON is a 400, given by the caller.
  }
}

/** What a vendor would say is wrong with the body; undefined when it would take it. */
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
  return {
    format: route.format,
    operation: route.operation,
    channel: route.channel,
    index: options.index,
    digest: options.digest,
    atMs: options.atMs,
    model: String(body['model']),
    isStream: body['stream'] === true,
    maxOutputTokens: typeof limit === 'number' ? limit : undefined,
    choiceCount: route.format === 'chat' && typeof choices === 'number' ? choices : 1,
    messageCount: asArray(body['messages']).length,
    lastText,
    promptTokens: countPromptTokens(body),
    tools,
    toolToCall: chooseTool(body, tools, lastText),
    thinking: readThinking(body),
    asksOneHourCache: bytes.includes('"1h"'),
    asksUsageChunk: streamOptions?.['include_usage'] === true,
    hasObfuscation: streamOptions?.['include_obfuscation'] !== false,
    asksAudio: asArray(body['modalities']).includes('audio'),
    served: readServedTerms(route.format, body),
    directives: options.directives,
  }
}
