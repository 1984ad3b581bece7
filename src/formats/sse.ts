/**
 * Server-sent events at the level of bytes: finds the end of each frame and reads its fields. Text is latin1,
 * one character per byte, so that every offset is a byte offset and a character split over two reads causes
 * no problem. It never changes bytes and knows no vendor. Work is linear in the bytes, however they are cut.
 */

const lineFeed = 0x0a
const carriageReturn = 0x0d
const colon = 0x3a
const space = 0x20

/**
 * Finds the ends of frames in a stream that arrives in pieces. A frame ends behind its blank line; LF, CRLF
 * and a single CR all end a line.
 *
 * A CR at the end of a piece may be the first half of a CRLF. The frame is reported at once, because waiting
 * for the next byte would delay an event. A following LF then belongs to the line that has ended, and is the
 * first byte of the next frame.
 */
export class FrameSplitter {
  #text = ''
  #position = 0
  #hasCarriageReturn = false
  #isAtLineStart = true
  #isAfterCarriageReturn = false

  /** Takes the next piece. All frames of the previous piece must have been read. */
  open(text: string): void {
    this.#text = text
    this.#position = 0
    this.#hasCarriageReturn = text.includes('\r')
    if (!this.#isAfterCarriageReturn || text.length === 0) return
    this.#isAfterCarriageReturn = false
    if (text.charCodeAt(0) === lineFeed) this.#position = 1
  }

  /** Returns the offset behind the next frame in this piece, or -1 if the piece has no further end. */
  next(): number {
    return this.#hasCarriageReturn ? this.#nextAnyEnding() : this.#nextLineFeed()
  }

  /** The last piece ended in a CR: an LF at the front of the next piece is its second half. */
  get isAfterCarriageReturn(): boolean {
    return this.#isAfterCarriageReturn
  }

  #nextLineFeed(): number {
    const text = this.#text
    const from = this.#position
    if (from >= text.length) return -1
    if (this.#isAtLineStart && text.charCodeAt(from) === lineFeed) return this.#found(from + 1)
    const blank = text.indexOf('\n\n', from)
    if (blank >= 0) return this.#found(blank + 2)
    this.#isAtLineStart = text.charCodeAt(text.length - 1) === lineFeed
    this.#position = text.length
    return -1
  }

  #nextAnyEnding(): number {
    const text = this.#text
    let position = this.#position
    let isAtLineStart = this.#isAtLineStart
    while (position < text.length) {
      const code = text.charCodeAt(position++)
      if (code !== lineFeed && code !== carriageReturn) {
        isAtLineStart = false
        continue
      }
      if (code === carriageReturn) {
        if (position === text.length) this.#isAfterCarriageReturn = true
        else if (text.charCodeAt(position) === lineFeed) position++
      }
      if (isAtLineStart) return this.#found(position)
      isAtLineStart = true
    }
    this.#isAtLineStart = isAtLineStart
    this.#position = position
    return -1
  }

  #found(end: number): number {
    this.#position = end
    this.#isAtLineStart = true
    return end
  }
}

/** The fields of a frame that the gateway needs. */
export interface FrameFields {
  readonly event: string | undefined
  /** The data lines, joined by LF, as UTF-8 text; undefined where there is no data line. */
  readonly data: string | undefined
}

/** A whole frame as bytes, and the same bytes as latin1 text: both views from `start` to `end`. */
export interface FrameBytes {
  readonly bytes: Buffer
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Reads the fields of one frame; comments and unknown fields are skipped. */
export function readFields(frame: FrameBytes): FrameFields {
  const { bytes, text, end } = frame
  let event: string | undefined
  let data: string | undefined
  let at = frame.start
  while (at < end) {
    const lineEnd = findLineEnd(text, at, end)
    if (isField(text, at, 'data', lineEnd)) {
      const value = bytes.toString('utf8', valueStart(text, at + 4, lineEnd), lineEnd)
      data = data === undefined ? value : data + '\n' + value
    } else if (isField(text, at, 'event', lineEnd)) {
      event = bytes.toString('utf8', valueStart(text, at + 5, lineEnd), lineEnd)
    }
    at = lineEnd + 1
  }
  return { event, data }
}

function findLineEnd(text: string, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === lineFeed || code === carriageReturn) return at
  }
  return end
}

/** A field is its name alone on a line, or its name and a colon. */
function isField(text: string, at: number, name: string, lineEnd: number): boolean {
  if (!text.startsWith(name, at)) return false
  const behind = at + name.length
  return behind === lineEnd || (behind < lineEnd && text.charCodeAt(behind) === colon)
}

/** Returns the offset behind the colon and one optional space; `nameEnd` is the end of the name. */
function valueStart(text: string, nameEnd: number, lineEnd: number): number {
  const behind = Math.min(nameEnd + 1, lineEnd)
  return behind < lineEnd && text.charCodeAt(behind) === space ? behind + 1 : behind
}
