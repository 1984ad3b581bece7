/**
 * Content codings: the gateway passes a vendor's error unchanged, and decodes it only to classify it.
 * Invariant: a decoded body is a copy of bounded size.
 */
import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'

/** Limit of the coded and of the decoded bytes: no error is larger. */
const readableBytesMax = 1_048_576

/** Returns whether a body with this header is not encoded. */
export function isIdentity(contentEncoding: string | undefined): boolean {
  const coding = codingOf(contentEncoding)
  return coding === '' || coding === 'identity'
}

/** Returns the body itself or a decoded copy; undefined where it cannot be decoded. */
export function readableBody(
  body: Buffer,
  contentEncoding: string | undefined,
): Buffer | undefined {
  if (body.length === 0 || isIdentity(contentEncoding)) return body
  const decode = decoders.get(codingOf(contentEncoding))
  if (decode === undefined || body.length > readableBytesMax) return undefined
  return attempt(() => decode(body))
}

/** Returns the coding in lower case; empty where there is none. */
export function codingOf(contentEncoding: string | undefined): string {
  return (contentEncoding ?? '').trim().toLowerCase()
}

const bounds = { maxOutputLength: readableBytesMax }

const gunzip = (body: Buffer): Buffer => gunzipSync(body, bounds)
/** Some servers send raw deflate data without the zlib header. */
const inflate = (body: Buffer): Buffer =>
  attempt(() => inflateSync(body, bounds)) ?? inflateRawSync(body, bounds)

/** 8 MiB, which is what RFC 9659 lets a server ask for; a frame may name far more. */
export const zstdWindowLogMax = 23

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
    // Broken, cut short, or too large: an expected outcome here.
    return undefined
  }
}
