/**
 * Simulated answers of the vendor's old endpoint for completions: whole, and as the chunks of a
 * stream. Each prompt of a list gets its own choices.
 */
import { streamHeaders, vendorHeaders } from './answer.ts'
import type { Answer, Frame } from './answer.ts'
import type { ErrorPreset } from './error-presets.ts'
import { answerText, firstPieces, joinPieces, TokenBudget } from './pieces.ts'
import type { Pieces } from './pieces.ts'
import { belowMinimum, missingField, plainRefusal, wrongType } from './refusals.ts'
import { asArray, asObject, readFacts } from './request.ts'
import type { FactsOptions, JsonObject, SandboxRequest } from './request.ts'
import { completionUsage, countUsage, distort, finishJson } from './usage.ts'
import type { SandboxUsage } from './usage.ts'

type Prompt = string | readonly unknown[]

/** The vendor's limit where the request names none. */
const usualTokensMax = 16

/** The vendor's own text where the request has no prompt. */
const noPrompt = '<|endoftext|>'

/** One text, a list of texts, one list of tokens, or a list of those. */
function readPrompts(given: unknown): readonly Prompt[] {
  if (given === undefined || given === null) return [noPrompt]
  if (typeof given === 'string') return [given]
  const list = asArray(given)
  if (typeof list[0] === 'number') return [list]
  return list.map((one) => (typeof one === 'string' ? one : asArray(one)))
}

/** The text that directives and the marker stand in. */
export function completionsPrompt({ prompt }: JsonObject): string {
  return readPrompts(prompt).findLast((one) => typeof one === 'string') ?? ''
}

function countTokens(prompt: Prompt): number {
  return typeof prompt === 'string'
    ? Math.max(1, Math.ceil(Buffer.byteLength(prompt) / 4))
    : prompt.length
}

export function findCompletionsFault(body: JsonObject): ErrorPreset | undefined {
  const { model, prompt, stream, stream_options: options, max_tokens: limit } = body
  if (model === undefined) return plainRefusal('you must provide a model parameter')
  if (typeof model !== 'string') return wrongType('model', 'a string', model)
  if (body['messages'] !== undefined) return missingField('prompt')
  if (prompt !== undefined && typeof prompt !== 'string' && !Array.isArray(prompt))
    return wrongType('prompt', 'a string or an array', prompt)
  if (typeof limit === 'number' && limit < 0) return belowMinimum('max_tokens', 0, limit)
  if (options !== undefined && options !== null && stream !== true) {
    return plainRefusal(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      'stream_options',
    )
  }
  return findCountFault(body)
}

function findCountFault({ n, best_of: bestOf, stream }: JsonObject): ErrorPreset | undefined {
  const wanted = typeof n === 'number' ? n : 1
  if (typeof bestOf !== 'number') return undefined
  if (bestOf < wanted) {
    return plainRefusal(
      'You requested that the server return more choices than it will generate ' +
        `(HINT: you must set 'n' (currently ${wanted}) to be at most 'best_of' (currently ${bestOf}), ` +
        "or omit either parameter if you don't specifically want to use them.)",
    )
  }
  return stream === true && bestOf > 1
    ? plainRefusal("'best_of' must be 1 when 'stream' is enabled.", 'best_of')
    : undefined
}

interface Choice {
  /** The prompt, where the request asks for it. */
  readonly echo: string
  readonly pieces: Pieces
  readonly finishReason: string
}

interface Plan {
  readonly id: string
  readonly createdAt: number
  readonly model: string
  readonly choices: readonly Choice[]
  readonly usage: SandboxUsage
  readonly wireUsage: Record<string, unknown> | null | undefined
}

function planCompletion(request: SandboxRequest, body: JsonObject): Plan {
  const { directives, choiceCount } = request
  const prompts = readPrompts(body['prompt'])
  const { best_of: bestOf } = body
  const generated = Math.max(choiceCount, typeof bestOf === 'number' ? bestOf : 1)
  const choices: Choice[] = []
  const reasoning = directives.reasoning ?? 0
  let output = reasoning
  for (const prompt of prompts) {
    for (let index = 0; index < generated; index++) {
      const budget = new TokenBudget(request.maxOutputTokens)
      const choice = planChoice(request, { prompt, index, budget, hasEcho: body['echo'] === true })
      // Those that the vendor does not return are billed too.
      output += budget.spent
      if (index < choiceCount) choices.push(choice)
    }
  }
  const promptTokens = prompts.reduce((sum, prompt) => sum + countTokens(prompt), 0)
  const usage = countUsage({ ...request, promptTokens }, { output, reasoning, audio: 0 })
  return {
    id: `cmpl-sandbox${String(request.index).padStart(12, '0')}`,
    createdAt: Math.floor(request.atMs / 1000),
    model: directives.answerModel ?? request.model,
    choices,
    usage,
    wireUsage: distort(completionUsage(usage, directives), directives.usage),
  }
}

