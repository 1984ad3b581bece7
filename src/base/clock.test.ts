import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { test } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import {
  commandClock,
  every,
  nextUtcMidnight,
  sleep,
  systemClock,
  tickMs,
  utcDay,
  utcMonth,
  formatDuration,
  parseDuration,
} from './clock.ts'

/** Lets promise chains that are ready run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a sleep ends at its time and not before', async () => {
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

test('a series goes on after failures of either kind, and reports each', async () => {
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

test('days and months are UTC in any time zone of the machine', () => {
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

test('parses durations as operators write them', () => {
  for (const [text, durationMs] of [
    ['0ms', 0],
    ['250ms', 250],
    ['30s', 30_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['007s', 7_000],
  ] as const)
    assert.equal(parseDuration(text), durationMs, text)
})

test('refuses a duration that is not a whole number with a unit', () => {
  const wrong = ['', '5', 'ms', '1.5s', '-1s', '+1s', '1 s', ' 1s', '1s ', '1S', '1w', '1m30s']
  for (const text of [...wrong, '1e3ms', 'Infinitys', '1000000000s', '1s\n', '１s', 'constructor'])
    assert.equal(parseDuration(text), undefined, JSON.stringify(text))
})

test('property: a formatted duration is parsed back, and uses the largest exact unit', () => {
  fc.assert(
    fc.property(fc.nat(999_999_999), fc.constantFrom('ms', 's', 'm', 'h', 'd'), (count, unit) => {
      const durationMs = parseDuration(`${count}${unit}`)
      assert.ok(durationMs !== undefined)
      const text = formatDuration(durationMs)
      assert.equal(parseDuration(text), durationMs)
      assert.ok(text.length <= `${count}${unit}`.length || count === 0)
    }),
  )
  assert.equal(formatDuration(600_000), '10m')
  assert.equal(formatDuration(90_000), '90s')
  assert.equal(formatDuration(0), '0ms')
})

test('what is due on one tick of the system’s clock runs in one turn of the event loop', async () => {
  const running = commandClock.after(60_000, () => assert.fail('the ticks did not come'))
  const ended = Promise.withResolvers<void>()
  systemClock.onTick(tickMs, () => assert.fail('it was cancelled')).cancel()
  let turns = 0
  let runs = 0
  let isCounted = false
  const count = 40
  for (let index = 0; index < count; index++)
    systemClock.onTick(tickMs * (1 + (2 * index) / count), () => {
      if (!isCounted) turns++
      isCounted = true
      setImmediate(() => (isCounted = false))
      if (++runs === count) ended.resolve()
    })
  await ended.promise
  running.cancel()
  assert.ok(turns < 10, `${turns} turns`)
})
