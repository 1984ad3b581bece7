/**
 * Reads the few members that are wanted of a JSON text where its parts lie, in time that follows its size and
 * in memory that does not: an answer can have megabytes of images, vectors or short members. It decides as
 * JSON.parse whether the bytes are JSON, and builds what that would, but leaves out other members. A long
 * text becomes a `LongText`.
 */
import { RunEnds } from './run-ends.ts'
import type { WantedJson } from './json.ts'
import { isDigit } from './json-tokens.ts'
import { TextInParts, type LongText } from './long-text.ts'
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

/** No value that is kept is nested deeper; any other can be. */
const keptDepthMax = 512
const depthMax = 1_000_000
/** Far more than an answer has items and parts; of all lists and open objects the rest is left out. */
const elementsMax = 10_000
/** Longer than any name that is read. */
const shortTextBytesMax = 1_024
/** Of all texts that are longer than that; of the rest only so much is kept. */
const longTextsLengthMax = 1_048_576
/** Far more than any number has. */
const plainBytesMax = 4_096

/** An object or list that is kept. */
interface Container {
  readonly value: Record<string, unknown> | unknown[]
  readonly keeps: 'wanted' | 'members' | 'all'
  /** The name of the member that is being read, where it is kept. */
  name: string | undefined
}

/** What may come next, beside space. */
type Next =
  | 'value'
  | 'element or end'
  | 'name'
  | 'name or end'
  | 'colon'
  | 'comma or end'
  | 'nothing'

/** Bytes that no number, true, false or null has. */
const endsPlain = new Uint8Array(256)
for (const sign of '"{}[]:, \t\r\n') endsPlain[sign.charCodeAt(0)] = 1

const noBytes = Buffer.alloc(0)

export class JsonExtract {
  readonly #wanted: WantedJson
  readonly #textBytesMax: number
  #next: Next = 'value'
  /** The kept containers that are open. */
  readonly #open: Container[] = []
  /** Of each open container within a value that is left out, whether it is a list. */
  readonly #skipped: boolean[] = []
  #part: Buffer = noBytes
  #runEnds = new RunEnds(noBytes)
  /** The beginning of a token whose end is in the next part. */
  #rest: Buffer = noBytes
  /** The string that is being read: a name, a kept text, or one that is left out. */
  #string: 'none' | 'name' | 'kept' | 'skipped' = 'none'
  /** Of a string that is kept, the parts so far. */
  #text: TextInParts | undefined
  #elementCount = 0
  /** Of the texts that are kept and not short. */
  #longTextsLength = 0
  #isBroken = false
  #result: unknown

  constructor(wanted: WantedJson) {
    this.#wanted = wanted
    this.#textBytesMax = wanted.textBytesMax ?? shortTextBytesMax
  }

  push(bytes: Buffer, start: number, end: number): void {
    const part = bytes.subarray(start, end)
    this.#part = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part])
    this.#rest = noBytes
    this.#runEnds = new RunEnds(this.#part)
    let at = 0
    while (at < this.#part.length && !this.#isBroken)
      at = this.#string === 'none' ? this.#passSign(at) : this.#passString(at)
  }

  /** Returns the object or list; undefined where the text is not JSON, or another value. */
  end(): unknown {
    const isWhole = this.#next === 'nothing' && this.#rest.length === 0
    return isWhole && !this.#isBroken ? this.#result : undefined
  }

  /** Reads a sign, a number or a word outside strings. Returns the offset behind it. */
  #passSign(at: number): number {
    const code = this.#part[at] ?? 0
    if (endsPlain[code] === 0) return this.#passPlain(at)
    if (code === quote) this.#beginString()
    else if (code === openBrace || code === openBracket) this.#enter(code === openBracket)
    else if (code === closeBrace || code === closeBracket) this.#leave(code === closeBracket)
    else if (code === colon) this.#go('colon', 'value')
    else if (code === comma) this.#go('comma or end', this.#isInList() ? 'value' : 'name')
    return at + 1
  }

  #go(from: Next, to: Next): void {
    if (this.#next === from) this.#next = to
    else this.#isBroken = true
  }

