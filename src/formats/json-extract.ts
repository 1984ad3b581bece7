/**
 * Reads the few members that are wanted of a JSON text that arrives in parts, in memory that does not grow
 * with the text: a vendor repeats a whole answer, images included, in one event. It builds what JSON.parse
 * would, but leaves out other members, and elements of an array that are neither object nor array; a long
 * text becomes a `LongText`. It finds the end of each value, and does not decide whether all of it is JSON.
 */
import { createHash, type Hash } from 'node:crypto'
import { parseJson } from './json.ts'
import {
  backslash,
  closeBrace,
  closeBracket,
  comma,
  openBrace,
  openBracket,
  quote,
} from './scan.ts'

/** In place of a text that is too long to be kept. */
export class LongText {
  readonly bytes: number
  /** Where it is asked for: the hash of its bytes, SHA-256 as base64url; undefined where it has an escape. */
  readonly id: string | undefined

  constructor(bytes: number, id: string | undefined) {
    this.bytes = bytes
    this.id = id
  }
}

/** A longer text is not kept. */
export const keptTextBytesMax = 1024
const depthMax = 512
/** Far more than an answer has items and parts; of all lists together, the rest is left out. */
const elementsMax = 50_000

interface Container {
  /** Undefined where no part of it is kept. */
  readonly value: Record<string, unknown> | unknown[] | undefined
  readonly isArray: boolean
  /** The name of the member that is being read, where it is wanted. */
  name: string | undefined
  /** In an object: the next string is a name. */
  isNameNext: boolean
}

const isStructural = new Uint8Array(256)
for (const sign of '"{}[]:,') isStructural[sign.charCodeAt(0)] = 1

export class JsonExtract {
  readonly #wanted: ReadonlySet<string>
  readonly #hashed: string
  readonly #open: Container[] = []
  /** The kept bytes of the string or the plain value that is being read. */
  readonly #kept = Buffer.allocUnsafe(keptTextBytesMax)
  #keptBytes = 0
  #tokenBytes = 0
  #token: 'none' | 'string' | 'plain' = 'none'
  #isEscaped = false
  /** The bytes that are being read have no escape. */
  #isPlain = false
  #hasEscape = false
  #hash: Hash | undefined
  #elementCount = 0
  #isBroken = false
  #result: unknown

  /** `hashed`: the member whose long texts are known by their hash. */
  constructor(wanted: ReadonlySet<string>, hashed: string) {
    this.#wanted = wanted
    this.#hashed = hashed
  }

  push(bytes: Buffer, start: number, end: number): void {
    let at = start
    this.#isPlain = !bytes.subarray(start, end).includes(backslash)
    while (at < end && !this.#isBroken) {
      if (this.#token === 'string') at = this.#passString(bytes, at, end)
      else at = this.#passSign(bytes, at)
    }
  }

  /** Returns the value; undefined where the text has ended too early or has a form that is not read. */
  end(): unknown {
    return this.#isBroken || this.#open.length > 0 ? undefined : this.#result
  }

  /** Reads one byte outside strings. Returns the offset behind it. */
  #passSign(bytes: Buffer, at: number): number {
    const code = bytes[at] ?? 0
    const isPlain = code > 0x20 && isStructural[code] !== 1
    if (this.#token === 'plain' && !isPlain) this.#endPlain()
    if (isPlain) {
      this.#token = 'plain'
      this.#keep(bytes, at, at + 1)
    } else if (code === quote) {
      this.#token = 'string'
    } else if (code > 0x20) this.#passStructure(code)
    return at + 1
  }

  #passStructure(code: number): void {
    const top = this.#open.at(-1)
    if (code === openBrace || code === openBracket) this.#enter(code === openBracket)
    else if (code === closeBrace || code === closeBracket) {
      if (this.#open.pop() === undefined) this.#isBroken = true
    } else if (code === comma && top !== undefined) top.isNameNext = !top.isArray
  }

  #enter(isArray: boolean): void {
    const isRoot = this.#open.length === 0
    if (this.#open.length >= depthMax || (isRoot && this.#result !== undefined)) {
      this.#isBroken = true
      return
    }
    const isKept = isRoot || this.#isWanted()
    const value = isKept ? (isArray ? [] : {}) : undefined
    if (value !== undefined) this.#add(value)
    this.#open.push({ value, isArray, name: undefined, isNameNext: !isArray })
  }

  /** Whether the value that begins now is kept. */
  #isWanted(): boolean {
    const top = this.#open.at(-1)
    if (top?.value === undefined) return false
    return top.isArray ? this.#elementCount < elementsMax : top.name !== undefined
  }

  #add(value: unknown): void {
    const top = this.#open.at(-1)
    if (top === undefined) this.#result = value
    else if (Array.isArray(top.value)) {
      this.#elementCount++
      top.value.push(value)
    } else if (top.value !== undefined && top.name !== undefined) top.value[top.name] = value
  }

  /** Reads up to the end of the string, or of the bytes. */
  #passString(bytes: Buffer, from: number, end: number): number {
    const at = this.#stringEnd(bytes, from, end)
    this.#keep(bytes, from, at)
    if (at === end) return at
    this.#endString()
    return at + 1
  }

  #stringEnd(bytes: Buffer, from: number, end: number): number {
    if (this.#isPlain && !this.#isEscaped) {
      const at = bytes.indexOf(quote, from)
      return at < 0 || at > end ? end : at
    }
    for (let at = from; at < end; at++) {
      const code = bytes[at]
      if (this.#isEscaped) this.#isEscaped = false
      else if (code === backslash) this.#isEscaped = this.#hasEscape = true
      else if (code === quote) return at
    }
    return end
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    const room = Math.min(to - from, keptTextBytesMax - this.#keptBytes)
    const isLong = this.#tokenBytes + (to - from) > keptTextBytesMax
    if (isLong && this.#hash === undefined && this.#open.at(-1)?.name === this.#hashed) {
      this.#hash = createHash('sha256')
      this.#hash.update(this.#kept.subarray(0, this.#keptBytes))
    }
    this.#hash?.update(bytes.subarray(from, to))
    if (room > 0) this.#keptBytes += bytes.copy(this.#kept, this.#keptBytes, from, from + room)
    this.#tokenBytes += to - from
  }

  #endString(): void {
    const top = this.#open.at(-1)
    const isName = top?.isNameNext === true
    const id = this.#hasEscape ? undefined : this.#hash?.digest('base64url')
    const isLong = this.#tokenBytes > keptTextBytesMax
    const text = isLong ? new LongText(this.#tokenBytes, id) : this.#text()
    this.#endToken()
    if (top === undefined) this.#isBroken = true
    else if (isName) {
      top.isNameNext = false
      top.name = typeof text === 'string' && this.#wanted.has(text) ? text : undefined
    } else if (!top.isArray && this.#isWanted()) this.#add(text)
  }

  #text(): unknown {
    const text = this.#kept.toString('utf8', 0, this.#keptBytes)
    return this.#hasEscape ? parseJson(`"${text}"`) : text
  }

  /** A number, true, false or null. */
  #endPlain(): void {
    const top = this.#open.at(-1)
    const value = parseJson(this.#kept.toString('latin1', 0, this.#keptBytes))
    this.#endToken()
    if (value === undefined || top === undefined) this.#isBroken = true
    else if (!top.isArray && this.#isWanted()) this.#add(value)
  }

  #endToken(): void {
    this.#token = 'none'
    this.#keptBytes = 0
    this.#tokenBytes = 0
    this.#hasEscape = false
    this.#hash = undefined
  }
}
