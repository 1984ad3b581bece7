/**
 * The usage of a messages answer: merges its usage objects and sorts the counts into price classes. It knows
 * the vendor's field names and no frames, no prices.
 *
 * The vendor's `input_tokens` excludes cache reads and writes, so the classes are disjoint already; only the
 * writes are split by lifetime.
 */
import type { NamedService, Usage, UsageClass, UsagePart } from '../../metering/usage.ts'
import { Counters, isCount } from '../counts.ts'
import { asArray, asObject, asText, type JsonObject } from '../json.ts'

/** Iterations served by another model than the first one; a compaction names no model. */
const otherModelTypes: ReadonlySet<string | undefined> = new Set([
  'fallback_message',
  'advisor_message',
])

/** The names of all members that are read of a usage object. */
export const usageMembers = `input_tokens output_tokens cache_read_input_tokens
  cache_creation_input_tokens cache_creation ephemeral_5m_input_tokens ephemeral_1h_input_tokens
  server_tool_use web_search_requests iterations model type service_tier speed inference_geo`.split(
  /\s+/,
)

/** Where a usage object was found: the counts at a stream's start are not final. */
export type UsagePlace = 'start' | 'delta' | 'answer'

export class MessagesUsage {
  readonly #counters = new Counters<'output_tokens' | 'web_search_requests'>()
  readonly #asksOneHourCache: boolean
  #input = noInput
  #iterations: readonly JsonObject[] = []
  #served: NamedService = {}
  #hasAny = false
  #hasFinalOutput = false

  constructor(asksOneHourCache: boolean) {
    this.#asksOneHourCache = asksOneHourCache
  }

  get isImplausible(): boolean {
    return this.#counters.isImplausible
  }

  /**
   * The output count at a stream's start is a placeholder: only a later one is final, and none where a value
   * that is no count followed it.
   */
  get hasFinalOutput(): boolean {
    return (
      this.#hasFinalOutput &&
      this.#counters.isKnown('output_tokens') &&
      this.#iterations.every((entry) => isCount(entry['output_tokens'] ?? 0))
    )
  }

  apply(value: unknown, place: UsagePlace): void {
    const usage = asObject(value)
    if (usage === undefined) return
    this.#hasAny = true
    this.#applyIterations(usage['iterations'])
    this.#applyInput(usage)
    this.#applyOutput(usage['output_tokens'], place)
    this.#counters.set(
      'web_search_requests',
      asObject(usage['server_tool_use'])?.['web_search_requests'],
    )
    this.#served = { ...this.#served, ...readServed(usage) }
  }

  /** Returns the usage in price classes; `model` is the model that the answer names. */
  toUsage(model: string | undefined): Usage | undefined {
    if (!this.#hasAny) return undefined
    const isIterated = this.#iterations.length > 0
    const { input, cacheRead, written } = this.#input
    // With iterations the split may belong to an attempt that the totals exclude.
    const writes = isIterated ? written : sumOf(this.#writesOf(this.#input))
    return {
      parts: isIterated ? this.#iterationParts() : [this.#wholePart(model)],
      reported: {
        inputTokens: input,
        outputTokens: this.#counters.get('output_tokens'),
        cacheTokens: cacheRead + writes,
      },
    }
  }

  #applyIterations(value: unknown): void {
    const entries =
      asArray(value)
        ?.map(asObject)
        .filter((entry) => entry !== undefined) ?? []
    if (entries.length > 0) this.#iterations = entries
  }

  #applyInput(usage: JsonObject): void {
    const later = this.#readInput(usage, this.#input)
    // With a fallback to another model the totals are those of the attempt that answered, so they may be
    // lower than the counts at the start, which are those of the first attempt.
    const mayFall = this.#iterations.length > 0
    if (mayFall || promptOf(later) >= promptOf(this.#input)) this.#input = later
    else this.#counters.markImplausible()
  }

  #applyOutput(value: unknown, place: UsagePlace): void {
    const mayFall = this.#iterations.length > 0 || !this.#hasFinalOutput
    if (mayFall) this.#counters.replace('output_tokens', value)
    else this.#counters.set('output_tokens', value)
    if (place !== 'start' && isCount(value)) this.#hasFinalOutput = true
  }

  /**
   * A usage object with `input_tokens` replaces the whole input side: a vendor may correct at the end how
   * much of the prompt its cache had. One without it changes only the counts that it names. The end of a
   * stream does not repeat the split of the writes, so the earlier one stands while it fits in their total.
   */
  #readInput(usage: JsonObject, earlier: InputSide): InputSide {
    const input = this.#counters.read(usage['input_tokens'])
    const others = input === undefined ? earlier : noInput
    const read = this.#counters.read(usage['cache_read_input_tokens'])
    const given = this.#counters.read(usage['cache_creation_input_tokens'])
    const written = given ?? others.written
    const isFitting = written === earlier.written || sumOf(earlier.split) <= written
    return {
      input: input ?? others.input,
      cacheRead: read ?? others.cacheRead,
      written,
      split: this.#readSplit(usage['cache_creation']) ?? (isFitting ? earlier.split : undefined),
    }
  }

  #readSplit(value: unknown): CacheWrites | undefined {
    const split = asObject(value)
    const fiveMinutes = this.#counters.read(split?.['ephemeral_5m_input_tokens'])
    const oneHour = this.#counters.read(split?.['ephemeral_1h_input_tokens'])
    if (fiveMinutes === undefined && oneHour === undefined) return undefined
    return { fiveMinutes: fiveMinutes ?? 0, oneHour: oneHour ?? 0 }
  }

  /**
   * Writes beyond the known split have no stated lifetime. They count as five minutes, as server tools write
   * them, unless no split is known and the request asked for one hour.
   */
  #writesOf({ written, split }: InputSide): CacheWrites {
    const { fiveMinutes, oneHour } = split ?? noWrites
    const rest = Math.max(0, written - fiveMinutes - oneHour)
    return split === undefined && this.#asksOneHourCache
      ? { fiveMinutes, oneHour: oneHour + rest }
      : { fiveMinutes: fiveMinutes + rest, oneHour }
  }

  /** A split larger than its total is inconsistent, unless the total is zero, that is, not given. */
  #checkedWrites(side: InputSide): CacheWrites {
    if (side.written > 0 && sumOf(side.split) > side.written) this.#counters.markImplausible()
    return this.#writesOf(side)
  }

  #wholePart(model: string | undefined): UsagePart {
    return buildPart({
      model,
      side: this.#input,
      output: this.#counters.get('output_tokens'),
      writes: this.#checkedWrites(this.#input),
      webSearches: this.#counters.get('web_search_requests'),
      served: this.#served,
    })
  }

  #iterationParts(): readonly UsagePart[] {
    const billed = this.#iterations.filter((entry, index) => !this.#isDeclinedEarly(entry, index))
    return billed.map((entry, index) => {
      const isLast = index === billed.length - 1
      const side = this.#readInput(entry, noInput)
      return buildPart({
        model: asText(entry['model']),
        isOtherModel: otherModelTypes.has(asText(entry['type'])),
        side,
        output: this.#count(entry['output_tokens']),
        writes: this.#checkedWrites(side),
        // Searches are counted for the whole answer only: they belong to the last part.
        webSearches: isLast ? this.#counters.get('web_search_requests') : 0,
        served: { ...this.#served, ...readServed(entry) },
      })
    })
  }

  /**
   * The vendor lists an attempt that declined before any output and does not charge it: a message without
   * output that is followed by a fallback.
   */
  #isDeclinedEarly(entry: JsonObject, index: number): boolean {
    const type = entry['type']
    if (type !== 'message' && type !== 'fallback_message') return false
    if (this.#count(entry['output_tokens']) > 0) return false
    return this.#iterations.slice(index + 1).some((later) => later['type'] === 'fallback_message')
  }

  #count(value: unknown): number {
    return this.#counters.read(value) ?? 0
  }
}

