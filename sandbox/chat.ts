/**
 * Simulated answers of the chat format. `planChat` decides once what an answer contains: choices
 * with their pieces, finish reasons, counts. The rest writes that plan as a JSON body or as the
 * chunks of a stream, in which choices alternate piece by piece.
 */
import { streamHeaders, vendorHeaders } from './answer.ts'
import type { Answer, Frame } from './answer.ts'
import {
  answerText,
  contentKinds,
  firstPieces,
  fromList,
  joinPieces,
  noPieces,
  splitWords,
  TokenBudget,
} from './pieces.ts'
import type { Pieces } from './pieces.ts'
import type { SandboxRequest } from './request.ts'
import { argumentPieces, callsOf, isCustomTool, textPieces } from './tool-calls.ts'
import { chatUsage, countUsage, distort, finishJson } from './usage.ts'
import type { SandboxUsage } from './usage.ts'

interface ChatToolCall {
  readonly id: string
  readonly name: string
  readonly isCustom: boolean
  /** Arguments as JSON text, or a custom tool's plain input. */
  readonly pieces: Pieces
}

interface ChatAudio {
  readonly id: string
  readonly data: string
  readonly transcript: string
  readonly expiresAt: number
}

interface ChatChoice {
  readonly reasoning: Pieces
  readonly content: Pieces
  readonly refusal: Pieces
  readonly toolCalls: readonly ChatToolCall[]
  readonly audio: ChatAudio | undefined
  readonly finishReason: string
}

interface ChatPlan {
  readonly id: string
  readonly createdAt: number
  readonly model: string
  readonly choices: readonly ChatChoice[]
  readonly usage: SandboxUsage
  /** `usage` in wire form, already wrong where a directive asks for it. */
  readonly wireUsage: Record<string, unknown> | null | undefined
}

function planChat(request: SandboxRequest): ChatPlan {
  const { directives } = request
  const choices: ChatChoice[] = []
  let output = 0
  let reasoning = 0
  let audio = 0
  for (let index = 0; index < request.choiceCount; index++) {
    const budget = new TokenBudget(request.maxOutputTokens)
    const hidden = budget.spendCount(index === 0 ? (directives.reasoning ?? 0) : 0)
    if (index === 0) audio = budget.spendCount(directives.audioOut ?? standardAudio(request))
    const choice = planChoice(request, budget, index)
    choices.push(choice)
    output += budget.spent
    reasoning += hidden + choice.reasoning.count
  }
  const usage = countUsage(request, { output, reasoning, audio })
  return {
    id: `chatcmpl-sandbox${String(request.index).padStart(12, '0')}`,
    createdAt: Math.floor(request.atMs / 1000),
    model: directives.answerModel ?? request.model,
    choices,
    usage,
    wireUsage: distort(chatUsage(usage, directives), directives.usage),
  }
}

function planChoice(request: SandboxRequest, budget: TokenBudget, index: number): ChatChoice {
  const { directives } = request
  const kinds = new Set(directives.refusal === 'empty' ? [] : choiceKinds(request))
  const reasoning = kinds.has('reasoning') ? budget.spend(thinkingText) : noPieces
  const whole = kinds.has('text') ? answerText(request, index) : noPieces
  const isPartial = directives.refusal === 'partial'
  const content = budget.spend(isPartial ? firstPieces(whole, Math.ceil(whole.count / 2)) : whole)
  const refusal = kinds.has('refusal') ? budget.spend(refusalText) : noPieces
  const toolCalls = kinds.has('tool') ? planToolCalls(request, budget, index) : []
  return {
    reasoning,
    content,
    refusal,
    toolCalls,
    audio: kinds.has('audio') ? planAudio(request, index) : undefined,
    finishReason: directives.stop ?? finishReason(request, budget, toolCalls.length > 0),
  }
}

const thinkingText = fromList(splitWords('Simulated reasoning about the request. '))
const refusalText = fromList(splitWords('[simulated] The sandbox declines this request.'))

function choiceKinds(request: SandboxRequest): readonly string[] {
  if (request.directives.content !== undefined) return contentKinds(request.directives, [])
  if (request.asksAudio) return ['audio']
  const callsTool = request.toolToCall !== undefined || request.scriptedCalls.length > 0
  return callsTool ? ['tool'] : ['text']
}

/** Audio tokens of a spoken answer without a directive for their number. */
function standardAudio(request: SandboxRequest): number {
  return choiceKinds(request).includes('audio') ? 10 : 0
}

