/**
 * Finds where runs of plain characters in the strings of a JSON text end; an escape of two bytes counts as
 * plain. A small WebAssembly module looks at sixteen bytes at a time, which takes a tenth of the time of a
 * loop. The text is copied to it block by block, so its memory does not grow with the text.
 */
import { backslash, quote } from './scan.ts'

/** The bytes of run-ends.wat. */
export const moduleBase64 =
  'AGFzbQEAAAABDAJgAX8Bf2ACf38BfwIQAQRob3N0Bm1lbW9yeQIAAQMDAgABBwgBBG1hcmsAAQqNAgI0AQF/IABBBXYhAUEBQYSAAkGAgI' +
  'CAAUHEgNEAQQAgAUEDRhsgAUECRhsgAUEBRhsgAHZxC9UBAwJ/AXsEfyABIQNBfyEIAkADQCACIABPDQEgAv0ABAAhBCAEQSD9D/0mIARB' +
  'Iv0P/SMgBEHcAP0P/SP9UP1Q/WQhBQJAA0AgBUUNASACIAVoaiEGIAUgBUEBa3EhBSAGIAhGDQAgBi0AAEHcAEYEQCAGLQABEAAEQCAGQQ' +
  'FqIQggB0EBaiEHDAILCyADIAY2AgAgAyAHNgIEIANBCGohAwwACwsgAkEQaiECDAALCyAIQQFqIQIgAyACIAAgAiAASxs2AgAgAyAHNgIE' +
  'IAMgAWtBA3YL'

/** The used part of WebAssembly, which the types of Node lack. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer }
  readonly Module: new (bytes: Buffer) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
}

/** A shorter text costs less in a loop than the call. */
const loopBytesMax = 512
const blockBytes = 65_536
/** Behind a block: the last step reads no bytes of another one, and sees the end of an escape. */
const stepBytes = 16
const marksAt = blockBytes + stepBytes
const pageBytes = 65_536

const memory = new WebAssembly.Memory({
  initial: Math.ceil((marksAt + 8 * (blockBytes + 1)) / pageBytes),
})
const block = new Uint8Array(memory.buffer, 0, marksAt)
/** Of each mark its offset and the escapes before it; behind the last one the end and all escapes. */
const marks = new Int32Array(memory.buffer, marksAt, 2 * (blockBytes + 1))
const { mark } = new WebAssembly.Instance(
  new WebAssembly.Module(Buffer.from(moduleBase64, 'base64')),
  { host: { memory } },
).exports as { readonly mark: (length: number, marks: number) => number }

/** The letters of escapes of two bytes. */
export const isShortEscape = new Uint8Array(256)
for (const letter of '"\\/bfnrt') isShortEscape[letter.charCodeAt(0)] = 1

/** A part of a text, and how many marks the module has set in it. */
interface Block {
  readonly from: number
  readonly to: number
  readonly count: number
}

const noBlock: Block = { from: 0, to: 0, count: 0 }

/** The block whose marks the module's memory has. */
let marked = noBlock

/** Reads one text from its beginning to its end. */
export class RunEnds {
  /** Escapes of two bytes up to the last place found. */
  escapeCount = 0
  readonly #bytes: Uint8Array
  #block = noBlock
  /** The first mark that may be next. */
  #cursor = 0
  /** Before the block. */
  #escapesBefore = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /**
   * Returns the offset of the first quote, control character or backslash of another escape from `at` on, or
   * the text's length. `at` never decreases, is not within an escape, and no escape is left out.
   */
  next(at: number): number {
    const { length } = this.#bytes
    if (length <= loopBytesMax) return this.#loopToEnd(at)
    for (let from = at; from < length; from = this.#block.to) {
      if (from >= this.#block.to || this.#block !== marked) this.#mark(from)
      const { count, from: blockFrom } = this.#block
      while (this.#cursor < count) {
        const found = blockFrom + (marks[2 * this.#cursor] ?? 0)
        if (found >= from) return this.#find(found)
        this.#cursor++
      }
      this.#find(this.#block.to)
    }
    return length
  }

  #find(found: number): number {
    this.escapeCount = this.#escapesBefore + (marks[2 * this.#cursor + 1] ?? 0)
    return found
  }

  #mark(from: number): void {
    const to = Math.min(from + blockBytes, this.#bytes.length)
    const copied = this.#bytes.subarray(from, to + 1)
    block.set(copied)
    block.fill(0x20, copied.length, to - from + stepBytes)
    const count = mark(to - from, marksAt)
    marked = this.#block = { from, to: from + (marks[2 * count] ?? 0), count }
    this.#cursor = 0
    this.#escapesBefore = this.escapeCount
  }

  #loopToEnd(from: number): number {
    const bytes = this.#bytes
    let at = from
    for (; at < bytes.length; at++) {
      const code = bytes[at] ?? 0
      if (code === backslash && isShortEscape[bytes[at + 1] ?? 0] === 1) {
        this.escapeCount++
        at++
      } else if (code === quote || code === backslash || code < 0x20) break
    }
    return at
  }
}
