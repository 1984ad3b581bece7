/**
 * The usage of a chat answer: reads its usage objects and sorts the counts into price classes. It knows the
 * field names of vendors and no vendor, no frames, no prices.
 *
 * By the format `prompt_tokens` includes cached, cache-written and audio tokens, and `completion_tokens`
 * includes reasoning and audio: the classes are made disjoint here. A vendor that counts cached tokens beside
 * the prompt, or reasoning outside the completion, is recognised by its total.
 */
import type { Usage, UsageClass, UsageCounts, UsagePart } from '../../metering/usage.ts'
import { Counters, isGiven } from '../counts.ts'
import { asObject, type JsonObject } from '../json.ts'

/**
 * Where each count stands, the format's own place first. The first one that is not zero is taken: vendors
 * repeat a count under several names, so two are never added.
 */
const places = [
  ['prompt', 'prompt_tokens'],
  ['completion', 'completion_tokens'],
  ['total', 'total_tokens'],
  ['reasoning', 'completion_tokens_details.reasoning_tokens', 'reasoning_tokens'],
  [
    'cached',
    'prompt_tokens_details.cached_tokens',
    'cached_tokens',
    'num_cached_tokens',
    'prompt_cache_hit_tokens',
    'cache_read_input_tokens',
  ],
  [
    'cache_write',
    'prompt_tokens_details.cache_write_tokens',
    'prompt_tokens_details.cache_creation_tokens',
    'prompt_tokens_details.cache_creation_input_tokens',
    'cache_creation_input_tokens',
  ],
  [
    'long_cache_write',
    'prompt_tokens_details.cache_write_tokens_details.ttl_12h_tokens',
    'prompt_tokens_details.cache_creation.ephemeral_1h_input_tokens',
    'cache_creation.ephemeral_1h_input_tokens',
  ],
  ['prompt_audio', 'prompt_tokens_details.audio_tokens'],
  ['cached_audio', 'prompt_tokens_details.cached_tokens_details.audio_tokens'],
  ['completion_audio', 'completion_tokens_details.audio_tokens'],
  ['web_search', '*.web_search_requests'],
] as const

interface CountPath {
  /** `*` stands for any: the first whose count is not zero. */
  readonly member: string
  readonly inner: readonly string[]
}

const counterPaths = places.map(([name, ...paths]) => ({ name, paths: paths.map(parsePath) }))

function parsePath(path: string): CountPath {
  const [member = '', ...inner] = path.split('.')
  return { member, inner }
}

/** The names of all members that are read of a usage object. */
export const usageMembers: readonly string[] = counterPaths.flatMap(({ paths }) =>
  paths.flatMap(({ member, inner }) => [member, ...inner]),
)

/** The tokens charged as input, in all classes, and as output. */
interface Sides {
  readonly prompt: number
  readonly completion: number
}

export class ChatUsage {
  readonly #counters = new Counters<(typeof places)[number][0]>()
  /** Read anew with each usage object; undefined while there was none. */
  #sides: Sides | undefined

  get isImplausible(): boolean {
    return this.#counters.isImplausible
  }

  /** The vendor's count of its output; undefined where there is none, or where the last was no count. */
  get outputTokens(): number | undefined {
    return this.#counters.isKnown('completion') ? this.#sides?.completion : undefined
  }