function planToolCalls(
  request: SandboxRequest,
  budget: TokenBudget,
  index: number,
): readonly ChatToolCall[] {
  return callsOf(request).map((call, at) => {
    const number = String(request.index).padStart(10, '0')
    const isCustom = isCustomTool(request, call)
    return {
      id: `call_sandbox${number}${index}${at === 0 ? '' : at}`,
      name: call.name,
      isCustom,
      pieces: budget.spend(isCustom ? textPieces(call.input) : argumentPieces(call.input)),
    }
  })
}

function planAudio(request: SandboxRequest, index: number): ChatAudio {
  return {
    id: `audio_sandbox${String(request.index).padStart(10, '0')}${index}`,
    data: Buffer.alloc(96, 7).toString('base64'),
    transcript: 'A simulated voice.',
    expiresAt: Math.floor(request.atMs / 1000) + 3600,
  }
}

function finishReason(request: SandboxRequest, budget: TokenBudget, hasToolCall: boolean): string {
  if (request.directives.refusal !== undefined) return 'content_filter'
  if (budget.isExceeded) return 'length'
  return hasToolCall ? 'tool_calls' : 'stop'
}

export function answerChat(request: SandboxRequest): Answer {
  const plan = planChat(request)
  const shared = {
    kind: request.directives.refusal === 'empty' ? 'empty_refusal' : 'answer',
    status: 200,
    usage: plan.usage,
  } as const
  if (request.isStream) {
    return { ...shared, headers: streamHeaders(request), frames: () => chatFrames(request, plan) }
  }
  return {
    ...shared,
    headers: vendorHeaders(request, 'application/json'),
    body: finishJson(chatJson(plan)),
    wireUsage: plan.wireUsage,
  }
}

function chatJson(plan: ChatPlan): string {
  return JSON.stringify({
    id: plan.id,
    object: 'chat.completion',
    created: plan.createdAt,
    model: plan.model,
    choices: plan.choices.map((choice, index) => ({
      index,
      message: wholeMessage(choice),
      logprobs: null,
      finish_reason: choice.finishReason,
    })),
    usage: plan.wireUsage,
    service_tier: plan.usage.tier,
    system_fingerprint: 'fp_sandbox',
  })
}

function wholeMessage(choice: ChatChoice): Record<string, unknown> {
  const { audio, toolCalls } = choice
  return {
    role: 'assistant',
    content: choice.content.count === 0 ? null : joinPieces(choice.content),
    refusal: choice.refusal.count === 0 ? null : joinPieces(choice.refusal),
    annotations: [],
    ...(choice.reasoning.count === 0 ? {} : { reasoning_content: joinPieces(choice.reasoning) }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(wholeToolCall) }),
    ...(audio === undefined ? {} : { audio: wholeAudio(audio) }),
  }
}

function wholeToolCall(call: ChatToolCall): unknown {
  const text = joinPieces(call.pieces)
  return call.isCustom
    ? { id: call.id, type: 'custom', custom: { name: call.name, input: text } }
    : { id: call.id, type: 'function', function: { name: call.name, arguments: text } }
}

function wholeAudio(audio: ChatAudio): unknown {
  const { id, data, transcript, expiresAt } = audio
  return { id, data, transcript, expires_at: expiresAt }
}

/** Writes chunks; all chunks of one answer share the members around `choices`. */
interface ChunkWriter {
  chunk(choices: string, usage?: unknown): string
}

function chunkWriter(request: SandboxRequest, plan: ChatPlan): ChunkWriter {
  const head =
    `data: {"id":"${plan.id}","object":"chat.completion.chunk","created":${plan.createdAt},` +
    `"model":${JSON.stringify(plan.model)},"service_tier":${JSON.stringify(plan.usage.tier)},` +
    `"system_fingerprint":"fp_sandbox","choices":[`
  const noUsage = request.asksUsageChunk ? ',"usage":null' : ''
  let count = 0
  return {
    chunk(choices, usage) {
      const counts = usage === undefined ? noUsage : `,"usage":${JSON.stringify(usage)}`
      const padding = request.hasObfuscation ? `,"obfuscation":"${obfuscation(count++)}"` : ''
      return finishJson(`${head}${choices}]${counts}${padding}}\n\n`)
    },
  }
}

const paddingText = 'q8ZkTr3WmXv0LhYc'

function obfuscation(count: number): string {
  return paddingText.slice(count % 11)
}

