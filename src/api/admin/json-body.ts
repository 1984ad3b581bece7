/** Reads the JSON body of a request to the admin API: bounded, and of the right type. */
import type { IncomingMessage } from 'node:http'
import { refuse } from '../../base/errors.ts'
import { parseJsonObject, type ParsedJson } from './json-text.ts'

/** A price list of the community has about 2 MB. */
const bodyBytesMax = 4 * 1_048_576

/** No body and no content type mean an empty object. */
export async function readJsonBody(request: IncomingMessage): Promise<ParsedJson> {
  const bytes = await readBytes(request)
  if (bytes === undefined)
    return refuse('http.body_too_large', `The body may have at most ${bodyBytesMax} bytes.`)
  const type = request.headers['content-type']
  if (bytes.length === 0 && type === undefined) return { kind: 'body', value: {} }
  if (!isJson(type) || (request.headers['content-encoding'] ?? 'identity') !== 'identity')
    return refuse(
      'http.unsupported_media_type',
      'Send the body as content-type: application/json, in UTF-8, without a content-encoding.',
    )
  return parseJsonObject(bytes)
}

async function readBytes(request: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) return undefined
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > bodyBytesMax) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function isJson(type: string | undefined): boolean {
  return /^application\/json *(; *charset="?utf-8"? *)?$/i.test(type ?? '')
}
