/**
 * A messages plan on the wire: the JSON body, or the frames of its stream in the order vendors
 * send them. Text deltas, by far the most frequent frames, are spliced and not serialised whole.
 */
import type { Answer, Frame } from './frames.ts'
import { planMessages } from './messages-plan.ts'
import type { MessagesBlock, MessagesPlan } from './messages-plan.ts'
import { joinPieces } from './pieces.ts'
import type { SandboxRequest } from './sandbox-request.ts'
import { distort, finishJson, messagesDeltaUsage, messagesUsage } from './sandbox-usage.ts'
import { streamHeaders, vendorHeaders } from './vendor-headers.ts'

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
  // Vendors begin with a small placeholder; the true count follows in message_delta.
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
