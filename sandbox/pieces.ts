/**
 * The text of simulated answers, in pieces. By the sandbox's definition one piece is one output
 * token. `Pieces` is a count and a rule, so that long answers need no list in memory.
 */
import type { Directives } from './directives.ts'
import type { SandboxRequest } from './request.ts'
import { buildInstance } from './schema-instance.ts'

export interface Pieces {
  readonly count: number
  at(this: void, index: number): string
}

export const noPieces: Pieces = { count: 0, at: () => '' }

const namedPieces: Readonly<Record<string, readonly string[]>> = {
  ascii: ['lorem ', 'ipsum ', 'dolor ', 'sit ', 'amet '],
  cjk: ['模拟', '回答', '，', '沙盒', '生成', '。'],
  emoji: ['🙂', '👩‍👩‍👧', '🇨🇭', '✈️', '👍🏽'],
  escapes: ['"quoted" ', 'back\\slash ', 'line\nbreak ', 'tab\t', '\u2028', 'null\u0000 '],
}

const fillerWords = ['and ', 'so ', 'on ', 'it ', 'goes, ', 'still ', 'simulated, ']

/**
 * Returns the visible text of an answer: it says that it is simulated and varies with the request. A request
 * for a form gets a value of that form, unless directives ask for other text.
 */
export function answerText(request: SandboxRequest, choiceIndex = 0): Pieces {
  const { answerSchema, directives } = request
  const { output, piece, frame } = directives
  const isDirected = output !== undefined || piece !== undefined || frame !== undefined
  if (answerSchema !== undefined && !isDirected)
    return jsonPieces(buildInstance(answerSchema, request.lastText))
  const named = piece === undefined ? undefined : (namedPieces[piece] ?? [piece])
  const words = named ?? sentence(request, choiceIndex)
  const filler = named ?? fillerWords
  const at = (index: number): string => {
    const word = words[index] ?? filler[index % filler.length] ?? ''
    return frame === undefined ? word : pad(word, frame)
  }
  return { count: Math.max(0, output ?? (named === undefined ? words.length : 8)), at }
}

function sentence(request: SandboxRequest, choiceIndex: number): readonly string[] {
  const excerpt = request.lastText.trim().slice(0, 80).toWellFormed()
  const choice = choiceIndex === 0 ? '' : `This is choice ${choiceIndex}. `
  return splitWords(
    `[simulated] ${choice}This is the Turnpike sandbox, not a real model. ` +
      `Model ${request.model} was sent ${request.messageCount} message(s), ` +
      `the last one reading: ${excerpt} (request ${request.digest.slice(0, 8)}).`,
  )
}

/** Splits a text into words, each with the space after it. */
export function splitWords(text: string): readonly string[] {
  return text.match(/\S+\s*|\s+/g) ?? []
}

function pad(word: string, bytes: number): string {
  const size = Math.max(1, Buffer.byteLength(word))
  return word.repeat(Math.max(1, Math.ceil(bytes / size)))
}

export function fromList(list: readonly string[]): Pieces {
  return { count: list.length, at: (index) => list[index] ?? '' }
}

/** Splits JSON text into small pieces at any place, as vendors send tool arguments. */
export function jsonPieces(value: unknown): Pieces {
  return fromList(JSON.stringify(value).match(/[\s\S]{1,7}/gu) ?? [])
}

export function firstPieces(pieces: Pieces, countMax: number): Pieces {
  return pieces.count <= countMax ? pieces : { count: Math.max(0, countMax), at: pieces.at }
}

export function joinPieces(pieces: Pieces): string {
  let text = ''
  for (let index = 0; index < pieces.count; index++) text += pieces.at(index)
  return text
}

/** Counts pieces against the limit on output tokens, in the order in which they are sent. */
export class TokenBudget {
  readonly #tokensMax: number
  #spent = 0

  constructor(tokensMax: number | undefined) {
    this.#tokensMax = tokensMax ?? Number.MAX_SAFE_INTEGER
  }

  get spent(): number {
    return this.#spent
  }

  get left(): number {
    return this.#tokensMax - this.#spent
  }

  /** The limit has cut something off. */
  isExceeded = false

  spendCount(wanted: number): number {
    const granted = Math.min(wanted, this.left)
    if (granted < wanted) this.isExceeded = true
    this.#spent += granted
    return granted
  }

  spend(pieces: Pieces): Pieces {
    return firstPieces(pieces, this.spendCount(pieces.count))
  }
}

/** Returns the kinds of content that a directive lists, or the given default. */
export function contentKinds(directives: Directives, standard: readonly string[]) {
  return directives.content === undefined ? standard : directives.content.split(',')
}
