/**
 * Reads JSON of any shape in time and memory that follow its size: it decides exactly as JSON.parse
 * whether the bytes are JSON, and builds only what the rules for fields read. JSON.parse itself takes
 * seconds and many times the memory for a body that consists of short members. It leaves out:
 *
 * - members of other names
 * - elements of an array that say nothing: neither text nor an object or array that says something
 *
 * A counted value is replaced by its length (`TextLength`), all texts of a list by one. A container
 * that would be empty then is still an object, and an array that had elements still has one. Of a long text
 * with escapes only as much is right as rules read.
 */
import { findField, foldName, plainField, type FieldName, type ReadPart } from './field-names.ts'
import type { Span } from './format.ts'
import type { JsonObject } from './json.ts'
import { decode, isDigit, JsonTokens, NotJson, type InvalidJson } from './json-tokens.ts'
import { closeBrace, closeBracket, colon, comma, openBrace, openBracket, quote } from './scan.ts'

export const nestingDepthMax = 512
/** Messages, content blocks and tools of one body together: each becomes an object, which takes a while. */
export const elementsMax = 200_000

/** In place of an object or array of which only the length counts: its names, texts and other scalars. */
export class TextLength {
  readonly bytes: number

  constructor(bytes: number) {
    this.bytes = bytes
  }
}

/** The wanted facts of the members of the outermost object. */
export interface Members {
  /** Value spans of the wanted members; of a repeated one the first. */
  readonly spans: ReadonlyMap<string, Span>
  /** A wanted name that occurs twice. */
  readonly duplicate: string | undefined
  /** A wanted name that occurs in another letter case, which some vendors accept. */
  readonly otherCase: string | undefined
  /** The offset behind the opening brace. */
  readonly firstMember: number
  /** A name contains U+0000, where some readers would end it. */
  readonly hasNulName: boolean
  /** Members at any place ask the vendor to keep the beginning of the prompt, for longer or as usual. */
  readonly cacheWrite: 'long' | 'short' | undefined
  /** A kept name that an element of the top-level `input` has twice, or in another letter case. */
  readonly doubtful: string | undefined
}

export type JsonReading =
  | {
      readonly kind: 'value'
      readonly value: unknown
      readonly members: Members
      /** A number at any place overflows to infinity. */
      readonly hasHugeNumber: boolean
    }
  | { readonly kind: 'too_deep' }
  | { readonly kind: 'too_many_elements' }
  | InvalidJson

/** Facts that are read beside the values. */
export interface Wanted {
  /** Names of members of the outermost object. */
  readonly fields: ReadonlySet<string>
  /** The `ttl` that asks for a cache write of the longer lifetime. Absent = there is none. */
  readonly longLifetime?: string
}

/**
 * `text` is the same as `bytes`, one latin1 character for each. Throws TooManySteps where it
 * takes more than `stepsMax`.
 */
export function readJson(
  bytes: Uint8Array,
  text: string,
  wanted: Wanted,
  stepsMax = Infinity,
): JsonReading {
  const tokens = new JsonTokens(bytes, text, stepsMax)
  const members = new JsonReader(tokens, wanted)
  try {
    const value = members.read()
    return { kind: 'value', value, members, hasHugeNumber: tokens.hasHugeNumber }
  } catch (error) {
    if (error instanceof NotJson || error instanceof TooLarge) return error.reading
    throw error
  }
}

/** Ends the reading, however deep it is. */
class TooLarge extends Error {
  readonly reading: { readonly kind: 'too_deep' | 'too_many_elements' }

  constructor(kind: 'too_deep' | 'too_many_elements') {
    super(kind)
    this.reading = { kind }
  }
}

const emptyObject: JsonObject = Object.freeze({})
const emptyArray: readonly unknown[] = Object.freeze([])
const plainArray: readonly unknown[] = Object.freeze([null])

/** The depth of the members of an object in a list in the body. */
const elementDepth = 3

/** Names that ask for a cache write with their quotes, and their longest spelling, of escapes only. */
const ttlBytes = '"ttl"'.length
const cacheControlBytes = '"cache_control"'.length
const cacheWordBytesMax = 80

