/** The bounds of account holders' questions: at once, waiting, a minute, in all, and in bytes. */
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import {
  readsMax,
  readsPerAccountMax,
  readsPerMinuteMax,
  ReadsUnderWay,
  runningPerAccountMax,
  unreadBytesMax,
  type ReadPlace,
} from './reads-under-way.ts'

function startReads() {
  const clock = new ManualClock()
  const reads = new ReadsUnderWay(clock)
  const codeOf = async (accountId: string): Promise<string | undefined> => {
    const result = await reads.enter(accountId)
    return 'code' in result ? result.code : undefined
  }
  const mustEnter = async (accountId: string): Promise<ReadPlace> => {
    const place = await reads.enter(accountId)
    assert.ok(!('code' in place), accountId)
    return place
  }
  return { clock, reads, codeOf, mustEnter }
}

test('two questions of an account run, more wait in their order, and too many are refused', async () => {
  const { codeOf, mustEnter } = startReads()
  const running = [await mustEnter('a'), await mustEnter('a')]
  assert.equal(running.length, runningPerAccountMax)
  const begun: number[] = []
  const waiting = Array.from({ length: readsPerAccountMax - running.length }, async (_, index) => {
    const place = await mustEnter('a')
    begun.push(index)
    return place
  })
  await nextTurn()
  assert.deepEqual(begun, [])
  assert.equal(await codeOf('a'), 'access.too_many_running')
  await mustEnter('b')
  running[0]?.leave()
  await nextTurn()
  assert.deepEqual(begun, [0])
  for (const place of waiting) (await place).leave()
  assert.deepEqual(begun, [0, 1, 2, 3, 4, 5])
})

test('a question that waits too long is refused, and leaves its place', async () => {
  const { clock, codeOf, mustEnter } = startReads()
  const running = [await mustEnter('a'), await mustEnter('a')]
  const refused = codeOf('a')
  clock.advance(10_000)
  assert.equal(await refused, 'access.too_many_running')
  for (const place of running) place.leave()
  await mustEnter('a')
  await mustEnter('a')
})

test('so many questions of an account are answered in a minute, and the refusal says when more are', async () => {
  const { clock, reads, mustEnter } = startReads()
  clock.advance(60_000 - (clock.monotonic() % 60_000))
  for (let count = 0; count < readsPerMinuteMax; count++) (await mustEnter('a')).leave()
  clock.advance(15_500)
  const refusal = await reads.enter('a')
  assert.ok('code' in refusal)
  assert.deepEqual(
    [refusal.code, refusal.headers],
    ['access.rate_limited', { 'retry-after': '45' }],
  )
  ;(await mustEnter('b')).leave()
  clock.advance(44_500)
  await mustEnter('a')
})

test('bounds the questions of all accounts together', async () => {
  const { codeOf, mustEnter } = startReads()
  const places = await Promise.all(
    Array.from({ length: readsMax }, (_, index) => mustEnter(`acc_${index}`)),
  )
  assert.equal(await codeOf('acc_last'), 'relay.overloaded')
  places[0]?.leave()
  await mustEnter('acc_last')
})

test('bounds the bytes of answers that are not received, and gives them back', async () => {
  const { reads, mustEnter } = startReads()
  const first = await mustEnter('a')
  const second = await mustEnter('b')
  assert.equal(first.keep(unreadBytesMax - 1), undefined)
  assert.equal(second.keep(2)?.code, 'relay.overloaded')
  assert.equal(second.keep(1), undefined)
  first.leave()
  assert.equal(reads.unreadBytes, 1)
  second.leave()
  assert.equal(reads.unreadBytes, 0)
})