interface ChoiceOptions {
  readonly prompt: Prompt
  readonly index: number
  readonly budget: TokenBudget
  readonly hasEcho: boolean
}

function planChoice(request: SandboxRequest, options: ChoiceOptions): Choice {
  const { prompt, index, budget, hasEcho } = options
  const { refusal, stop } = request.directives
  const whole = answerText(request, index)
  const half = firstPieces(whole, refusal === 'empty' ? 0 : Math.ceil(whole.count / 2))
  const pieces = budget.spend(refusal === undefined ? whole : half)
  const ended = budget.isExceeded ? 'length' : 'stop'
  return {
    echo: hasEcho ? String(prompt) : '',
    pieces,
    finishReason: stop ?? (refusal === undefined ? ended : 'content_filter'),
  }
}

export function answerCompletion(options: FactsOptions): Answer {
  const facts = readFacts(options)
  const usualMax = facts.directives.ignoreLimits === true ? undefined : usualTokensMax
  const request = { ...facts, maxOutputTokens: facts.maxOutputTokens ?? usualMax }
  const plan = planCompletion(request, options.body)
  const shared = {
    kind: request.directives.refusal === 'empty' ? 'empty_refusal' : 'answer',
    status: 200,
    usage: plan.usage,
  } as const
  if (request.isStream) {
    const frames = (): Iterable<Frame> => completionFrames(request, plan)
    return { ...shared, headers: streamHeaders(request), frames }
  }
  return {
    ...shared,
    headers: vendorHeaders(request, 'application/json'),
    body: finishJson(wholeCompletion(plan)),
    wireUsage: plan.wireUsage,
  }
}

function wholeCompletion(plan: Plan): string {
  return JSON.stringify({
    id: plan.id,
    object: 'text_completion',
    created: plan.createdAt,
    model: plan.model,
    choices: plan.choices.map(({ echo, pieces, finishReason }, index) => ({
      text: echo + joinPieces(pieces),
      index,
      logprobs: null,
      finish_reason: finishReason,
    })),
    usage: plan.wireUsage,
  })
}

function* completionFrames(request: SandboxRequest, plan: Plan): Generator<Frame> {
  const { usageAlways, usage: distortion } = request.directives
  const isAsked = request.asksUsageChunk
  const head = `data: {"id":"${plan.id}","object":"text_completion","created":${plan.createdAt},"choices":[`
  const tail = `],"model":${JSON.stringify(plan.model)}`
  const noUsage = isAsked ? ',"usage":null' : ''
  const frame = (kind: Frame['kind'], choices: readonly JsonObject[], usage = noUsage): Frame => {
    const inner = JSON.stringify(choices).slice(1, -1)
    return { kind, text: finishJson(`${head}${inner}${tail}${usage}}\n\n`) }
  }
  let kind: Frame['kind'] = 'start'
  for (const piece of eachPiece(plan)) {
    yield frame(kind, [{ ...piece, logprobs: null, finish_reason: null }])
    kind = 'content'
  }
  for (const [index, { finishReason }] of plan.choices.entries()) {
    yield frame(kind, [{ text: '', index, logprobs: null, finish_reason: finishReason }])
    kind = 'content'
  }
  const counts = plan.wireUsage
  if ((isAsked || usageAlways === true) && counts !== undefined) {
    const text = `,"usage":${JSON.stringify(counts)}`
    if (distortion === 'falling')
      yield frame('content', [], `,"usage":${JSON.stringify(raised(counts))}`)
    const last: Frame = { ...frame('usage', [], text), usage: counts }
    yield last
    if (distortion === 'twice') yield last
  }
  yield { kind: 'terminal', text: 'data: [DONE]\n\n' }
}

function raised(usage: Record<string, unknown> | null): JsonObject {
  return { ...usage, completion_tokens: Number(asObject(usage)?.['completion_tokens'] ?? 0) + 100 }
}

/** The pieces of all choices in turn, each with the place of its choice. */
function* eachPiece(plan: Plan): Generator<{ readonly text: string; readonly index: number }> {
  for (const [index, { echo }] of plan.choices.entries())
    if (echo !== '') yield { text: echo, index }
  const longest = Math.max(0, ...plan.choices.map(({ pieces }) => pieces.count))
  for (let at = 0; at < longest; at++) {
    for (const [index, { pieces }] of plan.choices.entries())
      if (at < pieces.count) yield { text: pieces.at(at), index }
  }
}
