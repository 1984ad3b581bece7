import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { every, nextUtcMidnight, sleep, systemClock, utcDay, utcMonth } from './clock.ts'

/** Lets promise chains that are ready run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a sleep ends at its moment and not before', async () => {
  const clock = new ManualClock()
  let isOver = false
  void sleep(clock, 1_000).then(() => (isOver = true))
  clock.advance(999)
  await turn()
  assert.equal(isOver, false)
  clock.advance(1)
  await turn()
  assert.equal(isOver, true)
  assert.equal(clock.pendingCount, 0)
})

test('a sleep that is aborted ends at once and leaves no timer', async () => {
  const clock = new ManualClock()
  const abort = new AbortController()
  const slept = sleep(clock, 1_000, abort.signal)
  abort.abort()
  await slept
  assert.equal(clock.pendingCount, 0)
  await sleep(clock, 1_000, abort.signal)
  assert.equal(clock.pendingCount, 0)
})

test('a series runs the next time only when the last run has ended', async () => {
  const clock = new ManualClock()
  const runs: PromiseWithResolvers<void>[] = []
  const timer = every(
    clock,
    100,
    () => {
      const run = Promise.withResolvers<void>()
      runs.push(run)
      return run.promise
    },
    () => assert.fail('nothing failed'),
  )
  assert.equal(runs.length, 0)
  clock.advance(100)
  await turn()
  clock.advance(1_000)
  await turn()
  assert.equal(runs.length, 1)
  runs[0]?.resolve()
  await turn()
  clock.advance(99)
  await turn()
  assert.equal(runs.length, 1)
  clock.advance(1)
  await turn()
  assert.equal(runs.length, 2)
  // Cancelled in the middle of a run: that run is the last.
  timer.cancel()
  runs[1]?.resolve()
  await turn()
  clock.advance(1_000)
  await turn()
  assert.equal(runs.length, 2)
  assert.equal(clock.pendingCount, 0)
})

test('a series goes on after failures of either kind, and tells each', async () => {
  const clock = new ManualClock()
  const errors: unknown[] = []
  let runs = 0
  const timer = every(
    clock,
    100,
    () => {
      runs++
      if (runs === 1) throw new Error('thrown')
      return runs === 2 ? Promise.reject(new Error('rejected')) : undefined
    },
    (error) => errors.push(error),
  )
  for (let step = 0; step < 4; step++) {
    clock.advance(100)
    await turn()
  }
  timer.cancel()
  assert.equal(runs, 4)
  assert.deepEqual(
    errors.map((error) => (error as Error).message),
    ['thrown', 'rejected'],
  )
})

test('days and months are those of UTC, whatever the machine’s zone', () => {
  const lastMoment = Date.parse('2026-12-31T23:59:59.999Z')
  assert.equal(utcDay(lastMoment), '2026-12-31')
  assert.equal(utcMonth(lastMoment), '2026-12')
  assert.equal(utcDay(lastMoment + 1), '2027-01-01')
  assert.equal(utcMonth(lastMoment + 1), '2027-01')
  assert.equal(nextUtcMidnight(lastMoment), lastMoment + 1)
  assert.equal(nextUtcMidnight(lastMoment + 1), lastMoment + 1 + 86_400_000)
})

test('the system’s clock gives wall time, time that only grows, and timers that can be cancelled', async () => {
  assert.ok(systemClock.now() > Date.parse('2025-01-01'))
  const before = systemClock.monotonic()
  assert.ok(systemClock.monotonic() >= before)
  const cancelled = systemClock.after(0, () => assert.fail('it was cancelled'))
  cancelled.cancel()
  // The timer alone would not keep the process: this promise has something else to wait with.
  const keep = setInterval(() => undefined, 1_000)
  await new Promise<void>((resolve) => systemClock.after(0, resolve))
  clearInterval(keep)
})
