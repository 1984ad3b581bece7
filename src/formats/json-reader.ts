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
 * with escapes only the beginning and the length are right, unless a rule reads all of it.
 */
import {
  foldName,
  isExactName,
  isFieldName,
  isNameList,
  isTextName,
  plainFieldName,
} from './field-names.ts'
import type { Span } from './format.ts'
import type { JsonObject } from './json.ts'
import { RunEnds } from './run-ends.ts'
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  openBrace,
  openBracket,
  quote,
} from './scan.ts'

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
  /** A member at any place may be called `ttl`: that is its name, or a short text has an escape. */
  readonly mayNameTtl: boolean
  /** A short text has an escape: names and words may be spelled with escapes. */
  readonly hasShortEscape: boolean
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
  /** The offset of the first byte that is not JSON; the length of a text that ends too early. */
  | { readonly kind: 'invalid'; readonly at: number }

/** The text takes more steps than it may to be read now. */
export class TooManySteps extends Error {}

/**
 * `text` is the same as `bytes`, one latin1 character for each. Throws TooManySteps where it
 * takes more than `stepsMax`.
 */
export function readJson(
  bytes: Uint8Array,
  text: string,
  wanted: ReadonlySet<string>,
  stepsMax = Infinity,
): JsonReading {
  const reader = new JsonReader(bytes, text, { wanted, stepsMax })
  try {
    const value = reader.read()
    return { kind: 'value', value, members: reader, hasHugeNumber: reader.hasHugeNumber }
  } catch (error) {
    if (!(error instanceof NotRead)) throw error
    return error.reading
  }
}

/** Ends the reading, however deep it is. */
class NotRead extends Error {
  readonly reading: JsonReading

  constructor(reading: JsonReading) {
    super('not read')
    this.reading = reading
  }
}

const emptyObject: JsonObject = Object.freeze({})
const emptyArray: readonly unknown[] = Object.freeze([])
const plainArray: readonly unknown[] = Object.freeze([null])

const minus = 0x2d
const zero = 0x30
const nine = 0x39

/** The depth of the members of an object in a list in the body. */
const elementDepth = 3

/** The largest finite number has 309 digits before its point. */
const overflowDigits = 309

/** So much at the beginning of a long text with escapes is decoded: longer than any name or address. */
const exactBytes = 512
/** Longer than any name or word, however it is spelled. */
const shortBytes = 128

/** An escape takes one step, a value with its name so many; a step is up to 50 ns. */
const valueSteps = 4

/** The letters of escapes of two bytes. */
const isShortEscape = new Uint8Array(256)
for (const letter of '"\\/bfnrt') isShortEscape[letter.charCodeAt(0)] = 1

class JsonReader implements Members {
  readonly spans = new Map<string, Span>()
  duplicate: string | undefined
  otherCase: string | undefined
  firstMember = 0
  hasNulName = false
  hasShortEscape = false
  mayNameTtl = false
  doubtful: string | undefined
  hasHugeNumber = false
  readonly #bytes: Uint8Array
  readonly #text: string
  readonly #runEnds: RunEnds
  readonly #wanted: ReadonlySet<string>
  #at = 0
  /** Of all names, texts, numbers, true and false so far, without quotes and escapes. */
  #textBytes = 0
  #elementCount = 0
  #stepsLeft: number
  /** The texts of a list are kept one by one. */
  #isNameList = false
  /** Within the top-level `input`. */
  #isInput = false
  /** Whether the string that was read last has an escape. */
  #hasEscape = false
  /** … and whether that escape was U+0000. */
  #hasNul = false
  /** The offset behind its last escape that begins within `exactBytes`. */
  #escapeEnd = 0
  /** The string that is read next must be exact, whatever its length. */
  #isExact = false

  constructor(
    bytes: Uint8Array,
    text: string,
    { wanted, stepsMax }: { readonly wanted: ReadonlySet<string>; readonly stepsMax: number },
  ) {
    this.#bytes = bytes
    this.#text = text
    this.#runEnds = new RunEnds(bytes)
    this.#wanted = wanted
    this.#stepsLeft = stepsMax
  }

