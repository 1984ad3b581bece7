/**
 * The sandbox's own count of what an answer used, and how each format writes it. Money tests compare
 * charges with it, so it shares nothing with the gateway's meters. Classes are disjoint; `parts`
 * with `isBilled` are what a vendor would put on its invoice.
 */
import type { Directives } from './directives.ts'
import type { SandboxRequest } from './request.ts'

type UsageDistortion = NonNullable<Directives['usage']>

interface SandboxCounts {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite5m: number
  readonly cacheWrite1h: number
  readonly inputAudio: number
  readonly outputAudio: number
  readonly webSearch: number
}

export interface SandboxUsagePart {
  readonly type: 'message' | 'fallback_message' | 'compaction' | 'advisor_message'
  /** Undefined where the vendor does not name it; then it is the requested model. */
  readonly model: string | undefined
  readonly counts: SandboxCounts
  readonly isBilled: boolean
}

export interface SandboxUsage {
  /** The answer's top-level counts, by class. */
  readonly counts: SandboxCounts
  /** Output tokens that were thinking, shown or not; already inside `counts.output`. */
  readonly reasoningTokens: number
  readonly tier: string
  readonly speed: string
  readonly geo: string
  /** How often the vendor ran each of its tools, by the tool's type. Responses only. */
  readonly hostedCalls: HostedCalls
  /** The billed parts: one, unless the answer lists iterations. */
  readonly parts: readonly SandboxUsagePart[]
}

type HostedCalls = Readonly<Record<string, number>>

/** What an answer sent, in output tokens. */
export interface EmittedTokens {
  /** Everything, hidden reasoning and audio included. */
  readonly output: number
  /** Thinking, shown or not. */
  readonly reasoning: number
  readonly audio: number
  readonly hostedCalls?: HostedCalls
}

const noCounts: SandboxCounts = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  inputAudio: 0,
  outputAudio: 0,
  webSearch: 0,
}

export function countUsage(request: SandboxRequest, emitted: EmittedTokens): SandboxUsage {
  const { directives } = request
  const unclassified = (directives.cacheWrite ?? 0) + (directives.cacheWriteLate ?? 0)
  // The chat format has one kind of write. In messages a write without a lifetime is a short one,
  // unless the request asks for long ones.
  const isLong = directives.cacheWriteLate === undefined && request.asksOneHourCache
  const { audio, hostedCalls = {} } = emitted
  const output = directives.outputTokens ?? emitted.output
  const counts: SandboxCounts = {
    input: directives.input ?? request.promptTokens,
    output: Math.max(0, output - audio),
    cacheRead: directives.cached ?? 0,
    cacheWrite5m: (directives.cacheWrite5m ?? 0) + (isLong ? 0 : unclassified),
    cacheWrite1h: (directives.cacheWrite1h ?? 0) + (isLong ? unclassified : 0),
    inputAudio: directives.audioIn ?? 0,
    outputAudio: Math.min(audio, output),
    webSearch: directives.webSearch ?? hostedCalls['web_search'] ?? 0,
  }
  return {
    counts,
    reasoningTokens: Math.min(emitted.reasoning, output),
    tier: directives.tier ?? request.served.tier,
    speed: directives.speed ?? request.served.speed,
    geo: directives.geo ?? request.served.geo,
    hostedCalls,
    parts: listParts(directives, counts),
  }
}

function listParts(directives: Directives, counts: SandboxCounts): readonly SandboxUsagePart[] {
  const model = directives.answerModel
  const otherModel = directives.otherModel ?? 'small-1'
  const own: SandboxUsagePart = { type: 'message', model, counts, isBilled: true }
  if (directives.iterations === undefined) return [own]
  switch (directives.iterations) {
    case 'compaction':
      return [{ ...own, type: 'compaction', model: undefined, counts: side(500, 50) }, own]
    case 'advisor':
      return [own, { ...own, type: 'advisor_message', model: otherModel, counts: side(300, 40) }]
    case 'fallback':
    case 'fallback_partial': {
      const output = directives.iterations === 'fallback' ? 0 : 7
      const declined = { ...own, counts: side(counts.input, output), isBilled: output > 0 }
      return [declined, { ...own, type: 'fallback_message', model: otherModel }]
    }
  }
}

function side(input: number, output: number): SandboxCounts {
  return { ...noCounts, input, output }
}

/** Returns the whole `usage` of a messages answer, for a JSON body or the start of a stream. */
export function messagesUsage(
  usage: SandboxUsage,
  directives: Directives,
  outputTokens: number,
): Record<string, unknown> {
  const { counts } = usage
  const written = counts.cacheWrite5m + counts.cacheWrite1h - (directives.cacheWriteLate ?? 0)
  const hasSplit = directives.cacheWrite === undefined
  return {
    input_tokens: counts.input,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: counts.cacheRead,
    cache_creation: hasSplit
      ? {
          ephemeral_5m_input_tokens: counts.cacheWrite5m - (directives.cacheWriteLate ?? 0),
          ephemeral_1h_input_tokens: counts.cacheWrite1h,
        }
      : null,
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: Math.min(usage.reasoningTokens, outputTokens) },
    server_tool_use:
      counts.webSearch === 0
        ? null
        : { web_search_requests: counts.webSearch, web_fetch_requests: 0 },
    service_tier: usage.tier,
    speed: usage.speed,
    inference_geo: usage.geo,
    ...(directives.iterations === undefined ? {} : { iterations: wireParts(usage) }),
  }
}

