/**
 * Decides once what a response contains: its items, how it ends, what it used. Both forms of the
 * answer, whole and streamed, are written from this plan.
 */
import {
  answerText,
  contentKinds,
  firstPieces,
  fromList,
  noPieces,
  splitWords,
  TokenBudget,
} from '../pieces.ts'
import type { ScriptedCall } from '../script.ts'
import { argumentPieces, callsOf, isCustomTool, textPieces } from '../tool-calls.ts'
import { countUsage, distort, responsesUsage } from '../usage.ts'
import type { SandboxUsage } from '../usage.ts'
import { encrypt } from './encrypted.ts'
import { findHosted, hostedItem } from './hosted.ts'
import type { HostedName } from './hosted.ts'
import { callItem, compactionItem, reasoningItem, refusalItem, textItem } from './items.ts'
import type { OutputItem } from './items.ts'
import type { ResponsesRequest } from './request.ts'
import { actionOf, typedCallItem } from './typed-calls.ts'
import type { TypedName } from './typed-calls.ts'

type EndStatus = 'completed' | 'incomplete' | 'failed'

export interface ResponsesPlan {
  readonly id: string
  readonly createdAt: number
  readonly model: string
  readonly items: readonly OutputItem[]
  readonly status: EndStatus
  /** Why it is incomplete. */
  readonly reason: string | undefined
  readonly usage: SandboxUsage
  /** `usage` in wire form, already wrong where a directive asks for it. */
  readonly wireUsage: Record<string, unknown> | null | undefined
}

const reasoningText = fromList(splitWords('Simulated reasoning about the request. '))
const compactionTokens = 50
const refusalText = fromList(splitWords('[simulated] The sandbox declines this request.'))

export function planResponse(request: ResponsesRequest): ResponsesPlan {
  const { directives } = request
  const planner = new Planner(request)
  planner.addHidden(directives.reasoning ?? 0)
  planner.budget.spendCount(directives.audioOut ?? 0)
  if (directives.refusal !== 'empty') for (const kind of kindsOf(request)) planner.add(kind)
  const { budget, items } = planner
  const end = endOf(request, budget)
  const usage = countUsage(request, {
    output: budget.spent,
    reasoning: planner.reasoningTokens,
    audio: directives.audioOut ?? 0,
    hostedCalls: planner.hostedCalls,
  })
  return {
    id: planner.makeId('resp'),
    createdAt: Math.floor(request.atMs / 1000),
    model: directives.answerModel ?? request.model,
    items,
    ...end,
    usage,
    wireUsage: distort(responsesUsage(usage, directives), directives.usage),
  }
}

function endOf(
  { directives }: ResponsesRequest,
  budget: TokenBudget,
): { status: EndStatus; reason: string | undefined } {
  const { stop, refusal } = directives
  if (stop === 'failed' || stop === 'completed') return { status: stop, reason: undefined }
  const cut = budget.isExceeded ? 'max_output_tokens' : undefined
  const reason = stop ?? (refusal === undefined ? cut : 'content_filter')
  return { status: reason === undefined ? 'completed' : 'incomplete', reason }
}

function kindsOf(request: ResponsesRequest): readonly string[] {
  const { context, directives, toolToCall, scriptedCalls } = request
  if (context.own.some(({ type }) => type === 'compaction_trigger')) return ['compaction']
  const kinds: string[] = request.reasons ? [request.showsSummary ? 'reasoning' : 'omitted'] : []
  if (directives.webSearch !== undefined) kinds.push('search')
  const callsClient = scriptedCalls.length > 0 || toolToCall?.isHosted === false
  if (toolToCall?.isHosted === true) kinds.push(toolToCall.name)
  kinds.push(callsClient ? 'tool' : 'text')
  const wanted = contentKinds(directives, kinds)
  return wanted.includes('all') ? ['reasoning', 'search', 'cited', 'tool'] : wanted
}

const citation = {
  type: 'url_citation',
  start_index: 0,
  end_index: 4,
  title: 'A simulated result',
  url: 'https://sandbox.example/result',
}

class Planner {
  readonly budget: TokenBudget
  readonly items: OutputItem[] = []
  readonly hostedCalls: Record<string, number> = {}
  reasoningTokens = 0
  readonly #request: ResponsesRequest
  #idCount = 0

