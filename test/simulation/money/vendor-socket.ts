/**
 * A vendor's end of a connection without a network: what the gateway's own connection code opens, writes
 * to and reads from. Nothing comes by itself: each piece waits until the simulation delivers it, into
 * the memory that all connections read into, which is wiped afterwards.
 */
import { Socket, type TcpNetConnectOpts } from 'node:net'

export type Piece =
  | {
      readonly kind: 'bytes'
      readonly bytes: Buffer
      /** Whose record says from here on that all that matters has been said. */
      readonly told?: { isTold: boolean }
    }
  | { readonly kind: 'close' | 'reset' }

type Step = Piece | { readonly kind: 'connect' | 'refuse' }

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly body: string
}

export interface VendorSide {
  readonly isRefused: boolean
  /** A whole request has come: what follows it. */
  readonly answer: (request: SeenRequest) => readonly Piece[]
  /** The gateway has let go of the connection. */
  readonly onOver: () => void
}

export class VendorSocket extends Socket {
  readonly #onread: NonNullable<TcpNetConnectOpts['onread']>
  readonly #side: VendorSide
  readonly #steps: Step[]
  #received = ''

  constructor({ onread }: TcpNetConnectOpts, side: VendorSide) {
    super()
    if (onread === undefined) throw new Error('the gateway reads into memory of its own')
    this.#onread = onread
    this.#side = side
    this.#steps = [{ kind: side.isRefused ? 'refuse' : 'connect' }]
  }

  get canAdvance(): boolean {
    return this.#steps.length > 0 && !this.destroyed && !this.isPaused()
  }

  /** Delivers what comes next. */
  advance(): void {
    const step = this.#steps.shift()
    switch (step?.kind) {
      case 'connect':
        this.emit('connect')
        return
      case 'bytes':
        if (step.told !== undefined) step.told.isTold = true
        this.#deliver(step.bytes)
        return
      case 'close':
        this.push(null)
        this.read(0)
        return
      case 'refuse':
        this.#fail('ECONNREFUSED')
        return
      case 'reset':
        this.#fail('ECONNRESET')
        return
      case undefined:
    }
  }

  /** Nobody hears of it any more. */
  forget(): void {
    this.#steps.length = 0
    this.removeAllListeners()
  }

  override _read(): void {}

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    this.#received += typeof chunk === 'string' ? chunk : chunk.toString('latin1')
    const [, method = '', path = ''] = /^(POST|DELETE) (\S+) /.exec(this.#received) ?? []
    const headEnd = this.#received.indexOf('\r\n\r\n') + 4
    const head = this.#received.slice(0, headEnd)
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1] ?? '0'
    if (headEnd > 3 && this.#received.length === headEnd + Number(length)) {
      const body = this.#received.slice(headEnd)
      this.#received = ''
      this.#steps.push(...this.#side.answer({ method, path, body }))
    }
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#steps.length = 0
    super._destroy(error, done)
    this.#side.onOver()
  }

  #deliver(bytes: Buffer): void {
    const { buffer } = this.#onread
    if (typeof buffer === 'function') throw new Error('one memory for all reads')
    buffer.set(bytes)
    this.#onread.callback(bytes.length, buffer)
    buffer.fill(0, 0, bytes.length)
  }

  #fail(code: string): void {
    this.destroy(Object.assign(new Error(code), { code }))
  }
}
