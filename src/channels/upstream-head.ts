/**
 * The head of a vendor's answer: what the HTTP client has parsed, raw lists made only on demand, and
 * the facts of framing that decide what the end of the body proves.
 */
import type { Dispatcher } from 'undici'

export type ParsedHeaders = Readonly<Record<string, string | string[] | undefined>>

export class ReceivedHead {
  readonly status: number
  readonly isCloseDelimited: boolean
  /** False for a transfer coding other than `chunked`: the body would come undecoded. */
  readonly isFramingKnown: boolean
  readonly #headers: ParsedHeaders
  readonly #received: Dispatcher.DispatchController['rawHeaders']
  #rawHeaders: readonly string[] | undefined

  constructor(
    status: number,
    headers: ParsedHeaders,
    received: Dispatcher.DispatchController['rawHeaders'],
    isBodiless: boolean,
  ) {
    this.status = status
    this.#headers = headers
    this.#received = received
    const coding = headers['transfer-encoding']
    this.isFramingKnown =
      coding === undefined || (typeof coding === 'string' && coding.toLowerCase() === 'chunked')
    this.isCloseDelimited =
      !isBodiless && coding === undefined && headers['content-length'] === undefined
  }

  get rawHeaders(): readonly string[] {
    return (this.#rawHeaders ??= readRawHeaders(this.#received))
  }

  header(name: string): string | undefined {
    const value = this.#headers[name]
    if (typeof value === 'string') return value
    return Array.isArray(value) ? value[0] : undefined
  }
}

function readRawHeaders(received: Dispatcher.DispatchController['rawHeaders']): readonly string[] {
  if (!Array.isArray(received)) return []
  const raw: string[] = []
  for (const part of received) raw.push(typeof part === 'string' ? part : part.toString('latin1'))
  return raw
}