/** An escape takes one step, a value with its name so many; a step is up to 50 ns. */
const valueSteps = 4

class JsonReader implements Members {
  readonly spans = new Map<string, Span>()
  duplicate: string | undefined
  otherCase: string | undefined
  firstMember = 0
  hasNulName = false
  cacheWrite: 'long' | 'short' | undefined
  doubtful: string | undefined
  readonly #tokens: JsonTokens
  readonly #wanted: Wanted
  #elementCount = 0
  /** The texts of a list are kept one by one. */
  #isNameList = false
  /** Within the top-level `input`. */
  #isInput = false
  /** Of the string that is read next. */
  #readPart: ReadPart = 'beginning'

  constructor(tokens: JsonTokens, wanted: Wanted) {
    this.#tokens = tokens
    this.#wanted = wanted
  }

  read(): unknown {
    this.#tokens.skipSpace()
    const value = this.#readValue(0, true)
    this.#tokens.skipSpace()
    if (this.#tokens.at < this.#tokens.bytes.length) this.#tokens.fail()
    return value
  }

  /** Returns undefined for a value that is not kept. */
  #readValue(depth: number, isKept: boolean): unknown {
    this.#tokens.step(valueSteps)
    const code = this.#tokens.bytes[this.#tokens.at]
    if (code === quote) {
      const from = this.#tokens.at
      const textBefore = this.#tokens.textBytes
      this.#tokens.passString()
      return isKept
        ? this.#tokens.stringFrom(from, this.#tokens.textBytes - textBefore, this.#readPart)
        : undefined
    }
    if (code === openBrace) return this.#readObject(depth + 1, isKept)
    if (code === openBracket) return this.#readArray(depth + 1, isKept)
    if (code === 0x74) return this.#tokens.passWord('true', true)
    if (code === 0x66) return this.#tokens.passWord('false', false)
    if (code === 0x6e) return this.#tokens.passWord('null', null)
    return this.#tokens.readNumber(isKept)
  }

