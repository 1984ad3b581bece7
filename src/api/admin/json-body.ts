/**
 * Reads the JSON body of a request to the admin API: bounded, and of the right type. A thread parses a large
 * one, so that the gateway relays meanwhile. One large body is under way at a time, because it is in memory
 * several times: as bytes, as text, and as the files in it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse } from '../../base/errors.ts'
import { runInThread, ThreadMemoryError } from '../../base/thread.ts'
import { parseJsonObject, type ParsedJson } from './json-text.ts'

export interface BodySource {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

const usualBytesMax = 4 * 1_048_576
/** A thread takes longer to start than a body of this size takes to be parsed. */
const smallBytesMax = 65_536
const heapMbMax = 512

let isLargeUnderWay = false

const busy = refuse(
  'relay.overloaded',
  'Another large body is under way. Try again when it is done.',
  {
    'retry-after': '5',
  },
)

/** No body means an empty object; its content type may be absent. */
export async function readJsonBody(
  source: BodySource,
  bytesMax: number = usualBytesMax,
): Promise<ParsedJson> {
  const bytes = await readBytes(source, bytesMax)
  if (bytes === 'busy') return busy
  if (bytes === 'too_large')
    return refuse('http.body_too_large', `The body may have at most ${bytesMax} bytes here.`)
  const { headers } = source.incoming
  const type = headers['content-type']
  if (bytes.length === 0 && (type === undefined || isJson(type))) return { kind: 'body', value: {} }
  if (!isJson(type) || (headers['content-encoding'] ?? 'identity') !== 'identity')
    return refuse(
      'http.unsupported_media_type',
      'Send the body as content-type: application/json, in UTF-8, without a content-encoding.',
    )
  return bytes.length <= smallBytesMax ? parseJsonObject(bytes) : parseApart(bytes)
}

async function readBytes(
  { incoming, outgoing }: BodySource,
  bytesMax: number,
): Promise<Buffer | 'too_large' | 'busy'> {
  let isLarge = false
  /** False where another large body is under way; else this one is until its request is answered. */
  const claim = (): boolean => {
    if (isLarge) return true
    // A closed response would never say that it is over.
    if (isLargeUnderWay || outgoing.closed) return false
    isLarge = true
    isLargeUnderWay = true
    outgoing.once('close', () => {
      isLargeUnderWay = false
    })
    return true
  }
  const announced = Number(incoming.headers['content-length'] ?? 0)
  if (announced > bytesMax) return 'too_large'
  if (announced > usualBytesMax && !claim()) return 'busy'
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > bytesMax) return 'too_large'
    if (length > usualBytesMax && !claim()) return 'busy'
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function isJson(type: string | undefined): boolean {
  return /^application\/json *(; *charset="?utf-8"? *)?$/i.test(type ?? '')
}

async function parseApart(bytes: Buffer): Promise<ParsedJson> {
  try {
    const url = new URL('./json-thread.ts', import.meta.url)
    return await runInThread<ParsedJson>(url, { order: bytes, heapMbMax })
  } catch (error) {
    if (!(error instanceof ThreadMemoryError)) throw error
    return refuse('http.body_too_large', `The body needs more than ${heapMbMax} MB of memory.`)
  }
}
