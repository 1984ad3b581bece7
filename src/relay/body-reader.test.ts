/** Which bodies are parsed on the event loop, and that large ones never are. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import type { ForwardedOperation } from '../formats/format.ts'
import { messagesCreate } from '../formats/messages/index.ts'
import { createBodyReader, smallBodyBytesMax, type BodyReader } from './body-reader.ts'

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

test('a small body is parsed at once, a large one on the thread, with the same result', async (t) => {
  const reader = startReal(t)
  const small = bodyOf(smallBodyBytesMax)
  const here = { ...unread(small, {}), operation: messagesCreate }
  const atOnce = reader.read(here)
  assert.ok('facts' in atOnce)
  const bytes = bodyOf(smallBodyBytesMax + 1)
  const copy = Buffer.from(bytes)
  const reading = await reader.read(unread(bytes, {}))
  assert.deepEqual(reading?.bytes, copy)
  assert.deepEqual(reading?.facts, messagesCreate.readRequest(copy, here.options))
  assert.equal('kind' in atOnce.facts, false)
  const broken = Buffer.concat([bodyOf(smallBodyBytesMax + 1), Buffer.from('x')])
  const refused = await reader.read(unread(broken, {}))
  assert.ok(refused !== undefined && 'kind' in refused.facts)
  assert.match(refused.facts.message, /not valid JSON/)
})

test('a body whose client has left is not parsed', async (t) => {
  const reader = startReal(t)
  const bytes = bodyOf(smallBodyBytesMax + 1)
  const gone = unread(bytes, { isGone: () => true })
  assert.equal(await reader.read(gone), undefined)
  assert.equal(bytes.length, smallBodyBytesMax + 1, 'its bytes have not moved')
})
