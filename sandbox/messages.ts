/**
 * Simulated answers of the messages format. `planMessages` decides once what an answer contains:
 * content blocks, stop reason, counts. The rest writes that plan as a JSON body or as the events of
 * a stream, in the order in which vendors send them.
 */
import { streamHeaders, vendorHeaders } from './answer.ts'
import type { Answer, Frame } from './answer.ts'
import {
  answerText,
  contentKinds,
  firstPieces,
  fromList,
  joinPieces,
  jsonPieces,
  noPieces,
  splitWords,
  TokenBudget,
} from './pieces.ts'
import type { Pieces } from './pieces.ts'
import type { SandboxRequest } from './request.ts'
import { argumentPieces, callsOf } from './tool-calls.ts'
import { countUsage, distort, finishJson, messagesDeltaUsage, messagesUsage } from './usage.ts'
import type { SandboxUsage } from './usage.ts'

type MessagesBlock =
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
  /** A block that its start event contains whole, without deltas. */
  | { readonly kind: 'whole'; readonly content: unknown }

interface MessagesPlan {
  readonly id: string
  readonly model: string
  readonly blocks: readonly MessagesBlock[]
  readonly stopReason: string
  readonly stopDetails: unknown
  readonly usage: SandboxUsage
}

const signature = 'c2ltdWxhdGVkLXNpZ25hdHVyZQ=='

