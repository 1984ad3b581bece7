/** Answers that come compressed: the receiver gets the bytes that were compressed, or no whole answer. */
import assert from 'node:assert/strict'
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import type { Random } from '../../src/base/random.ts'
import { sendDecoding } from '../../src/http/client/decoded-answer.ts'
import { ReceivedHead } from '../../src/http/client/round-trip.ts'
import type { UpstreamReceiver } from '../../src/http/client/upstream.ts'
import { fieldsOf } from '../../src/http/wire/fields.ts'
import { requestLines } from '../../src/http/wire/head-lines.ts'
import { cutAnywhere } from './pieces.ts'

const encoders: readonly (readonly [coding: string, encode: (content: Buffer) => Buffer])[] = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
]

const bytesMax = 1_000_000

export async function checkCodings(content: Buffer, random: Random): Promise<void> {
  for (const [coding, encode] of encoders) {
    const coded = encode(content)
    const whole = await receive(coding, cutAnywhere(coded, random))
    assert.equal(whole.end, 'end', coding)
    assert.ok(
      whole.content.equals(content),
      `${coding}: decoded in pieces, the content is the same`,
    )
    const cut = coded.subarray(0, Math.floor(random() * coded.length))
    const part = await receive(coding, cutAnywhere(cut, random))
    assert.ok(
      content.subarray(0, part.content.length).equals(part.content),
      `${coding}: a part of the content is its beginning`,
    )
    const broken = Buffer.from(coded)
    const at = Math.floor(random() * broken.length)
    broken[at] = (broken[at] ?? 0) ^ (1 << Math.floor(random() * 8))
    await receive(coding, cutAnywhere(broken, random))
  }
}

interface Received {
  readonly content: Buffer
  readonly end: 'end' | 'failure'
}

const request = { method: 'POST', path: '/', headers: requestLines(), body: undefined } as const

/** Resolves with what a receiver gets of the pieces; it gets exactly one end. */
async function receive(coding: string, pieces: readonly Buffer[]): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>()
  const received: Buffer[] = []
  let isOver = false
  const finish = (end: Received['end']): void => {
    if (isOver) reject(new Error(`${coding}: an answer ended twice`))
    isOver = true
    resolve({ content: Buffer.concat(received), end })
  }
  const receiver: UpstreamReceiver = {
    onHead: () => undefined,
    onBytes(bytes, start, end) {
      received.push(Buffer.from(bytes.subarray(start, end)))
      return true
    },
    onEnd: () => finish('end'),
    onFailure: () => finish('failure'),
  }
  let upstream: UpstreamReceiver | undefined
  const vendor = {
    send: (_target: unknown, _request: unknown, inner: UpstreamReceiver) => {
      upstream = inner
      return { resume: () => undefined, abort: () => undefined }
    },
  }
  sendDecoding(vendor, { url: 'https://vendor.example', name: 'v' }, request, {
    receiver,
    bytesMax,
  })
  const fields = fieldsOf(['content-encoding', coding])
  upstream?.onHead(new ReceivedHead({ status: 200, fields, isEndAnnounced: true }))
  for (const piece of pieces) if (piece.length > 0) upstream?.onBytes(piece, 0, piece.length)
  upstream?.onEnd()
  return promise
}
