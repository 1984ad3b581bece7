/** Reads the answers of one connection, whole ones and streams, and creates few objects doing so. */
import { eventMark, lastEventMark } from './answers.ts'

export class AnswerReader {
  #head: string | undefined = ''
  /** Bytes left of a body with a length. */
  #left = 0
  #chunks: ChunkedEvents | undefined
  #events = 0
  #hasLastEvent = false

  /** Undefined until the head is complete. */
  status: number | undefined
  /** At least one byte of the body has arrived. */
  hasBegun = false
  hasEnded = false

  get events(): number {
    return this.#events
  }

  /** The stream has the last event of its format. */
  get hasLastEvent(): boolean {
    return this.#hasLastEvent
  }

  /** Prepares for the next answer. */
  reset(): void {
    this.#head = ''
    this.#chunks = undefined
    this.#events = 0
    this.#hasLastEvent = false
    this.status = undefined
    this.hasBegun = false
    this.hasEnded = false
  }

  read(text: string): void {
    if (this.#head === undefined) this.#readBody(text)
    else this.#readHead(this.#head + text)
  }

  #readHead(text: string): void {
    const headEnd = text.indexOf('\r\n\r\n')
    if (headEnd < 0) {
      this.#head = text
      return
    }
    const head = text.slice(0, headEnd)
    this.#head = undefined
    this.status = Number(/^HTTP\/1\.[01] (\d{3}) /.exec(head)?.[1] ?? Number.NaN)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (length === undefined) this.#chunks = new ChunkedEvents((frame) => this.#readFrame(frame))
    else this.#left = Number(length)
    this.#readBody(text.slice(headEnd + 4))
  }

  #readBody(text: string): void {
    if (text !== '') this.hasBegun = true
    if (this.#chunks === undefined) {
      this.#left -= text.length
      this.hasEnded = this.#left <= 0
      return
    }
    this.#chunks.read(text)
    this.hasEnded = this.#chunks.hasEnded
  }

  #readFrame(frame: string): void {
    if (frame.includes(eventMark)) this.#events++
    else if (lastEventMark.test(frame)) this.#hasLastEvent = true
  }
}

/** Reads the frames in the chunks of a stream, for any cut of both. */
class ChunkedEvents {
  readonly #onFrame: (frame: string) => void
  #unread = ''
  #frames = ''
  #hasEnded = false

  constructor(onFrame: (frame: string) => void) {
    this.#onFrame = onFrame
  }

  /** True after the last, empty chunk. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  read(text: string): void {
    const bytes = this.#unread === '' ? text : this.#unread + text
    let at = 0
    while (!this.#hasEnded) {
      const sizeEnd = bytes.indexOf('\r\n', at)
      if (sizeEnd < 0) break
      const size = Number.parseInt(bytes.slice(at, sizeEnd), 16)
      if (Number.isNaN(size)) throw new Error('a chunk does not begin with its size')
      const dataEnd = sizeEnd + 2 + size
      if (bytes.length < dataEnd + 2) break
      if (size === 0) this.#hasEnded = true
      else this.#readFrames(bytes.slice(sizeEnd + 2, dataEnd))
      at = dataEnd + 2
    }
    this.#unread = bytes.slice(at)
  }

  #readFrames(text: string): void {
    const frames = this.#frames === '' ? text : this.#frames + text
    let at = 0
    for (let end = frames.indexOf('\n\n'); end >= 0; end = frames.indexOf('\n\n', at)) {
      this.#onFrame(frames.slice(at, end))
      at = end + 2
    }
    this.#frames = frames.slice(at)
  }
}
