/**
 * Scans JSON text without building anything: leaps over strings, tracks depth, notes where the
 * members of one object stand. The text is latin1, one character per byte, so offsets are byte
 * offsets. It does not validate: JSON.parse has the last word, and what is noted here of a text
 * that is no JSON means nothing.
 */
import type { Span } from './format.ts'

export const nestingDepthMax = 512

/** Longer runs of digits than any finite number without an exponent could need are looked at. */
const plainNumberLengthMax = 300

const quote = 0x22
const backslash = 0x5c

export interface MemberScan {
  /** Value spans of the wanted members; of a repeated one the first. */
  readonly spans: ReadonlyMap<string, Span>
  /** A wanted name that stands there twice. */
  readonly duplicate: string | undefined
  /** A wanted name that stands there in other letters, which vendors that bind names in any case read. */
  readonly respelled: string | undefined
  /** The offset just behind the opening brace. */
  readonly firstMember: number
  readonly isTooDeep: boolean
  /** A number somewhere inside overflows to infinity. */
  readonly hasHugeNumber: boolean
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
  respelled: string | undefined
  firstMember = 0
  isTooDeep = false
  hasHugeNumber = false
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
          const close = stringEnd(text, at)
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
    this.#name = name !== undefined && this.#wanted.has(name) ? name : undefined
    if (this.#name === undefined && name !== undefined && otherLetter.test(name))
      this.respelled ??= this.#findFolded(raw)
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

/** The closing quote of the string that opens at `open`, or -1. */
function stringEnd(text: string, open: number): number {
  return plainStringEnd(text, open + 1)
}

/** The closing quote of a string whose content begins at `from`, or -1. */
export function plainStringEnd(text: string, from: number): number {
  let at = text.indexOf('"', from)
  while (at > from && text.charCodeAt(at - 1) === backslash && isEscaped(text, from, at)) {
    at = text.indexOf('"', at + 1)
  }
  return at
}

/** An odd number of backslashes in front. Each run is looked at once, so the scan stays linear. */
function isEscaped(text: string, from: number, at: number): boolean {
  let first = at
  while (first > from && text.charCodeAt(first - 1) === backslash) first--
  return (at - first) % 2 === 1
}

/** Digits, sign and decimal point; the exponent's letter is seen by the caller. */
function isNumberCode(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e
}

/** A name with escapes counts as what it spells. */
function spelledOut(raw: string): string | undefined {
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    // A name that is no JSON string makes the whole text no JSON; JSON.parse of it will say so.
    return undefined
  }
}

/** Wanted names have small ASCII letters only, so a name without any other letter is none respelled. */
const otherLetter = /[A-Z\x80-\uffff]/

/** Whether a name as it stands is the wanted one to readers that do not mind the case of letters. */
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
 * How many characters there spell that letter in either case; 0 where another stands. Two letters beyond
 * ASCII fold into it: they stand as their bytes of UTF-8, or escaped like any other.
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
