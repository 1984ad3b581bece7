/**
 * Writes a planned response: as a JSON body, or as the typed events of a stream, each with its
 * number, in the order of the vendor. Keeps it in the vendor account unless the request says
 * otherwise.
 */
import { streamHeaders, vendorHeaders } from '../answer.ts'
import type { Answer, ErrorForm, Frame } from '../answer.ts'
import type { ErrorPreset } from '../error-presets.ts'
import { asObject } from '../request.ts'
import type { JsonObject } from '../request.ts'
import { finishJson } from '../usage.ts'
import type { SandboxUsage } from '../usage.ts'
import type { Item } from './accounts.ts'
import { conversationId } from './context.ts'
import { planResponse } from './plan.ts'
import type { ResponsesPlan } from './plan.ts'
import type { ResponsesRequest } from './request.ts'

export function answerResponse(request: ResponsesRequest): Answer {
  const plan = planResponse(request)
  const last = endedResponse(request, plan)
  const begun = beginning(request, plan)
  const runsLater = request.isBackground && !request.isStream
  if (request.stores) keep(request, plan, { shown: runsLater ? begun.queued : last, last })
  const shared = {
    kind: request.directives.refusal === 'empty' ? 'empty_refusal' : 'answer',
    status: 200,
    usage: plan.usage,
  } as const
  if (request.isStream) {
    return {
      ...shared,
      headers: streamHeaders(request),
      frames: () => responseFrames(request, plan),
      errorFrames: (row, form) => errorFrames(begun.running, row, form),
    }
  }
  const headers = vendorHeaders(request, 'application/json')
  if (runsLater) return { ...shared, headers, body: JSON.stringify(begun.queued), wireUsage: null }
  return { ...shared, headers, body: finishJson(JSON.stringify(last)), wireUsage: plan.wireUsage }
}

interface Ending {
  readonly status: string
  readonly output: readonly JsonObject[]
  readonly usage: unknown
  /** What its own tools have done so far. */
  readonly hosted: SandboxUsage | undefined
  readonly tier: string
  readonly error?: JsonObject
  readonly reason?: string | undefined
}

/** The members stand in the vendor's order; what the request left out has the vendor's default. */
function writeResponse(request: ResponsesRequest, plan: ResponsesPlan, ending: Ending): JsonObject {
  const { body, isBackground, stores } = request
  const given = (name: string, standard: unknown): unknown => body[name] ?? standard
  const reasoning = asObject(body['reasoning'])
  const conversation = conversationId(body)
  const hasEnded = ending.status === 'completed' || ending.status === 'failed'
  return {
    id: plan.id,
    object: 'response',
    created_at: plan.createdAt,
    status: ending.status,
    background: isBackground,
    completed_at: hasEnded ? plan.createdAt : null,
    ...(conversation === undefined ? {} : { conversation: { id: conversation } }),
    error: ending.error ?? null,
    frequency_penalty: 0,
    incomplete_details: ending.reason === undefined ? null : { reason: ending.reason },
    instructions: given('instructions', null),
    max_output_tokens: given('max_output_tokens', null),
    max_tool_calls: given('max_tool_calls', null),
    model: plan.model,
    moderation: null,
    output: ending.output,
    parallel_tool_calls: given('parallel_tool_calls', true),
    presence_penalty: 0,
    previous_response_id: given('previous_response_id', null),
    prompt_cache_key: given('prompt_cache_key', null),
    prompt_cache_retention: given('prompt_cache_retention', null),
    reasoning: {
      effort: reasoning?.['effort'] ?? null,
      summary: reasoning?.['summary'] === 'auto' ? 'detailed' : (reasoning?.['summary'] ?? null),
    },
    safety_identifier: given('safety_identifier', null),
    service_tier: ending.tier,
    store: stores,
    temperature: given('temperature', 1),
    text: { format: { type: 'text' }, verbosity: 'medium', ...asObject(body['text']) },
    tool_choice: given('tool_choice', 'auto'),
    ...(request.directives.usage === 'bare' ? {} : { tool_usage: toolUsage(ending.hosted) }),
    tools: given('tools', []),
    top_logprobs: given('top_logprobs', 0),
    top_p: given('top_p', 1),
    truncation: given('truncation', 'disabled'),
    usage: ending.usage,
    user: given('user', null),
    metadata: given('metadata', {}),
  }
}

/** An image is made by a model of its own, whose tokens the vendor counts apart. */
const imageTokens = { input: 20, output: 196 }

/** Counts the vendor's own tools, as it does beside `usage`. */
function toolUsage(usage: SandboxUsage | undefined): JsonObject {
  const images = usage?.hostedCalls['image_generation'] ?? 0
  const input = images * imageTokens.input
  const output = images * imageTokens.output
  return {
    image_gen: {
      input_tokens: input,
      input_tokens_details: { image_tokens: 0, text_tokens: input },
      output_tokens: output,
      output_tokens_details: { image_tokens: output, text_tokens: 0 },
      total_tokens: input + output,
    },
    web_search: { num_requests: usage?.counts.webSearch ?? 0 },
  }
}

interface Beginning {
  readonly queued: JsonObject
  readonly running: JsonObject
}

