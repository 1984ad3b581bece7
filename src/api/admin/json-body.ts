/**
 * Receives the JSON body of a request to the admin API: bounded, and of the right type. Its content is parsed
 * elsewhere, because a large one is not parsed on the event loop.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse, type Refusal } from '../../base/errors.ts'
import type { FileTurns } from './file-turns.ts'

export interface BodySource {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** Reading one of this size takes a few milliseconds, whatever it says. */
export const smallBodyBytesMax = 262_144

/** How a large body is received; without it there is none. */
export interface LargeBodies {
  readonly bytesMax: number
  readonly turns: FileTurns
  readonly tokenId: string
}

export type ReceivedBody = { readonly kind: 'bytes'; readonly bytes: Buffer<ArrayBuffer> } | Refusal

/** No body is empty; its content type may be absent. */
export async function receiveBody(
  source: BodySource,
  bytesMax: number,
  large?: LargeBodies,
): Promise<ReceivedBody> {
  const received = await receiveBytes(source, bytesMax, large)
  if (received.kind === 'refusal') return received
  const { headers } = source.incoming
  const type = headers['content-type']
  if (received.bytes.length === 0 && (type === undefined || isJson(type))) return received
  if (!isJson(type) || (headers['content-encoding'] ?? 'identity') !== 'identity')
    return refuse(
      'http.unsupported_media_type',
      'Send the body as content-type: application/json, in UTF-8, without a content-encoding.',
    )
  return received
}

async function receiveBytes(
  { incoming, outgoing }: BodySource,
  usualBytesMax: number,
  large: LargeBodies | undefined,
): Promise<ReceivedBody> {
  const bytesMax = large?.bytesMax ?? usualBytesMax
  const tooLarge = refuse(
    'http.body_too_large',
    `The body may have at most ${bytesMax} bytes here.`,
  )
  const announced = Number(incoming.headers['content-length'] ?? 0)
  if (announced > bytesMax) return tooLarge
  let hasTurn = false
  const takeTurn = async (): Promise<Refusal | undefined> => {
    if (hasTurn || large === undefined) return undefined
    hasTurn = true
    return large.turns.take(large.tokenId, outgoing)
  }
  const busy = announced > usualBytesMax ? await takeTurn() : undefined
  if (busy !== undefined) return busy
  if (incoming.headers.expect !== undefined && incoming.httpVersion === '1.1')
    outgoing.writeContinue()
  const body = new GrowingBytes(announced)
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    if (body.length + piece.length > bytesMax) return tooLarge
    const late = body.length + piece.length > usualBytesMax ? await takeTurn() : undefined
    if (late !== undefined) return late
    body.add(piece)
  }
  return { kind: 'bytes', bytes: body.taken() }
}

/** Bytes in one piece of memory, which no other data shares: it can move to a thread. */
class GrowingBytes {
  #buffer: Buffer<ArrayBuffer>
  length = 0

  constructor(expected: number) {
    this.#buffer = Buffer.from(new ArrayBuffer(expected))
  }

  add(piece: Buffer): void {
    const needed = this.length + piece.length
    if (needed > this.#buffer.length) {
      const grown = Buffer.from(new ArrayBuffer(Math.max(needed, 2 * this.#buffer.length)))
      this.#buffer.copy(grown)
      this.#buffer = grown
    }
    piece.copy(this.#buffer, this.length)
    this.length = needed
  }

  taken(): Buffer<ArrayBuffer> {
    return this.#buffer.subarray(0, this.length)
  }
}

function isJson(type: string | undefined): boolean {
  return /^application\/json *(; *charset="?utf-8"? *)?$/i.test(type ?? '')
}
