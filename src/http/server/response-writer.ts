/**
 * Writes one answer on a client's connection: head, pieces, end, in as few writes as possible. It decides
 * the framing; its caller decides the content. Invariant: an answer looks complete to the client only after
 * `end`.
 */
import { invariant } from '../../base/errors.ts'
import type { ClientOutput } from './client-output.ts'
import { isFieldValue, isNamed } from '../wire/fields.ts'
import { answerLines, HeadLines } from '../wire/head-lines.ts'
import type { RequestHead } from '../wire/request-head.ts'
import { copyOf } from '../wire/framing.ts'
import {
  bytesOf,
  chunkOf,
  fieldLine,
  joinPieces,
  statusLine,
  validText,
} from '../wire/message-writer.ts'

/** What an answer needs of its connection. */
export interface AnswerConnection {
  readonly output: ClientOutput
  /** The connection closes behind this answer, even if the client asks to keep it. */
  readonly isClosing: boolean
  /** Returns the value of the `Date` header for now. */
  readonly date: () => string
  /** Value of a `Keep-Alive` header. */
  readonly keepAlive: string
  /** The answer is complete. */
  onAnswered(): void
  /** Closes the connection behind the written bytes, although the answer is not complete. */
  breakOff(): void
  /** Closes it at once. */
  cut(): void
}

/**
 * Receives the events of an answer. An object, because V8 allocates a function that is assigned to a property
 * as long-lived at once, and it keeps everything it reaches alive.
 */
export interface AnswerWatcher {
  /** The client has gone before the answer was complete; called once. */
  onGone(): void
  /** The client has received enough to go on after `write` returned false. */
  onDrain(): void
}

const continueAnswer = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n')

export class ResponseWriter {
  watcher: AnswerWatcher | undefined
  readonly #connection: AnswerConnection
  readonly #isHttp11: boolean
  readonly #isHeadRequest: boolean
  #isLast: boolean
  #status = 0
  /** The head's text without framing and without the blank line, until it is written. */
  #head: string | undefined
  #isHeadWritten = false
  /** Headers besides those of the head, with their line ends. */
  #addedLines = ''
  /** The protocol that a 426 names. */
  #upgrade: string | undefined
  #isChunked = false
  #isEnded = false
  #isGone = false

  constructor(connection: AnswerConnection, head: RequestHead) {
    this.#connection = connection
    this.#isHttp11 = head.isHttp11
    this.#isHeadRequest = head.method === 'HEAD'
    this.#isLast = !head.isKeptAlive
  }

  /** Status and headers are fixed; they are sent with the first piece. */
  get isHeadWritten(): boolean {
    return this.#isHeadWritten
  }

  /** The client has gone: nothing written from now on reaches it. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** The connection closes behind this answer. */
  get isLast(): boolean {
    return this.#isLast
  }

