/** Long texts within a JSON text that arrives in parts: puts them together, and keeps a part of each. */
import { createHash, type Hash } from 'node:crypto'

/** In place of a text that is too long to be kept. */
export class LongText {
  /** In UTF-8, of all of it. */
  readonly bytes: number
  /** Its beginning, with at least as many bytes as a kept text may have. */
  readonly text: string
  /** Where it is asked for: the hash of its bytes, SHA-256 as base64url. */
  readonly id: string | undefined

  constructor(bytes: number, text: string, id: string | undefined) {
    this.bytes = bytes
    this.text = text
    this.id = id
  }

  toJSON(): string {
    return this.text
  }
}

/** Returns a text, or the kept part of a long one; anything else as it is. */
export function beginningOf(value: unknown): unknown {
  return value instanceof LongText ? value.text : value
}

/** One text whose parts are added as they arrive. */
export class TextInParts {
  readonly #bytesMax: number
  #text = ''
  #bytes = 0
  readonly #hash: Hash | undefined
  /** The first half of a pair whose second half has not come. */
  #half = ''

  constructor(bytesMax: number, isHashed: boolean) {
    this.#bytesMax = bytesMax
    this.#hash = isHashed ? createHash('sha256') : undefined
  }

  add(part: string): void {
    const text = this.#half + part
    this.#half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? ''
    this.#take(this.#half === '' ? text : text.slice(0, -1))
  }

  end(): string | LongText {
    this.#take(this.#half)
    if (this.#bytes <= this.#bytesMax) return this.#text
    return new LongText(this.#bytes, this.#text, this.#hash?.digest('base64url'))
  }

  #take(part: string): void {
    if (this.#bytes <= this.#bytesMax) this.#text += part
    this.#bytes += Buffer.byteLength(part)
    this.#hash?.update(part)
  }
}
