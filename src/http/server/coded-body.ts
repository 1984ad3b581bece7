/**
 * Decodes request bodies that come compressed: gzip, deflate, br or zstd. Off the event loop, in pieces, each
 * of which has to find room. Invariant: a body is one member or frame and nothing else, so that no two
 * readers see two contents in it; no window is larger than 8 MB.
 */
import type { Transform } from 'node:stream'
import {
  constants,
  crc32,
  createBrotliDecompress,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import type { Refusal } from '../../base/errors.ts'
import { zstdWindowLogMax } from '../client/content-encoding.ts'
import type { BodyReading } from './request.ts'

export type BodyCoding = 'gzip' | 'deflate' | 'br' | 'zstd'

/** Undefined for a coding that is not decoded here, or several. */
export function bodyCodingOf(contentEncoding: string): BodyCoding | undefined {
  const name = contentEncoding.trim().toLowerCase()
  return Object.hasOwn(codings, name) ? (name as BodyCoding) : undefined
}

export interface DecodeLimits {
  readonly bytesMax: number
  /** Takes room for this number of bytes in all, or returns a refusal. */
  readonly reserve: (bytes: number) => Refusal | undefined
}

type Decoded = Extract<BodyReading, { kind: 'body' | 'too_large' | 'refusal' }> | NotDecoded

interface NotDecoded {
  readonly kind: 'not_decoded'
}

/** `not_decoded`: the bytes are not of this coding, cut short, or more than one member or frame. */
export function decodeBody(
  coded: Buffer,
  coding: BodyCoding,
  { bytesMax, reserve }: DecodeLimits,
): Promise<Decoded> {
  const opened = codings[coding](coded)
  if (opened === undefined) return Promise.resolve(notDecoded)
  const { decoder, content, isWhole } = opened
  const { promise, resolve } = Promise.withResolvers<Decoded>()
  const pieces: Buffer[] = []
  let length = 0
  const stop = (reading: Decoded): void => {
    resolve(reading)
    decoder.destroy()
  }
  decoder.on('data', (piece: Buffer) => {
    length += piece.length
    if (length > bytesMax) return stop({ kind: 'too_large' })
    const full = reserve(coded.length + length)
    if (full !== undefined) return stop(full)
    pieces.push(piece)
  })
  decoder.on('error', () => stop(notDecoded))
  decoder.on('end', () => {
    const body = Buffer.concat(pieces)
    resolve(isWhole(decoder.bytesWritten, body) ? { kind: 'body', body } : notDecoded)
  })
  decoder.end(content)
  return promise
}

const notDecoded: NotDecoded = { kind: 'not_decoded' }

interface Opened {
  readonly decoder: Transform & { readonly bytesWritten: number }
  /** The input of the decoder. */
  readonly content: Buffer
  /** Whether the decoder has used all bytes, and the bytes behind them fit. */
  readonly isWhole: (usedBytes: number, body: Buffer) => boolean
}

const chunkSize = 262_144

/** Undefined where the beginning is not of the coding. */
const codings: Readonly<Record<BodyCoding, (coded: Buffer) => Opened | undefined>> = {
  gzip(coded) {
    const start = gzipHeaderEnd(coded)
    if (start === undefined) return undefined
    const content = coded.subarray(start)
    return {
      decoder: createInflateRaw({ chunkSize }),
      content,
      isWhole: (usedBytes, body) =>
        content.length === usedBytes + gzipTrailerBytes &&
        content.readUInt32LE(usedBytes) === crc32(body) &&
        content.readUInt32LE(usedBytes + 4) === body.length,
    }
  },
  deflate: (content) => ({
    decoder: createInflate({ chunkSize }),
    content,
    isWhole: (usedBytes) => usedBytes === content.length,
  }),
  br(content) {
    if (((content[0] ?? 0) & 0x0f) === brotliWindow16) return undefined
    return {
      decoder: createBrotliDecompress({ chunkSize }),
      content,
      isWhole: (usedBytes) => usedBytes === content.length,
    }
  },
  zstd(content) {
    if (zstdFrameEnd(content) !== content.length) return undefined
    const params = { [constants.ZSTD_d_windowLogMax]: zstdWindowLogMax }
    return {
      decoder: createZstdDecompress({ chunkSize, params }),
      content,
      isWhole: (usedBytes) => usedBytes === content.length,
    }
  },
}

/** The bits that ask for a window of 16 MB: RFC 7932, section 9.1. */
const brotliWindow16 = 0x0f

const gzipHeaderBytes = 10
const gzipTrailerBytes = 8
/** RFC 1952, section 2.3.1. */
const gzipFlags = { headerCrc: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 } as const

/** Returns where the data of the member begin. */
function gzipHeaderEnd(coded: Buffer): number | undefined {
  if (coded.length < gzipHeaderBytes || coded.readUInt32BE(0) >>> 8 !== 0x1f8b08) return undefined
  const flags = coded[3] ?? 0
  if ((flags & gzipFlags.reserved) !== 0) return undefined
  let at = gzipHeaderBytes
  if ((flags & gzipFlags.extra) !== 0) {
    if (coded.length < at + 2) return undefined
    at += 2 + coded.readUInt16LE(at)
  }
  for (const flag of [gzipFlags.name, gzipFlags.comment]) {
    if ((flags & flag) === 0) continue
    const end = coded.indexOf(0, at)
    if (end < 0) return undefined
    at = end + 1
  }
  if ((flags & gzipFlags.headerCrc) !== 0) at += 2
  return at <= coded.length ? at : undefined
}

const zstdMagic = 0xfd2fb528
/** Bytes of the field by its flag: RFC 8878, section 3.1.1.1. */
const zstdContentSizeBytes = [0, 2, 4, 8] as const
const zstdDictionaryBytes = [0, 1, 2, 4] as const

/** Returns where the first frame ends; undefined where it is none, or cut short. */
function zstdFrameEnd(coded: Buffer): number | undefined {
  if (coded.length < 6 || coded.readUInt32LE(0) !== zstdMagic) return undefined
  const descriptor = coded[4] ?? 0
  const isSingleSegment = (descriptor & 0x20) !== 0
  const sizeBytes = zstdContentSizeBytes[(descriptor >> 6) as 0 | 1 | 2 | 3]
  let at = 5 + (isSingleSegment ? 0 : 1)
  at += zstdDictionaryBytes[(descriptor & 3) as 0 | 1 | 2 | 3]
  at += isSingleSegment && sizeBytes === 0 ? 1 : sizeBytes
  for (;;) {
    if (at + 3 > coded.length) return undefined
    const header = coded.readUIntLE(at, 3)
    const isRepeated = ((header >> 1) & 3) === 1
    at += 3 + (isRepeated ? 1 : header >> 3)
    if ((header & 1) === 1) break
  }
  if ((descriptor & 4) !== 0) at += 4
  return at <= coded.length ? at : undefined
}
