/**
 * What a chat answer used: takes the usage objects of one answer and sorts the counts into price
 * classes. It knows the vendor's field names and no frames, no prices.
 *
 * The vendor's `prompt_tokens` includes cached, cache-written and audio tokens, and
 * `completion_tokens` includes reasoning and audio: the classes are made disjoint here.
 */
import type { Usage, UsageCounts } from '../../metering/usage.ts'
import { CountBook } from '../counts.ts'
import { asObject } from '../json.ts'

type CounterName =
  | 'prompt'
  | 'completion'
  | 'cached'
  | 'cache_write'
  | 'prompt_audio'
  | 'cached_audio'
  | 'completion_audio'

export class ChatUsage {
  readonly #book = new CountBook<CounterName>()
  #hasAny = false

  get isImplausible(): boolean {
    return this.#book.isImplausible
  }

  /** A later usage object takes the place of an earlier one: the counts are cumulative. */
  apply(value: unknown): void {
    const usage = asObject(value)
    if (usage === undefined) return
    this.#hasAny = true
    const book = this.#book
    const prompt = asObject(usage['prompt_tokens_details'])
    const completion = asObject(usage['completion_tokens_details'])
    book.set('prompt', usage['prompt_tokens'])
    book.set('completion', usage['completion_tokens'])
    book.set('cached', prompt?.['cached_tokens'])
    book.set('cache_write', prompt?.['cache_write_tokens'])
    book.set('prompt_audio', prompt?.['audio_tokens'])
    book.set('cached_audio', asObject(prompt?.['cached_tokens_details'])?.['audio_tokens'])
    book.set('completion_audio', completion?.['audio_tokens'])
    if (!this.#isConsistent()) book.distrust()
  }

  toUsage(model: string | undefined, tier: string | undefined): Usage | undefined {
    if (!this.#hasAny) return undefined
    const book = this.#book
    const prompt = book.get('prompt')
    const completion = book.get('completion')
    return {
      parts: [
        {
          ...(model !== undefined && { model }),
          counts: this.#counts(),
          promptTokens: prompt,
          ...(tier !== undefined && { tier }),
        },
      ],
      reported: { inputTokens: prompt, outputTokens: completion, cacheTokens: book.get('cached') },
    }
  }

  /**
   * A subset is never larger than its whole, and neither are the prompt's subsets together; only sound
   * from the cache is told in two of them. Reasoning is left out: some servers count it apart.
   */
  #isConsistent(): boolean {
    const book = this.#book
    const prompt = book.get('prompt')
    const cached = book.get('cached')
    const audio = book.get('prompt_audio')
    const cachedAudio = book.get('cached_audio')
    return (
      cachedAudio <= Math.min(cached, audio) &&
      cached + book.get('cache_write') + audio - cachedAudio <= prompt &&
      book.get('completion_audio') <= book.get('completion')
    )
  }

  #counts(): UsageCounts {
    const book = this.#book
    const cachedAudio = book.get('cached_audio')
    const cached = book.get('cached') - cachedAudio
    const written = book.get('cache_write')
    const heard = book.get('prompt_audio') - cachedAudio
    const spoken = book.get('completion_audio')
    return {
      input: Math.max(0, book.get('prompt') - cached - cachedAudio - written - heard),
      output: Math.max(0, book.get('completion') - spoken),
      ...(cached > 0 && { cache_read: cached }),
      ...(cachedAudio > 0 && { cache_read_audio: cachedAudio }),
      // The vendor has one price for cache writes; it is kept as that of the shorter lifetime.
      ...(written > 0 && { cache_write_5m: written }),
      ...(heard > 0 && { input_audio: heard }),
      ...(spoken > 0 && { output_audio: spoken }),
    }
  }
}