  /** A later usage object replaces an earlier one: the counts are cumulative. */
  apply(value: unknown): void {
    const usage = asObject(value)
    if (usage === undefined) return
    const counters = this.#counters
    for (const { name, paths } of counterPaths) {
      const count = findCount(usage, paths)
      // These two only tell how to read the others.
      if (name === 'total' || name === 'reasoning') counters.replace(name, count)
      else counters.set(name, count)
    }
    this.#sides = this.#readSides()
    if (!this.#isConsistent(this.#sides)) counters.markImplausible()
  }

  /** `webSearches`: where the vendor bills them by the call. */
  toUsage(model: string | undefined, tier: string | undefined, webSearches = 0): Usage | undefined {
    const sides = this.#sides
    if (sides === undefined) return undefined
    const counters = this.#counters
    const { prompt, completion } = sides
    const searches = Math.max(webSearches, counters.get('web_search'))
    const part: { -readonly [Name in keyof UsagePart]: UsagePart[Name] } = {
      counts: this.#counts(sides, searches),
      promptTokens: prompt,
    }
    if (model !== undefined) part.model = model
    if (tier !== undefined) part.tier = tier
    return {
      parts: [part],
      reported: {
        inputTokens: prompt,
        outputTokens: completion,
        cacheTokens: counters.get('cached'),
      },
    }
  }

  /**
   * Returns the reading that adds up to the vendor's total; of several, the one nearest to the format.
   * Where none does, the format's own stands, and the rest of the total is output (thinking)
   * unless reasoning is counted. Cached tokens above the prompt are beside it, whatever the total.
   */
  #readSides(): Sides {
    const counters = this.#counters
    const stated = counters.get('prompt')
    const cache = counters.get('cached') + counters.get('cache_write')
    const completion = counters.get('completion')
    const reasoned = completion + counters.get('reasoning')
    const total = counters.get('total')
    const whole = stated + cache
    const prompt = cache > stated ? whole : stated
    if (prompt + completion === total) return { prompt, completion }
    if (prompt + reasoned === total) return { prompt, completion: reasoned }
    if (whole + completion === total) return { prompt: whole, completion }
    if (whole + reasoned === total) return { prompt: whole, completion: reasoned }
    const hasBothSides = stated > 0 && counters.has('completion')
    const rest = hasBothSides && !counters.has('reasoning') ? total - prompt - completion : 0
    return { prompt, completion: completion + Math.max(0, rest) }
  }

  /**
   * A subset is never larger than its whole, and neither are the prompt's subsets together; only cached audio
   * is in two of them. Reasoning is not checked: it may be outside.
   */
  #isConsistent({ prompt }: Sides): boolean {
    const counters = this.#counters
    const cached = counters.get('cached')
    const audio = counters.get('prompt_audio')
    const cachedAudio = counters.get('cached_audio')
    return (
      cachedAudio <= Math.min(cached, audio) &&
      cached + counters.get('cache_write') + audio - cachedAudio <= prompt &&
      counters.get('long_cache_write') <= counters.get('cache_write') &&
      counters.get('completion_audio') <= counters.get('completion')
    )
  }

  #counts({ prompt, completion }: Sides, searches: number): UsageCounts {
    const counters = this.#counters
    const cachedAudio = counters.get('cached_audio')
    const cached = counters.get('cached') - cachedAudio
    const written = counters.get('cache_write')
    const longWritten = counters.get('long_cache_write')
    const shortWritten = Math.max(0, written - longWritten)
    const promptAudio = counters.get('prompt_audio') - cachedAudio
    const completionAudio = counters.get('completion_audio')
    const counts: { [Class in UsageClass]?: number } = {
      input: Math.max(0, prompt - cached - cachedAudio - written - promptAudio),
      output: Math.max(0, completion - completionAudio),
    }
    if (cached > 0) counts.cache_read = cached
    if (cachedAudio > 0) counts.cache_read_audio = cachedAudio
    // The price classes have the names of another vendor's lifetimes: the shorter one and the longer one.
    if (shortWritten > 0) counts.cache_write_5m = shortWritten
    if (longWritten > 0) counts.cache_write_1h = longWritten
    if (promptAudio > 0) counts.input_audio = promptAudio
    if (completionAudio > 0) counts.output_audio = completionAudio
    if (searches > 0) counts.web_search = searches
    return counts
  }
}

/** Returns the first count that is not zero, else a zero. It makes no lists: every answer pays for it. */
function findCount(usage: JsonObject, paths: readonly CountPath[]): unknown {
  let zero: unknown
  for (const { member, inner } of paths) {
    const value = member === '*' ? findInAny(usage, inner) : valueAt(usage[member], inner)
    if (!isGiven(value)) continue
    if (value !== 0) return value
    zero = value
  }
  return zero
}

function valueAt(value: unknown, inner: readonly string[]): unknown {
  let found = value
  for (const name of inner) found = asObject(found)?.[name]
  return found
}

function findInAny(usage: JsonObject, inner: readonly string[]): unknown {
  let zero: unknown
  for (const member in usage) {
    const found = valueAt(usage[member], inner)
    if (isGiven(found) && found !== 0) return found
    zero ??= found
  }
  return zero
}