  read(): unknown {
    this.#skipSpace()
    const value = this.#readValue(0, true)
    this.#skipSpace()
    if (this.#at < this.#bytes.length) this.#fail()
    return value
  }

  #fail(at = this.#at): never {
    throw new NotRead({ kind: 'invalid', at: Math.min(at, this.#bytes.length) })
  }

  #step(count: number): void {
    this.#stepsLeft -= count
    if (this.#stepsLeft < 0) throw new TooManySteps()
  }

  #skipSpace(): void {
    const bytes = this.#bytes
    let at = this.#at
    while (at < bytes.length) {
      const code = bytes[at]
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break
      at++
    }
    this.#at = at
  }

  /** Returns undefined for a value that is not kept. */
  #readValue(depth: number, isKept: boolean): unknown {
    this.#step(valueSteps)
    const code = this.#bytes[this.#at]
    if (code === quote) {
      const from = this.#at
      const textBefore = this.#textBytes
      this.#passString()
      return isKept ? this.#stringFrom(from, this.#textBytes - textBefore) : undefined
    }
    if (code === openBrace) return this.#readObject(depth + 1, isKept)
    if (code === openBracket) return this.#readArray(depth + 1, isKept)
    if (code === 0x74) return this.#passWord('true', true)
    if (code === 0x66) return this.#passWord('false', false)
    if (code === 0x6e) return this.#passWord('null', null)
    return this.#readNumber(isKept)
  }

  #readNumber(isKept: boolean): number | undefined {
    const from = this.#at
    const exponent = this.#passNumber()
    this.#textBytes += this.#at - from
    // Fewer digits than that cannot overflow.
    const mayOverflow = this.#at - from + exponent >= overflowDigits
    if (!isKept && !mayOverflow) return undefined
    const number = Number(this.#text.slice(from, this.#at))
    if (Math.abs(number) === Infinity) this.hasHugeNumber = true
    return number
  }

  #readObject(depth: number, isKept: boolean): unknown {
    const bytes = this.#bytes
    let fields: Fields | undefined
    this.#open(depth)
    if (bytes[this.#at] === closeBrace) {
      this.#at++
      return emptyObject
    }
    for (;;) {
      const name = this.#readName(depth, isKept)
      this.#skipSpace()
      if (bytes[this.#at] !== colon) this.#fail()
      this.#at++
      this.#skipSpace()
      if (name === undefined) this.#readValue(depth, false)
      else {
        if (depth === elementDepth && this.#isInput && fields?.[name] !== undefined)
          this.doubtful ??= name
        fields = withMember(fields, name, this.#readMember(name, depth))
      }
      if (this.#closes(closeBrace)) return fields ?? emptyObject
      this.#skipSpace()
    }
  }

  /** Returns the name where it is kept. */
  #readName(depth: number, isKept: boolean): string | undefined {
    const from = this.#at + 1
    if (this.#bytes[this.#at] !== quote) this.#fail()
    this.#passString()
    const to = this.#at - 1
    if (to - from === 3 && this.#text.startsWith('ttl', from)) this.mayNameTtl = true
    if (!isKept) return undefined
    const isElement = depth === elementDepth && this.#isInput
    if ((depth === 1 || isElement) && this.#hasNul) this.hasNulName = true
    const plain = this.#hasEscape ? undefined : plainFieldName(this.#text, from, to)
    if (plain !== undefined) return plain
    if (depth > 1 && !isElement && !this.#hasEscape) return undefined
    const folded = foldName(this.#text, from, to)
    if (folded === undefined || !isFieldName(folded.name)) return undefined
    if (!folded.isOtherCase) return folded.name
    if (depth === 1 && this.#wanted.has(folded.name)) this.otherCase ??= folded.name
    if (isElement) this.doubtful ??= folded.name
    return undefined
  }

  #readMember(name: string, depth: number): unknown {
    const start = this.#at
    const isText = depth > 1 && isTextName(name) && this.#bytes[start] !== quote
    if (depth === 1) this.#isInput = name === 'input'
    const textBefore = this.#textBytes
    const wasNameList = this.#isNameList
    this.#isNameList = isNameList(name)
    this.#isExact = isExactName(name)
    const value = this.#readValue(depth, !isText)
    this.#isNameList = wasNameList
    const end = this.#at
    if (depth === 1 && this.#wanted.has(name)) {
      if (this.spans.has(name)) this.duplicate ??= name
      else this.spans.set(name, { start, end })
    }
    return isText ? new TextLength(this.#textBytes - textBefore) : value
  }

  #readArray(depth: number, isKept: boolean): unknown {
    this.#open(depth)
    if (this.#bytes[this.#at] === closeBracket) {
      this.#at++
      return emptyArray
    }
    let elements: unknown[] | undefined
    let textBytes = 0
    const keepsTexts = isKept && this.#isNameList
    for (;;) {
      const code = this.#bytes[this.#at] ?? 0
      const textBefore = this.#textBytes
      const value = this.#readValue(depth, code === quote ? keepsTexts : isKept && !isDigit(code))
      if (code === quote && !keepsTexts) textBytes += this.#textBytes - textBefore
      if (isKept && saysSomething(value)) {
        if (++this.#elementCount > elementsMax) throw new NotRead({ kind: 'too_many_elements' })
        if (elements === undefined) elements = [value]
        else elements.push(value)
      }
      if (this.#closes(closeBracket)) break
      this.#skipSpace()
    }
    if (!isKept || textBytes === 0) return elements ?? plainArray
    const text = new TextLength(textBytes)
    return elements === undefined ? [text] : [...elements, text]
  }

  #open(depth: number): void {
    if (depth > nestingDepthMax) throw new NotRead({ kind: 'too_deep' })
    this.#at++
    if (depth === 1) this.firstMember = this.#at
    this.#skipSpace()
  }

  /** Reads the text behind a member or an element: the end of its container, or a comma. */
  #closes(end: number): boolean {
    this.#skipSpace()
    const code = this.#bytes[this.#at]
    if (code !== end && code !== comma) this.#fail()
    this.#at++
    return code === end
  }

  /** Decodes the string before the place that is read; `length` is that of its value. */
  #stringFrom(from: number, length: number): string {
    const text = this.#text
    if (!this.#hasEscape) return text.slice(from + 1, this.#at - 1)
    const exactEnd = Math.max(from + exactBytes, this.#escapeEnd)
    if (this.#isExact || exactEnd >= this.#at - 1) return decode(text.slice(from, this.#at))
    const beginning = decode(`${text.slice(from, exactEnd)}"`)
    return beginning + text.slice(exactEnd, exactEnd + length - beginning.length)
  }

  #passString(): void {
    const bytes = this.#bytes
    let at = this.#at + 1
    this.#hasEscape = false
    this.#hasNul = false
    for (;;) {
      at = this.#runEnds.next(at)
      if (bytes[at] === quote) break
      if (bytes[at] !== backslash) this.#fail(at)
      this.#hasEscape = true
      this.#step(1)
      const behind = this.#passEscape(at + 1)
      if (at - this.#at < exactBytes) this.#escapeEnd = behind
      this.#textBytes -= behind - at - 1
      at = behind
    }
    if (this.#hasEscape && at - this.#at < shortBytes) {
      this.hasShortEscape = true
      this.mayNameTtl = true
    }
    this.#textBytes += at - this.#at - 1
    this.#at = at + 1
  }

  #passEscape(at: number): number {
    const code = this.#bytes[at] ?? 0
    if (isShortEscape[code] === 1) return at + 1
    if (code !== 0x75) this.#fail(at)
    let isNul = true
    for (let digit = 1; digit <= 4; digit++) {
      const hex = this.#bytes[at + digit] ?? 0
      if (!isHexDigit(hex)) this.#fail(at + digit)
      isNul &&= hex === zero
    }
    this.#hasNul ||= isNul
    return at + 5
  }

  #passWord<Value>(word: string, value: Value): Value {
    if (!this.#text.startsWith(word, this.#at)) this.#fail()
    this.#at += word.length
    if (value !== null) this.#textBytes += word.length
    return value
  }

  /** Returns its exponent, as far as that matters for overflow. */
  #passNumber(): number {
    const bytes = this.#bytes
    if (bytes[this.#at] === minus) this.#at++
    if (bytes[this.#at] === zero) this.#at++
    else this.#passDigits()
    if (bytes[this.#at] === 0x2e) {
      this.#at++
      this.#passDigits()
    }
    const exponent = bytes[this.#at]
    if (exponent !== 0x65 && exponent !== 0x45) return 0
    this.#at++
    const sign = bytes[this.#at]
    if (sign === 0x2b || sign === minus) this.#at++
    const from = this.#at
    this.#passDigits()
    if (sign === minus) return 0
    if (this.#at - from > 3) return overflowDigits
    let value = 0
    for (let at = from; at < this.#at; at++) value = value * 10 + (bytes[at] ?? zero) - zero
    return value
  }

  /** There must be one at least. */
  #passDigits(): void {
    const bytes = this.#bytes
    let at = this.#at
    while (at < bytes.length && isDigit(bytes[at] ?? 0)) at++
    if (at === this.#at) this.#fail()
    this.#at = at
  }
}

/** `text` is a whole JSON string. */
function decode(text: string): string {
  return JSON.parse(text) as string
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine
}

function isHexDigit(code: number): boolean {
  return isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66)
}

type Fields = Record<string, unknown>

/** The literals make small objects at once; most of them begin with `type`. */
function withMember(fields: Fields | undefined, name: string, value: unknown): Fields {
  if (fields === undefined) return name === 'type' ? { type: value } : { [name]: value }
  fields[name] = value
  return fields
}

function saysSomething(value: unknown): boolean {
  if (typeof value === 'string') return true
  if (typeof value !== 'object' || value === null) return false
  return value !== emptyObject && value !== emptyArray && value !== plainArray
}
