/**
 * The text of a usage in table exchange. It keeps the counts beside those of the price lines, because the
 * audit compares the two, but no names and nothing that the counts give:
 *
 *     [[26,34],["bench-chat",{"input":26,"output":34}]]
 *
 * First the reported tokens (input, output, cache; zeros at the end are left out), then the parts: the
 * served model (null = the requested one), the counts, and the other facts, if there are any.
 */
import {
  type ReportedTokens,
  promptTokensOf,
  type Usage,
  type UsageCounts,
  type UsagePart,
} from '../metering/usage.ts'

type OtherFacts = Partial<Omit<UsagePart, 'model' | 'counts'>>

type StoredPart = readonly [model: string | null, counts: UsageCounts, others?: OtherFacts]

type StoredUsage = readonly [
  reported: readonly [input?: number, output?: number, cache?: number],
  ...parts: readonly StoredPart[],
]

const noTokens: ReportedTokens = { inputTokens: 0, outputTokens: 0, cacheTokens: 0 }

export function formatUsage({ parts, reported }: Usage): string {
  const { inputTokens, outputTokens, cacheTokens } = reported
  const stored: StoredUsage = [
    cacheTokens === 0 ? [inputTokens, outputTokens] : [inputTokens, outputTokens, cacheTokens],
    ...parts.map(toStored),
  ]
  return JSON.stringify(stored)
}

function toStored({ model: served, counts, promptTokens, ...others }: UsagePart): StoredPart {
  const model = served ?? null
  const isCounted = promptTokens === countedPrompt(counts)
  const facts: OtherFacts = isCounted ? others : { promptTokens, ...others }
  return Object.keys(facts).length === 0 ? [model, counts] : [model, counts, facts]
}

function countedPrompt(counts: UsageCounts): number {
  return promptTokensOf({ counts, promptTokens: 0 })
}

/** Throws where the text is not a usage. */
export function parseUsage(text: string): Usage {
  const stored = JSON.parse(text) as StoredUsage
  const [[inputTokens = 0, outputTokens = 0, cacheTokens = 0], ...parts] = stored
  return { parts: parts.map(fromStored), reported: { inputTokens, outputTokens, cacheTokens } }
}

function fromStored([model, counts, others]: StoredPart): UsagePart {
  return {
    ...(model !== null && { model }),
    counts,
    promptTokens: countedPrompt(counts),
    ...others,
  }
}

/** The tokens of a stored usage as `/v1/usage` counts them; zeros where a row has none. */
export function readReported(usage: unknown): ReportedTokens {
  return typeof usage === 'string' ? parseUsage(usage).reported : noTokens
}