  #isInList(): boolean {
    return this.#skipped.at(-1) ?? Array.isArray(this.#open.at(-1)?.value)
  }

  /** A value begins. Returns whether it is kept. */
  #begin(): boolean {
    if (this.#next !== 'value' && this.#next !== 'element or end') this.#isBroken = true
    if (this.#skipped.length > 0) return false
    const top = this.#open.at(-1)
    if (top === undefined) return this.#result === undefined
    if (!Array.isArray(top.value)) return top.name !== undefined
    return ++this.#elementCount <= elementsMax
  }

  #add(value: unknown): void {
    const top = this.#open.at(-1)
    if (top === undefined) this.#result = value
    else if (Array.isArray(top.value)) top.value.push(value)
    else if (top.name !== undefined) addMember(top.value, top.name, value)
  }

  #endValue(): void {
    const isOver = this.#open.length === 0 && this.#skipped.length === 0
    this.#next = isOver ? 'nothing' : 'comma or end'
  }

  #enter(isList: boolean): void {
    const isKept = this.#begin()
    const value = isList ? [] : {}
    const keeps = this.#keepsWithin(isList)
    if (isKept) this.#add(value)
    if (isKept && keeps !== 'nothing') this.#open.push({ value, keeps, name: undefined })
    else this.#skipped.push(isList)
    if (this.#open.length > keptDepthMax || this.#skipped.length > depthMax) this.#isBroken = true
    this.#next = isList ? 'element or end' : 'name or end'
  }

  #keepsWithin(isList: boolean): Container['keeps'] | 'nothing' {
    const top = this.#open.at(-1)
    const { names, open, whole } = this.#wanted
    if (top === undefined) return open?.has('') === true && !isList ? 'members' : 'wanted'
    const { keeps, name } = top
    if (keeps === 'all' || (name !== undefined && whole?.has(name) === true)) return 'all'
    // Nothing is read of a list in a member of another name.
    if (isList) return keeps === 'members' && !names.has(name ?? '') ? 'nothing' : 'wanted'
    return name !== undefined && open?.has(name) === true ? 'members' : 'wanted'
  }

  #leave(isList: boolean): void {
    const isEmpty = this.#next === (isList ? 'element or end' : 'name or end')
    const mayEnd = isEmpty || this.#next === 'comma or end'
    if (!mayEnd || this.#isInList() !== isList) this.#isBroken = true
    if (this.#skipped.pop() === undefined) this.#open.pop()
    this.#endValue()
  }

  #beginString(): void {
    if (this.#next === 'name' || this.#next === 'name or end')
      this.#string = this.#skipped.length > 0 ? 'skipped' : 'name'
    else this.#string = this.#begin() ? 'kept' : 'skipped'
    // The text of a string alone is not read.
    if (this.#open.length === 0) this.#isBroken = true
  }

  /** Reads up to the end of the string, or of the part. */
  #passString(from: number): number {
    const part = this.#part
    const escapesBefore = this.#runEnds.escapeCount
    let hasEscape = false
    for (let at = from; ; at += 6) {
      at = this.#runEnds.next(at)
      hasEscape ||= this.#runEnds.escapeCount > escapesBefore
      if (part[at] === quote) {
        this.#endString(this.#textOf(from, at, hasEscape))
        return at + 1
      }
      const isCut = at + (part[at + 1] === letterU ? 6 : 2) > part.length
      if (at >= part.length || (isCut && part[at] === backslash))
        return this.#cutString(from, at, hasEscape)
      if (!isLongEscape(part, at)) {
        this.#isBroken = true
        return part.length
      }
      hasEscape = true
    }
  }

  /** The rest of the string is in the next part, with the character or the escape that is cut. */
  #cutString(from: number, at: number, hasEscape: boolean): number {
    const isKept = this.#string !== 'skipped'
    const to = isKept && at >= this.#part.length ? characterCut(this.#part, from) : at
    if (isKept) (this.#text ??= this.#openText()).add(this.#textOf(from, to, hasEscape))
    this.#rest = Buffer.from(this.#part.subarray(to))
    return this.#part.length
  }

  #textOf(from: number, to: number, hasEscape: boolean): string {
    if (this.#string === 'skipped') return ''
    const text = this.#part.toString('utf8', from, to)
    return hasEscape ? (JSON.parse(`"${text}"`) as string) : text
  }

  #endString(last: string): void {
    const kind = this.#string
    this.#string = 'none'
    const text = kind === 'skipped' ? '' : this.#wholeText(last)
    if (this.#next === 'name' || this.#next === 'name or end') {
      const top = this.#open.at(-1)
      if (kind === 'name' && top !== undefined)
        top.name = typeof text === 'string' && this.#isWanted(text, top) ? text : undefined
      this.#next = 'colon'
      return
    }
    if (kind === 'kept') this.#add(text)
    this.#endValue()
  }

  #openText(): TextInParts {
    const hasRoom = this.#longTextsLength < longTextsLengthMax
    const isHashed = this.#open.at(-1)?.name === this.#wanted.hashed
    return new TextInParts(hasRoom ? this.#textBytesMax : shortTextBytesMax, isHashed)
  }

  #wholeText(last: string): string | LongText {
    if (this.#text === undefined && last.length * 3 <= shortTextBytesMax) return last
    const parts = this.#text ?? this.#openText()
    this.#text = undefined
    parts.add(last)
    const text = parts.end()
    const { length } = typeof text === 'string' ? text : text.text
    if (length > shortTextBytesMax) this.#longTextsLength += length
    return text
  }

  #isWanted(name: string, { keeps }: Container): boolean {
    if (this.#wanted.names.has(name)) return true
    return keeps !== 'wanted' && ++this.#elementCount <= elementsMax
  }

  /** Reads a number, true, false or null. */
  #passPlain(from: number): number {
    const part = this.#part
    let at = from
    while (at < part.length && endsPlain[part[at] ?? 0] === 0) at++
    if (at === part.length) {
      this.#rest = Buffer.from(part.subarray(from))
      this.#isBroken = at - from > plainBytesMax
      return at
    }
    const isKept = this.#begin()
    if (!isPlain(part, from, at) || this.#open.length === 0) this.#isBroken = true
    else if (isKept) this.#add(JSON.parse(part.toString('latin1', from, at)))
    this.#endValue()
    return at
  }
}