  /** Sends `100 Continue` to a client that waits for it before it sends the body. */
  sendContinue(): void {
    if (!this.#isGone && !this.#isHeadWritten) this.#connection.output.write([continueAnswer])
  }

  /** Closes the connection behind this answer; the head says so unless it is written already. */
  closeAfterwards(): void {
    this.#isLast = true
  }

  /** Adds a header to the answer, whatever its head will be. Throws an InvariantError on an invalid one. */
  addHeader(name: string, value: string): void {
    this.#addedLines += fieldLine(name, value)
  }

  /** Headers are without framing; as a flat list, too. Throws an InvariantError on an invalid one. */
  writeHead(status: number, headers: HeadLines | readonly string[]): void {
    invariant(!this.#isHeadWritten, 'an answer has one head')
    const lines = headers instanceof HeadLines ? headers : this.#readOwn(status, headers)
    const date = lines.hasDate ? '' : `date: ${this.#connection.date()}\r\n`
    this.#status = status
    this.#head = `${statusLine(status)}${validText(lines)}${this.#addedLines}${date}`
    this.#isHeadWritten = true
  }

  /** The gateway's own answers may say something about the connection. */
  #readOwn(status: number, headers: readonly string[]): HeadLines {
    const lines = answerLines()
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index] ?? ''
      const value = headers[index + 1] ?? ''
      if (isNamed(name, 'connection')) {
        this.#isLast ||= isNamed(value, 'close')
        continue
      }
      if (isNamed(name, 'upgrade')) {
        invariant(status === 426 && isFieldValue(value), 'only 426 names a protocol to upgrade to')
        this.#upgrade = value
        continue
      }
      lines.add(name, value)
    }
    return lines
  }

  /** Returns false where the client is behind: `onDrain` follows. */
  write(pieces: readonly Buffer[]): boolean {
    invariant(this.#isHeadWritten && !this.#isEnded, 'pieces come between head and end')
    if (this.#isGone) return true
    const length = bytesOf(pieces)
    if (length === 0) return true
    let before = ''
    if (this.#head !== undefined) {
      this.#isChunked = this.#isHttp11 && this.#mayHaveBody()
      if (!this.#isHttp11) this.#isLast = true
      before = this.#takeHead(this.#isChunked ? 'transfer-encoding: chunked\r\n' : '')
    }
    if (!this.#mayHaveBody()) return before === '' || this.#put(before, [], '')
    if (!this.#isChunked) return this.#put(before, pieces, '')
    return this.#put(`${before}${length.toString(16)}\r\n`, pieces, '\r\n')
  }

  /** Writes a part of bytes whose memory is used again; otherwise as `write`. */
  writePart(bytes: Buffer, start: number, end: number): boolean {
    const isPlain = this.#isChunked && this.#head === undefined && this.#mayHaveBody()
    if (!isPlain || this.#isGone || this.#isEnded) return this.write([copyOf(bytes, start, end)])
    return this.#connection.output.writeOne(chunkOf(bytes, start, end))
  }

  /** Writes the last pieces. Without earlier ones they are the whole body, with its length. */
  end(pieces: readonly Buffer[] = []): void {
    invariant(this.#isHeadWritten && !this.#isEnded, 'an answer has one end')
    this.#isEnded = true
    if (this.#isGone) return
    const length = bytesOf(pieces)
    if (this.#head !== undefined) {
      const hasLength = this.#status !== 204 && this.#status !== 304
      const head = this.#takeHead(hasLength ? `content-length: ${length}\r\n` : '')
      this.#put(head, this.#mayHaveBody() ? pieces : [], '')
    } else if (this.#isChunked) {
      const frame = length === 0 ? '' : `${length.toString(16)}\r\n`
      this.#put(frame, pieces, length === 0 ? '0\r\n\r\n' : '\r\n0\r\n\r\n')
    } else if (length > 0 && this.#mayHaveBody()) {
      this.#put('', pieces, '')
    }
    this.#connection.onAnswered()
  }

  /** Sends the written bytes, then closes the connection: no client can take this for a whole answer. */
  breakOff(): void {
    if (!this.#isGone && !this.#isEnded) this.#connection.breakOff()
  }

  /** The same at once. An answer that has ended no longer owns its connection. */
  destroy(): void {
    if (!this.#isEnded) this.#connection.cut()
  }

  /** Called by the connection when the client has gone. */
  onClientGone(): void {
    if (this.#isEnded || this.#isGone) return
    this.#isGone = true
    this.watcher?.onGone()
  }

  #mayHaveBody(): boolean {
    return !this.#isHeadRequest && this.#status !== 204 && this.#status !== 304
  }

  #takeHead(framing: string): string {
    this.#isLast ||= this.#connection.isClosing
    const upgrade = this.#upgrade === undefined ? '' : `, upgrade\r\nupgrade: ${this.#upgrade}`
    const connection = this.#isLast
      ? `connection: close${upgrade}\r\n`
      : `connection: keep-alive${upgrade}\r\nkeep-alive: ${this.#connection.keepAlive}\r\n`
    const text = `${this.#head ?? ''}${connection}${framing}\r\n`
    this.#head = undefined
    return text
  }

  #put(before: string, pieces: readonly Buffer[], after: string): boolean {
    return this.#connection.output.write(joinPieces(before, pieces, after))
  }
}