  constructor(request: ResponsesRequest) {
    this.#request = request
    this.budget = new TokenBudget(request.maxOutputTokens)
  }

  readonly makeId = (prefix: string): string => {
    const { idStamp, index } = this.#request
    const number = String(index).padStart(10, '0') + String(this.#idCount++).padStart(3, '0')
    return `${prefix}_${idStamp}sandbox${number}`
  }

  /** Reasoning that shows only in the counts. */
  addHidden(tokens: number): void {
    this.reasoningTokens += this.budget.spendCount(tokens)
  }

  add(kind: string): void {
    switch (kind) {
      case 'thinking':
      case 'reasoning':
      case 'omitted':
        return this.#addReasoning(kind !== 'omitted')
      case 'compaction':
        return this.#addCompaction()
      case 'refusal':
        return this.#addRefusal()
      case 'tool':
        return this.#addCalls()
      case 'search': {
        const count = this.#request.directives.webSearch ?? 1
        for (let search = 0; search < count; search++) this.#addHosted('web_search')
        return
      }
      default: {
        const hosted = findHosted(kind)
        if (hosted === undefined) this.#addText(kind === 'cited')
        else this.#addHosted(hosted)
      }
    }
  }

  #addReasoning(isShown: boolean): void {
    const pieces = this.budget.spend(reasoningText)
    this.reasoningTokens += pieces.count
    const id = this.makeId('rs')
    const { includes, account } = this.#request
    const isEncrypted = includes.has('reasoning.encrypted_content')
    const encrypted = isEncrypted ? encrypt(account, id) : undefined
    this.items.push(reasoningItem({ id, summary: isShown ? pieces : noPieces, encrypted }))
  }

  #addCompaction(): void {
    this.budget.spendCount(compactionTokens)
    const id = this.makeId('cmp')
    this.items.push(compactionItem(id, encrypt(this.#request.account, id)))
  }

  /** A partial refusal ends in the middle of the text. */
  #addText(isCited: boolean): void {
    const text = answerText(this.#request)
    const isPartial = this.#request.directives.refusal === 'partial'
    const pieces = this.budget.spend(
      isPartial ? firstPieces(text, Math.ceil(text.count / 2)) : text,
    )
    if (pieces.count === 0) return
    const hasLogprobs = this.#request.includes.has('message.output_text.logprobs')
    const annotations = isCited ? [citation] : []
    const status = isPartial ? 'incomplete' : this.#status
    this.items.push(textItem({ id: this.makeId('msg'), pieces, status, annotations, hasLogprobs }))
  }

  #addRefusal(): void {
    const pieces = this.budget.spend(refusalText)
    if (pieces.count > 0) this.items.push(refusalItem(this.makeId('msg'), pieces, this.#status))
  }

  #addCalls(): void {
    const tools = this.#request.tools.filter(({ isHosted }) => !isHosted)
    for (const call of callsOf({ ...this.#request, tools })) {
      const tool = tools.find(({ name }) => name === call.name)
      if (tool?.typed === undefined) this.#addCall(call, tool?.namespace)
      else this.#addTypedCall(tool.typed, call.input)
    }
  }

  #addCall(call: ScriptedCall, namespace: string | undefined): void {
    const { name, input } = call
    const isCustom = isCustomTool(this.#request, call)
    const pieces = this.budget.spend(isCustom ? textPieces(input) : argumentPieces(input))
    const id = this.makeId(isCustom ? 'ctc' : 'fc')
    const callId = this.makeId('call')
    const status = this.#status
    this.items.push(callItem({ id, callId, name, namespace, isCustom, pieces, status }))
  }

  #addTypedCall(name: TypedName, input: unknown): void {
    const action = actionOf(name, input)
    this.budget.spend(argumentPieces(action))
    this.items.push(typedCallItem(name, action, this.makeId))
  }

  #addHosted(name: HostedName): void {
    this.hostedCalls[name] = (this.hostedCalls[name] ?? 0) + 1
    this.items.push(hostedItem(name, this.makeId))
  }

  get #status() {
    return this.budget.isExceeded ? 'incomplete' : 'completed'
  }
}
