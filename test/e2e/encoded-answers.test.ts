/**
 * Answers that come compressed although the gateway asks for none: the client gets them decoded, and they
 * are charged as others are. The vendor is scripted, so that it can send any coding, also a hostile one.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createDeflateRaw,
  createGzip,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import type { Transform } from 'node:stream'
import { post, type WireAnswer } from '../support/http-client.ts'
import { chargesOf } from '../support/money.ts'
import { chatPath, chatRequest, openAsk } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

const gateway = await scenario({ vendors: 'scripted' })
after(() => gateway.close())
const { scripted: vendor } = gateway

const answer =
  '{"choices":[{"index":0,"message":{"content":"Hi"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}'

interface Coding {
  readonly name: string
  readonly header: string
  readonly whole: (text: string) => Buffer
  readonly open: () => Transform & { flush(kind: number): void }
  readonly flush: number
}

const codings: readonly Coding[] = [
  ['gzip', 'gzip', gzipSync, createGzip, constants.Z_SYNC_FLUSH],
  ['gzip by its old name', ' X-GZIP ', gzipSync, createGzip, constants.Z_SYNC_FLUSH],
  ['deflate', 'deflate', deflateSync, createDeflate, constants.Z_SYNC_FLUSH],
  ['raw deflate', 'deflate', deflateRawSync, createDeflateRaw, constants.Z_SYNC_FLUSH],
  ['br', 'br', brotliCompressSync, createBrotliCompress, constants.BROTLI_OPERATION_FLUSH],
  ['zstd', 'zstd', zstdCompressSync, createZstdCompress, constants.ZSTD_e_flush],
].map(([name, header, whole, open, flush]) => ({ name, header, whole, open, flush }) as Coding)

function answerWith(body: Buffer, coding: string): void {
  vendor.answer((response) => {
    const length = String(body.length)
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-encoding': coding,
      'content-length': length,
    })
    response.end(body)
  })
}

function ask(): Promise<WireAnswer> {
  return post(gateway.url + chatPath, gateway.account.key, chatRequest())
}

async function lastCharge(): Promise<bigint | undefined> {
  const charges = await chargesOf(gateway.context.database, gateway.account.id)
  return [...charges.values()].at(-1)
}

function event(fields: object): string {
  return `data: ${JSON.stringify(fields)}\n\n`
}

describe('an answer that came compressed', () => {
  for (const { name, header, whole } of codings)
    test(`in ${name} reaches the client decoded and is charged`, async () => {
      answerWith(Buffer.from(answer), 'identity')
      await ask()
      const usual = await lastCharge()
      answerWith(whole(answer), header)
      const decoded = await ask()
      assert.equal(decoded.status, 200)
      assert.equal(decoded.text, answer)
      assert.equal(decoded.headers['content-encoding'], undefined)
      assert.equal(decoded.headers['content-length'], String(answer.length))
      assert.equal(await lastCharge(), usual)
    })

  for (const { name, header, open, flush } of codings)
    test(`in ${name} as a stream passes each event when it comes`, async () => {
      const more = Promise.withResolvers<void>()
      const first = event({ choices: [{ index: 0, delta: { content: 'first' } }] })
      const rest =
        event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
        event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 1 } }) +
        'data: [DONE]\n\n'
      vendor.answer(async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': header })
        const encoder = open()
        encoder.pipe(response)
        encoder.write(first)
        encoder.flush(flush)
        await more.promise
        encoder.end(rest)
      })
      const stream = openAsk(gateway.url, gateway.account.key, {
        format: 'chat',
        isStream: true,
        marker: name,
        more: { stream_options: { include_usage: true } },
      })
      await stream.until((text) => text.includes('first'))
      more.resolve()
      const whole = await stream.ended
      assert.equal(whole.text, first + rest)
      assert.equal(whole.headers['content-encoding'], undefined)
      assert.ok(whole.isComplete)
    })
})

describe('an answer that cannot be decoded within bounds is a failure of the channel', () => {
  const large = answer.replace('Hi', 'x'.repeat(5_000_000))
  const broken = gzipSync(answer)
  broken.fill(0xff, 12, 30)
  const cases: readonly (readonly [name: string, body: Buffer, coding: string])[] = [
    ['a small body that becomes a large one', gzipSync(large), 'gzip'],
    ['a small body that becomes a large one, in br', brotliCompressSync(large), 'br'],
    ['a body that is broken', broken, 'gzip'],
    ['half a body', gzipSync(answer).subarray(0, 40), 'gzip'],
    ['a body in another coding', gzipSync(answer), 'br'],
    ['an unknown coding', gzipSync(answer), 'compress'],
    ['two codings', gzipSync(gzipSync(answer)), 'gzip, gzip'],
  ]
  for (const [name, body, coding] of cases)
    test(name, async () => {
      gateway.resetHealth()
      await gateway.attempts()
      answerWith(body, coding)
      assert.equal((await ask()).status, 502)
      assert.deepEqual(await gateway.attempts(), { 'beta-main hard': 1, 'beta-reserve hard': 1 })
    })

  test('a begun stream that breaks gets an error event after what was decoded', async () => {
    const first = event({ choices: [{ index: 0, delta: { content: 'first' } }] })
    const more = Promise.withResolvers<void>()
    vendor.answer(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      const encoder = createGzip()
      encoder.pipe(response)
      encoder.write(first)
      encoder.flush(constants.Z_SYNC_FLUSH)
      await more.promise
      encoder.unpipe()
      response.end(Buffer.alloc(100, 0xff))
    })
    const stream = openAsk(gateway.url, gateway.account.key, {
      format: 'chat',
      isStream: true,
      marker: 'breaks',
    })
    await stream.until((text) => text.includes('first'))
    more.resolve()
    const ended = await stream.ended
    assert.ok(ended.text.startsWith(first))
    assert.match(ended.text.slice(first.length), /^\s*data: \{"error"/)
    assert.equal(ended.isComplete, false)
  })
})
