/**
 * Content codings, as far as the gateway has to do with them: it passes bodies on as they came, and
 * reads a vendor's error only to judge it. Invariant: what is decoded is a copy of bounded size.
 */
import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'

/** Of the coded bytes, and of what they come to: no error has more to say. */
const readableBytesMax = 1_048_576

/** Whether a body with this header is plain. */
export function isIdentity(contentEncoding: string | undefined): boolean {
  const coding = codingOf(contentEncoding)
  return coding === '' || coding === 'identity'
}

/** A body as it can be read: itself, or a decoded copy. Undefined where it cannot be read here. */
export function readableBody(
  body: Buffer,
  contentEncoding: string | undefined,
): Buffer | undefined {
  if (body.length === 0 || isIdentity(contentEncoding)) return body
  const decode = decoders.get(codingOf(contentEncoding))
  if (decode === undefined || body.length > readableBytesMax) return undefined
  return attempt(() => decode(body))
}

function codingOf(contentEncoding: string | undefined): string {
  return (contentEncoding ?? '').trim().toLowerCase()
}

const bounds = { maxOutputLength: readableBytesMax }

const gunzip = (body: Buffer): Buffer => gunzipSync(body, bounds)
/** Some servers leave out the wrapping that the name stands for. */
const inflate = (body: Buffer): Buffer =>
  attempt(() => inflateSync(body, bounds)) ?? inflateRawSync(body, bounds)

/** 8 MiB, which is what RFC 9659 lets a server ask for; a frame may name far more. */
const zstdWindowLogMax = 23

const zstdBounds = { ...bounds, params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLogMax } }

const decoders: ReadonlyMap<string, (body: Buffer) => Buffer> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', (body: Buffer) => brotliDecompressSync(body, bounds)],
  ['zstd', (body: Buffer) => zstdDecompressSync(body, zstdBounds)],
])

function attempt(decode: () => Buffer): Buffer | undefined {
  try {
    return decode()
  } catch {
    // Broken, cut short, or larger than what is read: an outcome here, whichever it is.
    return undefined
  }
}
