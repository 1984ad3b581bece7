/**
 * Estimates the output that a client has got, from its text and audio: where the vendor gives no usable
 * count, and where its count is beyond the output limit. Sizes and text in, tokens out; it knows no money.
 */
import type { UsageFormat } from './rates.ts'
import { audioOutputTokens, usualBytesPerToken } from './token-estimate.ts'
import type { TokenCounter } from './token-counter.ts'
import { isOutputWithin, outputTokensMax, type RequestBounds, type Usage } from './usage.ts'

/** Output text as far as it was kept, the UTF-8 bytes of all of it, the length of audio in base64. */
export interface AnswerOutput {
  readonly text: string
  readonly bytes: number
  readonly audioBytes?: number
}

export interface DeliveredTokens {
  readonly text: number
  readonly spoken: number
  /** The text is longer than the limit of the request allows, however the vendor counts. */
  readonly isBeyondLimit: boolean
}

/** Estimates all that was delivered, whatever the limit. */
export async function estimateDelivered(
  output: AnswerOutput,
  { format, bounds }: { readonly format: UsageFormat; readonly bounds: RequestBounds },
  counter: TokenCounter,
): Promise<DeliveredTokens> {
  const { asksAudioOutput = false, isSpeechCompressed = false, echoesPrompt = false } = bounds
  // The hold covers only requested audio. Text and audio are of the same moment.
  const spoken = asksAudioOutput ? audioOutputTokens(output.audioBytes ?? 0, isSpeechCompressed) : 0
  const tokens = await countText(output, counter)
  return {
    text: Math.ceil((tokens * tokenRatioPercent[format]) / 100),
    spoken,
    isBeyondLimit: !echoesPrompt && isClearlyAbove(tokens, outputTokensMax(bounds)),
  }
}

/** Cuts an estimate to the limit that the vendor has kept. Text is counted, so the limit cuts the audio. */
export function withinLimit(delivered: DeliveredTokens, bounds: RequestBounds): DeliveredTokens {
  if (delivered.isBeyondLimit) return delivered
  const max = outputTokensMax(bounds)
  const text = Math.min(delivered.text, max)
  return { ...delivered, text, spoken: Math.min(delivered.spoken, max - text) }
}

export function withDeliveredBound(
  bounds: RequestBounds,
  delivered: DeliveredTokens,
): RequestBounds {
  return { ...bounds, deliveredTokens: delivered.text + delivered.spoken }
}

/** Where the vendor has not kept the limit, the client has the delivered part and pays for no more. */
export function cutToDelivered(
  usage: Usage,
  { text, spoken, isBeyondLimit }: DeliveredTokens,
  bounds: RequestBounds,
): Usage {
  if (!isBeyondLimit || isOutputWithin(usage, bounds)) return usage
  return cutOutput(usage, text + spoken)
}

/** Keeps this number of tokens of the output, those of the first parts first. */
function cutOutput(usage: Usage, tokensMax: number): Usage {
  let left = tokensMax
  const take = (count = 0): number => {
    const taken = Math.min(count, left)
    left -= taken
    return taken
  }
  const parts = usage.parts.map((part) => {
    const output = take(part.counts.output)
    return {
      ...part,
      counts: { ...part.counts, output, output_audio: take(part.counts.output_audio) },
    }
  })
  const outputTokens = Math.min(usage.reported.outputTokens, tokensMax)
  return { parts, reported: { ...usage.reported, outputTokens } }
}

/** The estimate may be off by a quarter, and vendors differ in how they count the end of an answer. */
function isClearlyAbove(tokens: number, limit: number): boolean {
  return tokens > limit * 1.25 + 16
}

/** Models of the messages format make more tokens of a text than the public vocabulary used here. */
const tokenRatioPercent: Readonly<Record<UsageFormat, number>> = { messages: 140, chat: 100 }

async function countText({ text, bytes }: AnswerOutput, counter: TokenCounter): Promise<number> {
  if (bytes === 0) return 0
  const keptTokens = await counter.count(text)
  const keptBytes = Buffer.byteLength(text)
  // Text that was not kept counts like the kept text; with nothing kept, like English text.
  return keptBytes === 0 ? bytes / usualBytesPerToken : keptTokens * Math.max(bytes / keptBytes, 1)
}
