/**
 * A client of the simulation on a socket without a network: a connection of the gateway's
 * listener reads from and writes to it. Bytes arrive in the turn in which they are written, unless
 * the client reads slowly.
 */
import { Socket } from 'node:net'
import { lastEvents } from '../../support/answers.ts'
import { type BodyFormat, places } from '../../support/requests.ts'

export interface SimRequest {
  readonly number: number
  readonly format: BodyFormat
  readonly isStream: boolean
  readonly maxTokens: number
  readonly secret: string
  /** The stored response that this request continues or deletes; its account may be another one. */
  readonly earlierId?: string
  readonly isDeletion?: boolean
}

/** Small, so that a client which does not read is noticed within an answer. */
const socketOptions = { allowHalfOpen: true, writableHighWaterMark: 256 }

class SimSocket extends Socket {
  onBytes: (bytes: Buffer) => void = () => undefined
  onFinished: () => void = () => undefined
  #isSlow = false
  #waiting: (() => void) | undefined

  constructor() {
    super(socketOptions)
  }

  setSlow(isSlow: boolean): void {
    this.#isSlow = isSlow
    if (isSlow) return
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.()
  }

  override _read(): void {}

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    const take = (): void => {
      this.onBytes(Buffer.from(chunk))
      done()
    }
    if (this.#isSlow) this.#waiting = take
    else take()
  }

  override _writev(chunks: readonly { readonly chunk: Buffer | string }[], done: () => void): void {
    const whole = Buffer.concat(chunks.map(({ chunk }) => Buffer.from(chunk)))
    this._write(whole, 'utf8', done)
  }

  override _final(done: () => void): void {
    done()
    this.onFinished()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#waiting = undefined
    super._destroy(error, done)
    this.onFinished()
  }
}

export class SimClient {
  readonly request: SimRequest
  readonly #socket = new SimSocket()
  #text = ''
  #hasEnd = false
  #isServed = false
  #isRefused = false
  #isOpen = true
  #isSlow = false

  constructor(request: SimRequest, accept: (socket: Socket) => void) {
    this.request = request
    this.#socket.onBytes = (bytes) => {
      if (this.#isOpen) this.#take(bytes.toString('latin1'))
    }
    this.#socket.onFinished = () => void (this.#isOpen = false)
    accept(this.#socket)
    this.#socket.push(requestBytes(request))
  }

  /** Neither side has ended the connection. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  get isSlow(): boolean {
    return this.#isSlow
  }

  /** The client holds a whole answer: complete by its framing, and for a stream by its last event. */
  get hasEnd(): boolean {
    return this.#hasEnd
  }

  /** Nothing more is to come: an answer, or a refusal, is whole. */
  get isServed(): boolean {
    return this.#isServed
  }

  /** The id of the response that it got to its end. */
  get responseId(): string | undefined {
    if (!this.#hasEnd || this.request.format !== 'responses') return undefined
    return /"id":"(resp_[^"]+)"/.exec(this.#text)?.[1]
  }

  /** It got an error in place of an answer. */
  get isRefused(): boolean {
    return this.#isRefused
  }

  /** Stops taking bytes, or takes what has waited and all that comes. */
  setSlow(isSlow: boolean): void {
    this.#isSlow = isSlow
    this.#socket.setSlow(isSlow)
  }

  leave(): void {
    this.#isOpen = false
    this.#socket.destroy()
  }

  /** The gateway has died: nothing more comes, and the gateway's end is not told. */
  lose(): void {
    this.#isOpen = false
  }

  #take(bytes: string): void {
    this.#text += bytes
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(this.#text)?.[1] ?? 0)
    this.#hasEnd = status === 200 && this.#isWhole()
    this.#isRefused = status >= 300
    const isOver = this.#hasEnd || this.#text.endsWith('\r\n0\r\n\r\n')
    this.#isServed = isOver || (this.#isRefused && this.#text.includes('\r\n\r\n'))
  }

  #isWhole(): boolean {
    const { format, isStream } = this.request
    if (isStream && format !== 'embeddings')
      return this.#text.includes(`${lastEvents[format]}${format === 'responses' ? '\n' : ''}`)
    const [head = '', body = ''] = this.#text.split('\r\n\r\n')
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Infinity)
    return body.length >= length
  }
}

function requestBytes(request: SimRequest): Buffer {
  const { format, secret, earlierId } = request
  const { path } = places[format]
  const isDeletion = request.isDeletion === true
  const body = isDeletion ? '' : JSON.stringify(bodyOf(request))
  const line = isDeletion ? `DELETE ${path}/${earlierId}` : `POST ${path}`
  return Buffer.from(
    `${line} HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\n` +
      `x-api-key: ${secret}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

function bodyOf({ format, number, isStream, maxTokens, earlierId }: SimRequest): object {
  const { model } = places[format]
  const text = `This is the request of client ${number}.`
  switch (format) {
    case 'messages':
    case 'chat': {
      const messages = [{ role: 'user', content: text }]
      return { model, max_tokens: maxTokens, stream: isStream, messages }
    }
    case 'responses': {
      const earlier = earlierId === undefined ? {} : { previous_response_id: earlierId }
      return { model, max_output_tokens: maxTokens, stream: isStream, input: text, ...earlier }
    }
    case 'completions':
      return { model, max_tokens: maxTokens, stream: isStream, prompt: text }
    case 'embeddings':
      return { model, input: text }
  }
}
