/**
 * Everything that is known of one response, streamed or whole: its counts, its output for an estimate, the
 * uses of the vendor's own tools, and the state that it leaves at the vendor. It knows items and their parts,
 * no events and no prices.
 */
import { ChatUsage } from '../chat/usage.ts'
import { isCount } from '../counts.ts'
import type { UseClass, UseCounts } from '../../metering/usage.ts'
import { isStoredWithAnswer, type MadeState, type MeterReading, type StateKind } from '../answer.ts'
import type { RequestFacts } from '../format.ts'
import { asArray, asObject, asText, type JsonObject } from '../json.ts'
import { LongText } from '../long-text.ts'
import { OutputText } from '../output.ts'
import { encryptedId, encryptedIn } from './state.ts'

/** What the gateway remembers of one answer at most, and how many uses of a tool it counts. */
export const rememberedMax = 1_000

/** Members of an item whose text the model has written, in this order. */
const writtenFields = ['name', 'arguments', 'input', 'code'] as const

export class GatheredResponse {
  readonly usage = new ChatUsage()
  readonly output = new OutputText()
  readonly #made = new Map<string, MadeState>()
  readonly #uses = new ToolUses()
  #isStored: boolean
  #model: string | undefined
  #tier: string | undefined
  /** Why it is incomplete, in the vendor's own word. */
  #reason: string | undefined
  #billedSearches: number | undefined

  constructor({ storesAnswer }: RequestFacts) {
    this.#isStored = storesAnswer === true
  }

  /** Reads the response object of an event or a body, without its output. */
  readEnvelope(response: JsonObject): void {
    this.#model = asText(response['model']) ?? this.#model
    this.#tier = asText(response['service_tier']) ?? this.#tier
    if (typeof response['store'] === 'boolean') this.#isStored = response['store']
    this.#remember('response', response['id'])
    this.#reason = asText(asObject(response['incomplete_details'])?.['reason']) ?? this.#reason
    const searches = asObject(asObject(response['tool_usage'])?.['web_search'])?.['num_requests']
    if (isCount(searches)) this.#billedSearches = searches
    this.usage.apply(inChatTerms(asObject(response['usage'])))
  }

  /** Reads an item that has begun: its texts follow in events of their own. */
  beginItem(item: JsonObject): void {
    this.#remember('item', item['id'])
    // Reasoning, calls and whatever else a vendor makes cost something; a message is output by its text.
    if (item['type'] === 'message') return
    this.output.hasOutput = true
    this.output.addText(item['name'])
  }

  /** Reads the facts that an item has only at its end. */
  endItem(item: JsonObject): void {
    this.#remember('item', item['id'])
    for (const encrypted of encryptedIn(item)) {
      if (typeof encrypted === 'string' && encrypted !== '')
        this.#remember('encrypted', encryptedId(encrypted))
      else if (encrypted instanceof LongText) this.#remember('encrypted', encrypted.id)
      this.#remember('container', item['container_id'])
    }
    this.#uses.read(item)
  }

  /** Reads the text of a whole item. */
  readItem(item: JsonObject): void {
    if (item['type'] !== 'message') this.output.hasOutput = true
    for (const name of writtenFields) this.output.addText(item[name])
    this.output.addText(asObject(item['operation'])?.['diff'])
    for (const command of asArray(asObject(item['action'])?.['commands']) ?? [])
      this.output.addText(command)
    for (const name of ['summary', 'content'] as const)
      for (const part of asArray(item[name]) ?? []) this.#readPart(asObject(part) ?? {})
  }

  reading(isComplete: boolean): MeterReading {
    const { usage, output } = this
    const webSearches = this.#billedSearches ?? this.#uses.webSearches
    const vendorToolUses = this.#uses.others
    const made = [...this.#made.values()].filter(
      ({ kind }) => this.#isStored || !isStoredWithAnswer(kind),
    )
    return {
      usage: usage.toUsage(this.#model, this.#tier, webSearches),
      isFinal: isComplete && usage.outputTokens !== undefined,
      isImplausible: usage.isImplausible,
      hasOutput: output.hasOutput,
      // Tokens that the vendor counted before it filtered the answer were output, seen or not.
      isRefusal:
        this.#reason === 'content_filter' && !output.hasOutput && (usage.outputTokens ?? 0) === 0,
      ...(this.#reason !== undefined && { finishReasons: [this.#reason] }),
      output,
      webSearches,
      ...(vendorToolUses !== undefined && { vendorToolUses }),
      model: this.#model,
      ...(this.#tier !== undefined && { tier: this.#tier }),
      ...(made.length > 0 && { made }),
    }
  }

  #readPart(part: JsonObject): void {
    this.output.addText(part['text'])
    this.output.addText(part['refusal'])
    this.output.addText(part['transcript'])
    if (part['type'] === 'output_audio') this.output.addAudioText(part['data'])
  }

  #remember(kind: StateKind, id: unknown): void {
    if (typeof id !== 'string' || id === '' || this.#made.size >= rememberedMax) return
    this.#made.set(`${kind} ${id}`, { kind, id })
  }
}

/** Some names differ from those of chat completions, and nothing else. */
function inChatTerms(usage: JsonObject | undefined): JsonObject | undefined {
  if (usage === undefined) return undefined
  return {
    ...usage,
    prompt_tokens: usage['input_tokens'],
    completion_tokens: usage['output_tokens'],
    prompt_tokens_details: usage['input_tokens_details'],
    completion_tokens_details: usage['output_tokens_details'],
  }
}

/** Counts uses of tools that the vendor runs: each item once, however often the answer shows it. */
class ToolUses {
  readonly #seen = new Set<string>()
  readonly #counts: { [Class in UseClass]?: number } = {}

  get webSearches(): number {
    return this.#counts.web_search ?? 0
  }

  /** Uses of the other tools. */
  get others(): UseCounts | undefined {
    const { web_search: _, ...others } = this.#counts
    return Object.keys(others).length === 0 ? undefined : others
  }

  read(item: JsonObject): void {
    if (item['status'] === 'failed') return
    const { id } = item
    switch (item['type']) {
      case 'web_search_call': {
        // Only searches are billed; opening a page that was found is not.
        const action = asText(asObject(item['action'])?.['type']) ?? 'search'
        if (action === 'search') this.#count('web_search', id)
        return
      }
      case 'file_search_call':
        this.#count('file_search', id)
        return
      case 'image_generation_call':
        this.#count('image_generation', id)
        return
      case 'code_interpreter_call':
        // Billed by the container, in which many calls run.
        this.#count('code_interpreter', item['container_id'] ?? id)
        return
      default:
    }
  }

  #count(tool: UseClass, id: unknown): void {
    const name = `${tool} ${String(id)}`
    if (this.#seen.has(name) || this.#seen.size >= rememberedMax) return
    this.#seen.add(name)
    this.#counts[tool] = (this.#counts[tool] ?? 0) + 1
  }
}