/** The tier that the request asks for; the end of the answer names the one that served it. */
function beginning(request: ResponsesRequest, plan: ResponsesPlan): Beginning {
  const asked = request.body['service_tier']
  const tier = typeof asked === 'string' ? asked : 'auto'
  const begin = (status: string): JsonObject =>
    writeResponse(request, plan, { status, output: [], usage: null, hosted: undefined, tier })
  return { queued: begin('queued'), running: begin('in_progress') }
}

const failure = {
  code: 'server_error',
  message: 'An error occurred while processing your request.',
}

function endedResponse(request: ResponsesRequest, plan: ResponsesPlan): JsonObject {
  const { status, reason } = plan
  return writeResponse(request, plan, {
    status,
    reason,
    output: plan.items.map((item) => item.done()),
    usage: plan.wireUsage,
    hosted: plan.usage,
    tier: plan.usage.tier,
    ...(status === 'failed' ? { error: failure } : {}),
  })
}

interface Versions {
  readonly shown: JsonObject
  readonly last: JsonObject
}

function keep(request: ResponsesRequest, plan: ResponsesPlan, { shown, last }: Versions): void {
  const { account, context, body } = request
  const own = context.own.map((item, at) => withId(item, `${plan.id.slice(5)}${at}`))
  const input = [...context.earlier, ...own]
  const output = plan.items.map((item) => item.done())
  account.keepResponse({
    id: plan.id,
    shown,
    later: shown === last ? undefined : last,
    input,
    output,
    own: [...own, ...output],
    bytes: request.bodyBytes,
  })
  const id = conversationId(body)
  const conversation = id === undefined ? undefined : account.findConversation(id)
  if (conversation !== undefined)
    account.keepConversation({ ...conversation, items: [...input, ...output] })
}

const idPrefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  custom_tool_call: 'ctc',
}

/** Gives an item of the input the form in which the vendor lists it. */
function withId(item: JsonObject, mark: string): Item {
  const { type, id, role, content } = item
  const prefix = idPrefixes[String(type)] ?? 'item'
  const named = { ...item, id: typeof id === 'string' ? id : `${prefix}_${mark}` }
  if (type !== 'message' || typeof content !== 'string') return named
  const part = role === 'assistant' ? 'output_text' : 'input_text'
  return { ...named, status: 'completed', content: [{ type: part, text: content }] }
}

/** Writes one event; the number is its place in the stream. */
function writeEvent(type: string, number: number, members: string): string {
  return `event: ${type}\ndata: {"type":"${type}","sequence_number":${number}${members}}\n\n`
}

const paddingText = 'q8ZkTr3WmXv0LhYc'

function* responseFrames(request: ResponsesRequest, plan: ResponsesPlan): Generator<Frame> {
  let number = 0
  const frame = (kind: Frame['kind'], type: string, members: string): Frame => ({
    kind,
    text: writeEvent(type, number++, members),
  })
  const { queued, running } = beginning(request, plan)
  const { isBackground, directives } = request
  const runningText = `,"response":${JSON.stringify(running)}`
  const isFalling = directives.usage === 'falling'
  yield frame('start', 'response.created', runningText)
  if (isBackground) yield frame('start', 'response.queued', response(queued))
  yield frame('start', 'response.in_progress', runningText)
  for (const [index, item] of plan.items.entries()) {
    const place = `,"output_index":${index}`
    const added = `${place},"item":${JSON.stringify(item.added)}`
    yield frame('content', 'response.output_item.added', added)
    const ids = `,"item_id":"${item.id}"${place}`
    for (const { type, members } of item.events()) {
      const hidden = request.hasObfuscation && 'delta' in members
      const padding = hidden ? `,"obfuscation":"${paddingText.slice(number % 11)}"` : ''
      const own = JSON.stringify(members).slice(1, -1)
      yield frame('content', type, `${ids}${own === '' ? '' : `,${own}`}${padding}`)
    }
    const done = `${place},"item":${JSON.stringify(item.done())}`
    yield frame('content', 'response.output_item.done', done)
  }
  if (isFalling || directives.usage === 'twice') {
    const early = { ...running, usage: isFalling ? raised(plan) : plan.wireUsage }
    yield frame('content', 'response.in_progress', response(early))
  }
  const last = finishJson(response(endedResponse(request, plan)))
  yield { ...frame('terminal', `response.${plan.status}`, last), usage: plan.wireUsage }
}

function response(value: JsonObject): string {
  return `,"response":${JSON.stringify(value)}`
}

function raised({ wireUsage }: ResponsesPlan): unknown {
  return { ...wireUsage, output_tokens: Number(wireUsage?.['output_tokens'] ?? 0) + 100 }
}

/** The events that end a stream in its middle. Their numbers are set when they are sent. */
function errorFrames(running: JsonObject, row: ErrorPreset, form: ErrorForm): readonly Frame[] {
  const { type, message, code = null, param = null } = row
  const event =
    form === 'flat' ? { code, message, param } : { error: { type, code, message, param } }
  const inner = JSON.stringify(event).slice(1, -1)
  const failed = { ...running, status: 'failed', error: { code: code ?? type, message } }
  const frames: Frame[] = [
    { kind: 'error', text: writeEvent('error', 0, `,${inner}`) },
    { kind: 'error', text: writeEvent('response.failed', 0, response(failed)) },
  ]
  if (form === 'both') return frames
  return form === 'failed' ? frames.slice(1) : frames.slice(0, 1)
}
