/**
 * The counts of usual answers, by the plain words of the vendors' documentation: a second reading for those
 * usage objects in which nothing is doubtful. Of all others it says nothing.
 */
import { isObject } from '../../src/base/object.ts'
import type { UsageCounts } from '../../src/metering/usage.ts'
import type { Fields } from './sse-reference.ts'

/** More than any answer has, and far from where numbers stop to be exact. */
const plainMax = 1_000_000_000

function isPlain(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < plainMax
}

function hasOnly(value: Fields, names: readonly string[]): boolean {
  return Object.keys(value).every((name) => names.includes(name))
}

/** Undefined where the usage has more than counts of these names. */
function plainCounts(
  usage: unknown,
  names: readonly string[],
): Readonly<Record<string, number>> | undefined {
  if (!isObject(usage) || !hasOnly(usage, names)) return undefined
  const counts = Object.entries(usage).filter((entry): entry is [string, number] =>
    isPlain(entry[1]),
  )
  return counts.length === Object.keys(usage).length ? Object.fromEntries(counts) : undefined
}

function withoutZeros(counts: UsageCounts): UsageCounts {
  const { input, output, ...others } = counts
  const given = Object.entries(others).filter(([, count]) => count > 0)
  return { input: input ?? 0, output: output ?? 0, ...Object.fromEntries(given) }
}

const messagesNames = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const

/** Of a whole answer; `later` has the counts that a stream repeats at its end. */
export function messagesCounts(
  usage: unknown,
  asksOneHour: boolean,
  later: unknown = {},
): UsageCounts | undefined {
  const { service_tier: _, ...own } = isObject(usage) ? usage : {}
  const first = plainCounts(own, messagesNames)
  const last = plainCounts(later, ['output_tokens'])
  if (first?.['input_tokens'] === undefined || last === undefined) return undefined
  const written = first['cache_creation_input_tokens'] ?? 0
  return withoutZeros({
    input: first['input_tokens'],
    output: last['output_tokens'] ?? first['output_tokens'] ?? 0,
    cache_read: first['cache_read_input_tokens'] ?? 0,
    [asksOneHour ? 'cache_write_1h' : 'cache_write_5m']: written,
  })
}

interface ChatNames {
  readonly prompt: string
  readonly completion: string
}

export const chatNames: ChatNames = { prompt: 'prompt_tokens', completion: 'completion_tokens' }
export const responsesNames: ChatNames = { prompt: 'input_tokens', completion: 'output_tokens' }

export function chatCounts(
  usage: unknown,
  { prompt, completion }: ChatNames,
): UsageCounts | undefined {
  if (!isObject(usage)) return undefined
  const { [`${prompt}_details`]: read = {}, [`${completion}_details`]: made = {}, ...sums } = usage
  const counts = plainCounts(sums, [prompt, completion, 'total_tokens'])
  const cached = plainCounts(read, ['cached_tokens'])
  const reasoned = plainCounts(made, ['reasoning_tokens'])
  const input = counts?.[prompt]
  const output = counts?.[completion]
  if (input === undefined || output === undefined || !cached || !reasoned) return undefined
  const isUsual =
    counts?.['total_tokens'] === input + output &&
    (cached['cached_tokens'] ?? 0) <= input &&
    (reasoned['reasoning_tokens'] ?? 0) <= output
  if (!isUsual) return undefined
  const cacheRead = cached['cached_tokens'] ?? 0
  return withoutZeros({ input: input - cacheRead, output, cache_read: cacheRead })
}
