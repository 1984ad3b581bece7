/**
 * What the sandbox vendors' own log says an account was served, priced by the catalogue, in the
 * words of `/v1/usage`. Shares no arithmetic with the gateway.
 */
import { formatUsd, picos } from '../../../src/base/money.ts'
import type { SandboxUsagePart } from '../../../sandbox/usage.ts'
import { billedParts, type ServedRecord } from '../../../sandbox/served-record.ts'
import { priceOf } from './catalogue.ts'

type SandboxCounts = SandboxUsagePart['counts']

export interface Figures {
  readonly requests: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_tokens: number
  readonly cost_usd: number
}

/** The bill for exchanges that the vendors served to their end; all others are free. */
export function billFor(records: readonly ServedRecord[]): Figures {
  let costPicos = 0n
  const figures = { requests: 0, input_tokens: 0, output_tokens: 0, cache_tokens: 0 }
  for (const record of records) {
    const parts = record.isTerminalSent ? billedParts(record) : []
    if (parts.length > 0) figures.requests++
    for (const { counts } of parts) {
      costPicos += costOf(record.model, counts)
      figures.input_tokens += reportedInput(record, counts)
      figures.output_tokens += counts.output
      figures.cache_tokens += cacheTokens(record, counts)
    }
  }
  return { ...figures, cost_usd: Number(formatUsd(picos(costPicos))) }
}

/** `prompt_tokens` of the chat format contains what was cached; `input_tokens` does not. */
function reportedInput({ format }: ServedRecord, counts: SandboxCounts): number {
  return format === 'chat' ? counts.input + counts.cacheRead + written(counts) : counts.input
}

function cacheTokens({ format }: ServedRecord, counts: SandboxCounts): number {
  return format === 'chat' ? counts.cacheRead : counts.cacheRead + written(counts)
}

function written(counts: SandboxCounts): number {
  return counts.cacheWrite5m + counts.cacheWrite1h
}

/** USD per million tokens is micro-dollars per token; six more digits make it pico-dollars. */
function costOf(model: string, counts: SandboxCounts): bigint {
  const price = priceOf(model)
  const at = (usdPerMillion: number | undefined, tokens: number): bigint => {
    if (tokens === 0) return 0n
    if (usdPerMillion === undefined) throw new Error(`${model} has no price for what was served.`)
    return BigInt(Math.round(usdPerMillion * 1_000_000)) * BigInt(tokens)
  }
  return (
    at(price.input, counts.input) +
    at(price.output, counts.output) +
    at(price.cache_read, counts.cacheRead) +
    at(price.cache_write_5m, counts.cacheWrite5m) +
    at(price.cache_write_1h, counts.cacheWrite1h)
  )
}
