/**
 * Reads the body of a streamed answer: chunks of HTTP/1.1, and in them the frames of events, however
 * the reads and the chunks cut them. It takes whole chunks only: a chunk that has not arrived
 * completely waits, as its event does. A body that is not as it must be is a fault.
 */

/** What a response head says about the body, or undefined while the head is not complete. */
export function findBodyStart(text: string): number | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  if (!/^HTTP\/1\.[01] 200 /.test(head)) {
    throw new Error(`the answer to a stream request was: ${text.slice(0, 500)}`)
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) throw new Error('the stream is not chunked')
  return end + 4
}

export class ChunkedEvents {
  readonly #onFrame: (frame: string) => void
  #unread = ''
  #frames = ''
  #hasEnded = false

  constructor(onFrame: (frame: string) => void) {
    this.#onFrame = onFrame
  }

  /** True once the last chunk, the empty one, has been read. */
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
      if (Number.isNaN(size)) throw new Error('a chunk begins without its size')
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
