/**
 * What a simulated messages answer contains, decided once for both ways of sending it: content
 * blocks, stop reason, counts. Kinds for the `content` directive: text, cited, thinking, omitted,
 * redacted, tool, search, all.
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
import { countUsage } from './sandbox-usage.ts'
import type { SandboxUsage } from './sandbox-usage.ts'

export type MessagesBlock =
  | { readonly kind: 'text'; readonly pieces: Pieces; readonly citations: readonly unknown[] }
  | { readonly kind: 'thinking'; readonly pieces: Pieces; readonly signature: string }
  | {
      readonly kind: 'tool'
      readonly type: 'tool_use' | 'server_tool_use'
      readonly id: string
      readonly name: string
      readonly pieces: Pieces
      readonly input: unknown
    }
  /** A block that is sent whole at its start, without deltas. */
  | { readonly kind: 'whole'; readonly content: unknown }

export interface MessagesPlan {
  readonly id: string
  readonly model: string
  readonly blocks: readonly MessagesBlock[]
  readonly stopReason: string
  readonly stopDetails: unknown
  readonly usage: SandboxUsage
}

const signature = 'c2ltdWxhdGVkLXNpZ25hdHVyZQ=='

export function planMessages(request: SandboxRequest): MessagesPlan {
  const { directives } = request
  const budget = new TokenBudget(request.maxOutputTokens)
  const hidden = budget.spendCount(directives.reasoning ?? 0)
  const blocks: MessagesBlock[] = []
  const draft: Draft = { request, budget, blocks, thinkingTokens: hidden }
  if (directives.refusal !== 'empty') {
    for (const kind of blockKinds(request)) addBlocks(kind, draft)
  }
  // A vendor shows some numbers with an empty refusal, though it does not bill them.
  const output = directives.refusal === 'empty' ? 3 : budget.spent
  return {
    id: `msg_01sandbox${String(request.index).padStart(12, '0')}`,
    model: directives.answerModel ?? request.model,
    blocks,
    stopReason: directives.stop ?? stopReason(request, budget, blocks),
    stopDetails:
      directives.refusal === undefined
        ? null
        : { type: 'refusal', category: 'simulated', explanation: 'A simulated refusal.' },
    usage: countUsage(request, { output, reasoning: draft.thinkingTokens, audio: 0 }),
  }
}

function blockKinds(request: SandboxRequest): readonly string[] {
  const kinds = contentKinds(request.directives, standardKinds(request))
  return kinds.includes('all') ? ['thinking', 'redacted', 'text', 'search', 'cited', 'tool'] : kinds
}

function standardKinds(request: SandboxRequest): readonly string[] {
  const kinds: string[] = []
  if (request.thinking === 'shown') kinds.push('thinking')
  if (request.thinking === 'omitted') kinds.push('omitted')
  kinds.push('text')
  if (request.directives.iterations?.startsWith('fallback') === true) kinds.unshift('fallback')
  if (request.directives.webSearch !== undefined) kinds.unshift('search')
  if (request.directives.lateContent === true) kinds.push('text')
  if (request.toolToCall !== undefined) kinds.push('tool')
  return kinds
}

interface Draft {
  readonly request: SandboxRequest
  readonly budget: TokenBudget
  readonly blocks: MessagesBlock[]
  thinkingTokens: number
}

function addBlocks(kind: string, draft: Draft): void {
  const { request, budget, blocks } = draft
  switch (kind) {
    case 'thinking':
    case 'omitted':
      addThinking(draft, kind === 'thinking')
      return
    case 'redacted':
      blocks.push({ kind: 'whole', content: { type: 'redacted_thinking', data: signature } })
      return
    case 'fallback':
      blocks.push({ kind: 'whole', content: fallbackBlock(request) })
      return
    case 'search':
      addSearch(draft)
      return
    case 'tool':
      addTool(draft)
      return
    case 'cited':
      blocks.push({
        kind: 'text',
        pieces: budget.spend(visibleText(request)),
        citations: [citation],
      })
      return
    default:
      blocks.push({ kind: 'text', pieces: budget.spend(visibleText(request)), citations: [] })
  }
}

/** Thinking that is not shown is counted all the same; only its signature is sent. */
function addThinking(draft: Draft, isShown: boolean): void {
  const pieces = draft.budget.spend(thinkingText(draft.request))
  draft.thinkingTokens += pieces.count
  draft.blocks.push({ kind: 'thinking', pieces: isShown ? pieces : noPieces, signature })
}

function visibleText(request: SandboxRequest): Pieces {
  const text = answerText(request)
  // A partial refusal breaks off in the middle of what would have been said.
  return request.directives.refusal === 'partial'
    ? firstPieces(text, Math.ceil(text.count / 2))
    : text
}

function thinkingText(request: SandboxRequest): Pieces {
  return fromList(splitWords(`Simulated thinking about ${request.messageCount} message(s). `))
}

function addTool({ request, budget, blocks }: Draft): void {
  const tool = request.toolToCall ?? request.tools[0]
  const name = tool?.name ?? 'simulated_tool'
  const input = tool === undefined ? { query: 'a' } : toolInput(tool.schema, request.lastText)
  const id = `toolu_01sandbox${String(request.index).padStart(10, '0')}`
  const pieces = budget.spend(jsonPieces(input))
  blocks.push({ kind: 'tool', type: 'tool_use', id, name, pieces, input })
}

function addSearch({ request, budget, blocks }: Draft): void {
  const id = `srvtoolu_01sandbox${String(request.index).padStart(8, '0')}`
  const input = { query: `simulated search ${request.digest.slice(0, 6)}` }
  const pieces = budget.spend(jsonPieces(input))
  blocks.push({ kind: 'tool', type: 'server_tool_use', id, name: 'web_search', pieces, input })
  const result = {
    type: 'web_search_result',
    url: 'https://sandbox.example/result',
    title: 'A simulated result',
    encrypted_content: signature,
    page_age: null,
  }
  blocks.push({
    kind: 'whole',
    content: { type: 'web_search_tool_result', tool_use_id: id, content: [result] },
  })
}

const citation = {
  type: 'web_search_result_location',
  cited_text: 'A simulated citation.',
  url: 'https://sandbox.example/result',
  title: 'A simulated result',
  encrypted_index: signature,
}

function fallbackBlock(request: SandboxRequest): unknown {
  const to = request.directives.otherModel ?? 'small-1'
  return { type: 'fallback', from: { model: request.model }, to: { model: to } }
}

function stopReason(
  request: SandboxRequest,
  budget: TokenBudget,
  blocks: readonly MessagesBlock[],
): string {
  if (request.directives.refusal !== undefined) return 'refusal'
  if (budget.isExceeded) return 'max_tokens'
  return blocks.some((block) => block.kind === 'tool' && block.type === 'tool_use')
    ? 'tool_use'
    : 'end_turn'
}
