/**
 * One file of a page, and the answer that carries it: type, caching, compression, and the headers that keep a
 * page from loading or sending anything elsewhere. It knows no path and no listener.
 */
import { hash } from 'node:crypto'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Reply } from '../../http/server/reply.ts'

type Encoding = 'br' | 'gzip'
/** Memory that no other thread shares. */
export type Content = Buffer<ArrayBuffer>

export interface SiteFile {
  readonly type: string
  readonly policy: string
  readonly content: Content
  /** Without its quotation marks. */
  readonly tag: string
  /** Returns the content compressed; undefined where that saves nothing. */
  readonly compressed: (encoding: Encoding) => Promise<Content> | undefined
}

/** The answer, with its body in one piece. */
interface FileReply extends Reply {
  readonly body: Content
}

/** Headers of a request that decide about the answer. */
interface Asked {
  readonly acceptEncoding: string | undefined
  readonly ifNoneMatch: string | undefined
}

/** A page loads scripts, styles and images from its own origin, and talks to that origin only. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ')

/** For an image that a browser opens by itself: it may have styles, and runs nothing. */
const imagePolicy = "default-src 'none'; style-src 'unsafe-inline'"

const safetyHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.jpg': 'image/jpeg',
  '.ico': 'image/x-icon',
}
const compressible = new Set(['.html', '.js', '.css', '.json', '.svg'])
/** Below that a compressed answer needs as many packets. */
const compressedBytesMin = 1_024
/** Takes a tenth of the time of the highest, for files that are 3 to 5% larger. */
const brotliQuality = 9

const compressors = {
  br: (content: Content) =>
    promisify(brotliCompress)(content, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
  gzip: (content: Content) => promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
} as const

/** `path` decides about the type. */
export function siteFile(path: string, content: Content): SiteFile {
  const extension = extname(path).toLowerCase()
  const isWorth = compressible.has(extension) && content.length >= compressedBytesMin
  const results = new Map<Encoding, Promise<Content>>()
  return {
    type: types[extension] ?? 'application/octet-stream',
    policy: extension === '.html' ? pagePolicy : imagePolicy,
    content,
    tag: hash('sha256', content, 'base64url').slice(0, 22),
    compressed(encoding) {
      if (!isWorth) return undefined
      // Made at the first request for it, on a thread of Node's pool.
      const made = results.get(encoding) ?? compressors[encoding](content)
      results.set(encoding, made)
      return made
    },
  }
}

/** Returns the answer to GET or HEAD; 304 where the client has this content already. */
export async function replyWithFile(file: SiteFile, asked: Asked): Promise<FileReply> {
  const encoding = chooseEncoding(asked.acceptEncoding)
  const compressed = encoding === undefined ? undefined : file.compressed(encoding)
  const etag = compressed === undefined ? `"${file.tag}"` : `"${file.tag}-${encoding}"`
  const headers = Object.entries({
    // The names stay the same from build to build: a browser asks each time, and mostly gets a 304.
    'cache-control': 'no-cache',
    etag,
    vary: 'accept-encoding',
    ...safetyHeaders,
    'content-security-policy': file.policy,
  }).flat()
  if (isListed(asked.ifNoneMatch, etag)) return { status: 304, headers, body: Buffer.alloc(0) }
  headers.push('content-type', file.type)
  if (encoding === undefined || compressed === undefined)
    return { status: 200, headers, body: file.content }
  return {
    status: 200,
    headers: [...headers, 'content-encoding', encoding],
    body: await compressed,
  }
}

/** Returns the better encoding of those that the client takes. A weight of 0 means that it does not. */
function chooseEncoding(accepted = ''): Encoding | undefined {
  const taken = new Set(
    accepted
      .toLowerCase()
      .split(',')
      .map((one) => one.split(';').map((part) => part.trim()))
      .filter(([, ...parameters]) => !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one)))
      .map(([name]) => name),
  )
  if (taken.has('br')) return 'br'
  return taken.has('gzip') ? 'gzip' : undefined
}

function isListed(ifNoneMatch: string | undefined, etag: string): boolean {
  const listed = ifNoneMatch?.split(',').map((one) => one.trim().replace(/^W\//, ''))
  return listed?.some((one) => one === etag || one === '*') === true
}
