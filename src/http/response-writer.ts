/**
 * Writes one answer on a client's connection: head, pieces, end, in as few writes as they need. It
 * decides the framing; whoever uses it decides the content. Invariant: an answer looks complete to
 * the client only when `end` was called.
 */
import { invariant } from '../base/errors.ts'
import type { ClientOutput } from './client-output.ts'
import { isNamed } from './wire/field-syntax.ts'
import type { RequestHead } from './wire/request-head.ts'
import { bytesOf, fieldLine, joinPieces, statusLine } from './wire/response-pieces.ts'

/** The connection an answer is written on, as far as the answer needs it. */
export interface AnswerSite {
  readonly output: ClientOutput
  /** The connection is to end behind this answer, whatever the client wishes. */
  readonly isClosing: boolean
  /** Value of a `Date` header for this moment. */
  readonly date: () => string
  /** Value of a `Keep-Alive` header. */
  readonly keepAlive: string
  /** The answer is complete. */
  onAnswered(): void
  /** Ends the connection behind what is written, the answer not being complete. */
  breakOff(): void
  /** Ends it at once. */
  cut(): void
}

/**
 * What an answer tells whoever writes it. An object, because a function made where it is assigned to a
 * property is put among the long-lived at once by V8, and keeps all it reaches alive with it.
 */
export interface AnswerWatcher {
  /** The client has gone before the answer was complete; called once. */
  onGone(): void
  /** The client has taken what `write` said was too much. */
  onDrain(): void
}

const invitation = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n')

export class ResponseWriter {
  watcher: AnswerWatcher | undefined
  readonly #site: AnswerSite
  readonly #isHttp11: boolean
  readonly #isHeadRequest: boolean
  #isLast: boolean
  #status = 0
  /** The head's text without framing and without the blank line, until it is written. */
  #head: string | undefined
  #isHeadWritten = false
  #isChunked = false
  #isEnded = false
  #isGone = false

  constructor(site: AnswerSite, head: RequestHead) {
    this.#site = site
    this.#isHttp11 = head.isHttp11
    this.#isHeadRequest = head.method === 'HEAD'
    this.#isLast = !head.isKeptAlive
  }

  /** Status and headers are settled; they leave with the first piece. */
  get isHeadWritten(): boolean {
    return this.#isHeadWritten
  }

  /** Nothing written from now on reaches anybody. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** The connection ends behind this answer. */
  get isLast(): boolean {
    return this.#isLast
  }

  /** Asks for the body of a client that waits to be asked. */
  invite(): void {
    if (!this.#isGone && !this.#isHeadWritten) this.#site.output.write([invitation])
  }

  /** To be said before the head is written. */
  closeAfterwards(): void {
    this.#isLast = true
  }

  /** Flat list, without any length. Throws an InvariantError on what cannot stand in a head. */
  writeHead(status: number, headers: readonly string[]): void {
    invariant(!this.#isHeadWritten, 'an answer has one head')
    let text = statusLine(status)
    let hasDate = false
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index] ?? ''
      const value = headers[index + 1] ?? ''
      if (name.length === 10 && isNamed(name, 'connection')) {
        this.#isLast ||= isNamed(value, 'close')
        continue
      }
      hasDate ||= name.length === 4 && isNamed(name, 'date')
      text += fieldLine(name, value)
    }
    if (!hasDate) text += `date: ${this.#site.date()}\r\n`
    this.#status = status
    this.#head = text
    this.#isHeadWritten = true
  }

  /** False where the client is behind: `onDrain` follows. */
  write(pieces: readonly Buffer[]): boolean {
    invariant(this.#isHeadWritten && !this.#isEnded, 'pieces stand between head and end')
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

  /** The last pieces. Without any before them they are the whole body, of stated length. */
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
    this.#site.onAnswered()
  }

  /** What is written goes out, then the connection ends: no client can take this for a whole answer. */
  breakOff(): void {
    if (!this.#isGone && !this.#isEnded) this.#site.breakOff()
  }

  /** The same at once. An answer that has ended has no connection any more to take down. */
  destroy(): void {
    if (!this.#isEnded) this.#site.cut()
  }

  /** The connection's word that the client has gone. */
  leave(): void {
    if (this.#isEnded || this.#isGone) return
    this.#isGone = true
    this.watcher?.onGone()
  }

  #mayHaveBody(): boolean {
    return !this.#isHeadRequest && this.#status !== 204 && this.#status !== 304
  }

  #takeHead(framing: string): string {
    this.#isLast ||= this.#site.isClosing
    const connection = this.#isLast
      ? 'connection: close\r\n'
      : `connection: keep-alive\r\nkeep-alive: ${this.#site.keepAlive}\r\n`
    const text = `${this.#head ?? ''}${connection}${framing}\r\n`
    this.#head = undefined
    return text
  }

  #put(before: string, pieces: readonly Buffer[], after: string): boolean {
    return this.#site.output.write(joinPieces(before, pieces, after))
  }
}