/** Returns the cumulative counts of a `message_delta`: no lifetimes, tier, speed or region. */
export function messagesDeltaUsage(
  usage: SandboxUsage,
  directives: Directives,
  outputTokens: number,
): Record<string, unknown> {
  const { counts } = usage
  return {
    input_tokens: counts.input,
    cache_creation_input_tokens: counts.cacheWrite5m + counts.cacheWrite1h,
    cache_read_input_tokens: counts.cacheRead,
    output_tokens: outputTokens,
    ...(counts.webSearch === 0
      ? {}
      : { server_tool_use: { web_search_requests: counts.webSearch, web_fetch_requests: 0 } }),
    ...(directives.iterations === undefined ? {} : { iterations: wireParts(usage) }),
  }
}

function wireParts(usage: SandboxUsage): readonly unknown[] {
  return usage.parts.map(({ type, model, counts }) => ({
    type,
    ...(type === 'compaction' ? {} : { model: model ?? null }),
    input_tokens: counts.input,
    output_tokens: counts.output,
    cache_read_input_tokens: counts.cacheRead,
    cache_creation_input_tokens: counts.cacheWrite5m + counts.cacheWrite1h,
    cache_creation: {
      ephemeral_5m_input_tokens: counts.cacheWrite5m,
      ephemeral_1h_input_tokens: counts.cacheWrite1h,
    },
  }))
}

/** Returns `usage` of a chat answer. The prompt's count contains cached, written and audio tokens. */
export function chatUsage(usage: SandboxUsage, directives: Directives): Record<string, unknown> {
  const { counts } = usage
  const written = counts.cacheWrite5m + counts.cacheWrite1h
  const prompt = counts.input + counts.cacheRead + written + counts.inputAudio
  const completion = counts.output + counts.outputAudio
  const totals = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  }
  if (directives.usage === 'bare') return totals
  return {
    ...totals,
    prompt_tokens_details: {
      cached_tokens: counts.cacheRead,
      ...(written === 0 ? {} : { cache_write_tokens: written }),
      audio_tokens: counts.inputAudio,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: counts.outputAudio,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

/** Returns `usage` of a response. The input's count contains cached, written and audio tokens. */
export function responsesUsage(
  usage: SandboxUsage,
  directives: Directives,
): Record<string, unknown> {
  const { counts } = usage
  const written = counts.cacheWrite5m + counts.cacheWrite1h
  const input = counts.input + counts.cacheRead + written + counts.inputAudio
  const output = counts.output + counts.outputAudio
  const totals = { input_tokens: input, output_tokens: output, total_tokens: input + output }
  if (directives.usage === 'bare') return totals
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: counts.cacheRead,
      cache_write_tokens: written,
      ...(counts.inputAudio === 0 ? {} : { audio_tokens: counts.inputAudio }),
    },
    output_tokens: output,
    output_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      ...(counts.outputAudio === 0 ? {} : { audio_tokens: counts.outputAudio }),
    },
    total_tokens: input + output,
  }
}

/** Returns `usage` of a completion, which has details only where there is something to detail. */
export function completionUsage(
  usage: SandboxUsage,
  directives: Directives,
): Record<string, unknown> {
  const whole = chatUsage(usage, directives)
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = whole
  const totals = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total }
  const { cacheRead, cacheWrite5m, cacheWrite1h } = usage.counts
  return cacheRead + cacheWrite5m + cacheWrite1h + usage.reasoningTokens === 0 ? totals : whole
}

/** 2⁵³ + 1 does not fit a JavaScript number; `finishJson` inserts it as text. */
const hugeMark = '@huge@'
const hugeText = '9007199254740993'

/** Makes a usage object wrong as a directive asks: other numbers, null, or undefined. */
export function distort(
  usage: Record<string, unknown>,
  distortion: UsageDistortion | undefined,
): Record<string, unknown> | null | undefined {
  switch (distortion) {
    case undefined:
    case 'bare':
    case 'falling':
    case 'twice':
      return usage
    case 'none':
      return undefined
    case 'null':
      return null
    case 'zero':
      return mapCounts(usage, () => 0)
    case 'negative':
      return mapCounts(usage, (count) => -count - 1)
    case 'fractional':
      return mapCounts(usage, (count) => count + 0.5)
    case 'text':
      return mapCounts(usage, (count) => String(count))
    case 'huge':
      return mapCounts(usage, () => hugeMark)
  }
}

function mapCounts(
  usage: Record<string, unknown>,
  change: (count: number) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(usage).map(([name, value]) => [
      name,
      typeof value === 'number' ? change(value) : value,
    ]),
  )
}

export function finishJson(json: string): string {
  return json.includes(hugeMark) ? json.replaceAll(`"${hugeMark}"`, hugeText) : json
}
