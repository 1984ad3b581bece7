/**
 * What a simulated chat answer contains, decided once for both ways of sending it: choices with
 * their pieces, finish reasons, counts. Kinds for the `content` directive: text, refusal, tool,
 * reasoning, audio.
 */
import {
  answerText,
  contentKinds,
  firstPieces,
  fromList,
  jsonPieces,
  noPieces,
  splitWords,
  TokenBudget,
  toolInput,
} from './pieces.ts'
import type { Pieces } from './pieces.ts'
import type { SandboxRequest } from './sandbox-request.ts'
import { chatUsage, countUsage, distort } from './sandbox-usage.ts'
import type { SandboxUsage } from './sandbox-usage.ts'

export interface ChatToolCall {
  readonly id: string
  readonly name: string
  readonly isCustom: boolean
  /** Arguments as JSON text, or a custom tool's plain input. */
  readonly pieces: Pieces
}

export interface ChatAudio {
  readonly id: string
  readonly data: string
  readonly transcript: string
  readonly expiresAt: number
}

export interface ChatChoice {
  readonly reasoning: Pieces
  readonly content: Pieces
  readonly refusal: Pieces
  readonly toolCalls: readonly ChatToolCall[]
  readonly audio: ChatAudio | undefined
  readonly finishReason: string
}

export interface ChatPlan {
  readonly id: string
  readonly createdAt: number
  readonly model: string
  readonly choices: readonly ChatChoice[]
  readonly usage: SandboxUsage
  /** `usage` as it goes on the wire, already spoilt where a directive asks for it. */
  readonly wireUsage: Record<string, unknown> | null | undefined
}

export function planChat(request: SandboxRequest): ChatPlan {
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
  const toolCalls = kinds.has('tool') ? [planToolCall(request, budget, index)] : []
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
  return request.toolToCall === undefined ? ['text'] : ['tool']
}

/** Audio tokens of a spoken answer whose directives do not say how many. */
function standardAudio(request: SandboxRequest): number {
  return choiceKinds(request).includes('audio') ? 10 : 0
}

function planToolCall(request: SandboxRequest, budget: TokenBudget, index: number): ChatToolCall {
  const tool = request.toolToCall ?? request.tools[0]
  const isCustom = tool?.isCustom ?? false
  const input = tool === undefined ? { query: 'a' } : toolInput(tool.schema, request.lastText)
  return {
    id: `call_sandbox${String(request.index).padStart(10, '0')}${index}`,
    name: tool?.name ?? 'simulated_tool',
    isCustom,
    pieces: budget.spend(
      isCustom ? fromList(splitWords('simulated custom input')) : jsonPieces(input),
    ),
  }
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
