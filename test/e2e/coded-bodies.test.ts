/**
 * Bodies that clients compress, as coding agents do: they are decoded within the limits of a body and
 * forwarded decoded. What is not one whole content of its coding is refused.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import fc from 'fast-check'
import { send, type WireAnswer } from '../support/http-client.ts'
import { chatPath, chatRequest, messagesPath, messagesRequest } from '../support/requests.ts'
import { scenario, withScenario, type Scenario } from '../support/scenario.ts'

let gateway: Scenario
before(async () => {
  gateway = await scenario({ account: { balance_usd: '1000' } })
})
after(() => gateway.close())

type Coding = 'gzip' | 'deflate' | 'br' | 'zstd'

const encode: Readonly<Record<Coding, (body: Buffer) => Buffer>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
}
const codings = Object.keys(encode) as Coding[]

function post(
  body: Buffer,
  coding: string,
  { path = chatPath, to = gateway }: { readonly path?: string; readonly to?: Scenario } = {},
): Promise<WireAnswer> {
  return send(to.url + path, {
    headers: {
      'content-type': 'application/json',
      'content-encoding': coding,
      authorization: `Bearer ${to.account.key}`,
    },
    body,
  })
}

const bodyOf = (text: string): Buffer =>
  Buffer.from(JSON.stringify(chatRequest({ messages: [{ role: 'user', content: text }] })))
const small = bodyOf('Grüße')
/** Above what is parsed on the event loop. */
const large = bodyOf('word '.repeat(60_000))

function assertForwarded(answer: WireAnswer, body: Buffer): void {
  assert.equal(answer.status, 200, answer.text)
  const record = gateway.sandbox.log.records.at(-1)
  assert.ok(record?.requestBody?.equals(body) === true)
  const sent = record.rawHeaders.map((text) => text.toLowerCase())
  assert.ok(!sent.includes('content-encoding'))
  assert.equal(sent[sent.indexOf('content-length') + 1], String(body.length))
}

for (const coding of codings)
  test(`a body as ${coding} is forwarded decoded`, async () => {
    for (const body of [small, large])
      assertForwarded(await post(encode[coding](body), coding), body)
    assertForwarded(await post(encode[coding](small), coding.toUpperCase()), small)
  })

test('both formats and free operations take it', async () => {
  const body = Buffer.from(JSON.stringify(messagesRequest()))
  assert.equal((await post(gzipSync(body), 'gzip', { path: messagesPath })).status, 200)
  const { max_tokens: _, ...counted } = messagesRequest()
  const count = zstdCompressSync(Buffer.from(JSON.stringify(counted)))
  const path = `${messagesPath}/count_tokens`
  assert.equal((await post(count, 'zstd', { path })).status, 200)
})

const gzip = gzipSync(small)
const namedGzip = Buffer.concat([
  Buffer.from([0x1f, 0x8b, 8, 0x1e, 0, 0, 0, 0, 0, 3, 2, 0, 1, 2]),
  Buffer.from('name\0comment\0'),
  Buffer.from([0, 0]),
  gzip.subarray(10),
])

test('a gzip header with every optional part is understood', async () => {
  assertForwarded(await post(namedGzip, 'gzip'), small)
})

const broken: Readonly<Record<string, readonly [Coding, Buffer]>> = {
  'two members': ['gzip', Buffer.concat([gzip, gzip])],
  'bytes behind the member': ['gzip', Buffer.concat([gzip, Buffer.from('x')])],
  'a wrong checksum': ['gzip', Buffer.concat([gzip.subarray(0, -8), Buffer.alloc(8)])],
  'an unknown flag': [
    'gzip',
    Buffer.concat([gzip.subarray(0, 3), Buffer.from([0x80]), gzip.subarray(4)]),
  ],
  'bytes behind the stream': ['deflate', Buffer.concat([deflateSync(small), Buffer.from('x')])],
  'no zlib header': ['deflate', deflateRawSync(small)],
  'bytes behind brotli': ['br', Buffer.concat([brotliCompressSync(small), Buffer.from('x')])],
  'a brotli window of 16 MB': [
    'br',
    brotliCompressSync(small, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }),
  ],
  'two frames': ['zstd', Buffer.concat([zstdCompressSync(small), zstdCompressSync(small)])],
  'bytes behind the frame': ['zstd', Buffer.concat([zstdCompressSync(small), Buffer.from('x')])],
  'a skippable frame': ['zstd', Buffer.from([0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 0])],
  'a zstd window of 16 MB': [
    'zstd',
    // The frame does not say how large its content is, and asks for 2^24 bytes.
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (24 - 10) << 3, 1, 0, 0]),
  ],
  ...Object.fromEntries(
    codings.flatMap((coding) => [
      [`${coding} cut short`, [coding, encode[coding](small).subarray(0, -3)] as const],
      [`plain JSON as ${coding}`, [coding, small] as const],
      [`nothing as ${coding}`, [coding, Buffer.alloc(0)] as const],
    ]),
  ),
}

for (const [what, [coding, body]] of Object.entries(broken))
  test(`${what} gets 400`, async () => {
    gateway.sandbox.log.clear()
    const answer = await post(body, coding)
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.text, /one whole \w+ content/)
    assert.equal(gateway.sandbox.log.records.length, 0)
  })

test('a body that becomes too large gets 413, and its room is free again', async () => {
  await withScenario({ settings: { body_max_bytes: '100000' } }, async (to) => {
    const zeros = Buffer.alloc(50_000_000)
    for (const coding of codings)
      assert.equal((await post(encode[coding](zeros), coding, { to })).status, 413, coding)
    for (let count = 0; count < 20; count++)
      assert.equal((await post(gzipSync(bodyOf('x'.repeat(90_000))), 'gzip', { to })).status, 200)
  })
})

test('property: any bytes under a coding get an answer below 500', async () => {
  const headed = fc.tuple(fc.constantFrom(...codings), fc.nat(40), fc.uint8Array({ maxLength: 60 }))
  await fc.assert(
    fc.asyncProperty(headed, async ([coding, kept, bytes]) => {
      const body = Buffer.concat([encode[coding](small).subarray(0, kept), bytes])
      const { status } = await post(body, coding)
      assert.ok(status < 500)
    }),
    { numRuns: 200 },
  )
})
