/** Which bodies are parsed on the event loop, and that large ones never are. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import type { ForwardedOperation } from '../formats/format.ts'
import { messagesCreate } from '../formats/messages/index.ts'
import {
  createBodyReader,
  plainBodyBytesMax,
  smallBodyBytesMax,
  type BodyReader,
} from './body-reader.ts'

const plain = '{"model":"m","max_tokens":5,"messages":[1]}'

/** A body of this size; the spaces are behind the object. */
function bodyOf(size: number): Buffer {
  return Buffer.concat([Buffer.from(plain), Buffer.alloc(size - plain.length, ' ')])
}

/** Its reading on the event loop is a fault of the test. */
const neverHere: ForwardedOperation = {
  ...messagesCreate,
  readRequest: () => assert.fail('a large body was parsed on the event loop'),
}

function unread(bytes: Buffer, changes: { readonly accountId?: string; isGone?: () => boolean }) {
  return {
    accountId: 'acc_1',
    format: 'messages' as const,
    operation: neverHere,
    bytes,
    options: { requireMaxTokens: true },
    isGone: () => false,
    ...changes,
  }
}

function startReal(t: TestContext): BodyReader {
  const reader = createBodyReader({
    clock: new ManualClock(),
    onThreadLost: (error) => assert.fail(String(error)),
  })
  t.after(() => reader.close())
  return reader
}

/** More values than a body may have that is parsed at once. */
const manyValues = Buffer.from(`{"model":"m","max_tokens":5,"messages":[${'1,'.repeat(80_000)}1]}`)

test('a body is parsed at once where that is quick, else on the thread, with the same result', async (t) => {
  const reader = startReal(t)
  for (const size of [smallBodyBytesMax, smallBodyBytesMax + 1, plainBodyBytesMax]) {
    const bytes = bodyOf(size)
    const atOnce = reader.read({ ...unread(bytes, {}), operation: messagesCreate })
    assert.ok('facts' in atOnce && !('kind' in atOnce.facts), `${size} bytes`)
    assert.equal(atOnce.bytes, bytes)
  }
  for (const bytes of [bodyOf(plainBodyBytesMax + 1), manyValues]) {
    const copy = Buffer.from(bytes)
    const { options, ...large } = unread(bytes, {})
    const reading = reader.read({ ...large, options, operation: messagesCreate })
    assert.ok(reading instanceof Promise)
    const read = await reading
    assert.deepEqual(read?.bytes, copy)
    assert.deepEqual(read?.facts, messagesCreate.readRequest(copy, options))
  }
  const broken = Buffer.concat([bodyOf(plainBodyBytesMax + 1), Buffer.from('x')])
  const refused = await reader.read(unread(broken, {}))
  assert.ok(refused !== undefined && 'kind' in refused.facts)
  assert.match(refused.facts.message, /not valid JSON/)
})

test('a body whose client has left is not parsed', async (t) => {
  const reader = startReal(t)
  const bytes = bodyOf(plainBodyBytesMax + 1)
  const gone = unread(bytes, { isGone: () => true })
  assert.equal(await reader.read(gone), undefined)
  assert.equal(bytes.length, plainBodyBytesMax + 1, 'its bytes have not moved')
})
