/**
 * A prompt that is plain text, as embeddings and completions have it: one text, a list of texts, the tokens
 * of one text, or a list of those. Reads how many texts there are and how many tokens are given as such.
 */
import type { BodyText } from './fields.ts'
import { parseJson, type JsonObject } from './json.ts'
import { PayloadSum } from './payloads.ts'

interface TextPrompt {
  readonly texts: number
  /** Given as numbers; exact. */
  readonly tokens: number
}

/** Returns undefined where the member is missing, empty, or anything else. */
export function readTextPrompt({ text, spans }: BodyText, name: string): TextPrompt | undefined {
  const span = spans.get(name)
  // The strings are latin1 here; that they are strings is all that is read of them.
  const prompt = span && parseJson(text.slice(span.start, span.end))
  if (typeof prompt === 'string') return { texts: 1, tokens: 0 }
  if (!Array.isArray(prompt) || prompt.length === 0) return undefined
  const list: readonly unknown[] = prompt
  if (list.every((one) => typeof one === 'string')) return { texts: list.length, tokens: 0 }
  if (isTokens(list)) return { texts: 1, tokens: list.length }
  if (!list.every(isTokens)) return undefined
  return { texts: list.length, tokens: list.reduce((sum, { length }) => sum + length, 0) }
}

function isTokens(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((token) => typeof token === 'number')
}

/** Tokens that are given as such are counted exactly, texts as text. */
export function estimateTextPrompt(body: JsonObject, source: BodyText, name: string): PayloadSum {
  const sum = new PayloadSum()
  sum.tokens = readTextPrompt(source, name)?.tokens ?? 0
  if (sum.tokens === 0) for (const text of [body[name]].flat()) sum.addText(text)
  return sum
}
