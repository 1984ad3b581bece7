/**
 * Recognises the most frequent events of a stream by their bytes, without a parse: they differ from the event
 * before only in their piece of text, and in members that say nothing about the answer. It knows no format.
 *
 * Invariant: an event is a repeat only where all of its bytes but those of such values are the bytes of an
 * event that was parsed: a parse would find the same members in it.
 */
import { parseJson } from './json.ts'
import { backslash, quote } from './scan.ts'
import type { FrameBytes } from './sse.ts'

/** The model of a larger event would take memory for each stream, and such events are rare. */
const modelBytesMax = 2_048
/** Where so many models in a row had no repeat, all events of the stream are parsed. */
const vainModelsMax = 16

/**
 * What changes with each event and says nothing: a number, and what hides the length of the text, a member or
 * spaces before the last braces.
 */
const freeParts =
  /"sequence_number": ?(\d+)(?=[,}])|"obfuscation": ?"([^"]*)(?=")|(?<! )( *)(?=\}[ }]*\n\n$)/g

type SlotKind = 'text' | 'string' | 'number' | 'spaces'

/** A part that may differ from the model's: its place there, without the quotes of a string. */
interface Slot {
  readonly kind: SlotKind
  readonly start: number
  readonly end: number
}

const space = 0x20
const zero = 0x30

export class RepeatedEvent {
  /** Where the text of the latest repeat stands in its bytes. */
  textStart = 0
  textEnd = 0
  /** That text where it has escapes. */
  unescaped: string | undefined
  /** The bytes of the model before, between and behind the parts that may differ; empty = there is none. */
  #literals: readonly Buffer[] = []
  /** One fewer. */
  #kinds: readonly SlotKind[] = []
  #vainModels = 0

  /** Takes an event as the model of the next ones; `output` is the only text that a parse has found in it. */
  learn({ bytes, text, start, end }: FrameBytes, output: string): void {
    this.forget()
    if (end - start > modelBytesMax || this.#vainModels === vainModelsMax) return
    const slots = findSlots(text.slice(start, end), Buffer.from(output).toString('latin1'))
    if (slots === undefined) return
    this.#vainModels++
    this.#kinds = slots.map(({ kind }) => kind)
    // Not of the pool: it lives as long as the stream, and would keep the memory of its neighbours.
    const model = Buffer.allocUnsafeSlow(end - start)
    bytes.copy(model, 0, start, end)
    const ends = [...slots.map((slot) => slot.start), model.length]
    this.#literals = ends.map((to, index) => model.subarray(slots[index - 1]?.end ?? 0, to))
  }

  /** The next event is parsed. */
  forget(): void {
    if (this.#literals.length > 0) this.#literals = []
  }

  /** Returns the offset behind a repeat that begins at `start` and ends by `end`; -1 where there is none. */
  match(bytes: Buffer, start: number, end: number): number {
    let at = this.#literals.length === 0 ? -1 : start
    for (let index = 0; index < this.#literals.length && at >= 0; index++) {
      at = literalEnd(this.#literals[index], bytes, at, end)
      if (at >= 0 && index < this.#kinds.length) at = this.#partEnd(bytes, at, end, index)
    }
    if (at >= 0) this.#vainModels = 0
    return at
  }

  #partEnd(bytes: Buffer, at: number, end: number, index: number): number {
    switch (this.#kinds[index]) {
      case 'number':
        return numberEnd(bytes, at, end)
      case 'string':
        return plainEnd(bytes, at, end)
      case 'spaces':
        return spacesEnd(bytes, at, end)
      default:
        return this.#textEnd(bytes, at, end)
    }
  }

  #textEnd(bytes: Buffer, from: number, end: number): number {
    let at = plainEnd(bytes, from, end)
    this.unescaped = undefined
    if (bytes[at] === backslash) {
      while (at < end && bytes[at] === backslash) at = plainEnd(bytes, at + 2, end)
      if (at < end) {
        const text = parseJson(bytes.toString('utf8', from - 1, at + 1))
        if (typeof text !== 'string') return -1
        this.unescaped = text
      }
    }
    this.textStart = from
    this.textEnd = at
    return at
  }
}

function literalEnd(literal: Buffer | undefined, bytes: Buffer, at: number, end: number): number {
  const length = literal?.length ?? 0
  if (literal === undefined || at + length > end) return -1
  for (let index = 0; index < length; index++) if (literal[index] !== bytes[at + index]) return -1
  return at + length
}

/** Returns where characters end that may stand in a JSON string as they are. */
function plainEnd(bytes: Buffer, from: number, end: number): number {
  let at = from
  while (at < end) {
    const byte = bytes[at] ?? 0
    if (byte === quote || byte === backslash || byte < space) break
    at++
  }
  return at
}

function spacesEnd(bytes: Buffer, from: number, end: number): number {
  let at = from
  while (at < end && bytes[at] === space) at++
  return at
}

/** Returns -1 for what JSON takes for no number. */
function numberEnd(bytes: Buffer, from: number, end: number): number {
  let at = from
  while (at < end && isDigit(bytes[at] ?? 0)) at++
  return at === from || (bytes[from] === zero && at > from + 1) ? -1 : at
}

function isDigit(code: number): boolean {
  return code >= zero && code <= zero + 9
}

/** Returns the parts that may differ, in order; undefined where the text's place is not certain. */
function findSlots(source: string, text: string): readonly Slot[] | undefined {
  // Without escapes, every quote begins or ends a string. The sign stands for bytes that are no text.
  if (/\\|\u00ef\u00bf\u00bd/.test(source) || !source.endsWith('\n\n')) return undefined
  const at = source.indexOf(`"${text}"`)
  const isValue = source[at - 1] === ':' || source.startsWith(': ', at - 2)
  if (at === -1 || !isValue || at !== source.lastIndexOf(`"${text}"`)) return undefined
  const slots: Slot[] = [{ kind: 'text', start: at + 1, end: at + 1 + text.length }]
  for (const { index, 0: part, 1: number, 2: padding, 3: spaces } of source.matchAll(freeParts)) {
    const end = index + part.length
    const start = end - (number ?? padding ?? spaces ?? '').length
    if (start === at + 1) return undefined
    const kind = number === undefined ? 'string' : 'number'
    slots.push({ kind: spaces === undefined ? kind : 'spaces', start, end })
  }
  return slots.toSorted((one, other) => one.start - other.start)
}
