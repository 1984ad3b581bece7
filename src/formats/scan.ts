/**
 * Scans JSON text without building values: skips strings, tracks depth, records where the members of one
 * object are, and replaces byte ranges. The text is latin1, one character per byte, so offsets are byte
 * offsets. It does not validate: JSON.parse decides, and a scan of text that is not JSON means nothing.
 */
import type { Span } from './format.ts'

export const nestingDepthMax = 512

/** A finite number without an exponent is shorter: only longer ones are checked. */
const plainNumberLengthMax = 300

const quote = 0x22
const backslash = 0x5c

export interface MemberScan {
  /** Value spans of the wanted members; of a repeated one the first. */
  readonly spans: ReadonlyMap<string, Span>
  /** A wanted name that occurs twice. */
  readonly duplicate: string | undefined
  /** A wanted name that occurs in another letter case, which some vendors accept. */
  readonly otherCase: string | undefined
  /** The offset behind the opening brace. */
  readonly firstMember: number
  readonly isTooDeep: boolean
  /** A number inside overflows to infinity. */
  readonly hasHugeNumber: boolean
  /** A name contains U+0000, where some readers would end it. */
  readonly hasNulName: boolean
}

/** Scans the object that begins at or after `from`, up to its end. */
export function scanMembers(text: string, from: number, wanted: ReadonlySet<string>): MemberScan {
  const scan = new Scan(text, wanted)
  scan.run(from)
  return scan
}

class Scan implements MemberScan {
  readonly spans = new Map<string, Span>()
  duplicate: string | undefined
  otherCase: string | undefined
  firstMember = 0
  isTooDeep = false
  hasHugeNumber = false
  hasNulName = false
  readonly #text: string
  readonly #wanted: ReadonlySet<string>
  #isAtName = false
  #name: string | undefined
  #valueStart = -1

  constructor(text: string, wanted: ReadonlySet<string>) {
    this.#text = text
    this.#wanted = wanted
  }

  run(from: number): void {
    const text = this.#text
    let depth = 0
    let at = from
    while (at < text.length) {
      const code = text.charCodeAt(at)
      switch (code) {
        case quote: {
          const close = plainStringEnd(text, at + 1)
          if (close < 0) return
          if (depth === 1 && this.#isAtName) this.#noteName(at, close)
          at = close + 1
          continue
        }
        case 0x7b: // {
        case 0x5b: // [
          if (++depth > nestingDepthMax) {
            this.isTooDeep = true
            return
          }
          if (depth === 1) {
            this.firstMember = at + 1
            this.#isAtName = true
          }
          break
        case 0x7d: // }
        case 0x5d: // ]
          if (depth === 1) this.#closeMember(at)
          if (--depth <= 0) return
          break
        case 0x2c: // ,
          if (depth === 1) this.#closeMember(at)
          break
        case 0x3a: // :
          if (depth === 1) this.#valueStart = at + 1
          break
        default:
          if (code >= 0x30 && code <= 0x39) {
            at = this.#passNumber(at)
            continue
          }
      }
      at++
    }
  }

  #noteName(open: number, close: number): void {
    this.#isAtName = false
    const raw = this.#text.slice(open + 1, close)
    const name = raw.includes('\\') ? spelledOut(raw) : raw
    if (name?.includes('\0') === true) this.hasNulName = true
    this.#name = name !== undefined && this.#wanted.has(name) ? name : undefined
    if (this.#name === undefined && name !== undefined && otherLetter.test(name))
      this.otherCase ??= this.#findFolded(raw)
  }

  #findFolded(raw: string): string | undefined {
    for (const wanted of this.#wanted) if (foldsTo(raw, wanted)) return wanted
    return undefined
  }

  #closeMember(end: number): void {
    this.#isAtName = true
    const name = this.#name
    if (name === undefined || this.#valueStart < 0) return
    this.#name = undefined
    if (this.spans.has(name)) this.duplicate ??= name
    else this.spans.set(name, trimmed(this.#text, this.#valueStart, end))
  }

  #passNumber(start: number): number {
    const text = this.#text
    let at = start
    let hasExponent = false
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === 0x65 || code === 0x45) hasExponent = true
      else if (!isNumberCode(code)) break
    }
    if (hasExponent || at - start > plainNumberLengthMax) {
      if (Math.abs(Number(text.slice(start, at))) === Infinity) this.hasHugeNumber = true
    }
    return at
  }
}

/** Returns the offset of the closing quote of a string whose content begins at `from`, or -1. */
export function plainStringEnd(text: string, from: number): number {
  let at = text.indexOf('"', from)
  while (at > from && text.charCodeAt(at - 1) === backslash && isEscaped(text, from, at)) {
    at = text.indexOf('"', at + 1)
  }
  return at
}

/** Returns whether an odd number of backslashes precedes. Each run is read once, so the scan is linear. */
function isEscaped(text: string, from: number, at: number): boolean {
  let first = at
  while (first > from && text.charCodeAt(first - 1) === backslash) first--
  return (at - first) % 2 === 1
}

/** Digits, sign and decimal point; the caller handles the exponent's letter. */
function isNumberCode(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e
}

/** Resolves the escapes of a name. */
function spelledOut(raw: string): string | undefined {
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    // An invalid name makes the whole text invalid JSON, which JSON.parse reports.
    return undefined
  }
}

/** Wanted names have small ASCII letters only: a name without any other letter has the right case. */
const otherLetter = /[A-Z\x80-\uffff]/

/** Returns whether a raw name equals the wanted one for readers that ignore letter case. */
function foldsTo(raw: string, wanted: string): boolean {
  let at = 0
  for (let index = 0; index < wanted.length; index++) {
    const width = letterWidth(raw, at, wanted.charCodeAt(index))
    if (width === 0) return false
    at += width
  }
  return at === raw.length
}

const smallK = 0x6b
const smallS = 0x73
const kelvinSign = 0x212a
const longS = 0x17f

/**
 * Returns how many characters at `at` spell the letter in either case; 0 for another letter. Two letters
 * beyond ASCII fold into ASCII letters: they occur as bytes of UTF-8, or escaped like any other.
 */
function letterWidth(raw: string, at: number, letter: number): number {
  const code = raw.charCodeAt(at)
  if (isLetter(code, letter)) return 1
  if (letter === smallS && raw.startsWith('\xc5\xbf', at)) return 2
  if (letter === smallK && raw.startsWith('\xe2\x84\xaa', at)) return 3
  if (!raw.startsWith('\\u', at)) return 0
  const escaped = Number.parseInt(raw.slice(at + 2, at + 6), 16)
  return isLetter(escaped, letter) ? 6 : 0
}

function isLetter(code: number, letter: number): boolean {
  if (code === letter || (code >= 0x41 && code <= 0x5a && code + 0x20 === letter)) return true
  return (code === longS && letter === smallS) || (code === kelvinSign && letter === smallK)
}

function trimmed(text: string, from: number, to: number): Span {
  let start = from
  let end = to
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return { start, end }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

export interface Edit extends Span {
  readonly text: string
}

/** Returns the body with the edits, which must be in order and must not overlap. All other bytes are kept. */
export function splice(body: Buffer, edits: readonly Edit[]): Buffer {
  if (edits.length === 0) return body
  const pieces: Buffer[] = []
  let at = 0
  for (const edit of edits) {
    pieces.push(body.subarray(at, edit.start), Buffer.from(edit.text))
    at = edit.end
  }
  pieces.push(body.subarray(at))
  return Buffer.concat(pieces)
}
