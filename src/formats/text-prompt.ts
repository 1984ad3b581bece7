/**
 * A prompt that is plain text, as embeddings and completions have it: one text, a list of texts, the tokens
 * of one text, or a list of those. Reads how many texts there are and how many tokens are given as such. The
 * body is known to be JSON; its strings are not read here.
 */
import type { BodyText } from './fields.ts'
import type { JsonObject } from './json.ts'
import { PayloadSum } from './payloads.ts'
import { closeBracket, comma, openBracket, plainStringEnd, quote } from './scan.ts'

interface TextPrompt {
  readonly texts: number
  /** Given as numbers; exact. */
  readonly tokens: number
}

/** Returns undefined where the member is missing, empty, or anything else. */
export function readTextPrompt({ text, spans }: BodyText, name: string): TextPrompt | undefined {
  const start = spans.get(name)?.start
  if (start === undefined) return undefined
  const first = text.charCodeAt(start)
  if (first === quote) return { texts: 1, tokens: 0 }
  return first === openBracket ? readList(text, start + 1) : undefined
}

function readList(text: string, from: number): TextPrompt | undefined {
  const first = text.charCodeAt(nextElement(text, from))
  if (first === quote) return readTexts(text, from)
  if (first === openBracket) return readTokenLists(text, from)
  const tokens = countNumbers(text, from)
  return tokens === undefined || tokens.count === 0 ? undefined : { texts: 1, tokens: tokens.count }
}

function readTexts(text: string, from: number): TextPrompt | undefined {
  let texts = 0
  let at = nextElement(text, from)
  for (; text.charCodeAt(at) === quote; texts++)
    at = nextElement(text, plainStringEnd(text, at + 1) + 1)
  return text.charCodeAt(at) === closeBracket ? { texts, tokens: 0 } : undefined
}

function readTokenLists(text: string, from: number): TextPrompt | undefined {
  let texts = 0
  let tokens = 0
  let at = nextElement(text, from)
  for (; text.charCodeAt(at) === openBracket; texts++) {
    const list = countNumbers(text, at + 1)
    if (list === undefined) return undefined
    tokens += list.count
    at = nextElement(text, list.end + 1)
  }
  return text.charCodeAt(at) === closeBracket ? { texts, tokens } : undefined
}

/** Counts the numbers up to the end of a list; undefined where it contains anything else. */
function countNumbers(
  text: string,
  from: number,
): { readonly count: number; readonly end: number } | undefined {
  let count = 0
  let at = nextElement(text, from)
  while (isNumberStart(text.charCodeAt(at))) {
    count++
    while (!isBetween(text.charCodeAt(at)) && text.charCodeAt(at) !== closeBracket) at++
    at = nextElement(text, at)
  }
  return text.charCodeAt(at) === closeBracket ? { count, end: at } : undefined
}

function nextElement(text: string, from: number): number {
  let at = from
  while (isBetween(text.charCodeAt(at))) at++
  return at
}

function isBetween(code: number): boolean {
  return code === comma || code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

function isNumberStart(code: number): boolean {
  return code === 0x2d || (code >= 0x30 && code <= 0x39)
}

/** Tokens that are given as such are counted exactly, texts as text. */
export function estimateTextPrompt(body: JsonObject, source: BodyText, name: string): PayloadSum {
  const sum = new PayloadSum()
  sum.tokens = readTextPrompt(source, name)?.tokens ?? 0
  if (sum.tokens === 0) for (const text of [body[name]].flat()) sum.addText(text)
  return sum
}
