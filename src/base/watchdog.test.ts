import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { tickMs } from './clock.ts'
import { createWatchdog, unwatched, type Watched } from './watchdog.ts'

function watched(dueMs: number, onDue: () => void = () => undefined): Watched {
  return { dueMs, watchIndex: unwatched, onDue, cut: () => undefined }
}

test('a timeout fires within one tick of its time and never before', () => {
  for (const dueMs of [0, 1, 124, 125, 126, 950, 12_345]) {
    const clock = new ManualClock()
    const watchdog = createWatchdog(clock)
    const struckAt: number[] = []
    const one = watched(dueMs, () => {
      struckAt.push(clock.monotonic())
      watchdog.unwatch(one)
    })
    watchdog.watch(one)
    clock.advance(20_000)
    const [struckMs = Infinity] = struckAt
    assert.equal(struckAt.length, 1)
    assert.ok(struckMs >= dueMs && struckMs <= dueMs + tickMs, `${dueMs} struck at ${struckMs}`)
  }
})

test('one timer serves all, and none is left when nothing is watched', () => {
  const clock = new ManualClock()
  const watchdog = createWatchdog(clock)
  assert.equal(clock.pendingCount, 0)
  const many = Array.from({ length: 1_000 }, () => watched(Infinity))
  for (const one of many) watchdog.watch(one)
  assert.equal(clock.pendingCount, 1)
  clock.advance(1_000)
  assert.equal(clock.pendingCount, 1)
  for (const one of many) watchdog.unwatch(one)
  clock.advance(tickMs)
  assert.equal(clock.pendingCount, 0)
})

test('a moved timeout fires at its new time', () => {
  const clock = new ManualClock()
  const watchdog = createWatchdog(clock)
  let timeoutCount = 0
  const one = watched(500, () => timeoutCount++)
  watchdog.watch(one)
  for (let step = 0; step < 16; step++) {
    clock.advance(tickMs)
    one.dueMs = clock.monotonic() + 500
  }
  assert.equal(timeoutCount, 0)
  clock.advance(600)
  assert.ok(timeoutCount > 0)
})

test('without a timeout nothing fires; one that stays due fires at every tick', () => {
  const clock = new ManualClock()
  const watchdog = createWatchdog(clock)
  let timeoutCount = 0
  watchdog.watch(watched(Infinity, () => assert.fail('it has no limit')))
  watchdog.watch(watched(0, () => timeoutCount++))
  clock.advance(1_000)
  assert.equal(timeoutCount, 8)
})

test('watching and unwatching inside onDue is safe', () => {
  const clock = new ManualClock()
  const watchdog = createWatchdog(clock)
  const struck: string[] = []
  const second = watched(0, () => {
    struck.push('second')
    watchdog.unwatch(second)
  })
  const victim = watched(0, () => struck.push('victim'))
  const first = watched(0, () => {
    struck.push('first')
    watchdog.unwatch(first)
    watchdog.unwatch(victim)
    watchdog.watch(second)
  })
  watchdog.watch(first)
  watchdog.watch(victim)
  clock.advance(1_000)
  assert.deepEqual(struck, ['first', 'second'])
  assert.equal(clock.pendingCount, 0)
})

test('unwatching in any order keeps the others watched, and watching twice counts once', () => {
  const clock = new ManualClock()
  const watchdog = createWatchdog(clock)
  const struck: number[] = []
  const all = Array.from({ length: 20 }, (_, index) => watched(50, () => struck.push(index)))
  for (const one of [...all, ...all]) watchdog.watch(one)
  for (const index of [19, 0, 7, 7, 18]) watchdog.unwatch(all[index] ?? watched(0))
  clock.advance(tickMs)
  const expected = all.map((_, index) => index).filter((index) => ![19, 0, 7, 18].includes(index))
  assert.deepEqual(
    struck.toSorted((left, right) => left - right),
    expected,
  )
})

test('a closed watchdog fires nothing', () => {
  const clock = new ManualClock()
  const watchdog = createWatchdog(clock)
  watchdog.watch(watched(50, () => assert.fail('it was closed')))
  watchdog.close()
  clock.advance(1_000)
  assert.equal(clock.pendingCount, 0)
})