/** Reads the service that the answer names, which may differ from the request's. */
function readServed(usage: JsonObject): NamedService {
  const tier = asText(usage['service_tier'])
  const speed = asText(usage['speed'])
  const geo = asText(usage['inference_geo'])
  return {
    ...(tier !== undefined && { tier }),
    ...(speed !== undefined && { speed }),
    ...(geo !== undefined && { geo }),
  }
}

/** Tokens that are written to the cache, by their lifetime. */
interface CacheWrites {
  readonly fiveMinutes: number
  readonly oneHour: number
}

const noWrites: CacheWrites = { fiveMinutes: 0, oneHour: 0 }

function sumOf({ fiveMinutes, oneHour }: CacheWrites = noWrites): number {
  return fiveMinutes + oneHour
}

/** The vendor's counts of a prompt; `split` has the lifetimes of the writes. */
interface InputSide {
  readonly input: number
  readonly cacheRead: number
  readonly written: number
  readonly split: CacheWrites | undefined
}

const noInput: InputSide = { input: 0, cacheRead: 0, written: 0, split: undefined }

function promptOf({ input, cacheRead, written, split }: InputSide): number {
  return input + cacheRead + Math.max(written, sumOf(split))
}

function buildPart(facts: {
  readonly model: string | undefined
  readonly isOtherModel?: boolean
  readonly side: InputSide
  readonly output: number
  readonly writes: CacheWrites
  readonly webSearches: number
  readonly served: NamedService
}): UsagePart {
  const { output, writes, webSearches } = facts
  const { input, cacheRead } = facts.side
  const counts: { [Class in UsageClass]?: number } = { input, output }
  if (cacheRead > 0) counts.cache_read = cacheRead
  if (writes.fiveMinutes > 0) counts.cache_write_5m = writes.fiveMinutes
  if (writes.oneHour > 0) counts.cache_write_1h = writes.oneHour
  if (webSearches > 0) counts.web_search = webSearches
  return {
    ...(facts.model !== undefined && { model: facts.model }),
    ...(facts.isOtherModel === true && { isOtherModel: true }),
    counts,
    promptTokens: input + cacheRead + sumOf(writes),
    ...facts.served,
  }
}