function* chatFrames(request: SandboxRequest, plan: ChatPlan): Generator<Frame> {
  const writer = chunkWriter(request, plan)
  const { usageAt, usage: distortion, usageAlways } = request.directives
  const isAsked = request.asksUsageChunk || usageAlways === true
  const everyUsage = usageAt === 'every' ? plan.wireUsage : undefined
  let isFirst = true
  for (const text of contentChunks(plan, writer, everyUsage)) {
    yield { kind: isFirst ? 'start' : 'content', text }
    isFirst = false
  }
  if (distortion === 'falling') {
    yield { kind: 'content', text: writer.chunk('', raised(plan.wireUsage)) }
  }
  yield* finishFrames(plan, writer, usageAt)
  const hasOwnChunk = isAsked && (usageAt === undefined || usageAt === 'chunk')
  const counts = plan.wireUsage
  if (hasOwnChunk && counts !== undefined) {
    const last: Frame = { kind: 'usage', text: writer.chunk('', counts), usage: counts }
    yield last
    if (distortion === 'twice') yield last
  }
  yield { kind: 'terminal', text: 'data: [DONE]\n\n' }
  if (usageAt === 'after_done') {
    yield { kind: 'usage', text: writer.chunk('', counts), usage: counts }
  }
}

function raised(usage: Record<string, unknown> | null | undefined): unknown {
  return { ...usage, completion_tokens: Number(usage?.['completion_tokens'] ?? 0) + 100 }
}

function* finishFrames(
  plan: ChatPlan,
  writer: ChunkWriter,
  usageAt: string | undefined,
): Generator<Frame> {
  const carriesUsage = usageAt === 'finish' || usageAt === 'every'
  for (const [index, choice] of plan.choices.entries()) {
    const text = `{"index":${index},"delta":{},"logprobs":null,"finish_reason":${JSON.stringify(choice.finishReason)}}`
    const isLast = index === plan.choices.length - 1
    yield carriesUsage && isLast
      ? { kind: 'usage', text: writer.chunk(text, plan.wireUsage), usage: plan.wireUsage }
      : { kind: 'content', text: writer.chunk(text) }
  }
}

function* contentChunks(plan: ChatPlan, writer: ChunkWriter, usage: unknown): Generator<string> {
  for (let index = 0; index < plan.choices.length; index++) {
    const delta = '{"role":"assistant","content":"","refusal":null}'
    yield writer.chunk(choiceDelta(index, delta), usage)
  }
  const running = plan.choices.map((choice) => choiceDeltas(choice))
  for (let isDone = false; !isDone;) {
    isDone = true
    for (const [index, deltas] of running.entries()) {
      const next = deltas.next()
      if (next.done === true) continue
      isDone = false
      yield writer.chunk(choiceDelta(index, next.value), usage)
    }
  }
}

function choiceDelta(index: number, delta: string): string {
  return `{"index":${index},"delta":${delta},"logprobs":null,"finish_reason":null}`
}

function* choiceDeltas(choice: ChatChoice): Generator<string> {
  const { reasoning, content, refusal, toolCalls, audio } = choice
  for (let piece = 0; piece < reasoning.count; piece++) {
    yield `{"reasoning_content":${JSON.stringify(reasoning.at(piece))}}`
  }
  for (let piece = 0; piece < content.count; piece++) {
    yield `{"content":${JSON.stringify(content.at(piece))}}`
  }
  for (let piece = 0; piece < refusal.count; piece++) {
    yield `{"refusal":${JSON.stringify(refusal.at(piece))}}`
  }
  for (const [index, call] of toolCalls.entries()) yield* toolDeltas(call, index)
  if (audio !== undefined) yield* audioDeltas(audio)
}

function* toolDeltas(call: ChatToolCall, index: number): Generator<string> {
  const { id, name } = call
  const start = call.isCustom
    ? { index, id, type: 'custom', custom: { name, input: '' } }
    : { index, id, type: 'function', function: { name, arguments: '' } }
  yield JSON.stringify({ tool_calls: [start] })
  for (let piece = 0; piece < call.pieces.count; piece++) {
    const text = call.pieces.at(piece)
    const part = call.isCustom
      ? { index, custom: { input: text } }
      : { index, function: { arguments: text } }
    yield JSON.stringify({ tool_calls: [part] })
  }
}

function* audioDeltas(audio: ChatAudio): Generator<string> {
  const { id, data, transcript, expiresAt } = audio
  for (let start = 0; start < data.length; start += 64) {
    yield JSON.stringify({ audio: { id, data: data.slice(start, start + 64) } })
  }
  yield JSON.stringify({ audio: { id, transcript } })
  yield JSON.stringify({ audio: { id, expires_at: expiresAt } })
}