/** As JSON.parse sets a member: whatever its name, it is the object's own. */
function addMember(fields: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(fields, name, { ...ownMember, value })
  else fields[name] = value
}

const ownMember = { enumerable: true, configurable: true, writable: true }

/** Whether these bytes are a number, true, false or null; behind them is another byte. */
function isPlain(bytes: Buffer, from: number, to: number): boolean {
  if ((bytes[from] ?? 0) > nine) return words.has(bytes.toString('latin1', from, to))
  let at = bytes[from] === minus ? from + 1 : from
  at = bytes[at] === zero ? at + 1 : digitsEnd(bytes, at)
  if (bytes[at] === point) at = digitsEnd(bytes, at + 1)
  if (((bytes[at] ?? 0) | smallLetter) === letterE) {
    const sign = bytes[at + 1]
    at = digitsEnd(bytes, sign === plus || sign === minus ? at + 2 : at + 1)
  }
  return at === to
}

/** There must be one digit at least; without one the end is nowhere. */
function digitsEnd(bytes: Buffer, from: number): number {
  let at = from
  while (isDigit(bytes[at] ?? 0)) at++
  return at === from ? -1 : at
}

const words: ReadonlySet<string> = new Set(['true', 'false', 'null'])
const plus = 0x2b
const minus = 0x2d
const point = 0x2e
const zero = 0x30
const nine = 0x39
const letterE = 0x65
const letterU = 0x75
/** The difference of a small letter from a capital one. */
const smallLetter = 0x20

/** Whether an escape of six bytes begins here. */
function isLongEscape(bytes: Buffer, at: number): boolean {
  if (bytes[at] !== backslash || bytes[at + 1] !== letterU) return false
  return /^[0-9a-f]{4}$/i.test(bytes.toString('latin1', at + 2, at + 6))
}

/** Returns where the last character begins if its end is missing, else the end of the bytes. */
function characterCut(bytes: Buffer, from: number): number {
  const { length } = bytes
  for (let back = 1; back <= 3 && length - back >= from; back++) {
    const code = bytes[length - back] ?? 0
    if (code < 0x80) break
    if (code < 0xc0) continue
    const size = code >= 0xf0 ? 4 : code >= 0xe0 ? 3 : 2
    return size > back ? length - back : length
  }
  return length
}
