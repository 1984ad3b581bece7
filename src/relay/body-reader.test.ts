/** Which bodies are parsed on the event loop, and that large ones never are. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import type { ForwardedOperation } from '../formats/format.ts'
import { messagesCreate } from '../formats/messages/index.ts'
import { createBodyReader, smallBodyBytesMax, type BodyReader } from './body-reader.ts'
import type { BodyAnswer, BodyQuestion } from './body-thread.ts'

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

/** A thread that answers when the test says so. */
function startScripted(t: TestContext) {
  const asked: (BodyQuestion & PromiseWithResolvers<BodyAnswer>)[] = []
  const lost: unknown[] = []
  const thread = {
    lose: (error: Error): void => assert.fail(String(error)),
    openCount: 0,
    closeCount: 0,
  }
  const clock = new ManualClock()
  const reader = createBodyReader({
    clock,
    onThreadLost: (error) => void lost.push(error),
    openThread(onLost) {
      thread.openCount++
      thread.lose = (error) => {
        onLost(error)
        for (const { reject } of asked) reject(error)
      }
      return {
        ask(question) {
          const answered = Promise.withResolvers<BodyAnswer>()
          asked.push({ ...question, ...answered })
          return answered.promise
        },
        end: () => Promise.resolve(thread.closeCount++),
      }
    },
  })
  t.after(() => reader.close())
  const read = (accountId: string, isGone = () => false) =>
    Promise.resolve(reader.read(unread(bodyOf(smallBodyBytesMax + 1), { accountId, isGone })))
  const answer = (index: number): void => {
    const { bytes, resolve } = asked[index] ?? assert.fail('not asked')
    resolve({ bytes, facts: { kind: 'fault', message: `answer ${index}` } })
  }
  return { asked, lost, thread, clock, read, answer }
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

test('of each account one large body is with the thread', async (t) => {
  const { asked, read, answer } = startScripted(t)
  const [first, second] = [read('acc_1'), read('acc_1')]
  const other = read('acc_2')
  await new Promise(setImmediate)
  assert.equal(asked.length, 2, 'the first body of each account')
  answer(1)
  assert.ok((await other) !== undefined)
  assert.equal(asked.length, 2)
  answer(0)
  await first
  await new Promise(setImmediate)
  assert.equal(asked.length, 3)
  answer(2)
  const { facts } = (await second) ?? assert.fail('not read')
  assert.deepEqual(facts, { kind: 'fault', message: 'answer 2' })
})

test('a body whose client has left is not parsed', async (t) => {
  const { asked, read } = startScripted(t)
  assert.equal(await read('acc_1', () => true), undefined)
  assert.equal(asked.length, 0)
})

test('a lost thread is reported, its bodies are not read, and the next one starts another', async (t) => {
  const { thread, lost, asked, read, answer } = startScripted(t)
  const [one, two] = [read('acc_1'), read('acc_2')]
  await new Promise(setImmediate)
  thread.lose(new Error('out of memory'))
  assert.deepEqual(await Promise.all([one, two]), [undefined, undefined])
  assert.equal(lost.length, 1)
  const next = read('acc_1')
  await new Promise(setImmediate)
  assert.equal(thread.openCount, 2)
  answer(asked.length - 1)
  assert.ok((await next) !== undefined)
})

test('a thread without work ends after a while', async (t) => {
  const { thread, clock, read, answer } = startScripted(t)
  const reading = read('acc_1')
  await new Promise(setImmediate)
  clock.advance(60_000)
  assert.equal(thread.closeCount, 0, 'it has work')
  answer(0)
  await reading
  clock.advance(30_000)
  assert.equal(thread.closeCount, 1)
})
