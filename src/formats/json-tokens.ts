/**
 * The tokens of a JSON text, which a reader passes one by one: strings, numbers, words and space. They decide
 * exactly as JSON.parse whether the bytes are JSON, and count the bytes of texts and numbers.
 */
import type { ReadPart } from './field-names.ts'
import { isShortEscape, RunEnds } from './run-ends.ts'
import { backslash, quote } from './scan.ts'

/** The text takes more steps than it may to be read now. */
export class TooManySteps extends Error {}

/** The offset of the first byte that is not JSON; the length of a text that ends too early. */
export interface InvalidJson {
  readonly kind: 'invalid'
  readonly at: number
}

/** Ends the reading, however deep it is. */
export class NotJson extends Error {
  readonly reading: InvalidJson

  constructor(reading: InvalidJson) {
    super('not JSON')
    this.reading = reading
  }
}

const minus = 0x2d
const zero = 0x30
const nine = 0x39

/** The largest finite number has 309 digits before its point. */
const overflowDigits = 309

/** So much at the beginning of a long text with escapes is decoded: longer than any name or address. */
const exactBytes = 512
export class JsonTokens {
  readonly bytes: Uint8Array
  readonly text: string
  /** The offset of the next token. */
  at = 0
  /** Of all names, texts, numbers, true and false so far, without quotes and escapes. */
  textBytes = 0
  /** Whether the string that was passed last has an escape. */
  hasEscape = false
  /** … and whether that escape was U+0000. */
  hasNul = false
  /** A number overflows to infinity. */
  hasHugeNumber = false
  readonly #runEnds: RunEnds
  #stepsLeft: number

  /** `text` is the same as `bytes`, one latin1 character for each. */
  constructor(bytes: Uint8Array, text: string, stepsMax: number) {
    this.bytes = bytes
    this.text = text
    this.#runEnds = new RunEnds(bytes)
    this.#stepsLeft = stepsMax
  }

  fail(at = this.at): never {
    throw new NotJson({ kind: 'invalid', at: Math.min(at, this.bytes.length) })
  }

  /** Takes steps of those that are left; an escape of more than two bytes is one. */
  step(count: number): void {
    this.#stepsLeft -= count
    if (this.#stepsLeft < 0) throw new TooManySteps()
  }

  skipSpace(): void {
    const bytes = this.bytes
    let at = this.at
    if ((bytes[at] ?? 0) > 0x20) return
    while (at < bytes.length) {
      const code = bytes[at]
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break
      at++
    }
    this.at = at
  }

  readNumber(isKept: boolean): number | undefined {
    const from = this.at
    const exponent = this.#passNumber()
    this.textBytes += this.at - from
    // Fewer digits than that cannot overflow.
    const mayOverflow = this.at - from + exponent >= overflowDigits
    if (!isKept && !mayOverflow) return undefined
    const number = Number(this.text.slice(from, this.at))
    if (Math.abs(number) === Infinity) this.hasHugeNumber = true
    return number
  }

  /** Decodes the string that was passed last, as far as it is read; `length` is that of its value. */
  stringFrom(from: number, length: number, part: ReadPart): string {
    const text = this.text
    if (!this.hasEscape) return text.slice(from + 1, this.at - 1)
    if (part === 'whole' || this.at - from <= exactBytes) return decode(text.slice(from, this.at))
    if (part === 'length') return text.slice(from + 1, from + 1 + length)
    const exactEnd = this.#exactEnd(from + 1)
    const beginning = decode(`${text.slice(from, exactEnd)}"`)
    return beginning + text.slice(exactEnd, exactEnd + length - beginning.length)
  }

  passString(): void {
    const bytes = this.bytes
    const runEnds = this.#runEnds
    const escapesBefore = runEnds.escapeCount
    let escapeBytes = 0
    let at = this.at + 1
    this.hasNul = false
    for (;;) {
      at = runEnds.next(at)
      if (bytes[at] === quote) break
      if (bytes[at] !== backslash) this.fail(at)
      this.step(1)
      const behind = this.#passEscape(at + 1)
      escapeBytes += behind - at - 1
      at = behind
    }
    escapeBytes += runEnds.escapeCount - escapesBefore
    this.hasEscape = escapeBytes > 0
    this.textBytes += at - this.at - 1 - escapeBytes
    this.at = at + 1
  }

  /** Returns where the beginning of a long string ends; `from` is behind its quote. It cuts no escape. */
  #exactEnd(from: number): number {
    let at = from
    while (at < from + exactBytes)
      if (this.bytes[at] !== backslash) at++
      else at += this.bytes[at + 1] === 0x75 ? 6 : 2
    return Math.min(at, this.at - 1)
  }

  #passEscape(at: number): number {
    const code = this.bytes[at] ?? 0
    if (isShortEscape[code] === 1) return at + 1
    if (code !== 0x75) this.fail(at)
    let isNul = true
    for (let digit = 1; digit <= 4; digit++) {
      const hex = this.bytes[at + digit] ?? 0
      if (!isHexDigit(hex)) this.fail(at + digit)
      isNul &&= hex === zero
    }
    this.hasNul ||= isNul
    return at + 5
  }

  passWord<Value>(word: string, value: Value): Value {
    if (!this.text.startsWith(word, this.at)) this.fail()
    this.at += word.length
    if (value !== null) this.textBytes += word.length
    return value
  }

  /** Returns its exponent, as far as that matters for overflow. */
  #passNumber(): number {
    const bytes = this.bytes
    if (bytes[this.at] === minus) this.at++
    if (bytes[this.at] === zero) this.at++
    else this.#passDigits()
    if (bytes[this.at] === 0x2e) {
      this.at++
      this.#passDigits()
    }
    const exponent = bytes[this.at]
    if (exponent !== 0x65 && exponent !== 0x45) return 0
    this.at++
    const sign = bytes[this.at]
    if (sign === 0x2b || sign === minus) this.at++
    const from = this.at
    this.#passDigits()
    if (sign === minus) return 0
    if (this.at - from > 3) return overflowDigits
    let value = 0
    for (let at = from; at < this.at; at++) value = value * 10 + (bytes[at] ?? zero) - zero
    return value
  }

  /** There must be one at least. */
  #passDigits(): void {
    const bytes = this.bytes
    let at = this.at
    while (at < bytes.length && isDigit(bytes[at] ?? 0)) at++
    if (at === this.at) this.fail()
    this.at = at
  }
}

/** `text` is a whole JSON string. */
export function decode(text: string): string {
  return JSON.parse(text) as string
}

export function isDigit(code: number): boolean {
  return code >= zero && code <= nine
}

function isHexDigit(code: number): boolean {
  return isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66)
}
