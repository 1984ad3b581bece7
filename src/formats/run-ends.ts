/**
 * Finds where runs of plain characters in the strings of a JSON text end. A small WebAssembly module looks
 * at sixteen bytes at a time, which takes a sixth of the time of a loop. The text is copied to it block by
 * block, so its memory does not grow with the text.
 */
import { backslash, quote } from './scan.ts'

/** The bytes of run-ends.wat. */
export const moduleBase64 =
  'AGFzbQEAAAABBwFgAn9/AX8CEAEEaG9zdAZtZW1vcnkCAAEDAgEABwgBBG1hcmsAAAp+AXwDAn8BewF/IAEhAwJAA0AgAiAATw0B' +
  'IAL9AAQAIQQgBEEg/Q/9JiAEQSL9D/0jIARB3AD9D/0j/VD9UP1kIQUCQANAIAVFDQEgAyACIAVoajYCACADQQRqIQMgBSAFQQFr' +
  'cSEFDAALCyACQRBqIQIMAAsLIAMgAWtBAnYL'

/** The used part of WebAssembly, which the types of Node lack. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer }
  readonly Module: new (bytes: Buffer) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
}

/** A shorter text costs less in a loop than the call. */
const loopBytesMax = 512
const blockBytes = 65_536
/** Behind a block, so that the last step reads no bytes of another one. */
const stepBytes = 16
const marksAt = blockBytes + stepBytes
const pageBytes = 65_536

const memory = new WebAssembly.Memory({
  initial: Math.ceil((marksAt + 4 * blockBytes) / pageBytes),
})
const block = new Uint8Array(memory.buffer, 0, marksAt)
const marks = new Int32Array(memory.buffer, marksAt, blockBytes)
const { mark } = new WebAssembly.Instance(
  new WebAssembly.Module(Buffer.from(moduleBase64, 'base64')),
  { host: { memory } },
).exports as { readonly mark: (length: number, marks: number) => number }

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
  readonly #bytes: Uint8Array
  #block = noBlock
  /** The first mark that may be next. */
  #cursor = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /**
   * Returns the offset of the first quote, backslash or control character from `at` on, or the text's length.
   * `at` never decreases.
   */
  next(at: number): number {
    const { length } = this.#bytes
    if (length <= loopBytesMax) return loopToEnd(this.#bytes, at)
    for (let from = at; from < length; from = this.#block.to) {
      if (from >= this.#block.to || this.#block !== marked) this.#mark(from)
      const { count, from: blockFrom } = this.#block
      while (this.#cursor < count) {
        const found = blockFrom + (marks[this.#cursor] ?? 0)
        if (found >= from) return found
        this.#cursor++
      }
    }
    return length
  }

  #mark(from: number): void {
    const to = Math.min(from + blockBytes, this.#bytes.length)
    block.set(this.#bytes.subarray(from, to))
    block.fill(0x20, to - from, to - from + stepBytes)
    marked = this.#block = { from, to, count: mark(to - from, marksAt) }
    this.#cursor = 0
  }
}

function loopToEnd(bytes: Uint8Array, from: number): number {
  const { length } = bytes
  let at = from
  for (; at < length; at++) {
    const code = bytes[at] ?? 0
    if (code === quote || code === backslash || code < 0x20) break
  }
  return at
}