  #readObject(depth: number, isKept: boolean): unknown {
    const bytes = this.#tokens.bytes
    let fields: Fields | undefined
    this.#open(depth)
    if (bytes[this.#tokens.at] === closeBrace) {
      this.#tokens.at++
      return emptyObject
    }
    for (;;) {
      const nameStart = this.#tokens.at
      const field = this.#readName(depth, isKept)
      const spelled = this.#cacheWord(nameStart, this.#tokens.at)
      this.#tokens.skipSpace()
      if (bytes[this.#tokens.at] !== colon) this.#tokens.fail()
      this.#tokens.at++
      this.#tokens.skipSpace()
      const start = this.#tokens.at
      if (field === undefined) this.#readValue(depth, false)
      else {
        const { name } = field
        if (depth === elementDepth && this.#isInput && fields?.[name] !== undefined)
          this.doubtful ??= name
        fields = withMember(fields, name, this.#readMember(field, depth))
      }
      if (spelled !== undefined) this.#noteCacheWrite(spelled, start)
      if (this.#closes(closeBrace)) return fields ?? emptyObject
      this.#tokens.skipSpace()
    }
  }

  /** Returns the decoded string that was passed last, where it can be a name that asks for a cache write. */
  #cacheWord(from: number, to: number): string | undefined {
    const length = to - from
    const { hasEscape, text } = this.#tokens
    if (!hasEscape && length !== ttlBytes && length !== cacheControlBytes) return undefined
    if (!hasEscape) return text.slice(from + 1, to - 1)
    return length <= cacheWordBytesMax ? decode(text.slice(from, to)) : undefined
  }

  /** The value of the member has been passed. */
  #noteCacheWrite(name: string, start: number): void {
    const { bytes, text, at } = this.#tokens
    const first = bytes[start]
    if (name === 'cache_control' && first === openBrace) this.cacheWrite ??= 'short'
    if (name !== 'ttl' || first !== quote || at - start > cacheWordBytesMax) return
    if (decode(text.slice(start, at)) === this.#wanted.longLifetime) this.cacheWrite = 'long'
  }

  /** Returns the field of that name where it is kept. */
  #readName(depth: number, isKept: boolean): FieldName | undefined {
    const from = this.#tokens.at + 1
    if (this.#tokens.bytes[this.#tokens.at] !== quote) this.#tokens.fail()
    this.#tokens.passString()
    const to = this.#tokens.at - 1
    if (!isKept) return undefined
    const isElement = depth === elementDepth && this.#isInput
    if ((depth === 1 || isElement) && this.#tokens.hasNul) this.hasNulName = true
    const plain = this.#tokens.hasEscape ? undefined : plainField(this.#tokens.text, from, to)
    if (plain !== undefined) return plain
    if (depth > 1 && !isElement && !this.#tokens.hasEscape) return undefined
    const folded = foldName(this.#tokens.text, from, to)
    const field = folded && findField(folded.name)
    if (folded === undefined || field === undefined) return undefined
    if (!folded.isOtherCase) return field
    if (depth === 1 && this.#wanted.fields.has(folded.name)) this.otherCase ??= folded.name
    if (isElement) this.doubtful ??= folded.name
    return undefined
  }

  #readMember(field: FieldName, depth: number): unknown {
    const { name } = field
    const start = this.#tokens.at
    const isText = depth > 1 && field.isText && this.#tokens.bytes[start] !== quote
    if (depth === 1) this.#isInput = name === 'input'
    const textBefore = this.#tokens.textBytes
    const wasNameList = this.#isNameList
    this.#isNameList = field.isNameList
    this.#readPart = field.readPart
    const value = this.#readValue(depth, !isText)
    this.#isNameList = wasNameList
    const end = this.#tokens.at
    if (depth === 1 && this.#wanted.fields.has(name)) {
      if (this.spans.has(name)) this.duplicate ??= name
      else this.spans.set(name, { start, end })
    }
    return isText ? new TextLength(this.#tokens.textBytes - textBefore) : value
  }

  #readArray(depth: number, isKept: boolean): unknown {
    this.#open(depth)
    if (this.#tokens.bytes[this.#tokens.at] === closeBracket) {
      this.#tokens.at++
      return emptyArray
    }
    let elements: unknown[] | undefined
    let textBytes = 0
    const keepsTexts = isKept && this.#isNameList
    for (;;) {
      const code = this.#tokens.bytes[this.#tokens.at] ?? 0
      const textBefore = this.#tokens.textBytes
      const value = this.#readValue(depth, code === quote ? keepsTexts : isKept && !isDigit(code))
      if (code === quote && !keepsTexts) textBytes += this.#tokens.textBytes - textBefore
      if (isKept && saysSomething(value)) {
        if (++this.#elementCount > elementsMax) throw new TooLarge('too_many_elements')
        if (elements === undefined) elements = [value]
        else elements.push(value)
      }
      if (this.#closes(closeBracket)) break
      this.#tokens.skipSpace()
    }
    if (!isKept || textBytes === 0) return elements ?? plainArray
    const text = new TextLength(textBytes)
    return elements === undefined ? [text] : [...elements, text]
  }

  #open(depth: number): void {
    if (depth > nestingDepthMax) throw new TooLarge('too_deep')
    this.#tokens.at++
    if (depth === 1) this.firstMember = this.#tokens.at
    this.#tokens.skipSpace()
  }

  /** Reads the text behind a member or an element: the end of its container, or a comma. */
  #closes(end: number): boolean {
    this.#tokens.skipSpace()
    const code = this.#tokens.bytes[this.#tokens.at]
    if (code !== end && code !== comma) this.#tokens.fail()
    this.#tokens.at++
    return code === end
  }
}

type Fields = Record<string, unknown>

/** Most objects begin with `type`, and many have no other member: the literal is the smallest. */
function withMember(fields: Fields | undefined, name: string, value: unknown): Fields {
  if (fields === undefined && name === 'type') return { type: value }
  const changed = fields ?? {}
  changed[name] = value
  return changed
}

function saysSomething(value: unknown): boolean {
  if (typeof value === 'string') return true
  if (typeof value !== 'object' || value === null) return false
  return value !== emptyObject && value !== emptyArray && value !== plainArray
}