function planMessages(request: SandboxRequest): MessagesPlan {
  const { directives } = request
  const budget = new TokenBudget(request.maxOutputTokens)
  const hidden = budget.spendCount(directives.reasoning ?? 0)
  const blocks: MessagesBlock[] = []
  const draft: Draft = { request, budget, blocks, thinkingTokens: hidden }
  if (directives.refusal !== 'empty') {
    for (const kind of blockKinds(request)) addBlocks(kind, draft)
  }
  // Vendors report some tokens with an empty refusal, but do not bill them.
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
  if (request.toolToCall !== undefined || request.scriptedCalls.length > 0) kinds.push('tool')
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
      addTools(draft)
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

/** Hidden thinking counts too; only its signature is sent. */
function addThinking(draft: Draft, isShown: boolean): void {
  const pieces = draft.budget.spend(thinkingText(draft.request))
  draft.thinkingTokens += pieces.count
  draft.blocks.push({ kind: 'thinking', pieces: isShown ? pieces : noPieces, signature })
}

function visibleText(request: SandboxRequest): Pieces {
  const text = answerText(request)
  // A partial refusal ends in the middle of the text.
  return request.directives.refusal === 'partial'
    ? firstPieces(text, Math.ceil(text.count / 2))
    : text
}

function thinkingText(request: SandboxRequest): Pieces {
  return fromList(splitWords(`Simulated thinking about ${request.messageCount} message(s). `))
}

function addTools({ request, budget, blocks }: Draft): void {
  for (const [at, call] of callsOf(request).entries()) {
    const id = `toolu_01sandbox${String(request.index).padStart(10, '0')}${at === 0 ? '' : at}`
    const pieces = budget.spend(argumentPieces(call.input))
    const { name, input } = call
    blocks.push({ kind: 'tool', type: 'tool_use', id, name, pieces, input })
  }
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

export function answerMessages(request: SandboxRequest): Answer {
  const plan = planMessages(request)
  const shared = {
    kind: plan.stopReason === 'refusal' && !hasContent(plan) ? 'empty_refusal' : 'answer',
    status: 200,
    usage: plan.usage,
  } as const
  if (request.isStream) {
    return {
      ...shared,
      headers: streamHeaders(request),
      frames: () => messagesFrames(request, plan),
    }
  }
  const usage = finalUsage(request, plan)
  return {
    ...shared,
    headers: vendorHeaders(request, 'application/json'),
    body: finishJson(messagesJson(plan, usage)),
    wireUsage: usage,
  }
}

function hasContent(plan: MessagesPlan): boolean {
  return plan.blocks.length > 0
}

function totalOutput(plan: MessagesPlan): number {
  return plan.usage.counts.output + plan.usage.counts.outputAudio
}

function finalUsage(request: SandboxRequest, plan: MessagesPlan) {
  const { directives } = request
  const usage = messagesUsage(plan.usage, directives, totalOutput(plan))
  return distort(usage, directives.usage)
}

function messagesJson(plan: MessagesPlan, usage: unknown): string {
  return JSON.stringify({
    id: plan.id,
    type: 'message',
    role: 'assistant',
    model: plan.model,
    content: plan.blocks.map(wholeBlock),
    stop_reason: plan.stopReason,
    stop_sequence: plan.stopReason === 'stop_sequence' ? 'STOP' : null,
    stop_details: plan.stopDetails,
    container: null,
    usage,
  })
}

function wholeBlock(block: MessagesBlock): unknown {
  switch (block.kind) {
    case 'text':
      return {
        type: 'text',
        text: joinPieces(block.pieces),
        citations: block.citations.length === 0 ? null : block.citations,
      }
    case 'thinking':
      return {
        type: 'thinking',
        thinking: joinPieces(block.pieces),
        signature: block.signature,
      }
    case 'tool':
      return { type: block.type, id: block.id, name: block.name, input: block.input }
    case 'whole':
      return block.content
  }
}

function* messagesFrames(request: SandboxRequest, plan: MessagesPlan): Generator<Frame> {
  const { directives } = request
  const output = totalOutput(plan)
  yield startFrame(request, plan)
  yield { kind: 'filler', text: 'event: ping\ndata: {"type": "ping"}\n\n' }
  const lastIndex = plan.blocks.length - 1
  for (const [index, block] of plan.blocks.entries()) {
    if (directives.lateContent === true && index === lastIndex && index > 0) {
      yield deltaFrame(request, plan, { kind: 'content', outputTokens: Math.floor(output / 2) })
    }
    yield* blockFrames(block, index)
  }
  if (directives.usage === 'falling') {
    yield deltaFrame(request, plan, { kind: 'content', outputTokens: output + 100 })
  }
  const last = { kind: 'usage', outputTokens: output, stopReason: plan.stopReason } as const
  yield deltaFrame(request, plan, last)
  if (directives.usage === 'twice') yield deltaFrame(request, plan, last)
  yield { kind: 'terminal', text: 'event: message_stop\ndata: {"type":"message_stop"}\n\n' }
}

function startFrame(request: SandboxRequest, plan: MessagesPlan): Frame {
  const { directives } = request
  // Vendors start with a small placeholder; message_delta has the true count.
  const placeholder = Math.min(1, totalOutput(plan))
  const usage = distort(messagesUsage(plan.usage, directives, placeholder), directives.usage)
  const message = {
    id: plan.id,
    type: 'message',
    role: 'assistant',
    model: plan.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    usage,
  }
  return { kind: 'start', text: frame('message_start', { message }), usage }
}

interface DeltaOptions {
  readonly kind: 'usage' | 'content'
  readonly outputTokens: number
  /** Absent on a running count in the middle of the answer. */
  readonly stopReason?: string
}

function deltaFrame(request: SandboxRequest, plan: MessagesPlan, options: DeltaOptions): Frame {
  const { directives } = request
  const counts = messagesDeltaUsage(plan.usage, directives, options.outputTokens)
  const usage = distort(counts, directives.usage)
  const delta = {
    stop_reason: options.stopReason ?? null,
    stop_sequence: options.stopReason === 'stop_sequence' ? 'STOP' : null,
    stop_details: options.stopReason === undefined ? null : plan.stopDetails,
    container: null,
  }
  return { kind: options.kind, text: frame('message_delta', { delta, usage }), usage }
}

function* blockFrames(block: MessagesBlock, index: number): Generator<Frame> {
  switch (block.kind) {
    case 'text':
      yield blockStart(index, { type: 'text', text: '' })
      for (const citation of block.citations) {
        yield blockDelta(index, { type: 'citations_delta', citation })
      }
      yield* pieceFrames(block, index, '{"type":"text_delta","text":')
      break
    case 'thinking':
      yield blockStart(index, { type: 'thinking', thinking: '', signature: '' })
      yield* pieceFrames(block, index, '{"type":"thinking_delta","thinking":')
      yield blockDelta(index, { type: 'signature_delta', signature: block.signature })
      break
    case 'tool':
      yield blockStart(index, { type: block.type, id: block.id, name: block.name, input: {} })
      // Vendors send an empty piece first.
      yield blockDelta(index, { type: 'input_json_delta', partial_json: '' })
      yield* pieceFrames(block, index, '{"type":"input_json_delta","partial_json":')
      break
    case 'whole':
      yield blockStart(index, block.content)
      break
  }
  yield {
    kind: 'content',
    text: `event: content_block_stop\ndata: {"type":"content_block_stop","index":${index}}\n\n`,
  }
}

function* pieceFrames(
  block: Exclude<MessagesBlock, { kind: 'whole' }>,
  index: number,
  delta: string,
): Generator<Frame> {
  const { pieces } = block
  const head = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${delta}`
  for (let piece = 0; piece < pieces.count; piece++) {
    yield { kind: 'content', text: `${head}${JSON.stringify(pieces.at(piece))}}}\n\n` }
  }
}

function blockStart(index: number, content: unknown): Frame {
  return { kind: 'content', text: frame('content_block_start', { index, content_block: content }) }
}

function blockDelta(index: number, delta: unknown): Frame {
  return { kind: 'content', text: frame('content_block_delta', { index, delta }) }
}

function frame(type: string, members: Record<string, unknown>): string {
  return finishJson(`event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`)
}
