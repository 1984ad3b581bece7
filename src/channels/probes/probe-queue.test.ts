/** The order and pace of one channel's probes, at moments that the test names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minuteMs } from '../../base/clock.ts'
import {
  createProbeQueue,
  type ProbeQueue,
  type ProbeQueueFacts,
  type ProbeTarget,
} from './probe-queue.ts'

/** Every model is in use whose name does not begin with `off`. */
function openQueue(facts: Partial<ProbeQueueFacts> = {}): ProbeQueue {
  return createProbeQueue({
    isInUse: (model) => !model.startsWith('off'),
    hasRoom: () => true,
    ...facts,
  })
}

/** A queue of whole probes, each named by its model. */
function open(facts: Partial<ProbeQueueFacts> = {}) {
  const queue = openQueue(facts)
  const whole = (model: string): ProbeTarget => ({ model, form: 'whole' })
  return {
    ask: (model: string, count: number) => queue.add(whole(model), count),
    take: (now: number) => queue.take(now)?.model,
    nextAt: (now: number) => queue.nextAt(now),
    ended: (model: string, hasPassed: boolean, now: number) =>
      queue.ended(whole(model), hasPassed, now),
  }
}

type Line = ReturnType<typeof open>

/** All that goes out up to a moment, as soon as it may. */
function takeUntil(line: Line, end: number, from = 0): readonly [number, string][] {
  const taken: [number, string][] = []
  for (let now = from; now <= end; now = Math.max(line.nextAt(now), now)) {
    const model = line.take(now)
    if (model !== undefined) taken.push([now, model])
  }
  return taken
}

function askAll(line: Line, prefix: string, count: number): void {
  for (let index = 0; index < count; index++) line.ask(`${prefix}${index}`, 1)
}

test('a single check goes at once, and those behind it spread, in the order they were asked for', () => {
  const line = open()
  askAll(line, 'm', 3)
  line.ask('m1', 1)
  assert.deepEqual(takeUntil(line, minuteMs), [
    [0, 'm0'],
    [300, 'm1'],
    [600, 'm2'],
  ])
  assert.equal(line.nextAt(minuteMs), Number.POSITIVE_INFINITY)
})

test('a model waits once, and one under way answers for it; a burst is sent whole', () => {
  const line = open()
  line.ask('m', 1)
  assert.equal(line.take(0), 'm')
  line.ask('m', 1)
  assert.equal(line.take(minuteMs), undefined)
  line.ask('m', 3)
  assert.deepEqual(takeUntil(line, minuteMs, minuteMs).length, 3)
  for (let ended = 0; ended < 4; ended++) line.ended('m', true, minuteMs)
  line.ask('m', 1)
  assert.equal(line.take(2 * minuteMs), 'm')
})

test('models in use are checked twelve times a minute, however many ask and whatever passes', () => {
  const line = open()
  askAll(line, 'm', 40)
  line.ended('m', true, 0)
  const taken = takeUntil(line, 3 * minuteMs)
  const minutes = taken.map(([at]) => Math.floor(at / minuteMs))
  assert.deepEqual(
    [0, 1, 2, 3].map((minute) => minutes.filter((one) => one === minute).length),
    [12, 12, 12, 1],
  )
})

test('models out of use have their own number, and no limit but the pace once one has passed', () => {
  const line = open()
  askAll(line, 'off', 40)
  askAll(line, 'm', 12)
  // Neither stands in the way of the other.
  assert.equal(takeUntil(line, minuteMs - 1).length, 24)
  line.ended('off0', true, minuteMs)
  const taken = takeUntil(line, 2 * minuteMs, minuteMs)
  assert.equal(taken.length, 28)
  assert.equal(taken.at(-1)?.[0], minuteMs + 27 * 300)
})

test('what finds no room waits and is looked at again; a burst has the first that comes', () => {
  let room = 0
  const line = open({ hasRoom: () => room > 0 })
  line.ask('m', 1)
  line.ask('n', 3)
  assert.equal(line.take(0), undefined)
  assert.equal(line.nextAt(0), 300)
  const taken: (string | undefined)[] = []
  for (room = 4; room > 0; room--) taken.push(line.take(minuteMs + 1_000 * (4 - room)))
  assert.deepEqual(taken, ['n', 'n', 'n', 'm'])
  assert.equal(line.nextAt(2 * minuteMs), Number.POSITIVE_INFINITY)
})

test('a streamed probe and a whole one of the same model are two probes', () => {
  const queue = openQueue()
  queue.add({ model: 'm', form: 'whole' }, 1)
  queue.add({ model: 'm', form: 'stream' }, 1)
  queue.add({ model: 'm', form: 'stream' }, 1)
  assert.deepEqual(
    [queue.take(0)?.form, queue.take(300)?.form, queue.take(600)],
    ['whole', 'stream', undefined],
  )
})
