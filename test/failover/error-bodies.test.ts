/**
 * Bodies of a vendor's errors that are out of the ordinary: whatever is shown of them is shown whole,
 * and nothing about them is the channel's fault when the request was.
 */
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { post, type WireAnswer } from '../support/http-client.ts'
import { messagesPath, messagesRequest } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

const bodyBytesMax = 2_000_000
const fault = errorBody('messages.0: no such role')
/** Made before there is a gateway: its store would wait while this thread compresses 50 MB. */
const unreadable: readonly (readonly [string, Buffer])[] = [
  ['gzip', fault],
  ['gzip', gzipSync(fault).subarray(0, -9)],
  ['zstd', fault],
  ['gzip, br', gzipSync(brotliCompressSync(fault))],
  ['gzip', gzipSync(errorBody('x'.repeat(50_000_000)))],
  ['zstd', zstdCompressSync(errorBody('x'.repeat(50_000_000)))],
  ['zstd', zstdCompressSync(fault).subarray(0, -9)],
  ['zstd', zstdFrame(fault, 27)],
]

const gateway = await scenario({
  vendors: 'scripted',
  settings: { answer_max_bytes: String(bodyBytesMax) },
})
after(() => gateway.close())
const { scripted: vendor, account } = gateway

interface VendorAnswer {
  readonly status: number
  readonly body: Buffer
  readonly headers?: Readonly<Record<string, string>>
}

function ask({ status, body, headers }: VendorAnswer): Promise<WireAnswer> {
  vendor.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body)
  })
  return post(gateway.url + messagesPath, account.key, messagesRequest())
}

function errorBody(message: string): Buffer {
  const error = { type: 'invalid_request_error', message }
  return Buffer.from(JSON.stringify({ type: 'error', error, request_id: 'req_1' }))
}

/** Every channel as new: no failures, no rests. */
function forget(): void {
  gateway.resetHealth()
}

beforeEach(forget)

function grade(): string {
  const channel = gateway.app.snapshot().channels.get('alpha-main')
  assert.ok(channel !== undefined)
  return gateway.app.health.grade(channel, 'large-1')
}

function assertServing(): void {
  assert.equal(grade(), 'on')
}

test("a client's fault passes to the byte, however long its text", async () => {
  const body = errorBody('x'.repeat(1_500_000))
  const answer = await ask({ status: 400, body })
  assert.equal(answer.status, 400)
  assert.ok(answer.body.equals(body), `${answer.body.length} bytes`)
})

test('an error body that is too large to keep is not shown in part', async () => {
  const body = errorBody('x'.repeat(bodyBytesMax))
  for (const [status, shown] of [
    [400, 502],
    [429, 429],
    [500, 502],
  ] as const) {
    const answer = await ask({ status, body })
    assert.equal(answer.status, shown)
    const { error } = JSON.parse(answer.body.toString()) as { error: { message: string } }
    assert.match(error.message, /vendor/i)
    if (status === 400) assertServing()
  }
})

test("a vendor's failure passes as it came with a UUID for its request, not with one for the account", async () => {
  const uuid = '550e8400-e29b-41d4-a716-446655440000'
  const shown = [429, 500, 503, 504, 529].map((status) => [status, status] as const)
  const told = [429, 500, 503, 504, 529].map(
    (status) =>
      [status, status === 500 || status === 504 ? 502 : status === 529 ? 503 : status] as const,
  )
  for (const [member, statuses] of [
    ['request_id', shown],
    ['organization_id', told],
  ] as const)
    for (const [status, expected] of statuses) {
      forget()
      const error = { type: 'api_error', message: 'Internal error' }
      const body = Buffer.from(JSON.stringify({ type: 'error', error, [member]: uuid }))
      const answer = await ask({ status, body })
      assert.equal(answer.status, expected, `${member} ${status}`)
      assert.equal(answer.body.equals(body), member === 'request_id', `${member} ${status}`)
      assert.equal(answer.body.includes(uuid), member === 'request_id')
    }
})

const codings: readonly (readonly [string, (body: Buffer) => Buffer])[] = [
  ['gzip', gzipSync],
  ['X-GZIP', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  [' BR', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['zstd', (body) => zstdFrame(body, 23)],
]

/** One plain block in a frame that has its reader keep a window of so many bytes, as a power of two. */
function zstdFrame(body: Buffer, windowLog: number): Buffer {
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3, 0, 0, 0])
  head.writeUIntLE((body.length << 3) | 1, 6, 3)
  return Buffer.concat([head, body])
}

test("a compressed error is the client's as it came where it is the client's fault", async () => {
  for (const [coding, compress] of codings) {
    const body = compress(errorBody('messages.0: no such role'))
    const answer = await ask({ status: 400, body, headers: { 'content-encoding': coding } })
    assert.equal(answer.status, 400)
    assert.equal(answer.headers['content-encoding'], coding.trim())
    assert.ok(answer.body.equals(body))
    assertServing()
  }
})

test("a compressed error that speaks of the operator's account is not shown", async () => {
  for (const [coding, compress] of codings) {
    const headers = { 'content-encoding': coding }
    forget()
    const credit = errorBody('Your credit balance is too low to access the API.')
    const account = await ask({ status: 400, body: compress(credit), headers })
    assert.equal(account.status, 502)
    assert.equal(account.headers['content-encoding'], undefined)
    assert.doesNotMatch(account.body.toString(), /credit/)

    forget()
    const limit = errorBody('Too many requests of org-operator1234.')
    const throttled = await ask({ status: 429, body: compress(limit), headers })
    assert.equal(throttled.status, 429)
    assert.match(throttled.body.toString(), /^\{"type":"error".*The vendor accepts no more/)
  }
})

test('an unreadable compressed error is not shown and does not count against the channel', async () => {
  for (const [coding, body] of unreadable)
    for (const status of [400, 403, 404]) {
      forget()
      const answer = await ask({ status, body, headers: { 'content-encoding': coding } })
      assert.equal(answer.status, 502)
      assert.match(answer.body.toString(), /^\{"type":"error"/)
      assertServing()
    }
})

test('a readable refusal counts against the channel, in every content coding', async () => {
  const missing = errorBody('model: no such model')
  for (const [coding, compress] of codings) {
    forget()
    const headers = { 'content-encoding': coding }
    const answer = await ask({ status: 404, body: compress(missing), headers })
    assert.equal(answer.status, 404)
    assert.match(answer.body.toString(), /The vendor does not serve this model/)
    assert.equal(grade(), 'off')
  }
})
