/**
 * Reads the JSON body of a request to the admin API: bounded, of the right type, without a name that
 * stands twice, because readers differ on which of the two counts.
 */
import type { IncomingMessage } from 'node:http'
import { refuse, type Refusal } from '../../base/errors.ts'

/** A price list of the community has about 2 MB. */
const bodyBytesMax = 4 * 1_048_576

type ReadBody = { readonly kind: 'body'; readonly value: unknown } | Refusal

/** No body and no content type mean an empty object. */
export async function readJsonBody(request: IncomingMessage): Promise<ReadBody> {
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
  return parseBody(bytes)
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

const decoder = new TextDecoder('utf-8', { fatal: true })

function parseBody(bytes: Buffer): ReadBody {
  let text: string
  let value: unknown
  try {
    text = decoder.decode(bytes)
    value = JSON.parse(text)
  } catch (error) {
    // TypeError: no UTF-8. SyntaxError: no JSON.
    if (!(error instanceof TypeError) && !(error instanceof SyntaxError)) throw error
    return refuse('http.malformed', 'The body is not valid JSON in UTF-8.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refuse('operations.invalid', 'The body must be a JSON object.')
  const twice = findRepeatedName(text)
  if (twice !== undefined)
    return refuse('operations.invalid', `The name ${twice} stands twice in one object of the body.`)
  return { kind: 'body', value }
}

/** A text, or one of the characters that open, close and separate. */
const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g

/** Finds a name that an object of the text has twice. The text is valid JSON. */
function findRepeatedName(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = []
  let last: string | undefined
  for (const [piece] of text.matchAll(token)) {
    if (piece === '{') open.push(new Set())
    else if (piece === '[') open.push(undefined)
    else if (piece === '}' || piece === ']') open.pop()
    else if (piece === ':' && last !== undefined) {
      const name = JSON.parse(last) as string
      const names = open.at(-1)
      if (names?.has(name) === true) return last
      names?.add(name)
    }
    last = piece.startsWith('"') ? piece : undefined
  }
  return undefined
}
