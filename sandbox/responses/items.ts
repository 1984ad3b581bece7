/**
 * The items of a simulated response: reasoning, compactions, messages, refusals, calls of the
 * client's tools. Each knows how it looks while it runs and when it is done, and which events lie between.
 * hosted.ts has the tools that the vendor runs.
 */
import { joinPieces } from '../pieces.ts'
import type { Pieces } from '../pieces.ts'
import type { JsonObject } from '../request.ts'
import type { Item } from './accounts.ts'

/** An event about one item, without the members that all of them have. */
export interface ItemEvent {
  readonly type: string
  readonly members: JsonObject
}

export interface OutputItem {
  readonly id: string
  readonly added: JsonObject
  /** Returns it as it is when it is done, also where the limit on output tokens has cut it. */
  done(): Item
  events(): Iterable<ItemEvent>
}

type Status = 'completed' | 'incomplete'

export interface ReasoningOptions {
  readonly id: string
  /** No pieces: the vendor shows no summary. */
  readonly summary: Pieces
  readonly encrypted: string | undefined
}

export function reasoningItem({ id, summary, encrypted }: ReasoningOptions): OutputItem {
  const content = encrypted === undefined ? {} : { encrypted_content: encrypted }
  const place = { summary_index: 0 }
  const hasSummary = summary.count > 0
  const text = (): string => joinPieces(summary)
  return {
    id,
    added: { id, type: 'reasoning', ...content, summary: [] },
    done: () => ({
      id,
      type: 'reasoning',
      ...content,
      summary: hasSummary ? [{ type: 'summary_text', text: text() }] : [],
    }),
    *events() {
      if (!hasSummary) return
      const part = { type: 'summary_text', text: '' }
      yield { type: 'response.reasoning_summary_part.added', members: { ...place, part } }
      for (const delta of eachOf(summary))
        yield { type: 'response.reasoning_summary_text.delta', members: { ...place, delta } }
      const whole = { ...part, text: text() }
      const last = { ...place, text: whole.text }
      yield { type: 'response.reasoning_summary_text.done', members: last }
      yield { type: 'response.reasoning_summary_part.done', members: { ...place, part: whole } }
    },
  }
}

/** All of the conversation so far, which only the vendor account can read. */
export function compactionItem(id: string, encrypted: string): OutputItem {
  const item = { id, type: 'compaction', encrypted_content: encrypted }
  return { id, added: item, done: () => item, *events() {} }
}

export interface TextOptions {
  readonly id: string
  readonly pieces: Pieces
  readonly status: Status
  readonly annotations: readonly JsonObject[]
  readonly hasLogprobs: boolean
}

export function textItem(options: TextOptions): OutputItem {
  const { id, pieces, status, annotations, hasLogprobs } = options
  const place = { content_index: 0 }
  const logprobsOf = (text: string): readonly JsonObject[] =>
    hasLogprobs ? [{ token: text, logprob: -0.125, top_logprobs: [] }] : []
  const all = (): readonly JsonObject[] => eachOf(pieces).flatMap(logprobsOf).toArray()
  const part = (text: string, logprobs: readonly JsonObject[]): JsonObject => ({
    type: 'output_text',
    annotations: text === '' ? [] : annotations,
    logprobs,
    text,
  })
  return {
    id,
    added: messageItem(id, 'in_progress', []),
    done: () => messageItem(id, status, [part(joinPieces(pieces), all())]),
    *events() {
      yield { type: 'response.content_part.added', members: { ...place, part: part('', []) } }
      for (const delta of eachOf(pieces)) {
        const members = { ...place, delta, logprobs: logprobsOf(delta) }
        yield { type: 'response.output_text.delta', members }
      }
      for (const [index, annotation] of annotations.entries()) {
        const members = { ...place, annotation_index: index, annotation }
        yield { type: 'response.output_text.annotation.added', members }
      }
      const whole = part(joinPieces(pieces), all())
      const { text, logprobs } = whole
      yield { type: 'response.output_text.done', members: { ...place, text, logprobs } }
      yield { type: 'response.content_part.done', members: { ...place, part: whole } }
    },
  }
}

export function refusalItem(id: string, pieces: Pieces, status: Status): OutputItem {
  const place = { content_index: 0 }
  const part = (refusal: string): JsonObject => ({ type: 'refusal', refusal })
  return {
    id,
    added: messageItem(id, 'in_progress', []),
    done: () => messageItem(id, status, [part(joinPieces(pieces))]),
    *events() {
      yield { type: 'response.content_part.added', members: { ...place, part: part('') } }
      for (const delta of eachOf(pieces))
        yield { type: 'response.refusal.delta', members: { ...place, delta } }
      const refusal = joinPieces(pieces)
      yield { type: 'response.refusal.done', members: { ...place, refusal } }
      yield { type: 'response.content_part.done', members: { ...place, part: part(refusal) } }
    },
  }
}

function messageItem(id: string, status: string, content: readonly JsonObject[]): Item {
  return { id, type: 'message', status, content, role: 'assistant' }
}

export interface CallOptions {
  readonly id: string
  readonly callId: string
  readonly name: string
  readonly namespace: string | undefined
  readonly isCustom: boolean
  /** Arguments as JSON text, or a custom tool's plain input. */
  readonly pieces: Pieces
  readonly status: Status
}

export function callItem(options: CallOptions): OutputItem {
  const { id, callId, name, namespace, isCustom, pieces, status } = options
  const type = isCustom ? 'custom_tool_call' : 'function_call'
  const event = isCustom ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
  const member = isCustom ? 'input' : 'arguments'
  const item = (state: string, text: string): Item => ({
    id,
    type,
    status: state,
    [member]: text,
    call_id: callId,
    name,
    ...(namespace === undefined ? {} : { namespace }),
  })
  return {
    id,
    added: item('in_progress', ''),
    done: () => item(status, joinPieces(pieces)),
    *events() {
      for (const delta of eachOf(pieces)) yield { type: `${event}.delta`, members: { delta } }
      yield { type: `${event}.done`, members: { [member]: joinPieces(pieces) } }
    },
  }
}

function* eachOf(pieces: Pieces): Generator<string> {
  for (let index = 0; index < pieces.count; index++) yield pieces.at(index)
}
