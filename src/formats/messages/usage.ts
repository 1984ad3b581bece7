/**
 * The usage of a messages answer: merges its usage objects and sorts the counts into price classes. It knows
 * the vendor's field names and no frames, no prices.
 *
 * The vendor's `input_tokens` excludes cache reads and writes, so the classes are disjoint already; only the
 * writes are split by lifetime.
 */
import type { Usage, UsageCounts, UsagePart } from '../../metering/usage.ts'
import { Counters, isCount } from '../counts.ts'
import { asArray, asObject, asText, type JsonObject } from '../json.ts'

const counterNames = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const

type CounterName =
  (typeof counterNames)[number] | 'ephemeral_5m' | 'ephemeral_1h' | 'web_search_requests'

/** Iterations served by another model than the first one; a compaction names no model. */
const otherModelTypes: ReadonlySet<string | undefined> = new Set([
  'fallback_message',
  'advisor_message',
])

/** Where a usage object was found: the counts at a stream's start are not final. */
export type UsagePlace = 'start' | 'delta' | 'answer'

export class MessagesUsage {
  readonly #counters = new Counters<CounterName>()
  readonly #asksOneHourCache: boolean
  #iterations: readonly JsonObject[] = []
  #served: Served = {}
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
    this.#applyCounters(usage, place)
    const split = asObject(usage['cache_creation'])
    this.#counters.set('ephemeral_5m', split?.['ephemeral_5m_input_tokens'])
    this.#counters.set('ephemeral_1h', split?.['ephemeral_1h_input_tokens'])
    this.#counters.set(
      'web_search_requests',
      asObject(usage['server_tool_use'])?.['web_search_requests'],
    )
    this.#served = { ...this.#served, ...readServed(usage) }
  }

  /** Returns the usage in price classes; `model` is the model that the answer names. */
  toUsage(model: string | undefined): Usage | undefined {
    if (!this.#hasAny) return undefined
    const counters = this.#counters
    const isIterated = this.#iterations.length > 0
    const known = this.#wholeWrites()
    // With iterations the split may belong to an attempt that the totals exclude.
    const written = isIterated ? known.total : splitWrites(known).total
    return {
      parts: isIterated ? this.#iterationParts() : [this.#wholePart(model)],
      reported: {
        inputTokens: counters.get('input_tokens'),
        outputTokens: counters.get('output_tokens'),
        cacheTokens: counters.get('cache_read_input_tokens') + written,
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

  #applyCounters(usage: JsonObject, place: UsagePlace): void {
    for (const name of counterNames) {
      const isOutput = name === 'output_tokens'
      // With a fallback to another model the totals are those of the attempt that answered, so they may be
      // lower than the counts at the start, which are those of the first attempt.
      const mayFall = this.#iterations.length > 0 || (isOutput && !this.#hasFinalOutput)
      if (mayFall) this.#counters.replace(name, usage[name])
      else this.#counters.set(name, usage[name])
      if (isOutput && place !== 'start' && isCount(usage[name])) this.#hasFinalOutput = true
    }
  }

  #wholeWrites(): KnownWrites {
    const counters = this.#counters
    const hasSplit = counters.has('ephemeral_5m') || counters.has('ephemeral_1h')
    return {
      total: counters.get('cache_creation_input_tokens'),
      known5m: counters.get('ephemeral_5m'),
      known1h: counters.get('ephemeral_1h'),
      isRestOneHour: !hasSplit && this.#asksOneHourCache,
    }
  }

  /** A split larger than its total is inconsistent, unless the total is zero, that is, not given. */
  #checkedWrites(known: KnownWrites): CacheWrites {
    if (known.total > 0 && known.known5m + known.known1h > known.total)
      this.#counters.markImplausible()
    return splitWrites(known)
  }

  #wholePart(model: string | undefined): UsagePart {
    const counters = this.#counters
    return buildPart({
      model,
      input: counters.get('input_tokens'),
      output: counters.get('output_tokens'),
      cacheRead: counters.get('cache_read_input_tokens'),
      writes: this.#checkedWrites(this.#wholeWrites()),
      webSearches: counters.get('web_search_requests'),
      served: this.#served,
    })
  }

  #iterationParts(): readonly UsagePart[] {
    const billed = this.#iterations.filter((entry, index) => !this.#isDeclinedEarly(entry, index))
    return billed.map((entry, index) => {
      const isLast = index === billed.length - 1
      const split = asObject(entry['cache_creation'])
      return buildPart({
        model: asText(entry['model']),
        isOtherModel: otherModelTypes.has(asText(entry['type'])),
        input: this.#count(entry['input_tokens']),
        output: this.#count(entry['output_tokens']),
        cacheRead: this.#count(entry['cache_read_input_tokens']),
        writes: this.#checkedWrites({
          total: this.#count(entry['cache_creation_input_tokens']),
          known5m: this.#count(split?.['ephemeral_5m_input_tokens']),
          known1h: this.#count(split?.['ephemeral_1h_input_tokens']),
          isRestOneHour: split === undefined && this.#asksOneHourCache,
        }),
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

/** The service that the answer names, which may differ from the request's. */
interface Served {
  readonly tier?: string
  readonly speed?: string
  readonly geo?: string
}

function readServed(usage: JsonObject): Served {
  const tier = asText(usage['service_tier'])
  const speed = asText(usage['speed'])
  const geo = asText(usage['inference_geo'])
  return {
    ...(tier !== undefined && { tier }),
    ...(speed !== undefined && { speed }),
    ...(geo !== undefined && { geo }),
  }
}

/** The answer's counts of its cache writes. */
interface KnownWrites {
  readonly total: number
  readonly known5m: number
  readonly known1h: number
  readonly isRestOneHour: boolean
}

interface CacheWrites {
  readonly fiveMinutes: number
  readonly oneHour: number
  readonly total: number
}

/**
 * Writes beyond the known split have no stated lifetime. They count as five minutes, as server tools write
 * them, unless no split is known and the request asked for one hour.
 */
function splitWrites(known: KnownWrites): CacheWrites {
  const split = known.known5m + known.known1h
  const rest = Math.max(0, known.total - split)
  return {
    fiveMinutes: known.known5m + (known.isRestOneHour ? 0 : rest),
    oneHour: known.known1h + (known.isRestOneHour ? rest : 0),
    total: split + rest,
  }
}

function buildPart(facts: {
  readonly model: string | undefined
  readonly isOtherModel?: boolean
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly writes: CacheWrites
  readonly webSearches: number
  readonly served: Served
}): UsagePart {
  const { input, output, cacheRead, writes, webSearches } = facts
  const counts: UsageCounts = {
    input,
    output,
    ...(cacheRead > 0 && { cache_read: cacheRead }),
    ...(writes.fiveMinutes > 0 && { cache_write_5m: writes.fiveMinutes }),
    ...(writes.oneHour > 0 && { cache_write_1h: writes.oneHour }),
    ...(webSearches > 0 && { web_search: webSearches }),
  }
  return {
    ...(facts.model !== undefined && { model: facts.model }),
    ...(facts.isOtherModel === true && { isOtherModel: true }),
    counts,
    promptTokens: input + cacheRead + writes.total,
    ...facts.served,
  }
}
