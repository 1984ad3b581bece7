/**
 * The usage of a chat answer: reads its usage objects and sorts the counts into price classes. It knows the
 * vendor's field names and no frames, no prices.
 *
 * The vendor's `prompt_tokens` includes cached, cache-written and audio tokens, and
 * `completion_tokens` includes reasoning and audio: the classes are made disjoint here.
 */
import type { Usage, UsageCounts } from '../../metering/usage.ts'
import { Counters } from '../counts.ts'
import { asObject } from '../json.ts'

type CounterName =
  | 'prompt'
  | 'completion'
  | 'cached'
  | 'cache_write'
  | 'long_cache_write'
  | 'prompt_audio'
  | 'cached_audio'
  | 'completion_audio'

export class ChatUsage {
  readonly #counters = new Counters<CounterName>()
  #hasAny = false

  get isImplausible(): boolean {
    return this.#counters.isImplausible
  }

  /** The vendor's count of its output; undefined where there is none, or where the last was no count. */
  get outputTokens(): number | undefined {
    return this.#counters.isKnown('completion') ? this.#counters.get('completion') : undefined
  }

  /** A later usage object replaces an earlier one: the counts are cumulative. */
  apply(value: unknown): void {
    const usage = asObject(value)
    if (usage === undefined) return
    this.#hasAny = true
    const counters = this.#counters
    const prompt = asObject(usage['prompt_tokens_details'])
    const completion = asObject(usage['completion_tokens_details'])
    counters.set('prompt', usage['prompt_tokens'])
    counters.set('completion', usage['completion_tokens'])
    counters.set('cached', prompt?.['cached_tokens'])
    counters.set('cache_write', prompt?.['cache_write_tokens'])
    const writes = asObject(prompt?.['cache_write_tokens_details'])
    counters.set('long_cache_write', writes?.['ttl_12h_tokens'])
    counters.set('prompt_audio', prompt?.['audio_tokens'])
    counters.set('cached_audio', asObject(prompt?.['cached_tokens_details'])?.['audio_tokens'])
    counters.set('completion_audio', completion?.['audio_tokens'])
    if (!this.#isConsistent()) counters.markImplausible()
  }

  /** `webSearches`: where the vendor bills them by the call. */
  toUsage(model: string | undefined, tier: string | undefined, webSearches = 0): Usage | undefined {
    if (!this.#hasAny) return undefined
    const counters = this.#counters
    const prompt = counters.get('prompt')
    const completion = counters.get('completion')
    return {
      parts: [
        {
          ...(model !== undefined && { model }),
          counts: { ...this.#counts(), ...(webSearches > 0 && { web_search: webSearches }) },
          promptTokens: prompt,
          ...(tier !== undefined && { tier }),
        },
      ],
      reported: {
        inputTokens: prompt,
        outputTokens: completion,
        cacheTokens: counters.get('cached'),
      },
    }
  }

  /**
   * A subset is never larger than its whole, and neither are the prompt's subsets together; only cached audio
   * is in two of them. Reasoning is not checked: some servers count it separately.
   */
  #isConsistent(): boolean {
    const counters = this.#counters
    const prompt = counters.get('prompt')
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

  #counts(): UsageCounts {
    const counters = this.#counters
    const cachedAudio = counters.get('cached_audio')
    const cached = counters.get('cached') - cachedAudio
    const written = counters.get('cache_write')
    const longWritten = counters.get('long_cache_write')
    const shortWritten = Math.max(0, written - longWritten)
    const promptAudio = counters.get('prompt_audio') - cachedAudio
    const completionAudio = counters.get('completion_audio')
    return {
      input: Math.max(0, counters.get('prompt') - cached - cachedAudio - written - promptAudio),
      output: Math.max(0, counters.get('completion') - completionAudio),
      ...(cached > 0 && { cache_read: cached }),
      ...(cachedAudio > 0 && { cache_read_audio: cachedAudio }),
      // The price classes have the names of another vendor's lifetimes: the shorter one and the longer one.
      ...(shortWritten > 0 && { cache_write_5m: shortWritten }),
      ...(longWritten > 0 && { cache_write_1h: longWritten }),
      ...(promptAudio > 0 && { input_audio: promptAudio }),
      ...(completionAudio > 0 && { output_audio: completionAudio }),
    }
  }
}
